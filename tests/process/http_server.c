/* examples/http_server.c, from outside: many connections at once, several requests on one
 * connection, requests in pieces and many in one piece, wrong ones, clients that leave;
 * and the end by a signal, when what is under way has been answered.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "child.h"

#ifdef HTTP_SERVER

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

typedef struct server {
  pid_t process;
  int output; /* what it prints */
  struct sockaddr_in address;
} server;

static server start_server_with(const char *queue_limit) {
  int ends[2];
  char line[128] = "", *colon;
  server made = {0};
  REQUIRE(pipe(ends) == 0);
  made.process = fork();
  REQUIRE(made.process >= 0);
  if (made.process == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(HTTP_SERVER, HTTP_SERVER, "0", queue_limit, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  made.output = ends[0];
  for (size_t n = 0; n < sizeof line - 1 && strchr(line, '\n') == NULL; n++)
    REQUIRE(read(ends[0], line + n, 1) == 1);
  colon = strchr(line + strlen("http:"), ':');
  REQUIRE(colon != NULL);
  made.address.sin_family = AF_INET;
  made.address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
  made.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return made;
}

static server start_server(void) {
  return start_server_with(NULL);
}

/* It ends by itself, without an error. */
static void end_server(const server *s, int signal) {
  int status = 0;
  CHECK_EQ(kill(s->process, signal), 0);
  CHECK_EQ(waitpid(s->process, &status, 0), s->process);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
  close(s->output);
}

static int connect_to(const server *s) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  REQUIRE(connect(fd, (const struct sockaddr *)&s->address, sizeof s->address) == 0);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return fd;
}

static void send_all(int fd, const char *text, size_t length) {
  while (length > 0) {
    ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);
    REQUIRE(sent > 0);
    text += sent;
    length -= (size_t)sent;
  }
}

static void send_text(int fd, const char *text) {
  send_all(fd, text, strlen(text));
}

/* Reads one reply: its status, and its body; 0 if the connection ends before. */
static int read_reply(int fd, char body[128]) {
  char head[512];
  size_t n = 0;
  head[0] = body[0] = '\0';
  while (strstr(head, "\r\n\r\n") == NULL) {
    REQUIRE(n < sizeof head - 1);
    ssize_t got = read(fd, head + n, 1);
    if (got <= 0) return 0;
    head[++n] = '\0';
  }
  int status = 0;
  size_t length = 0;
  CHECK_EQ(sscanf(head, "HTTP/1.1 %d ", &status), 1);
  const char *field = strstr(head, "Content-Length: ");
  REQUIRE(field != NULL && sscanf(field, "Content-Length: %zu", &length) == 1);
  REQUIRE(length < 128);
  for (n = 0; n < length;) {
    ssize_t got = read(fd, body + n, length - n);
    REQUIRE(got > 0);
    n += (size_t)got;
  }
  body[n] = '\0';
  return status;
}

static void expect_reply(int fd, int status, const char *body) {
  char got[128];
  CHECK_EQ(read_reply(fd, got), status);
  if (body != NULL) CHECK_STR_EQ(got, body);
}

static void expect_end(int fd) {
  char byte;
  CHECK(read(fd, &byte, 1) <= 0);
  close(fd);
}

#define GET_100 "GET /primes/100 HTTP/1.1\r\nHost: x\r\n\r\n"
#define IS_100  "25 primes below 100\n"

/* ---- one connection ---- */

TEST(requests_on_one_connection) {
  server s = start_server();
  int fd = connect_to(&s);
  for (int i = 0; i < 200; i++) {
    send_text(fd, GET_100);
    expect_reply(fd, 200, IS_100);
  }
  send_text(fd, "GET /primes/2 HTTP/1.1\r\nConnection: Close\r\n\r\n");
  expect_reply(fd, 200, "0 primes below 2\n");
  expect_end(fd);
  end_server(&s, SIGTERM);
}

/* Cut at every place, and many in one piece. */
TEST(requests_in_pieces) {
  server s = start_server();
  int fd = connect_to(&s);
  for (size_t cut = 1; cut < strlen(GET_100); cut++) {
    send_all(fd, GET_100, cut);
    send_text(fd, &GET_100[cut]);
    expect_reply(fd, 200, IS_100);
  }
  char many[50 * sizeof GET_100] = "";
  for (int i = 0; i < 50; i++) strcat(many, GET_100);
  send_text(fd, many);
  for (int i = 0; i < 50; i++) expect_reply(fd, 200, IS_100);
  send_text(fd, GET_100 "GET /primes/10 HTTP/1.1\r\nConnection: close\r\n\r\n");
  expect_reply(fd, 200, IS_100); /* the first does not see what the second wants */
  expect_reply(fd, 200, "4 primes below 10\n");
  expect_end(fd);
  /* A client that sends no more gets its answer all the same. */
  fd = connect_to(&s);
  send_text(fd, GET_100);
  shutdown(fd, SHUT_WR);
  expect_reply(fd, 200, IS_100);
  expect_end(fd);
  end_server(&s, SIGINT);
}

TEST(wrong_requests) {
  static const char *const wrong[] = {
      "\r\n\r\n",
      "GET\r\n\r\n",
      "nonsense\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET /primes/ HTTP/1.1\r\n\r\n",
      "GET /primes/x HTTP/1.1\r\n\r\n",
      "GET /primes/-5 HTTP/1.1\r\n\r\n",
      "GET /primes/12x HTTP/1.1\r\n\r\n",
      "GET /primes/1000000 HTTP/1.1\r\n\r\n",
      "GET /primes/99999999999999999999 HTTP/1.1\r\n\r\n",
      "GET /primes/100 HTTP/0.9\r\n\r\n",
      "POST /primes/100 HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
  };
  server s = start_server();
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    int fd = connect_to(&s);
    send_text(fd, wrong[i]);
    expect_reply(fd, 404, NULL);
    expect_end(fd);
  }
  static char large[4096];
  memset(large, 'x', sizeof large);
  int fd = connect_to(&s);
  send_all(fd, large, sizeof large); /* no end in sight */
  expect_end(fd);
  fd = connect_to(&s);
  send_all(fd, "GET \0 HTTP/1.1\r\n\r\n", 18);
  expect_end(fd);
  fd = connect_to(&s);
  send_text(fd, GET_100); /* and others are still served */
  expect_reply(fd, 200, IS_100);
  close(fd);
  end_server(&s, SIGTERM);
}

/* ---- many ---- */

enum { CLIENTS = 200, ROUNDS = 5 };

TEST(many_connections_at_once) {
  server s = start_server();
  int fds[CLIENTS];
  for (int i = 0; i < CLIENTS; i++) fds[i] = connect_to(&s);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < CLIENTS; i++) send_text(fds[i], GET_100);
    for (int i = CLIENTS; i-- > 0;) expect_reply(fds[i], 200, IS_100);
  }
  for (int i = 0; i < CLIENTS; i += 2) close(fds[i]); /* half of them leave */
  for (int i = 1; i < CLIENTS; i += 2) send_text(fds[i], GET_100);
  for (int i = 1; i < CLIENTS; i += 2) expect_reply(fds[i], 200, IS_100);
  end_server(&s, SIGTERM);
  for (int i = 1; i < CLIENTS; i += 2) expect_end(fds[i]);
}

/* Clients that come and go from several threads, and some that do not wait. */
static void *be_a_client(void *arg) {
  const server *s = arg;
  for (int i = 0; i < 100; i++) {
    int fd = connect_to(s);
    send_text(fd, GET_100 GET_100);
    if (i % 4 != 0) {
      expect_reply(fd, 200, IS_100);
      expect_reply(fd, 200, IS_100);
    }
    close(fd); /* with replies that nobody reads */
  }
  return NULL;
}

TEST(clients_come_and_go) {
  server s = start_server();
  pthread_t threads[4];
  for (int t = 0; t < 4; t++)
    REQUIRE(pthread_create(&threads[t], NULL, be_a_client, &s) == 0);
  for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
  end_server(&s, SIGTERM);
}

/* One request may wait, and requests take long: some of many are refused, and each gets
 * its answer or learns so. (Only where a thread of the pool answered each one before the
 * loop came to the next would none be.) */
TEST(more_than_the_pool_can_do) {
  enum { MANY = 100 };
  server s = start_server_with("1");
  int fds[MANY], refused = 0, answered = 0;
  for (int i = 0; i < MANY; i++) fds[i] = connect_to(&s);
  for (int i = 0; i < MANY; i++)
    send_text(fds[i], "GET /primes/99999 HTTP/1.1\r\nConnection: close\r\n\r\n");
  for (int i = 0; i < MANY; i++) {
    char body[128];
    int status = read_reply(fds[i], body);
    CHECK(status == 200 || status == 503);
    CHECK_STR_EQ(body, status == 200 ? "9592 primes below 99999\n" : "");
    answered += status == 200;
    refused += status == 503;
    expect_end(fds[i]);
  }
  CHECK(answered > 0 && refused > 0);
  int fd = connect_to(&s); /* now there is room */
  send_text(fd, GET_100);
  expect_reply(fd, 200, IS_100);
  close(fd);
  end_server(&s, SIGTERM);
}

/* ---- the end ---- */

/* What the server has begun it answers. */
TEST(the_end_answers_what_is_under_way) {
  for (int i = 0; i < 5; i++) {
    server s = start_server();
    int first = connect_to(&s), idle = connect_to(&s);
    /* The second reply shows that the first request is at work, or done. */
    send_text(first, "GET /primes/99999 HTTP/1.1\r\n\r\n");
    send_text(idle, GET_100);
    expect_reply(idle, 200, IS_100);
    CHECK_EQ(kill(s.process, SIGTERM), 0);
    char body[128];
    int status = read_reply(first, body);
    CHECK(status == 200 || status == 0); /* 0: it had not been read yet */
    if (status == 200) CHECK_STR_EQ(body, "9592 primes below 99999\n");
    expect_end(idle);
    close(first);
    CHECK_EQ(waitpid(s.process, &status, 0), s.process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(s.output);
  }
}

TEST(a_port_in_use) {
  server s = start_server();
  char command[512];
  snprintf(command, sizeof command, "%s %d 2>&1 | grep -q 'in use'", HTTP_SERVER,
           ntohs(s.address.sin_port));
  CHECK_EQ(system(command), 0); /* NOLINT(concurrency-mt-unsafe) */
  end_server(&s, SIGTERM);
}

#else

TEST(no_server_here) {
  printf("skipped: the example was not built\n");
}

#endif

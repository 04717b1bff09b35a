/* http_server.c - a small HTTP/1.1 server: one thread waits for everything with epoll,
 * requests run in the pool, and an eventfd tells the thread when some are answered.
 *
 *     cc -O2 http_server.c -o http_server $(pkg-config --cflags --libs weft)
 *     ./http_server [port [queue limit]]   and then   curl localhost:PORT/primes/100000
 *
 * Port 0, the default, is any free one; it prints its address. SIGINT and SIGTERM end it
 * when the requests under way are answered. Requests beyond the limit get a 503.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weft.h>

enum { QUEUE_LIMIT = 500, CONNECTIONS = 1000, REQUEST_SIZE = 4096 };

typedef struct connection {
  int socket;
  bool is_over;        /* to be closed */
  weft_handle *handle; /* the pool is at it, or NULL: then epoll watches it */
  size_t received;
  char request[REQUEST_SIZE + 1];
} connection;

static connection connections[CONNECTIONS]; /* by socket; the loop's, as the rest */
static int poller, answered;                /* the epoll and the eventfd */
static volatile sig_atomic_t ends_soon;

/* In the pool, as the next two. A client that does not read its replies is dropped. */
static void reply(connection *c, const char *status, const char *body) {
  char text[256];
  c->is_over = status[0] != '2' || strcasestr(c->request, "connection: close") != NULL;
  int n = snprintf(text, sizeof text,
                   "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: %s\r\n\r\n%s",
                   status, strlen(body), c->is_over ? "close" : "keep-alive", body);
  if (send(c->socket, text, (size_t)n, MSG_NOSIGNAL) != n) c->is_over = true;
}

static void answer(connection *c) {
  char body[64];
  int n = 0, primes = 0, end = 0;
  sscanf(c->request, "GET /primes/%6d HTTP/1.1%n", &n, &end);
  bool found = end > 0 && n >= 0; /* of at most six digits */
  for (int i = 2, d = 2; found && i < n; i++, d = 2) {
    while (d * d <= i && i % d != 0) d++;
    primes += d * d > i;
  }
  snprintf(body, sizeof body, "%d primes below %d\n", primes, n);
  reply(c, found ? "200 OK" : "404 Not Found", found ? body : "");
}

/* Reads what there is, and answers the requests that are complete. */
static void serve(void *ctx) {
  connection *c = ctx;
  char *end, *to = c->request + c->received;
  ssize_t got = recv(c->socket, to, REQUEST_SIZE - c->received, 0);
  c->is_over = got <= 0 || memchr(to, '\0', (size_t)got) != NULL;
  if (c->is_over) return;
  c->received += (size_t)got;
  to[got] = '\0';
  while (!c->is_over && (end = strstr(c->request, "\r\n\r\n")) != NULL) {
    end[2] = '\0'; /* so that nobody looks into the next request */
    answer(c);
    c->received -= (size_t)(end + 4 - c->request);
    memmove(c->request, end + 4, c->received + 1);
  }
  c->is_over |= c->received == REQUEST_SIZE;
}

static void watch(int operation, int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  if (epoll_ctl(poller, operation, fd, &event) != 0) abort();
}

static void accept_one(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= CONNECTIONS) close(fd);
  if (fd < 0 || fd >= CONNECTIONS) return;
  connections[fd] = (connection){.socket = fd};
  watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT); /* one event: then the pool has it */
}

static void close_or_watch(connection *c) {
  c->handle = NULL;
  if (c->is_over) close(c->socket);
  if (!c->is_over) watch(EPOLL_CTL_MOD, c->socket, EPOLLIN | EPOLLONESHOT);
}

static void start(connection *c) {
  int status = weft_async(&c->handle, serve, c);
  if (status == 0 && weft_handle_notify(c->handle, answered) == 0) return;
  if (status != 0) { /* a socket that is closed with something unread takes it along */
    (void)!recv(c->socket, c->request, REQUEST_SIZE, 0);
    reply(c, "503 Service Unavailable", "");
  }
  weft_handle_wait(c->handle); /* if there was no memory to be notified */
  close_or_watch(c);
}

/* Some are answered: which ones, the handles tell. */
static void finish_some(void) {
  for (connection *c = connections; c < connections + CONNECTIONS; c++)
    if (c->handle != NULL && weft_handle_wait_for(c->handle, 0) == 0) close_or_watch(c);
}

static void end_soon(int signal) {
  ends_soon = signal;
  (void)!write(answered, &(uint64_t){1}, sizeof(uint64_t)); /* wakes the loop */
}

static int open_listener(int port) {
  struct sockaddr_in at = {AF_INET, htons((uint16_t)port), {htonl(INADDR_LOOPBACK)}, {0}};
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  if (bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, (struct sockaddr *)&at, &size) != 0)
    return -1;
  printf("http://127.0.0.1:%d/primes/100000\n", ntohs(at.sin_port));
  return fflush(stdout) == 0 ? fd : -1;
}

int main(int argc, char **argv) {
  weft_config config = WEFT_CONFIG_INIT;
  config.queue_limit = argc > 2 ? strtoul(argv[2], NULL, 10) : QUEUE_LIMIT;
  poller = epoll_create1(EPOLL_CLOEXEC);
  answered = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  signal(SIGINT, end_soon);
  signal(SIGTERM, end_soon);
  int listener = open_listener(argc > 1 ? atoi(argv[1]) : 0);
  if (listener < 0 || weft_init(&config) != 0) return perror("http_server"), 1;
  watch(EPOLL_CTL_ADD, listener, EPOLLIN);
  watch(EPOLL_CTL_ADD, answered, EPOLLIN);
  for (struct epoll_event event; !ends_soon;) {
    if (epoll_wait(poller, &event, 1, -1) != 1) continue;
    int fd = event.data.fd;
    if (fd == listener) accept_one(listener);
    if (fd != listener && fd != answered) start(&connections[fd]);
    if (fd == answered && read(fd, &(uint64_t){0}, sizeof(uint64_t)) > 0) finish_some();
  }
  weft_shutdown(); /* when what the pool has is answered */
  return 0;
}

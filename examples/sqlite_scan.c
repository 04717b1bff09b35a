/* sqlite_scan.c - scans a table of an SQLite database by ranges of rowids: each thread
 * has a connection and a prepared statement of its own (weft_local), and WEFT_TRY_LOOP
 * returns the error of the first range that fails.
 *
 *     cc -O2 -D_GNU_SOURCE sqlite_scan.c -o sqlite_scan \
 *       $(pkg-config --cflags --libs weft sqlite3)
 *     ./sqlite_scan [rows [threads]]
 *
 * Makes a database of orders in /tmp, and prints the revenue from it with the times of a
 * single statement and of the parallel scan.
 *
 * SPDX-License-Identifier: MIT */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <weft.h>

enum { RANGE = 5000 }; /* rows of one range: about a millisecond */

static const char *const QUERY = "SELECT total(price * pieces) FROM orders"
                                 " WHERE rowid BETWEEN ?1 AND ?2 AND customer LIKE '%7%'";

typedef struct connection {
  sqlite3 *db;
  sqlite3_stmt *query;
} connection;

/* Opens a connection for reading. Only the thread that opens it uses it, so SQLite needs
 * no locks of its own. The result is an error code of SQLite. */
static int open_connection(connection *c, const char *name) {
  int error =
      sqlite3_open_v2(name, &c->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
  return error != 0 ? error : sqlite3_prepare_v2(c->db, QUERY, -1, &c->query, NULL);
}

static int scan(connection *c, size_t first, size_t last, double *sum) {
  sqlite3_bind_int64(c->query, 1, (sqlite3_int64)first);
  sqlite3_bind_int64(c->query, 2, (sqlite3_int64)last);
  if (sqlite3_step(c->query) == SQLITE_ROW) *sum = sqlite3_column_double(c->query, 0);
  return sqlite3_reset(c->query);
}

/* int scan_ranges(size_t ranges, connections, name, sums): one range for each i. */
WEFT_TRY_LOOP(scan_ranges, i, weft_local *, connections, const char *, name, double *,
              sums) {
  connection *mine = weft_local_get(connections); /* zeroed when it is new */
  if (mine == NULL) return SQLITE_NOMEM;
  int error = mine->query == NULL ? open_connection(mine, name) : 0;
  return error != 0 ? error : scan(mine, i * RANGE + 1, (i + 1) * RANGE, &sums[i]);
}

static void close_connection(void *slot, void *ctx) {
  connection *c = slot;
  (void)ctx;
  sqlite3_finalize(c->query);
  sqlite3_close(c->db);
}

static int scan_in_parallel(const char *name, size_t ranges, double *sums) {
  weft_local *connections;
  if (weft_local_create(&connections, sizeof(connection), NULL, NULL) != 0)
    return SQLITE_NOMEM;
  int error = scan_ranges(ranges, connections, name, sums);
  weft_local_each(connections, close_connection, NULL);
  weft_local_destroy(connections);
  return error;
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int make_database(const char *name, size_t rows) {
  sqlite3 *db;
  char *text = sqlite3_mprintf(
      "PRAGMA journal_mode = off; PRAGMA synchronous = off;"
      "CREATE TABLE orders (customer TEXT, price REAL, pieces INTEGER);"
      "INSERT INTO orders WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
      " LIMIT %lld) SELECT 'customer ' || (i %% 997), (i %% 97) * 0.25, i %% 7 FROM n",
      (long long)rows);
  int error = sqlite3_open(name, &db);
  if (error == 0) error = sqlite3_exec(db, text, NULL, NULL, NULL);
  sqlite3_free(text);
  sqlite3_close(db);
  return error;
}

int main(int argc, char **argv) {
  size_t rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
  size_t ranges = (rows + RANGE - 1) / RANGE;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  double *sums = rows > 0 && rows <= 100000000 ? calloc(ranges, sizeof *sums) : NULL;
  if (sums == NULL || weft_init(&config) != 0) {
    fprintf(stderr, "usage: sqlite_scan [rows up to 10^8 [threads]]\n");
    return 2;
  }
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* else connections share a lock for it */
  char name[] = "/tmp/sqlite_scan-XXXXXX";
  int fd = mkstemp(name);
  if (fd < 0 || close(fd) != 0) return perror(name), 1;
  int error = make_database(name, rows);

  double expected = 0;
  connection whole = {NULL, NULL};
  double start = now_ms();
  if (error == 0) error = open_connection(&whole, name);
  if (error == 0) error = scan(&whole, 1, rows, &expected);
  double middle = now_ms();
  if (error == 0) error = scan_in_parallel(name, ranges, sums);
  double end = now_ms(), sum = weft_sum_f64(sums, ranges);

  close_connection(&whole, NULL);
  bool right = error == 0 && sum == expected; /* quarters: exact in any order */
  if (error != 0) fprintf(stderr, "sqlite_scan: %s\n", sqlite3_errstr(error));
  printf(
      "%zu rows, revenue %.2f: one statement %.1f ms, weft %.1f ms on %u threads: %s\n",
      rows, sum, middle - start, end - middle, weft_thread_count(),
      right ? "same" : "WRONG");
  unlink(name);
  free(sums);
  return right ? 0 : 1;
}

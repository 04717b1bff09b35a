/* lanes/probe.c - how long a task waits in the normal and in the background lane of a
 * pool that never runs out of normal work.
 *
 * A thread outside keeps 16 normal tasks of 20 us waiting. Every millisecond, at fixed
 * points of the clock, the main thread detaches one probe into each lane. A probe stamps
 * the clock and does nothing else; its latency counts from before the call to the stamp.
 *
 * A lane has one probe at a time: if the last one has not started yet, the tick is left
 * out for that lane. A loaded pool takes background work at a small fixed rate, so that
 * probes beyond it would pile up and measure how long the benchmark runs.
 *
 * Usage: lanes_probe [threads [seconds]]     threads - 1 of them run the tasks
 *
 * SPDX-License-Identifier: MIT */
#include "feeder.h"

enum { STREAM_DEPTH = 16, STREAM_PERIOD_US = 50, TICK_NS = 1000000, WARM_UP = 200 };

typedef struct probe {
  const char *who;
  weft_opts options;
  double sent_ns, started_ns;
  uint32_t started; /* 1: the probe has run, or none was sent yet */
  bool sent, warm;  /* warm: the probe was sent after the warm-up */
  bench_samples latency;
} probe;

static void stamp(void *ctx) {
  probe *p = (probe *)ctx;
  p->started_ns = bench_now_ns();
  __atomic_store_n(&p->started, 1, __ATOMIC_RELEASE);
}

/* Takes the answer of the last probe if it is there; else returns false. */
static bool collect(probe *p) {
  if (__atomic_load_n(&p->started, __ATOMIC_ACQUIRE) == 0) return false;
  if (p->sent && p->warm) bench_add(&p->latency, p->started_ns - p->sent_ns);
  p->sent = false;
  return true;
}

static void tick(probe *p, bool warm) {
  if (!collect(p)) return;
  p->started = 0;
  p->sent = true;
  p->warm = warm;
  p->sent_ns = bench_now_ns();
  bench_check(p->who, (uint64_t)weft_detach_with(&p->options, stamp, p), 0);
}

static void finish(probe *p, long ticks) {
  while (!collect(p)) bench_sleep_us(1000);
  bench_print_times(p->who, &p->latency);
  bench_print(p->who, "p99_ns", bench_quantile(&p->latency, 0.99));
  bench_print(p->who, "probes_per_s", 1000.0 * (double)p->latency.count / (double)ticks);
  free(p->latency.values);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  long ticks = bench_arg(argc, argv, 2, 10) * 1000;
  probe normal = {.who = "weft-normal", .options = WEFT_OPTS_INIT, .started = 1};
  probe background = {.who = "weft-background", .options = WEFT_OPTS_INIT, .started = 1};
  background.options.lane = WEFT_LANE_BACKGROUND;
  feeder stream;
  feeder_start(&stream, WEFT_LANE_NORMAL, bench_spin_count(2e4), STREAM_DEPTH,
               STREAM_PERIOD_US);

  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (long i = -WARM_UP; i < ticks; i++) {
    next.tv_nsec += TICK_NS;
    if (next.tv_nsec >= 1000000000) {
      next.tv_nsec -= 1000000000;
      next.tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) {
    }
    tick(&normal, i >= 0);
    tick(&background, i >= 0);
  }
  finish(&normal, ticks);
  finish(&background, ticks);
  feeder_stop(&stream);
  bench_print("weft-stream", "dry_percent",
              100.0 * (double)stream.dry / (double)stream.looks);
  bench_passed((uint64_t)ticks);
  weft_shutdown();
  return 0;
}

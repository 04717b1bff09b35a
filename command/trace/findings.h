/* trace/findings.h - what the files with rules share: making a finding, and figures that
 * several rules use.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_TRACE_FINDINGS_H
#define COMMAND_TRACE_FINDINGS_H

#include "../base/terminal.h"
#include "trace.h"

/* A new finding, valid until the next one is made; its texts follow. */
finding *finding_add(trace *t, severity grade, const char *id);
__attribute__((format(printf, 2, 3))) void finding_title(finding *f, const char *format,
                                                         ...);
__attribute__((format(printf, 2, 3))) void finding_words(finding *f, const char *format,
                                                         ...);
__attribute__((format(printf, 2, 3))) void finding_advice(finding *f, const char *format,
                                                          ...);

/* part / whole, or 0. */
double finding_share(double part, double whole);
severity finding_grade(double lost, double warning, double bad);

/* Sorts the values. */
double median_of(double *values, size_t count);
int compare_doubles(const void *a, const void *b);

/* More threads than CPUs: they take turns, and the times of single tasks say little. */
bool trace_is_oversubscribed(const trace *t);
/* Threads had no CPU for a good part of the time: a block that took long has perhaps only
 * waited. */
bool trace_is_starved(const trace *t);

/* A wake-up takes 5 to 50 us on an idle machine; 200 us are not the kernel's own. */
enum { LATE_NS = 200000 };

/* Where the time went (findings_time.c). */
void find_starved(trace *t);
void find_nobody(trace *t);
void find_before(trace *t);
void find_alone(trace *t);
void find_large_blocks(trace *t);

#endif

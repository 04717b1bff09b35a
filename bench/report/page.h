/* report/page.h - the report as one HTML page that needs no other file, and its pictures
 * as separate files.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_PAGE_H
#define BENCH_REPORT_PAGE_H

#include "../harness/goals.h"

void page_html(const results *r, const goals *g, text *out);

/* A picture that stands alone, with its style inside. */
void page_picture(const char *svg, text *out);

#endif

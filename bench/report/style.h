/* report/style.h - the style sheets of the page and of single pictures.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_REPORT_STYLE_H
#define BENCH_REPORT_STYLE_H

/* Colours and shapes of pictures, for light and dark: also inside of each SVG file. */
extern const char PICTURE_STYLE[];
/* Everything else of the page. */
extern const char PAGE_STYLE[];

#endif

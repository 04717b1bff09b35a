/* sys/ioctl.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
struct winsize {
  unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
#define TIOCGWINSZ 0x40087468UL
int ioctl(int fd, unsigned long request, ...);

/* termios.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

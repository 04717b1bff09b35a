/* errno.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
extern int *__error(void);
#define errno       (*__error())
#define EINTR       4
#define EACCES      13
#define ENOMEM      12
#define EFAULT      14
#define EINVAL      22
#define EPIPE       32
#define EAGAIN      35
#define EWOULDBLOCK EAGAIN
#define ETIMEDOUT   60

/* die.h - the last words of the sys layer.
 *
 * For the few states in which going on would corrupt the program silently: a system call
 * that the memory model of the library rests on has failed. The layers above have their
 * own reporting; sys lies below them and cannot use it.
 *
 * Who calls: the files of src/sys. Any thread; takes no lock and allocates nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_DIE_H
#define WF_SYS_DIE_H

#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

/* Writes the text, which ends with a newline, to stderr and aborts the process. */
_Noreturn static inline void wf_sys_die(const char *text) {
#if defined(_WIN32)
  (void)_write(2, text, (unsigned)strlen(text));
#else
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
#endif
  abort();
}

#endif

/* stdio.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stdarg.h>
#include <sys/types.h>
typedef struct __sFILE FILE;
extern FILE *__stderrp, *__stdoutp;
#define stderr __stderrp
#define stdout __stdoutp
int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int vsnprintf(char *out, size_t size, const char *format, va_list args);
int vfprintf(FILE *file, const char *format, va_list args);
int fputs(const char *text, FILE *file);
int fputc(int c, FILE *file);
int putc(int c, FILE *file);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file);
int fflush(FILE *file);
int ferror(FILE *file);
int rename(const char *from, const char *to);

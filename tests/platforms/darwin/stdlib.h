/* stdlib.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
#define EXIT_FAILURE 1
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *memory);
_Noreturn void abort(void);
_Noreturn void exit(int status);
int atexit(void (*fn)(void));
char *getenv(const char *name);
const char *getprogname(void);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
long strtol(const char *text, char **end, int base);
double strtod(const char *text, char **end);
int abs(int x);
void qsort(void *base, size_t count, size_t size,
           int (*compare)(const void *, const void *));

/* signal.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
typedef uint32_t sigset_t;
typedef struct {
  int si_signo, si_errno, si_code;
} siginfo_t;
struct sigaction {
  union {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
  };
  sigset_t sa_mask;
  int sa_flags;
};
#define SIG_DFL     ((void (*)(int))0)
#define SIGHUP      1
#define SIGINT      2
#define SIGQUIT     3
#define SIGILL      4
#define SIGTRAP     5
#define SIGABRT     6
#define SIGFPE      8
#define SIGBUS      10
#define SIGSEGV     11
#define SIGSYS      12
#define SIGPIPE     13
#define SIGTERM     15
#define SIG_BLOCK   1
#define SIG_SETMASK 3
#define SA_ONSTACK  0x1
#define SA_SIGINFO  0x40
int sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int signal);
int sigdelset(sigset_t *set, int signal);
int sigismember(const sigset_t *set, int signal);
int sigpending(sigset_t *set);
int sigwait(const sigset_t *set, int *signal);
int raise(int signal);

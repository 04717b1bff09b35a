/* platforms/emulator/fork_thread.c - a child of a process with threads starts a thread,
 * with the C library alone. Exits with 0 if that works, as on Linux; qemu-user 7.2 ends
 * the child with a failed assertion of its own ("qemu_plugin_vcpu_init_hook: assertion
 * failed"). This is why tests that do the same are left out there.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *wait_for_ever(void *nothing) {
  for (;;) pause();
  return nothing;
}

static void *return_at_once(void *nothing) {
  return nothing;
}

static int run_child(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, return_at_once, NULL) != 0) return 1;
  return pthread_join(thread, NULL) == 0 ? 0 : 1;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) return 2;
  const pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) _exit(run_child());
  int status;
  if (waitpid(child, &status, 0) != child) return 2;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  printf("a forked child could not start a thread: status %#x\n", (unsigned)status);
  return 1;
}

/* coroutine.c - switching between the stacks of modelled threads.
 *
 * A few instructions of assembly for x86-64 and aarch64, which save what a called
 * function must keep; ucontext, whose switches are system calls, elsewhere, and where
 * XP_UCONTEXT is defined.
 *
 * SPDX-License-Identifier: MIT */
#include "engine.h"

#include <string.h>

#if defined(__x86_64__) && !defined(XP_UCONTEXT)

__asm__(".text\n"
        ".globl xp_switch_stacks\n"
        ".type xp_switch_stacks, @function\n"
        "xp_switch_stacks:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n"
        "  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n"
        "  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size xp_switch_stacks, .-xp_switch_stacks\n");

void xp_switch_stacks(void **save_sp, void *sp);

enum { SAVED_WORDS = 6 };

void xp_context_make(xp_context *context, char *stack_low, size_t size,
                     void (*entry)(void)) {
  /* The return address of xp_switch_stacks, and above it a word that the entry takes for
   * its own return address, where the ABI wants the stack 8 bytes off a multiple of 16.
   */
  uintptr_t *top = (uintptr_t *)(void *)(stack_low + size) - 2;
  *--top = 0;
  *--top = (uintptr_t)entry;
  top -= SAVED_WORDS;
  memset(top, 0, SAVED_WORDS * sizeof *top);
  context->sp = top;
}

void xp_switch(xp_context *from, xp_context *to) {
  xp_switch_stacks(&from->sp, to->sp);
}

#elif defined(__aarch64__) && !defined(XP_UCONTEXT)

__asm__(".text\n"
        ".globl xp_switch_stacks\n"
        ".type xp_switch_stacks, %function\n"
        "xp_switch_stacks:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size xp_switch_stacks, .-xp_switch_stacks\n");

void xp_switch_stacks(void **save_sp, void *sp);

enum { SAVED_WORDS = 20, LINK_REGISTER = 11 };

void xp_context_make(xp_context *context, char *stack_low, size_t size,
                     void (*entry)(void)) {
  uintptr_t *top = (uintptr_t *)(void *)(stack_low + size) - 2 - SAVED_WORDS;
  memset(top, 0, SAVED_WORDS * sizeof *top);
  top[LINK_REGISTER] = (uintptr_t)entry;
  context->sp = top;
}

void xp_switch(xp_context *from, xp_context *to) {
  xp_switch_stacks(&from->sp, to->sp);
}

#else

#include <stdlib.h>
#include <ucontext.h>

/* The context of a thread lies at the top of its stack; the others get one here. */
void xp_context_make(xp_context *context, char *stack_low, size_t size,
                     void (*entry)(void)) {
  size_t room = (sizeof(ucontext_t) + 63) & ~(size_t)63;
  ucontext_t *saved = (ucontext_t *)(void *)(stack_low + size - room);
  getcontext(saved);
  saved->uc_stack.ss_sp = stack_low;
  saved->uc_stack.ss_size = size - room;
  saved->uc_link = NULL;
  makecontext(saved, entry, 0);
  context->sp = saved;
}

void xp_switch(xp_context *from, xp_context *to) {
  if (from->sp == NULL) from->sp = calloc(1, sizeof(ucontext_t));
  if (from->sp == NULL) abort();
  swapcontext((ucontext_t *)from->sp, (ucontext_t *)to->sp);
}

#endif

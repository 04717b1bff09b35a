/* windows.c - threads, waiting on a word, the process-wide barrier, time and memory.
 *
 * For Windows 8 and later, compiled by gcc or clang of mingw-w64: waiting is
 * WaitOnAddress, the barrier is FlushProcessWriteBuffers. Files and signals are in
 * windows_file.c, CPU groups and masks in windows_cpu.c. Programs link with the library
 * `synchronization`, where WaitOnAddress is.
 *
 * Who calls: core (latches, locks), sched and par. A thread's start record is made by the
 * starting thread and belongs to the new thread from the moment CreateThread succeeds.
 * The rest of the state, the numbers of slots, is written before main.
 *
 * SPDX-License-Identifier: MIT */
#include "sys.h"

#if defined(_WIN32)

#include "die.h"
#include "windows_api.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <weft/detail/fork_join.h>

/* ---- the worker of a thread ---- */

/* gcc emulates thread-local variables on Windows by a call, and each DLL has its own
 * emulation, so a variable cannot be shared between a program and the DLL. So wf_self is
 * an entry of the thread's own table of slots, at a place that the system has fixed. */
unsigned long wf_self_index;
static DWORD local_indexes[WF_LOCALS];

static DWORD take_tls_slot(void) {
  const DWORD index = TlsAlloc();
  if (index == TLS_OUT_OF_INDEXES)
    wf_sys_die("weft: fatal: Windows has no slot for a thread-local variable left.\n");
  return index;
}

__attribute__((constructor(101))) static void take_slots(void) {
  wf_self_index = take_tls_slot();
  for (unsigned i = 0; i < WF_LOCALS; i++) local_indexes[i] = take_tls_slot();
}

/* Slots beyond the first 64 are in a second table, which a thread has only after it has
 * written to one of them. */
enum { NEAR_SLOTS = 64 };

static void *far_slot(DWORD index) {
  if (!TlsSetValue(index, TlsGetValue(index)))
    wf_sys_die("weft: fatal: no memory for a thread-local variable.\n");
  char *const *far_slots = (char *const *)(wf_thread_block() + WF_TEB_FAR_SLOTS);
  return *far_slots + (index - NEAR_SLOTS) * sizeof(void *);
}

void *wf_self_far(void) {
  return far_slot((DWORD)wf_self_index);
}

void *wf_sys_local(wf_local which) {
  const DWORD index = local_indexes[which];
  if (index >= NEAR_SLOTS) return far_slot(index);
  return wf_thread_block() + WF_TEB_SLOTS + index * sizeof(void *);
}

/* ---- threads ---- */

struct thread_start {
  wf_thread_fn *fn;
  void *arg;
  fenv_t floats; /* rounding and precision of the starting thread */
  char name[WF_THREAD_NAME_MAX + 1];
};

typedef HRESULT WINAPI set_description(HANDLE thread, PCWSTR text);

/* Windows has names of threads since version 10; a name is for people, and a thread works
 * without. */
static void thread_take_name(const char *name) {
  WCHAR wide[WF_THREAD_NAME_MAX + 1];
  if (name[0] == '\0') return;
  const HMODULE module = GetModuleHandleW(L"kernelbase.dll");
  if (module == NULL) return;
  /* Through a number: compilers warn of other conversions between functions. */
  set_description *set =
      (set_description *)(uintptr_t)GetProcAddress(module, "SetThreadDescription");
  if (set == NULL) return;
  if (MultiByteToWideChar(CP_UTF8, 0, name, -1, wide, WF_THREAD_NAME_MAX + 1) > 0)
    (void)set(GetCurrentThread(), wide);
}

/* A thread computes with the rounding of the thread that starts it, as on other systems.
 * Windows starts threads with a long double of 53 bits, and main has 64: without this a
 * sum would depend on the thread that computes it.
 *
 * As long as the thread runs, FreeLibrary does not unload the DLL that this code is in;
 * the last act of the thread gives the DLL back. In a program nothing is unloaded, and
 * both calls do no more than end the thread. */
static DWORD WINAPI thread_main(void *memory) {
  struct thread_start start;
  HMODULE module = NULL;
  memcpy(&start, memory, sizeof start);
  free(memory);
  (void)fesetenv(&start.floats);
  thread_take_name(start.name);
  start.fn(start.arg);
  if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                             GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                         (LPCWSTR)(uintptr_t)thread_main, &module))
    FreeLibraryAndExitThread(module, 0);
  return 0;
}

/* Counts the DLL as used once more, for the thread that is about to start. */
static HMODULE thread_hold_module(void) {
  HMODULE module = NULL;
  (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                           (LPCWSTR)(uintptr_t)thread_main, &module);
  return module;
}

static int thread_create(wf_thread *out, size_t stack_size, struct thread_start *start) {
  /* The size is what is reserved; the system commits pages as they are touched. */
  const HMODULE module = thread_hold_module();
  const HANDLE thread =
      CreateThread(NULL, stack_size, thread_main, start,
                   CREATE_SUSPENDED | STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  if (thread == NULL) {
    const DWORD error = GetLastError();
    if (module != NULL) FreeLibrary(module);
    return error == ERROR_INVALID_PARAMETER ? WEFT_EINVAL : WEFT_EAGAIN;
  }
  wf_windows_place(thread);
  (void)ResumeThread(thread);
  out->handle = (uintptr_t)thread;
  return WEFT_OK;
}

int wf_sys_thread_start(wf_thread *out, const char *name, size_t stack_size,
                        wf_thread_fn *fn, void *arg) {
  /* Windows would round up whatever is given; this is the least that works. The most
   * makes nonsense an error instead of a thread that cannot start. */
  const size_t least = 16 * 1024, most = SIZE_MAX / 4;
  if (stack_size != 0 && (stack_size < least || stack_size > most)) return WEFT_EINVAL;
  struct thread_start *start = malloc(sizeof *start);
  if (start == NULL) return WEFT_ENOMEM;
  memset(start, 0, sizeof *start);
  start->fn = fn;
  start->arg = arg;
  (void)fegetenv(&start->floats);
  for (size_t i = 0; name != NULL && name[i] != '\0' && i < WF_THREAD_NAME_MAX; i++)
    start->name[i] = name[i];
  const int status = thread_create(out, stack_size, start);
  if (status != WEFT_OK) free(start);
  return status;
}

/* A thread that starts holds the DLL from the moment it is created. */
void wf_sys_threads_await(void) {}

void wf_sys_thread_join(wf_thread thread) {
  const HANDLE handle = (HANDLE)thread.handle;
  /* To go on as if the thread had ended would free what it still uses. */
  if (GetThreadId(handle) == GetCurrentThreadId() ||
      WaitForSingleObject(handle, INFINITE) != WAIT_OBJECT_0)
    wf_sys_die("weft: fatal: a thread could not be joined: it joined itself, or it was "
               "joined or detached before.\n");
  CloseHandle(handle);
}

void wf_sys_thread_yield(void) {
  (void)SwitchToThread();
}

bool wf_sys_thread_stack(uintptr_t *low, size_t *size) {
  ULONG_PTR from = 0, to = 0;
  GetCurrentThreadStackLimits(&from, &to);
  *low = (uintptr_t)from;
  *size = (size_t)(to - from);
  return to > from;
}

/* Windows has no fork. */
void wf_sys_on_fork(void (*const *fn)(void)) {
  (void)fn;
}

/* ---- waiting on a word ---- */

void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  (void)WaitOnAddress(&word->raw, &expected, sizeof expected, INFINITE);
}

/* Windows counts in milliseconds: a shorter wait is rounded up, because one of 0 would
 * make the caller spin. The longest is some 24 days; the caller looks again then. */
bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  const uint64_t longest = INT32_MAX;
  uint64_t ms = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
  if (ms > longest) ms = longest;
  if (WaitOnAddress(&word->raw, &expected, sizeof expected, (DWORD)ms)) return true;
  return GetLastError() != ERROR_TIMEOUT;
}

void wf_sys_wake_one(wf_u32 *word) {
  WakeByAddressSingle(&word->raw);
}

void wf_sys_wake_all(wf_u32 *word) {
  WakeByAddressAll(&word->raw);
}

/* ---- process-wide barrier ---- */

/* Every Windows since Vista has the call, and it cannot fail. In Wine it returns without
 * having done anything (version 8.0: a stub), which no result shows. */
bool wf_sys_barrier_prepare(void) {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const bool is_wine = ntdll != NULL && GetProcAddress(ntdll, "wine_get_version") != NULL;
  return !is_wine;
}

/* It interrupts the CPUs that run threads of this process. Its description speaks of the
 * write buffers of those CPUs; the interrupt also orders their reads. The fences are for
 * the caller itself. */
bool wf_sys_barrier(void) {
  MemoryBarrier();
  FlushProcessWriteBuffers();
  MemoryBarrier();
  return true;
}

/* ---- time ---- */

/* Neither call enters the kernel on the usual machines. */
uint64_t wf_sys_now_ns(void) {
  const uint64_t second = UINT64_C(1000000000);
  LARGE_INTEGER frequency, now;
  if (!QueryPerformanceFrequency(&frequency) || !QueryPerformanceCounter(&now)) return 0;
  const uint64_t per_second = (uint64_t)frequency.QuadPart;
  const uint64_t ticks = (uint64_t)now.QuadPart;
  /* In two parts, so that the product does not overflow. */
  return ticks / per_second * second + ticks % per_second * second / per_second;
}

uint64_t wf_sys_ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#else
  return wf_sys_now_ns();
#endif
}

uint64_t wf_sys_ticks_per_us(void) {
#if defined(__x86_64__) || defined(__i386__)
  return 3000; /* as in unix.c */
#else
  return 1000;
#endif
}

void wf_sys_relax(void) {
  YieldProcessor();
}

/* ---- memory ---- */

void *wf_sys_map(size_t size) {
  return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void wf_sys_unmap(void *memory, size_t size) {
  (void)size;
  if (memory != NULL) (void)VirtualFree(memory, 0, MEM_RELEASE);
}

/* Large pages of Windows need a right that users do not have, and cannot be asked for
 * later. */
void wf_sys_prefer_large_pages(void *memory, size_t size) {
  (void)memory;
  (void)size;
}

/* ---- environment ---- */

char **wf_sys_environment(void) {
  return _environ;
}

#endif

/* windows_file.c - files, signals that end the process, and what a trace says about it.
 *
 * File numbers are those of the C library, as everywhere else; paths are in the code page
 * of the program, as for fopen.
 *
 * Who calls: trace, the statistics of sched, and handles that tell a descriptor.
 * Everything may be called from any thread unless sys.h says otherwise.
 *
 * SPDX-License-Identifier: MIT */
#include "sys.h"

#if defined(_WIN32)

#include "windows_api.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <share.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <winternl.h>

/* ---- files ---- */

/* Others may read the file meanwhile, and nobody else may write it. */
int wf_sys_file_create(const char *path, int *error) {
  const int flags = _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT;
  int file = -1;
  const errno_t failed = _sopen_s(&file, path, flags, _SH_DENYWR, _S_IREAD | _S_IWRITE);
  if (failed != 0 || file < 0) {
    *error = failed;
    return GetLastError() == ERROR_SHARING_VIOLATION ? WEFT_EBUSY : WEFT_EIO;
  }
  /* Fails for devices, which have nothing to cut off. */
  if (_chsize(file, 0) != 0) *error = errno;
  return file;
}

bool wf_sys_file_write(int file, const void *data, size_t size, uint64_t offset) {
  const HANDLE handle = (HANDLE)_get_osfhandle(file);
  const char *from = (const char *)data;
  const size_t most = 1 << 30; /* a DWORD holds it */
  while (size > 0) {
    OVERLAPPED at;
    DWORD written = 0;
    memset(&at, 0, sizeof at);
    at.Offset = (DWORD)offset;
    at.OffsetHigh = (DWORD)(offset >> 32);
    if (!WriteFile(handle, from, (DWORD)(size < most ? size : most), &written, &at) ||
        written == 0)
      return false;
    from += written;
    offset += written;
    size -= written;
  }
  return true;
}

/* A view of a file ends where the file ends, and keeps it from being cut. That is not
 * what the callers want; they write instead. */
void *wf_sys_file_map(int file, uint64_t offset, size_t size) {
  (void)file, (void)offset, (void)size;
  return NULL;
}

bool wf_sys_file_cut(int file, uint64_t size) {
  return _chsize_s(file, (__int64)size) == 0;
}

void wf_sys_file_close(int file) {
  (void)_close(file);
}

bool wf_sys_file_replace(const char *path, const void *data, size_t size) {
  char other[MAX_PATH];
  int error = 0;
  const int length = snprintf(other, sizeof other, "%s.new", path);
  if (length < 0 || (size_t)length >= sizeof other) return false;
  const int file = wf_sys_file_create(other, &error);
  if (file < 0) return false;
  const bool written = wf_sys_file_write(file, data, size, 0);
  wf_sys_file_close(file);
  if (written && MoveFileExA(other, path, MOVEFILE_REPLACE_EXISTING)) return true;
  wf_sys_file_remove(other);
  return false;
}

void wf_sys_file_remove(const char *path) {
  (void)DeleteFileA(path);
}

/* The folder for temporary files of a user is in the profile, which is the user's. */
bool wf_sys_private_path(char *out, size_t size, const char *name) {
  char folder[MAX_PATH + 1];
  const DWORD found = GetTempPathA(sizeof folder, folder); /* ends with a backslash */
  if (found == 0 || found >= sizeof folder) return false;
  const int length = snprintf(out, size, "%s%s", folder, name);
  return length > 0 && (size_t)length < size;
}

/* ---- telling a file descriptor ---- */

/* A number that is no descriptor may end the program: the C library calls a handler, of
 * which the default does that in newer versions. */
static void ignore_invalid(const wchar_t *what, const wchar_t *function,
                           const wchar_t *file, unsigned line, uintptr_t reserved) {
  (void)what, (void)function, (void)file, (void)line, (void)reserved;
}

static HANDLE handle_of(int fd) {
  if (fd < 0) return INVALID_HANDLE_VALUE;
  const _invalid_parameter_handler before =
      _set_invalid_parameter_handler(ignore_invalid);
  const intptr_t handle = _get_osfhandle(fd);
  (void)_set_invalid_parameter_handler(before);
  return (HANDLE)handle;
}

/* The rights with which a handle was opened. Only ntdll tells them; winternl.h has the
 * call, and no library that every program links with. */
typedef NTSTATUS NTAPI query_object(HANDLE handle, OBJECT_INFORMATION_CLASS which,
                                    PVOID out, ULONG size, PULONG used);

bool wf_sys_fd_is_writable(int fd) {
  PUBLIC_OBJECT_BASIC_INFORMATION rights;
  const HANDLE handle = handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE || handle == NULL) return false;
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  query_object *query =
      ntdll != NULL ? (query_object *)(uintptr_t)GetProcAddress(ntdll, "NtQueryObject")
                    : NULL;
  memset(&rights, 0, sizeof rights);
  if (query == NULL ||
      query(handle, ObjectBasicInformation, &rights, sizeof rights, NULL) != 0)
    return true; /* unknown: the write will tell */
  return (rights.GrantedAccess & (FILE_WRITE_DATA | FILE_APPEND_DATA)) != 0;
}

/* A pipe of the C library. Windows has no signal for one that nobody reads. */
void wf_sys_fd_notify(int fd) {
  const uint64_t one = 1;
  DWORD written;
  const HANDLE handle = handle_of(fd);
  if (handle == INVALID_HANDLE_VALUE || handle == NULL) return;
  (void)WriteFile(handle, &one, sizeof one, &written, NULL);
}

/* ---- the process ---- */

const char *wf_sys_error_text(int error) {
  return strerror(error);
}

void wf_sys_print_line(const char *line) {
  (void)fprintf(stderr, "%s\n", line);
  (void)fflush(stderr);
}

const char *wf_sys_variable(const char *name) {
  return getenv(name);
}

uint32_t wf_sys_process_id(void) {
  return GetCurrentProcessId();
}

static uint64_t time_ns(FILETIME time) {
  return 100 * ((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime);
}

/* Windows counts no waits of a process. */
wf_usage wf_sys_usage(void) {
  FILETIME created, ended, kernel, user;
  if (!GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user))
    return (wf_usage){0, 0, 0, 0};
  return (wf_usage){time_ns(kernel) + time_ns(user), 0, 0, 0};
}

const char *wf_sys_program_name(void) {
  const char *path = _pgmptr;
  if (path == NULL || path[0] == '\0') return "program";
  const char *name = path;
  for (; *path != '\0'; path++)
    if (*path == '\\' || *path == '/') name = path + 1;
  return name;
}

void wf_sys_date(char out[WF_DATE_SIZE]) {
  SYSTEMTIME now;
  GetSystemTime(&now);
  (void)snprintf(out, WF_DATE_SIZE, "%04u-%02u-%02uT%02u:%02u:%02uZ",
                 (unsigned)now.wYear % 10000, (unsigned)now.wMonth % 100,
                 (unsigned)now.wDay % 100, (unsigned)now.wHour % 100,
                 (unsigned)now.wMinute % 100, (unsigned)now.wSecond % 100);
}

/* ---- what ends the process ---- */

/* Faults are exceptions here; abort and Ctrl-C are signals of the C library. */
static const int FATAL_SIGNALS[] = {SIGABRT, SIGINT, SIGTERM};
enum { FATAL_COUNT = sizeof FATAL_SIGNALS / sizeof FATAL_SIGNALS[0] };

static wf_ptr x_on_fatal; /* points at the function pointer, or NULL */
static void (*on_fatal)(int signal);
static bool fatal_is_ours[FATAL_COUNT];
static LPTOP_LEVEL_EXCEPTION_FILTER filter_before;

static void call_on_fatal(int signal_number) {
  /* Relaxed: what it points to is constant, and written before the handler is there. */
  void (**fn)(int) = (void (**)(int))wf_ptr_load_relaxed(&x_on_fatal);
  if (fn != NULL) (*fn)(signal_number);
}

static void handle_fatal_signal(int signal_number) {
  call_on_fatal(signal_number);
  (void)signal(signal_number, SIG_DFL);
  (void)raise(signal_number);
}

/* An exception that nothing in the program has handled. The filter that was there before
 * comes next: the one of the C library makes signals of some exceptions. */
static LONG WINAPI filter_exception(EXCEPTION_POINTERS *exception) {
  call_on_fatal(SIGSEGV);
  return filter_before != NULL ? filter_before(exception) : EXCEPTION_CONTINUE_SEARCH;
}

static void take_fatal_signals(void) {
  filter_before = SetUnhandledExceptionFilter(filter_exception);
  for (int i = 0; i < FATAL_COUNT; i++) {
    void (*before)(int) = signal(FATAL_SIGNALS[i], handle_fatal_signal);
    fatal_is_ours[i] = before == SIG_DFL;
    if (before != SIG_DFL && before != SIG_ERR) (void)signal(FATAL_SIGNALS[i], before);
  }
}

/* What the program has installed meanwhile stays. */
static void give_fatal_signals_back(void) {
  LPTOP_LEVEL_EXCEPTION_FILTER now = SetUnhandledExceptionFilter(filter_before);
  if (now != filter_exception) (void)SetUnhandledExceptionFilter(now);
  for (int i = 0; i < FATAL_COUNT; i++) {
    if (!fatal_is_ours[i]) continue;
    void (*handler)(int) = signal(FATAL_SIGNALS[i], SIG_DFL);
    if (handler != handle_fatal_signal && handler != SIG_ERR)
      (void)signal(FATAL_SIGNALS[i], handler);
  }
}

void wf_sys_on_fatal_signal(void (*fn)(int signal)) {
  if (fn != NULL) {
    on_fatal = fn;
    wf_ptr_store_release(&x_on_fatal, &on_fatal); /* pairs with the load in the handler */
    take_fatal_signals();
  } else if (wf_ptr_load_relaxed(&x_on_fatal) !=
             NULL) { /* relaxed: one thread at a time */
    give_fatal_signals_back();
    wf_ptr_store_release(&x_on_fatal, NULL); /* pairs with the load in the handler */
  }
}

#endif

/* trace/probes.h - static probes (USDT) for bpftrace, SystemTap, perf and LTTng.
 *
 * Where <sys/sdt.h> is present when the library is compiled (Debian: systemtap-sdt-dev),
 * each probe is one nop instruction and a note in the file; elsewhere it is nothing.
 * docs/guide/tracing.md lists them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_TRACE_PROBES_H
#define WF_TRACE_PROBES_H

#if defined(__has_include) && !defined(WEFT_NO_PROBES)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define WF_HAS_PROBES 1
#endif
#endif

#ifdef WF_HAS_PROBES
/* The macros of <sys/sdt.h> are not strict C, and clang says so wherever one is used:
 * from here to the end of the file that includes this. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
#define WF_PROBE1(name, a)       DTRACE_PROBE1(weft, name, a)
#define WF_PROBE2(name, a, b)    DTRACE_PROBE2(weft, name, a, b)
#define WF_PROBE3(name, a, b, c) DTRACE_PROBE3(weft, name, a, b, c)
#else
#define WF_PROBE1(name, a)       ((void)0)
#define WF_PROBE2(name, a, b)    ((void)0)
#define WF_PROBE3(name, a, b, c) ((void)0)
#endif

#endif

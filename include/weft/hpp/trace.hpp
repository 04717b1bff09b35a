/* weft/hpp/trace.hpp - traces of what the scheduler does: weft/trace.h for C++.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_TRACE_HPP
#define WEFT_HPP_TRACE_HPP

#include <weft/hpp/base.hpp>
#include <weft/trace.h>

WEFT_HPP_BEGIN

/* A trace for as long as the object lives: weft_trace_start, weft_trace_stop. Exceptions:
 * weft::error if a trace runs already, or the file cannot be written. */
class trace {
public:
  explicit trace(const char *path) {
    detail::check(weft_trace_start(path));
  }
  ~trace() {
    weft_trace_stop();
  }
  trace(const trace &) = delete;
  trace &operator=(const trace &) = delete;
};

/* Names the running task; a string literal: weft_name. */
inline void name(const char *literal) noexcept {
  weft_name(literal);
}

/* A frame ends: weft_frame_mark. */
inline void frame_mark(const char *literal = nullptr) noexcept {
  weft_frame_mark(literal);
}

WEFT_HPP_END

#endif

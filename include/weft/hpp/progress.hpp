/* weft/hpp/progress.hpp - how far a long loop is: weft/progress.h for C++.
 *
 *     weft::progress p("reading", files.size(), "files");
 *     weft::for_each(files, [&](const std::string &name) { scan(name); p.add(); });
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_PROGRESS_HPP
#define WEFT_HPP_PROGRESS_HPP

#include <string>
#include <weft/hpp/loop.hpp>
#include <weft/progress.h>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Serial: none: they change nothing in what the program computes. Threads: any, unless
 * the call says otherwise. Exceptions: none, unless the call says otherwise. Cost: that
 * of the call of C that it stands for. */

/* How far it is: weft_progress_state. */
struct progress_state : weft_progress_state {
  progress_state() noexcept : weft_progress_state(WEFT_PROGRESS_STATE_INIT) {}
};

/* Options, with their defaults: weft_progress_opts. */
struct progress_options : weft_progress_opts {
  progress_options() noexcept : weft_progress_opts(WEFT_PROGRESS_OPTS_INIT) {}
  /* Setters: each sets the member of weft_progress_opts after which it is named. */
  progress_options &with_unit(const char *name) noexcept {
    unit = name;
    return *this;
  }
  progress_options &with_interval_ms(unsigned ms) noexcept {
    interval_ms = ms;
    return *this;
  }
  progress_options &quiet(bool is = true) noexcept {
    is_quiet = is;
    return *this;
  }
  progress_options &vanish(bool does = true) noexcept {
    vanishes = does;
    return *this;
  }
};

/* Shows progress for as long as the object lives: weft_progress_begin, weft_progress_end.
 * A total of 0 is not known. Threads: add any number at the same time; the destructor
 * when nobody uses it any more. Exceptions: none. Without memory nothing is counted or
 * shown, and the program goes on. */
class progress {
public:
  explicit progress(const std::string &title, std::uint64_t total = 0,
                    const char *unit = nullptr) noexcept
      : progress(progress_options().with_unit(unit), title, total) {}
  progress(const progress_options &o, const std::string &title,
           std::uint64_t total = 0) noexcept {
    (void)weft_progress_begin_with(&o, &progress_, title.c_str(), total);
  }
  ~progress() {
    weft_progress_end(progress_);
  }
  progress(const progress &) = delete;
  progress &operator=(const progress &) = delete;

  /* Says that n further pieces are done: weft_progress_add. */
  void add(std::uint64_t n = 1) noexcept {
    weft_progress_add(progress_, n);
  }
  progress &operator+=(std::uint64_t n) noexcept {
    add(n);
    return *this;
  }
  progress &operator++() noexcept {
    add(1);
    return *this;
  }

  /* Change what was not known at the beginning: weft_progress_set_total and others. */
  void set_total(std::uint64_t total) noexcept {
    weft_progress_set_total(progress_, total);
  }
  void set_title(const std::string &title) noexcept {
    weft_progress_set_title(progress_, title.c_str());
  }
  void set_left(std::uint64_t ns) noexcept {
    weft_progress_set_left(progress_, ns);
  }

  /* How far it is: weft_progress_get. */
  progress_state get() const noexcept {
    progress_state state;
    weft_progress_get(progress_, &state);
    return state;
  }

private:
  weft_progress *progress_ = nullptr;
};

/* Draws all progress that is shown now: weft_progress_draw. */
inline void progress_draw() noexcept {
  weft_progress_draw();
}

/* Writes a line above all progress that is shown: weft_progress_print. */
inline void progress_print(const std::string &line) noexcept {
  weft_progress_print(line.c_str());
}

/* A parallel loop over blocks that shows its progress: weft_progress_for.
 *
 * Replaces
 *
 *     f(0, n);
 *
 * Meaning: for_blocks with progress. Exceptions: as for_blocks. */
template <class F>
void progress_for(const options &o, const std::string &title, std::size_t n, F &&f) {
  if (n == 0) return;
  progress shown(title, n);
  const auto &body = std::as_const(f);
  weft::for_blocks(o, n, [&](std::size_t begin, std::size_t end) {
    body(begin, end);
    shown.add(end - begin);
  });
}

template <class F> void progress_for(const std::string &title, std::size_t n, F &&f) {
  weft::progress_for(options(), title, n, std::forward<F>(f));
}

WEFT_HPP_END

#endif

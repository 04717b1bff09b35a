/* weft/hpp/pipeline.hpp - weft::pipeline: objects that go through stages, several at a
 * time.
 *
 *     weft::pipeline<block>(0, weft::ordered([&](block &b) { return read(b); }),
 *                           weft::parallel([](block &b) { compress(b); }),
 *                           weft::ordered([&](block &b) { write(b); }));
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_PIPELINE_HPP
#define WEFT_HPP_PIPELINE_HPP

#include <tuple>
#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Serial: the stages one after the other, for each item. Threads: any, as weft_pipeline.
 * Exceptions: what a stage throws, of the lowest item that failed. Cost: as
 * weft_pipeline. */

/* A stage, made by one of the functions below. */
template <class F> struct stage {
  weft_stage_kind kind;
  F f;
};

/* Stages of a pipeline, which say how many items may be in them at a time. The callable
 * is f(item) or f(item, number), which returns nothing, 0 or an error. One call at a time
 * in the order of the items; one at a time; any number at a time, which makes the
 * callable const. The others are for callables that may block; see weft_stage_kind. */
template <class F> stage<std::decay_t<F>> ordered(F &&f) {
  return {WEFT_STAGE_ORDERED, std::forward<F>(f)};
}
template <class F> stage<std::decay_t<F>> serial(F &&f) {
  return {WEFT_STAGE_SERIAL, std::forward<F>(f)};
}
template <class F> stage<const std::decay_t<F>> parallel(F &&f) {
  return {WEFT_STAGE_PARALLEL, std::forward<F>(f)};
}
template <class F> stage<std::decay_t<F>> ordered_blocking(F &&f) {
  return {WEFT_STAGE_ORDERED_BLOCKING, std::forward<F>(f)};
}
template <class F> stage<std::decay_t<F>> serial_blocking(F &&f) {
  return {WEFT_STAGE_SERIAL_BLOCKING, std::forward<F>(f)};
}
template <class F> stage<const std::decay_t<F>> parallel_blocking(F &&f) {
  return {WEFT_STAGE_PARALLEL_BLOCKING, std::forward<F>(f)};
}

namespace detail {

/* The objects of a pipeline. A place of the C ring holds a pointer, which is null when
 * the place is used for the first time; the first stage makes the object then. */
template <class T> class pipeline_objects {
public:
  pipeline_objects() = default;
  pipeline_objects(const pipeline_objects &) = delete;
  pipeline_objects &operator=(const pipeline_objects &) = delete;
  ~pipeline_objects() {
    box *next = last_.load(std::memory_order_relaxed); /* all threads have ended */
    while (next != nullptr) delete std::exchange(next, next->before);
  }

  T &at(void *item) {
    box *&here = *static_cast<box **>(item);
    if (here == nullptr) {
      box *made = new box;
      made->before = last_.load(std::memory_order_relaxed);
      /* Relaxed: only the destructor follows the list, when the pipeline has ended. */
      while (
          !last_.compare_exchange_weak(made->before, made, std::memory_order_relaxed)) {
      }
      here = made;
    }
    return here->value;
  }

  static constexpr std::size_t item_size = sizeof(void *);

private:
  struct box {
    T value{};
    box *before = nullptr;
  };
  std::atomic<box *> last_{nullptr};
};

/* What the C functions of the stages share. */
template <class T> struct pipeline_state {
  pipeline_objects<T> objects;
  earliest failure;
};

template <class T, class F>
constexpr bool is_stage_function =
    std::is_invocable_v<F &, T &> || std::is_invocable_v<F &, T &, std::size_t>;

template <class F, class T> auto call_stage_function(F &f, T &item, std::size_t number) {
  if constexpr (std::is_invocable_v<F &, T &, std::size_t>)
    return f(item, number);
  else
    return f(item);
}

template <class T, class F>
using stage_result = decltype(call_stage_function(std::declval<F &>(),
                                                  std::declval<T &>(), std::size_t()));

template <class T, class F> struct stage_runner {
  pipeline_state<T> *state;
  F *f;

  static int run(void *item, std::size_t number, void *ctx) {
    stage_runner &own = from_ctx<stage_runner>(ctx);
    int error = 0;
    if (!guarded(
            [&] {
              T &object = own.state->objects.at(item);
              if constexpr (std::is_void_v<stage_result<T, F>>)
                call_stage_function(*own.f, object, number);
              else
                error = call_stage_function(*own.f, object, number);
            },
            [&] { own.state->failure.caught_at(number); }))
      return 1; /* nobody sees it: the exception is thrown instead */
    /* An error of a lower item wins over exceptions behind it. */
    if (error != 0 && error != WEFT_END) own.state->failure.settle(number, [] {});
    return error;
  }
};

/* A bool would read as an error where it says that all went well. */
template <class T, class F>
constexpr bool
    has_stage_result = std::is_void_v<stage_result<T, F>> ||
                       (std::is_convertible_v<stage_result<T, F>, int> &&
                        !std::is_same_v<std::decay_t<stage_result<T, F>>, bool>);

template <class T, class First, class... Rest> constexpr bool expect_stages() {
  constexpr bool callable =
      is_stage_function<T, First> && (is_stage_function<T, Rest> && ...);
  static_assert(callable, "weft::pipeline: a stage must be callable as f(item &) or "
                          "f(item &, number); a parallel one as const");
  if constexpr (callable) {
    constexpr bool makes = !std::is_void_v<stage_result<T, First>>;
    constexpr bool returns =
        has_stage_result<T, First> && (has_stage_result<T, Rest> && ...);
    static_assert(makes,
                  "weft::pipeline: the first stage must return 0, WEFT_END or an error");
    static_assert(returns,
                  "weft::pipeline: a stage must return nothing or an int: 0 or an error");
    return makes && returns;
  } else {
    return false;
  }
}

} // namespace detail

/* Takes objects through stages, several at a time.
 *
 * Replaces
 *
 *     for (std::size_t number = 0;; number++) {
 *       if (first.f(item, number) == WEFT_END) return 0;
 *       rest.f(item, number)...;
 *     }
 *
 * Meaning: weft_pipeline (weft/pipeline.h). Items are objects of type T, made by its
 * default constructor when their place is used for the first time, used again by later
 * items, and destroyed when the pipeline has ended. The result is 0 or the error of the
 * lowest item that failed.
 *
 * Exceptions: one that a stage throws is the error of its item; the call throws that of
 * the lowest item, unless a lower one has returned an error. */
template <class T, class First, class... Rest>
int pipeline(const options &o, std::size_t in_flight, stage<First> first,
             stage<Rest>... rest) {
  if constexpr (detail::expect_stages<T, First, Rest...>()) {
    detail::pipeline_state<T> state;
    auto runners = std::make_tuple(detail::stage_runner<T, First>{&state, &first.f},
                                   detail::stage_runner<T, Rest>{&state, &rest.f}...);
    const weft_stage_kind kinds[] = {first.kind, rest.kind...};
    weft_stage stages[1 + sizeof...(Rest)];
    std::size_t i = 0;
    std::apply(
        [&](auto &...runner) {
          ((stages[i] = {kinds[i], std::decay_t<decltype(runner)>::run, &runner}, i++),
           ...);
        },
        runners);
    const int status = weft_pipeline_with(&o, detail::pipeline_objects<T>::item_size,
                                          in_flight, stages, 1 + sizeof...(Rest));
    state.failure.rethrow_if_caught();
    return status;
  } else {
    return WEFT_EINVAL; /* a static assertion has failed */
  }
}

template <class T, class First, class... Rest>
int pipeline(std::size_t in_flight, stage<First> first, stage<Rest>... rest) {
  return pipeline<T>(options(), in_flight, std::move(first), std::move(rest)...);
}

WEFT_HPP_END

#endif

/* weft/hpp/join.hpp - weft::join: callables, perhaps at the same time, and their results;
 * weft::invoke without results.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_JOIN_HPP
#define WEFT_HPP_JOIN_HPP

#include <tuple>
#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

namespace detail {

/* f(), and `nothing` for void. */
template <class F> WEFT_HPP_INLINE result_of<F &> value_of(F &f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F &>>) {
    f();
    return nothing{};
  } else {
    return f();
  }
}

/* How a join holds a callable: small temporaries, such as lambdas written in the call, by
 * value. The compiler knows that nobody else sees these, so the fast path keeps them in
 * registers although a copy is in memory for thieves. */
template <class F>
using held = std::conditional_t<!std::is_reference_v<F> &&
                                    std::is_trivially_copyable_v<F> && sizeof(F) <= 64,
                                std::remove_const_t<F>, std::remove_reference_t<F> &>;

/* A half that another thread may run. When it has run, `failed` says whether it has
 * thrown. F is a type or a reference. */
template <class F> struct forked_half {
  using result = result_of<F &>;
  F f;
  slot<result> value;
  slot<std::exception_ptr> what;
  bool failed;

  WEFT_HPP_INLINE explicit forked_half(F &callable) : f(callable) {}

  static void run(void *ctx) {
    forked_half &half = from_ctx<forked_half>(ctx);
    half.failed = !guarded([&] { half.value.fill(half.f); }, [&] { half.keep(); });
  }
  WEFT_HPP_COLD void keep() noexcept {
    what.fill([] { return std::current_exception(); });
  }
  WEFT_HPP_COLD void drop() noexcept {
    failed ? what.clear() : value.clear();
  }
  result take() {
    if (WF_UNLIKELY(failed)) rethrow(what.take());
    return value.take();
  }
};

template <class A, class B> using both = std::pair<result_of<A &>, result_of<B &>>;

/* From outside a pool. */
template <class A, class B> WEFT_HPP_COLD both<A, B> join_outside(A a, B b) {
  forked_half<A> first(a);
  forked_half<B> second(b);
  wf_join_outside(first.run, &first, second.run, &second);
  if (first.failed) second.drop();
  result_of<A &> value = first.take();
  return {std::forward<result_of<A &>>(value), second.take()};
}

/* `a` has thrown: runs `b`, or waits for it, and drops its result. */
template <class Half> WEFT_HPP_COLD void join_after_throw(wf_call *forked) noexcept {
  wf_task_join_slow(wf_self_now(), forked, "weft::join");
  from_ctx<Half>(forked->task.context).drop();
}

/* weft_join, written out: so both callables are inlined where the compiler knows their
 * surroundings, and nothing is stored for exceptions that are not thrown. An exception of
 * `a` goes through the handler, and one of `b`, if nobody took it, as from any call. It
 * forks as a typed task, which keeps its place in the deque
 * (docs/design/fast-path.md). */
template <class A, class B> WEFT_HPP_INLINE both<A, B> join_pair(A a, B b) {
  wf_owner *self = wf_self_now();
  if (WF_UNLIKELY(self == nullptr)) return join_outside<A, B>(a, b);
  using half_b = forked_half<B>;
  half_b half(b);
  wf_call forked;
  wf_call *where;
  forked.task.execute = half.run;
  forked.task.context = &half;
  wf_call_push(self, &forked);
  auto first = [&]() -> result_of<A &> {
#if defined(__cpp_exceptions)
    try {
      return value_of(a);
    } catch (...) {
      WF_ADDRESS_NOW(where, forked);
      join_after_throw<half_b>(where);
      throw;
    }
#else
    return value_of(a);
#endif
  };
  result_of<A &> value = first();
  self = wf_self_now();
  if (WF_LIKELY(wf_call_pop(self, &forked)))
    return {std::forward<result_of<A &>>(value), value_of(b)};
  WF_ADDRESS_NOW(where, forked);
  wf_task_join_slow(self, where, "weft::join");
  return {std::forward<result_of<A &>>(value),
          from_ctx<half_b>(forked.task.context).take()};
}

/* The first with the join of all others. */
template <class A> std::tuple<result_of<A &>> join_list(A &a) {
  return {value_of(a)};
}

template <class A, class... More>
std::tuple<result_of<A &>, result_of<More &>...> join_list(A &a, More &...more) {
  auto rest = [&] { return join_list(more...); };
  auto halves = join_pair<A &, decltype(rest)>(a, rest);
  return std::tuple_cat(
      std::tuple<result_of<A &>>(std::forward<result_of<A &>>(halves.first)),
      std::move(halves.second));
}

} // namespace detail

/* Runs callables, perhaps at the same time, and gives their results.
 *
 * Replaces
 *
 *     auto first = a();
 *     auto second = b();
 *     return std::pair(std::move(first), std::move(second));
 *
 * Meaning: weft_join (weft/join.h) of two callables. Both are called exactly once and
 * have returned when weft::join returns. The result is the pair of what they return;
 * weft::nothing stands for one that returns void, and if both do so, join returns void.
 *
 * Exceptions: both are called in any case. If `a` throws, `b` still runs to its end, and
 * then join throws what `a` has thrown; else what `b` has thrown. So it is the exception
 * of the serial code.
 *
 * Cost: that of weft_join. Nothing is allocated, the callables are inlined.
 *
 *     long fib(long n) {
 *       if (n < 2) return n;
 *       auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
 *       return a + b;
 *     } */
template <class A, class B> WEFT_HPP_INLINE auto join(A &&a, B &&b) {
  constexpr bool right = std::is_invocable_v<A &> && std::is_invocable_v<B &>;
  static_assert(right, "weft::join: each argument must be callable as f()");
  if constexpr (right) {
    if constexpr (std::is_void_v<std::invoke_result_t<A &>> &&
                  std::is_void_v<std::invoke_result_t<B &>>)
      detail::join_pair<detail::held<A>, detail::held<B>>(a, b);
    else
      return detail::join_pair<detail::held<A>, detail::held<B>>(a, b);
  }
}

/* Replaces
 *
 *     return std::tuple(a(), b(), c(), ...);
 *
 * Meaning: as the join of two, with any number of callables. The result is a tuple, void
 * if all of them return void. The exception is that of the first in the list that throws;
 * all are called in any case. */
template <class A, class B, class C, class... More>
auto join(A &&a, B &&b, C &&c, More &&...more) {
  constexpr bool right =
      std::conjunction_v<std::is_invocable<A &>, std::is_invocable<B &>,
                         std::is_invocable<C &>, std::is_invocable<More &>...>;
  static_assert(right, "weft::join: each argument must be callable as f()");
  if constexpr (right) {
    auto all = detail::join_list(a, b, c, more...);
    using no_result =
        std::tuple<decltype((void)more, nothing())..., nothing, nothing, nothing>;
    if constexpr (!std::is_same_v<decltype(all), no_result>) return all;
  }
}

/* Runs callables, perhaps at the same time, without results.
 *
 * Replaces
 *
 *     f(), g(), h(), ...;
 *
 * Meaning: weft_invoke: as join for any number of callables, also none or one, without
 * their results. The exception is that of the first in the list that throws; all are
 * called in any case. For callables in a container use for_each. */
template <class... F> void invoke(F &&...f) {
  constexpr bool right = std::conjunction_v<std::is_invocable<F &>...>;
  static_assert(right, "weft::invoke: each argument must be callable as f()");
  if constexpr (right) {
    if constexpr (sizeof...(f) > 0) (void)detail::join_list(f...);
  }
}

WEFT_HPP_END

#endif

/* weft/hpp/topology.hpp - the machine, and a pool for each of its memory nodes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_TOPOLOGY_HPP
#define WEFT_HPP_TOPOLOGY_HPP

#include <cstdio>
#include <string>
#include <vector>
#include <weft/hpp/base.hpp>
#include <weft/hpp/pool.hpp>
#include <weft/topology.h>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Serial: none: a serial program has one CPU and one node, unless the call says
 * otherwise. Threads: any. Exceptions: none, unless the call says otherwise. Cost: that
 * of the call of C that it stands for. */

/* Prints cores, caches and memory nodes, and counts the nodes: weft_topology_print,
 * weft_node_count. Exceptions: weft::error if the file does not take what is written. */
inline void topology_print(std::FILE *out) {
  detail::check(weft_topology_print(out));
}
inline unsigned node_count() noexcept {
  return weft_node_count();
}

/* Says why a configuration would be refused, "" if it is valid: weft_config_check.
 * Exceptions: std::bad_alloc. */
inline std::string config_check(const weft_config &c) {
  char why[200];
  static_cast<void>(weft_config_check(&c, why, sizeof why));
  return why;
}

/* A pool for each memory node; the destructor ends them. Movable.
 *
 *     weft::node_pools pools;
 *     pools.run([&](unsigned node, unsigned count) { work_on_part(node, count); });
 *
 * Exceptions: the constructor throws weft::error if the pools cannot be created; with
 * -fno-exceptions there are none of them then. Threads: any; one thread at a time moves
 * or ends them. Cost: that of starting the threads. */
class node_pools {
public:
  explicit node_pools(const weft_config &c = config()) : pools_(weft_node_count()) {
    unsigned count = static_cast<unsigned>(pools_.size());
    const int status = weft_pool_per_node(pools_.data(), &count, &c);
    pools_.resize(status == 0 ? count : 0);
    detail::check(status);
  }
  node_pools(node_pools &&other) noexcept : pools_(std::move(other.pools_)) {
    other.pools_.clear();
  }
  node_pools &operator=(node_pools &&other) noexcept {
    pools_.swap(other.pools_);
    return *this;
  }
  /* weft_pool_destroy for each: runs the work that was detached first. */
  ~node_pools() {
    for (weft_pool *each : pools_) weft_pool_destroy(each);
  }

  /* How many there are. */
  unsigned size() const noexcept {
    return static_cast<unsigned>(pools_.size());
  }
  /* The pool of the i-th node, for options and for the calls of C. */
  weft_pool *operator[](unsigned i) const noexcept {
    return pools_[i];
  }

  /* Replaces
   *
   *     for (unsigned node = 0; node < count; node++) f(node, count);
   *
   * Meaning: weft_pools_run: one call on a thread of each pool, at the same time. If some
   * throw, the others are still made; then the exception of the lowest node is thrown. */
  template <class F> void run(F &&f) const {
    constexpr bool right = std::is_invocable_v<F &, unsigned, unsigned>;
    static_assert(right, "weft::node_pools::run: the function must be callable as "
                         "f(node, count)");
    if constexpr (right && detail::expect_shared<F, unsigned, unsigned>()) {
      struct frame {
        const std::remove_reference_t<F> &f;
        detail::earliest failure;
      } in{f, {}};
      weft_pools_run(
          pools_.data(), size(),
          [](unsigned node, unsigned count, void *ctx) {
            frame &here = detail::from_ctx<frame>(ctx);
            detail::guarded([&] { here.f(node, count); },
                            [&] { here.failure.caught_at(node); });
          },
          &in);
      in.failure.rethrow_if_caught();
    }
  }

private:
  std::vector<weft_pool *> pools_;
};

WEFT_HPP_END

#endif

/* weft/hpp/graph.hpp - weft::graph: callables with an order between some of them, built
 * once and run many times.
 *
 *     weft::graph g;
 *     auto load = g.add("load", [&] { read(image); });
 *     auto blur = g.add("blur", [&] { soften(image); });
 *     g.edge(load, blur);
 *     for (...) g.run();
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_GRAPH_HPP
#define WEFT_HPP_GRAPH_HPP

#include <memory>
#include <string>
#include <vector>
#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Threads: one at a time builds a graph, while it does not run; any runs it. Cost: as in
 * weft/graph.h, some 10 ns per node in a run; an allocation for each callable. */

/* Thrown where a graph refuses something: an error whose text names the nodes. */
class graph_error : public error {
public:
  graph_error(int status, const char *text) : error(status), text_(text) {}
  /* The text, which names the nodes. */
  const char *what() const noexcept override {
    return text_.empty() ? error::what() : text_.c_str();
  }

private:
  std::string text_;
};

/* A task graph; see weft/graph.h for what nodes, edges and choices mean. Movable; the
 * callables live in the graph and are destroyed with it.
 *
 * Exceptions: when a node throws, the run is cancelled: nodes that have not started are
 * skipped, and run() throws the first exception, in time, when all others have ended. The
 * graph can be run again then. */
class graph {
public:
  using node = weft_node *;

  graph() : state_(std::make_unique<state>()) {
    detail::check(weft_graph_create(&state_->graph));
  }

  /* Replaces
   *
   *     f();
   *
   * Meaning: weft_graph_add. f is moved into the graph and called once in each run, when
   * the nodes before it have ended. The name may be NULL or left out. Throws
   * std::bad_alloc without memory, weft::error (WEFT_EBUSY) while the graph runs. */
  template <class F> node add(const char *name, F &&f) {
    using function = std::decay_t<F>;
    static_assert(std::is_invocable_v<function &>,
                  "weft::graph::add: the function must be callable as f()");
    if constexpr (std::is_invocable_v<function &>) {
      owned<function> *made = own<function>(std::forward<F>(f));
      return check(weft_graph_add(state_->graph, name, owned<function>::run, made));
    }
  }
  template <class F> node add(F &&f) {
    return add(nullptr, std::forward<F>(f));
  }

  /* Replaces
   *
   *     switch (f()) { case 0: ...; case 1: ...; }
   *
   * Meaning: weft_graph_choice. f returns the number of the edge to follow, in the order
   * in which edges were added; any other number ends the path. */
  template <class F> node choice(const char *name, F &&f) {
    using function = std::decay_t<F>;
    static_assert(std::is_invocable_r_v<std::size_t, function &>,
                  "weft::graph::choice: the function must be callable as f() and return "
                  "a number");
    if constexpr (std::is_invocable_r_v<std::size_t, function &>) {
      owned<function> *made = own<function>(std::forward<F>(f));
      return check(weft_graph_choice(state_->graph, name, owned<function>::choose, made));
    }
  }

  /* `after` starts when `before` has ended. Throws weft::graph_error, with the names of
   * the nodes, if there can be no such edge. */
  void edge(node before, node after) {
    refuse(weft_graph_edge(state_->graph, before, after));
  }

  /* Runs the graph: weft_graph_run. Returns 0, or the error that a node has cancelled the
   * run with: weft_scope_cancel(weft::scope_current(), error). A graph that is refused
   * returns WEFT_EINVAL for a cycle, WEFT_EBUSY if it runs already; text() says more.
   * Throws what a node has thrown. */
  int run(const options &o) {
    if (state_->running.exchange(true, std::memory_order_acquire)) return WEFT_EBUSY;
    const int status = weft_graph_run_with(&o, state_->graph);
    std::exception_ptr what = state_->take();
    state_->running.store(false, std::memory_order_release);
    if (what) detail::rethrow(what);
    return status;
  }
  int run() {
    return run(options());
  }

  /* What was wrong when something was last refused: weft_graph_error. */
  const char *text() const noexcept {
    return weft_graph_error(state_->graph);
  }

  /* Writes the graph for Graphviz: weft_graph_dot. */
  void dot(FILE *out) const {
    detail::check(weft_graph_dot(state_->graph, out));
  }

  /* For the calls of C. */
  weft_graph *get() noexcept {
    return state_->graph;
  }

private:
  struct any_node {
    virtual ~any_node() = default;
  };

  struct state {
    weft_graph *graph = nullptr;
    std::vector<std::unique_ptr<any_node>> nodes;
    std::atomic<bool> running{false}; /* whoever sets it has the exception of its run */
    std::mutex lock;
    std::exception_ptr what; /* the first of a run; under the lock */

    state() = default;
    state(const state &) = delete;
    state &operator=(const state &) = delete;
    ~state() {
      weft_graph_destroy(graph);
    }
    std::exception_ptr take() noexcept {
      std::lock_guard<std::mutex> hold(lock);
      return std::exchange(what, nullptr);
    }
    WEFT_HPP_COLD void caught() noexcept {
      {
        std::lock_guard<std::mutex> hold(lock);
        if (!what) what = std::current_exception();
      }
      weft_scope_cancel(weft_scope_current(), WEFT_ECANCELED);
    }
  };

  template <class F> struct owned : any_node {
    state *in;
    F f;
    template <class G> owned(state *s, G &&g) : in(s), f(std::forward<G>(g)) {}
    static void run(void *ctx) {
      owned &here = detail::from_ctx<owned>(ctx);
      detail::guarded([&] { here.f(); }, [&] { here.in->caught(); });
    }
    static std::size_t choose(void *ctx) {
      owned &here = detail::from_ctx<owned>(ctx);
      std::size_t chosen = WEFT_CHOOSE_NONE;
      detail::guarded([&] { chosen = static_cast<std::size_t>(here.f()); },
                      [&] { here.in->caught(); });
      return chosen;
    }
  };

  /* The callable comes first: a node without one would be left in the graph. */
  template <class F, class G> owned<F> *own(G &&g) {
    if (state_->running.load(std::memory_order_relaxed)) /* its own, or a misuse */
      detail::check(WEFT_EBUSY);
    auto made = std::make_unique<owned<F>>(state_.get(), std::forward<G>(g));
    owned<F> *where = made.get();
    state_->nodes.push_back(std::move(made));
    return where;
  }

  static node check(node made) {
    if (made == nullptr) detail::no_memory();
    return made;
  }

  void refuse(int status) const {
#if defined(__cpp_exceptions)
    if (status != 0) throw graph_error(status, text());
#else
    (void)status;
#endif
  }

  std::unique_ptr<state> state_;
};

WEFT_HPP_END

#endif

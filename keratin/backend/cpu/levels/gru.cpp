#include "keratin/backend/cpu/levels/math.h"
#include "keratin/backend/cpu/levels/rnn_panel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

template <class C>
struct Gru {
  const GruArgs& a;
  const RnnShape& s;
  const C* panels;     // z, r, g together (reset after), or z and r
  const C* candidate;  // g alone (reset before)
  C* state[2];
  C* update;  // z of the current step
  C* reset;   // r h of the current step

  explicit Gru(const GruArgs& args) : a(args), s(args.shape) {
    C* memory = static_cast<C*>(a.scratch);
    panels = a.packed ? static_cast<const C*>(a.packed) : memory;
    candidate = panels + (s.hidden + lanes<C> - 1) / lanes<C> * lanes<C> * s.hidden * 2;
    memory += packed_size<C>(s.hidden, s.hidden, 3);
    state[0] = memory;
    state[1] = memory + s.batch * s.hidden;
    update = memory + 2 * s.batch * s.hidden;
    reset = memory + 3 * s.batch * s.hidden;
  }

  void pack() const {
    const C* const u = static_cast<const C*>(a.u);
    const int64_t h = s.hidden;
    pack_panels(const_cast<C*>(panels), h, h, a.reset_after ? 3 : 2, a.threads,
                [&](int64_t k, int g, int64_t unit) { return u[k * 3 * h + g * h + unit]; });
    if (a.reset_after) return;
    pack_panels(const_cast<C*>(candidate), h, h, 1, a.threads,
                [&](int64_t k, int, int64_t unit) { return u[k * 3 * h + 2 * h + unit]; });
  }

  const C* xw_at(int64_t row, int64_t t, int64_t unit) const {
    return static_cast<const C*>(a.xw) + (row * s.time + t) * 3 * s.hidden + unit;
  }
  template <class Extent>
  [[gnu::always_inline]] Vec<C> bias_at(int gate, int64_t unit, Extent extent) const {
    return a.bias ? load(static_cast<const C*>(a.bias) + gate * s.hidden + unit, extent) : Vec<C>{};
  }

  // The new state of a vector of units, and what the gradient needs to know.
  template <class Extent>
  [[gnu::always_inline]] void finish(int64_t row, int64_t t, int64_t unit, Vec<C> z, Vec<C> r,
                                     Vec<C> g, Vec<C> sum, const C* before, C* after,
                                     Extent extent) const {
    const int64_t state_at = row * s.hidden + unit, at = (row * s.time + t) * s.hidden + unit;
    const Vec<C> old = load(before + state_at, extent);
    const bool take = taken(a.mask, s, row, t);
    const Vec<C> h = take ? g + z * (old - g) : old;
    store(after + state_at, h, extent);
    if (a.y && take) store(static_cast<C*>(a.y) + at, h, extent);
    if (a.states) store(static_cast<C*>(a.states) + at, old, extent);
    if (!a.gates) return;
    C* const gates = static_cast<C*>(a.gates) + (row * s.time + t) * 4 * s.hidden + unit;
    store(gates, z, extent);
    store(gates + s.hidden, r, extent);
    store(gates + 2 * s.hidden, g, extent);
    store(gates + 3 * s.hidden, sum, extent);
  }

  template <int rows>
  [[gnu::noinline]] void step_after(int64_t row, int64_t t, const C* before, C* after) const {
    each_vector<C>(s.hidden, [&](int64_t unit, auto extent) {
      Vec<C> sum[rows][3];
      for (int r = 0; r < rows; ++r) {
        const C* const xw = xw_at(row + r, t, unit);
        sum[r][0] = load(xw, extent) + bias_at(0, unit, extent);
        sum[r][1] = load(xw + s.hidden, extent) + bias_at(1, unit, extent);
        sum[r][2] = bias_at(2, unit, extent);
      }
      multiply<rows, 3>(before + row * s.hidden, s.hidden, panels + unit * s.hidden * 3, s.hidden,
                        sum);
      for (int r = 0; r < rows; ++r) {
        const Vec<C> z = sigmoid(sum[r][0]), reset_gate = sigmoid(sum[r][1]);
        const Vec<C> x = load(xw_at(row + r, t, unit) + 2 * s.hidden, extent);
        finish(row + r, t, unit, z, reset_gate, tanh(Vec<C>(x + reset_gate * sum[r][2])), sum[r][2],
               before, after, extent);
      }
    });
  }

  // First z and r h of all units, then the matmul with r h.
  template <int rows>
  [[gnu::noinline]] void step_before(int64_t row, int64_t t, const C* before, C* after) const {
    each_vector<C>(s.hidden, [&](int64_t unit, auto extent) {
      Vec<C> sum[rows][2];
      for (int r = 0; r < rows; ++r) {
        for (int g = 0; g < 2; ++g)
          sum[r][g] = load(xw_at(row + r, t, unit) + g * s.hidden, extent);
      }
      multiply<rows, 2>(before + row * s.hidden, s.hidden, panels + unit * s.hidden * 2, s.hidden,
                        sum);
      for (int r = 0; r < rows; ++r) {
        const int64_t state_at = (row + r) * s.hidden + unit;
        store(update + state_at, sigmoid(sum[r][0]), extent);
        store(reset + state_at, sigmoid(sum[r][1]) * load(before + state_at, extent), extent);
        if (!a.gates) continue;
        C* const gates = static_cast<C*>(a.gates) + ((row + r) * s.time + t) * 4 * s.hidden + unit;
        store(gates + s.hidden, sigmoid(sum[r][1]), extent);
      }
    });
    each_vector<C>(s.hidden, [&](int64_t unit, auto extent) {
      Vec<C> sum[rows][1];
      for (int r = 0; r < rows; ++r)
        sum[r][0] = load(xw_at(row + r, t, unit) + 2 * s.hidden, extent);
      multiply<rows, 1>(reset + row * s.hidden, s.hidden, candidate + unit * s.hidden, s.hidden,
                        sum);
      for (int r = 0; r < rows; ++r) {
        const int64_t gates = ((row + r) * s.time + t) * 4 * s.hidden + unit;
        Vec<C> reset_gate{};
        if (a.gates) reset_gate = load(static_cast<const C*>(a.gates) + gates + s.hidden, extent);
        finish(row + r, t, unit, load(update + (row + r) * s.hidden + unit, extent), reset_gate,
               tanh(sum[r][0]), Vec<C>{}, before, after, extent);
      }
    });
  }

  void run_rows(int64_t begin, int64_t end) const {
    const int64_t first = begin * s.hidden, count = (end - begin) * s.hidden;
    copy_or_zero(a.h0 ? static_cast<const C*>(a.h0) + first : nullptr, state[0] + first, count);
    for (int64_t k = 0; k < s.time; ++k) {
      const int64_t t = time_of(s, k);
      const C* const before = state[k % 2];
      C* const after = state[(k + 1) % 2];
      each_row_block(begin, end, [&](auto rows, int64_t row) {
        if (a.reset_after) {
          step_after<rows>(row, t, before, after);
        } else {
          step_before<rows>(row, t, before, after);
        }
      });
      for (int64_t row = begin; a.y && a.mask && row < end; ++row) {
        if (!taken(a.mask, s, row, t)) repeat_output(static_cast<C*>(a.y), s, row, k);
      }
    }
    if (a.h) std::copy_n(state[s.time % 2] + first, count, static_cast<C*>(a.h) + first);
  }
};

template <class C>
void gru(const GruArgs& a) {
  const Gru<C> run(a);
  if (!a.packed) run.pack();
  const int64_t work = a.shape.time * a.shape.hidden * a.shape.hidden;
  parallel_for(a.threads, a.shape.batch, rows_per_chunk(a.threads, a.shape.batch, work),
               [&](int64_t begin, int64_t end) { run.run_rows(begin, end); });
}

template <class C>
void pack_gru(const GruArgs& a) {
  Gru<C>(a).pack();
}

template <class C>
struct GruGrad {
  const GruGradArgs& a;
  const RnnShape& s;
  const C* panels;     // of all three sums (reset after), or of z and r
  const C* candidate;  // of g (reset before)
  C* dh;
  C* output;  // of an output that masked steps repeated
  C* reset;   // of r h

  explicit GruGrad(const GruGradArgs& args) : a(args), s(args.shape) {
    C* memory = static_cast<C*>(a.scratch);
    panels = memory;
    candidate = memory + packed_size<C>(2 * s.hidden, s.hidden, 1);
    memory += packed_size<C>(3 * s.hidden, s.hidden, 1);
    dh = memory;
    output = memory + s.batch * s.hidden;
    reset = memory + 2 * s.batch * s.hidden;
  }

  void pack() const {
    const C* const u = static_cast<const C*>(a.u);
    const int64_t h = s.hidden;
    pack_back(const_cast<C*>(panels), u, h, 3 * h, 0, (a.reset_after ? 3 : 2) * h, a.threads);
    if (!a.reset_after) {
      pack_back(const_cast<C*>(candidate), u, h, 3 * h, 2 * h, h, a.threads);
    }
  }

  // With d = dy + dh: dg = d (1 - z) (1 - g^2), dz = d (h' - g) z (1 - z); after a reset gate also
  // dr = dg s r (1 - r) and ds = dg r. d z stays in dh.
  [[gnu::noinline]] void cell_row(int64_t row, int64_t t) const {
    const int64_t at = (row * s.time + t) * s.hidden, n = s.hidden, first = row * n;
    const C* const gates = static_cast<const C*>(a.gates) + 4 * at;
    const C* const state = static_cast<const C*>(a.states) + at;
    const C* const dy = a.dy ? static_cast<const C*>(a.dy) + at : nullptr;
    C* const dxw = static_cast<C*>(a.dxw) + 3 * at;
    C* const ds = static_cast<C*>(a.ds) + 3 * at;
    each_vector<C>(n, [&](int64_t u, auto extent) {
      const Vec<C> z = load(gates + u, extent), r = load(gates + n + u, extent);
      const Vec<C> g = load(gates + 2 * n + u, extent), sum = load(gates + 3 * n + u, extent);
      Vec<C> d = load(dh + first + u, extent) + load(output + first + u, extent);
      if (dy) d += load(dy + u, extent);
      const Vec<C> dg = d * (1 - z) * (1 - g * g);
      const Vec<C> dz = d * (load(state + u, extent) - g) * z * (1 - z);
      store(dxw + u, dz, extent);
      store(ds + u, dz, extent);
      store(dxw + 2 * n + u, dg, extent);
      store(ds + 2 * n + u, a.reset_after ? dg * r : dg, extent);
      if (a.reset_after) {
        const Vec<C> dr = dg * sum * r * (1 - r);
        store(dxw + n + u, dr, extent);
        store(ds + n + u, dr, extent);
      }
      store(dh + first + u, d * z, extent);
      store(output + first + u, Vec<C>{}, extent);
    });
  }

  // Reset before: from the gradient of r h, dr = d h' r (1 - r), and d r joins dh.
  [[gnu::noinline]] void reset_row(int64_t row, int64_t t) const {
    const int64_t at = (row * s.time + t) * s.hidden, n = s.hidden, first = row * n;
    const C* const gates = static_cast<const C*>(a.gates) + 4 * at;
    const C* const state = static_cast<const C*>(a.states) + at;
    each_vector<C>(n, [&](int64_t u, auto extent) {
      const Vec<C> r = load(gates + n + u, extent), d = load(reset + first + u, extent);
      const Vec<C> dr = d * load(state + u, extent) * r * (1 - r);
      store(static_cast<C*>(a.dxw) + 3 * at + n + u, dr, extent);
      store(static_cast<C*>(a.ds) + 3 * at + n + u, dr, extent);
      store(dh + first + u, load(dh + first + u, extent) + d * r, extent);
    });
  }

  [[gnu::noinline]] void masked_row(int64_t row, int64_t t) const {
    const int64_t at = (row * s.time + t) * s.hidden;
    std::fill_n(static_cast<C*>(a.dxw) + 3 * at, 3 * s.hidden, C(0));
    std::fill_n(static_cast<C*>(a.ds) + 3 * at, 3 * s.hidden, C(0));
    if (!a.dy || s.zero_masked) return;
    const C* const dy = static_cast<const C*>(a.dy) + at;
    for (int64_t u = 0; u < s.hidden; ++u) output[row * s.hidden + u] += dy[u];
  }

  template <int rows>
  [[gnu::noinline]] void back(int64_t row, int64_t t) const {
    const C* const ds = static_cast<const C*>(a.ds) + (row * s.time + t) * 3 * s.hidden;
    const int64_t step = s.time * 3 * s.hidden;
    if (!a.reset_after) {
      multiply_back<rows>(ds + 2 * s.hidden, step, candidate, s.hidden, reset + row * s.hidden,
                          s.hidden, false);
      for (int r = 0; r < rows; ++r) reset_row(row + r, t);
    }
    multiply_back<rows>(ds, step, panels, (a.reset_after ? 3 : 2) * s.hidden, dh + row * s.hidden,
                        s.hidden, true);
  }

  void run_rows(int64_t begin, int64_t end) const {
    const int64_t first = begin * s.hidden, count = (end - begin) * s.hidden;
    copy_or_zero(a.dh ? static_cast<const C*>(a.dh) + first : nullptr, dh + first, count);
    std::fill_n(output + first, count, C(0));
    for (int64_t k = s.time - 1; k >= 0; --k) {
      const int64_t t = time_of(s, k);
      for (int64_t row = begin; row < end; ++row) {
        if (taken(a.mask, s, row, t)) {
          cell_row(row, t);
        } else {
          masked_row(row, t);
        }
      }
      each_taken(a.mask, s, begin, end, t, [&](int64_t from, int64_t to) {
        each_row_block(from, to, [&](auto rows, int64_t row) { back<rows>(row, t); });
      });
    }
    if (a.dh0) std::copy_n(dh + first, count, static_cast<C*>(a.dh0) + first);
  }
};

template <class C>
void gru_grad(const GruGradArgs& a) {
  const GruGrad<C> run(a);
  run.pack();
  const int64_t work = a.shape.time * a.shape.hidden * a.shape.hidden;
  parallel_for(a.threads, a.shape.batch, rows_per_chunk(a.threads, a.shape.batch, work),
               [&](int64_t begin, int64_t end) { run.run_rows(begin, end); });
}

constexpr GruRoutines gru_routines() {
  GruRoutines routines{};
  set_types<float, double>(routines.forward, []<class T>(TypeTag<T>) { return &gru<T>; });
  set_types<float, double>(routines.pack, []<class T>(TypeTag<T>) { return &pack_gru<T>; });
  set_types<float, double>(routines.grad, []<class T>(TypeTag<T>) { return &gru_grad<T>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const GruRoutines GruRoutines::KERATIN_LEVEL = KERATIN_LEVEL::gru_routines();
}  // namespace keratin::cpu

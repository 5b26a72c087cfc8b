#include "keratin/backend/cpu/levels/math.h"
#include "keratin/backend/cpu/levels/rnn_panel.h"
#include "keratin/tensor/elements.h"

namespace keratin::cpu::KERATIN_LEVEL {
namespace {

template <class C>
struct Lstm {
  const LstmArgs& a;
  const RnnShape& s;
  const C* panels;
  C* state[2];  // h, before and after a step
  C* cell;

  explicit Lstm(const LstmArgs& args) : a(args), s(args.shape) {
    C* memory = static_cast<C*>(a.scratch);
    panels = a.packed ? static_cast<const C*>(a.packed) : memory;
    memory += packed_size<C>(s.hidden, s.hidden, 4);
    state[0] = memory;
    state[1] = memory + s.batch * s.hidden;
    cell = memory + 2 * s.batch * s.hidden;
  }

  void pack() const {
    const C* const u = static_cast<const C*>(a.u);
    pack_panels(
        const_cast<C*>(panels), s.hidden, s.hidden, 4, a.threads,
        [&, h = s.hidden](int64_t k, int g, int64_t unit) { return u[k * 4 * h + g * h + unit]; });
  }

  // Gates and new state of one vector of units of some rows; everything stays in registers.
  template <int rows, class Extent>
  [[gnu::always_inline]] void units(int64_t row, int64_t t, const C* before, C* after, int64_t unit,
                                    Extent extent) const {
    const C* const xw = static_cast<const C*>(a.xw);
    Vec<C> z[rows][4];
    for (int r = 0; r < rows; ++r) {
      const int64_t at = ((row + r) * s.time + t) * 4 * s.hidden + unit;
      for (int g = 0; g < 4; ++g) z[r][g] = load(xw + at + g * s.hidden, extent);
    }
    multiply<rows, 4>(before + row * s.hidden, s.hidden, panels + unit * s.hidden * 4, s.hidden, z);
    for (int r = 0; r < rows; ++r) {
      const int64_t state_at = (row + r) * s.hidden + unit;
      const int64_t at = ((row + r) * s.time + t) * s.hidden + unit;
      const bool take = taken(a.mask, s, row + r, t);
      const Vec<C> i = sigmoid(z[r][0]), f = sigmoid(z[r][1]), g = tanh(z[r][2]);
      const Vec<C> o = sigmoid(z[r][3]), old = load(cell + state_at, extent);
      const Vec<C> c = take ? f * old + i * g : old;
      const Vec<C> h = take ? o * tanh(c) : load(before + state_at, extent);
      store(cell + state_at, c, extent);
      store(after + state_at, h, extent);
      if (a.y && take) store(static_cast<C*>(a.y) + at, h, extent);
      if (a.cells) store(static_cast<C*>(a.cells) + at, c, extent);
      if (a.states) store(static_cast<C*>(a.states) + at, load(before + state_at, extent), extent);
      if (!a.gates) continue;
      C* const gates = static_cast<C*>(a.gates) + ((row + r) * s.time + t) * 4 * s.hidden + unit;
      store(gates, i, extent);
      store(gates + s.hidden, f, extent);
      store(gates + 2 * s.hidden, g, extent);
      store(gates + 3 * s.hidden, o, extent);
    }
  }

  template <int rows>
  [[gnu::noinline]] void step(int64_t row, int64_t t, const C* before, C* after) const {
    each_vector<C>(s.hidden, [&](int64_t unit, auto extent) {
      units<rows>(row, t, before, after, unit, extent);
    });
  }

  void run_rows(int64_t begin, int64_t end) const {
    const int64_t first = begin * s.hidden, count = (end - begin) * s.hidden;
    const auto offset = [&](const void* p) {
      return p ? static_cast<const C*>(p) + first : nullptr;
    };
    copy_or_zero(offset(a.h0), state[0] + first, count);
    copy_or_zero(offset(a.c0), cell + first, count);
    for (int64_t k = 0; k < s.time; ++k) {
      const int64_t t = time_of(s, k);
      each_row_block(begin, end, [&](auto rows, int64_t row) {
        step<rows>(row, t, state[k % 2], state[(k + 1) % 2]);
      });
      for (int64_t row = begin; a.y && a.mask && row < end; ++row) {
        if (!taken(a.mask, s, row, t)) repeat_output(static_cast<C*>(a.y), s, row, k);
      }
    }
    if (a.h) std::copy_n(state[s.time % 2] + first, count, static_cast<C*>(a.h) + first);
    if (a.c) std::copy_n(cell + first, count, static_cast<C*>(a.c) + first);
  }
};

template <class C>
void lstm(const LstmArgs& a) {
  const Lstm<C> run(a);
  if (!a.packed) run.pack();
  const int64_t work = a.shape.time * a.shape.hidden * a.shape.hidden;
  parallel_for(a.threads, a.shape.batch, rows_per_chunk(a.threads, a.shape.batch, work),
               [&](int64_t begin, int64_t end) { run.run_rows(begin, end); });
}

template <class C>
void pack_lstm(const LstmArgs& a) {
  Lstm<C>(a).pack();
}

template <class C>
struct LstmGrad {
  const LstmGradArgs& a;
  const RnnShape& s;
  const C* panels;
  C* dh;      // of the state after the current step
  C* dc;      //
  C* output;  // of an output that masked steps repeated

  explicit LstmGrad(const LstmGradArgs& args) : a(args), s(args.shape) {
    C* memory = static_cast<C*>(a.scratch);
    panels = memory;
    memory += packed_size<C>(4 * s.hidden, s.hidden, 1);
    dh = memory;
    dc = memory + s.batch * s.hidden;
    output = memory + 2 * s.batch * s.hidden;
  }

  void pack() const {
    pack_back(const_cast<C*>(panels), static_cast<const C*>(a.u), s.hidden, 4 * s.hidden, 0,
              4 * s.hidden, a.threads);
  }

  // With d = dy + dh: do = d tanh(c), dc += d o (1 - tanh(c)^2), di = dc g, dg = dc i, df = dc c',
  // each times the slope of its activation; dc goes on as dc f.
  [[gnu::noinline]] void cell_row(int64_t row, int64_t k) const {
    const int64_t t = time_of(s, k), at = (row * s.time + t) * s.hidden;
    const C* const gates = static_cast<const C*>(a.gates) + 4 * at;
    const C* const cells = static_cast<const C*>(a.cells);
    C* const dz = static_cast<C*>(a.dz) + 4 * at;
    const C* const dy = a.dy ? static_cast<const C*>(a.dy) + at : nullptr;
    const int64_t first = row * s.hidden, n = s.hidden;
    const C* const before = k > 0  ? cells + (row * s.time + time_of(s, k - 1)) * n
                            : a.c0 ? static_cast<const C*>(a.c0) + first
                                   : nullptr;
    each_vector<C>(n, [&](int64_t u, auto extent) {
      const Vec<C> i = load(gates + u, extent), f = load(gates + n + u, extent);
      const Vec<C> g = load(gates + 2 * n + u, extent), o = load(gates + 3 * n + u, extent);
      const Vec<C> tc = tanh(load(cells + at + u, extent));
      Vec<C> d = load(dh + first + u, extent) + load(output + first + u, extent);
      if (dy) d += load(dy + u, extent);
      const Vec<C> dcell = load(dc + first + u, extent) + d * o * (1 - tc * tc);
      const Vec<C> old = before ? load(before + u, extent) : Vec<C>{};
      store(dz + u, dcell * g * i * (1 - i), extent);
      store(dz + n + u, dcell * old * f * (1 - f), extent);
      store(dz + 2 * n + u, dcell * i * (1 - g * g), extent);
      store(dz + 3 * n + u, d * tc * o * (1 - o), extent);
      store(dc + first + u, dcell * f, extent);
      store(output + first + u, Vec<C>{}, extent);
    });
  }

  // A masked step passes the state's gradient on, and the output's to the step it repeated.
  [[gnu::noinline]] void masked_row(int64_t row, int64_t k) const {
    const int64_t at = (row * s.time + time_of(s, k)) * s.hidden;
    std::fill_n(static_cast<C*>(a.dz) + 4 * at, 4 * s.hidden, C(0));
    if (!a.dy || s.zero_masked) return;
    const C* const dy = static_cast<const C*>(a.dy) + at;
    for (int64_t u = 0; u < s.hidden; ++u) output[row * s.hidden + u] += dy[u];
  }

  template <int rows>
  [[gnu::noinline]] void back(int64_t row, int64_t t) const {
    const C* const dz = static_cast<const C*>(a.dz) + (row * s.time + t) * 4 * s.hidden;
    multiply_back<rows>(dz, s.time * 4 * s.hidden, panels, 4 * s.hidden, dh + row * s.hidden,
                        s.hidden, false);
  }

  void run_rows(int64_t begin, int64_t end) const {
    const int64_t first = begin * s.hidden, count = (end - begin) * s.hidden;
    const auto offset = [&](const void* p) {
      return p ? static_cast<const C*>(p) + first : nullptr;
    };
    copy_or_zero(offset(a.dh), dh + first, count);
    copy_or_zero(offset(a.dc), dc + first, count);
    std::fill_n(output + first, count, C(0));
    for (int64_t k = s.time - 1; k >= 0; --k) {
      const int64_t t = time_of(s, k);
      for (int64_t row = begin; row < end; ++row) {
        if (taken(a.mask, s, row, t)) {
          cell_row(row, k);
        } else {
          masked_row(row, k);
        }
      }
      each_taken(a.mask, s, begin, end, t, [&](int64_t from, int64_t to) {
        each_row_block(from, to, [&](auto rows, int64_t row) { back<rows>(row, t); });
      });
    }
    if (a.dh0) std::copy_n(dh + first, count, static_cast<C*>(a.dh0) + first);
    if (a.dc0) std::copy_n(dc + first, count, static_cast<C*>(a.dc0) + first);
  }
};

template <class C>
void lstm_grad(const LstmGradArgs& a) {
  const LstmGrad<C> run(a);
  run.pack();
  const int64_t work = a.shape.time * a.shape.hidden * a.shape.hidden;
  parallel_for(a.threads, a.shape.batch, rows_per_chunk(a.threads, a.shape.batch, work),
               [&](int64_t begin, int64_t end) { run.run_rows(begin, end); });
}

constexpr LstmRoutines lstm_routines() {
  LstmRoutines routines{};
  set_types<float, double>(routines.forward, []<class T>(TypeTag<T>) { return &lstm<T>; });
  set_types<float, double>(routines.pack, []<class T>(TypeTag<T>) { return &pack_lstm<T>; });
  set_types<float, double>(routines.grad, []<class T>(TypeTag<T>) { return &lstm_grad<T>; });
  return routines;
}

}  // namespace
}  // namespace keratin::cpu::KERATIN_LEVEL

namespace keratin::cpu {
constinit const LstmRoutines LstmRoutines::KERATIN_LEVEL = KERATIN_LEVEL::lstm_routines();
}  // namespace keratin::cpu

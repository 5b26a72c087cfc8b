#include "keratin/backend/cpu/levels/rnn.h"

#include <cmath>
#include <functional>

#include "keratin/backend/cpu/levels/level_testing.h"

namespace keratin::cpu {
namespace {

using Doubles = std::vector<double>;

struct Setup {
  RnnShape shape;
  bool masked, started;  // with a mask, with an initial state
};
const Setup all_setups[] = {
    {{1, 3, 4, false, false}, false, false}, {{7, 5, 19, false, false}, false, true},
    {{7, 5, 19, true, false}, true, true},   {{9, 4, 33, false, true}, true, true},
    {{5, 6, 8, false, false}, true, false},  {{13, 3, 70, false, false}, true, true},
    {{2, 0, 5, false, false}, false, true},  {{0, 4, 5, false, false}, false, false},
};

std::unique_ptr<bool[]> make_mask(const RnnShape& s) {
  auto mask = std::make_unique<bool[]>(static_cast<size_t>(s.batch * s.time));
  std::mt19937 engine(11);
  for (int64_t i = 0; i < s.batch * s.time; ++i) mask[static_cast<size_t>(i)] = engine() % 3 != 0;
  return mask;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What a naive pass through time computes: outputs and last states.
struct Result {
  Doubles y, h, c;
};

// The cell of a layer: from one row of xw and the state (h, c) the next state.
using Cell = std::function<void(const double* xw, Doubles& h, Doubles& c)>;

Result run_naive(const RnnShape& s, const bool* mask, int64_t gates, const Doubles& xw,
                 const Doubles& h0, const Doubles& c0, const Cell& cell) {
  Result out{Doubles(static_cast<size_t>(s.batch * s.time * s.hidden)), {}, {}};
  for (int64_t b = 0; b < s.batch; ++b) {
    Doubles h(h0.begin() + b * s.hidden, h0.begin() + (b + 1) * s.hidden);
    Doubles c(c0.begin() + b * s.hidden, c0.begin() + (b + 1) * s.hidden);
    Doubles y(static_cast<size_t>(s.hidden));
    for (int64_t k = 0; k < s.time; ++k) {
      const int64_t t = s.reverse ? s.time - 1 - k : k;
      if (!mask || mask[b * s.time + t]) {
        cell(xw.data() + (b * s.time + t) * gates * s.hidden, h, c);
        y = h;
      } else if (s.zero_masked) {
        y.assign(y.size(), 0);
      }
      std::copy(y.begin(), y.end(), out.y.begin() + (b * s.time + t) * s.hidden);
    }
    out.h.insert(out.h.end(), h.begin(), h.end());
    out.c.insert(out.c.end(), c.begin(), c.end());
  }
  return out;
}

double recurrent(const Doubles& h, const Doubles& u, int64_t gates, int64_t column) {
  double sum = 0;
  const auto n = static_cast<int64_t>(h.size());
  for (int64_t k = 0; k < n; ++k) {
    sum += h[static_cast<size_t>(k)] * u[static_cast<size_t>(k * gates * n + column)];
  }
  return sum;
}

Cell lstm_cell(const Doubles& u) {
  return [&u](const double* xw, Doubles& h, Doubles& c) {
    const Doubles old = h;
    const auto n = static_cast<int64_t>(h.size());
    for (int64_t j = 0; j < n; ++j) {
      const auto z = [&](int64_t gate) {
        return xw[gate * n + j] + recurrent(old, u, 4, gate * n + j);
      };
      double& cell = c[static_cast<size_t>(j)];
      cell = sigmoid(z(1)) * cell + sigmoid(z(0)) * std::tanh(z(2));
      h[static_cast<size_t>(j)] = sigmoid(z(3)) * std::tanh(cell);
    }
  };
}

Cell gru_cell(const Doubles& u, const Doubles& bias, bool reset_after) {
  return [&u, &bias, reset_after](const double* xw, Doubles& h, Doubles&) {
    const Doubles old = h;
    const auto n = static_cast<int64_t>(h.size());
    const auto sum = [&](const Doubles& state, int64_t gate, int64_t j) {
      return recurrent(state, u, 3, gate * n + j) +
             (reset_after ? bias[static_cast<size_t>(gate * n + j)] : 0);
    };
    Doubles reset(old.size());
    for (int64_t j = 0; j < n; ++j) {
      reset[static_cast<size_t>(j)] =
          old[static_cast<size_t>(j)] * sigmoid(xw[n + j] + sum(old, 1, j));
    }
    for (int64_t j = 0; j < n; ++j) {
      const double z = sigmoid(xw[j] + sum(old, 0, j)), r = sigmoid(xw[n + j] + sum(old, 1, j));
      const double inner = reset_after ? r * sum(old, 2, j) : sum(reset, 2, j);
      const double g = std::tanh(xw[2 * n + j] + inner);
      h[static_cast<size_t>(j)] = z * old[static_cast<size_t>(j)] + (1 - z) * g;
    }
  };
}

// Random inputs of a layer with so many gates, in double; T is what the kernel gets.
struct RnnProblem {
  Setup setup;
  RnnShape s;
  int64_t gates;
  Doubles xw, u, bias, h0, c0, dy, dh, dc;
  std::unique_ptr<bool[]> mask_memory;
  const bool* mask = nullptr;

  RnnProblem(const Setup& given, int64_t gate_count)
      : setup(given), s(given.shape), gates(gate_count) {
    const auto make = [](int64_t n, unsigned seed) {
      const auto f = random_values<float>(n, seed, -1, 1);  // exact in either type
      return Doubles(f.begin(), f.end());
    };
    xw = make(s.batch * s.time * gates * s.hidden, 1);
    u = make(s.hidden * gates * s.hidden, 2);
    for (double& v : u) v = static_cast<float>(v / std::sqrt(static_cast<double>(s.hidden)));
    bias = make(gates * s.hidden, 3);
    h0 = make(s.batch * s.hidden, 4);
    c0 = make(s.batch * s.hidden, 5);
    if (!setup.started) h0.assign(h0.size(), 0), c0.assign(c0.size(), 0);
    dy = make(s.batch * s.time * s.hidden, 6);
    dh = make(s.batch * s.hidden, 7);
    dc = make(s.batch * s.hidden, 8);
    if (setup.masked) mask_memory = make_mask(s), mask = mask_memory.get();
  }

  // y, h and c weighted by dy, dh and dc: what the gradient is the gradient of.
  double loss(const Result& r) const {
    double sum = 0;
    for (size_t i = 0; i < dy.size(); ++i) sum += dy[i] * r.y[i];
    for (size_t i = 0; i < dh.size(); ++i) sum += dh[i] * r.h[i];
    for (size_t i = 0; i < dc.size(); ++i) sum += dc[i] * r.c[i];
    return sum;
  }
};

template <class T>
std::vector<T> as(const Doubles& d) {
  return std::vector<T>(d.begin(), d.end());
}

Doubles joined(const Result& r, bool with_cell) {
  Doubles all = r.y;
  all.insert(all.end(), r.h.begin(), r.h.end());
  if (with_cell) all.insert(all.end(), r.c.begin(), r.c.end());
  return all;
}

template <class T>
class RnnTest : public ::testing::Test {};
using RnnStorage = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RnnTest, RnnStorage);

TYPED_TEST(RnnTest, LstmMatchesTheDefinition) {
  using T = TypeParam;
  for (const Setup& setup : all_setups) {
    const RnnProblem p(setup, 4);
    const RnnShape& s = p.s;
    const Result want = run_naive(s, p.mask, 4, p.xw, p.h0, p.c0, lstm_cell(p.u));
    const auto xw = as<T>(p.xw), u = as<T>(p.u), h0 = as<T>(p.h0), c0 = as<T>(p.c0);
    const auto ny = static_cast<size_t>(s.batch * s.time * s.hidden);
    const auto nh = static_cast<size_t>(s.batch * s.hidden);
    for (const bool keep : {false, true}) {
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> out(ny + 2 * nh), gates(4 * ny), cells(ny), states(ny);
            std::vector<char> scratch(
                static_cast<size_t>(rnn_scratch(dtype_of<T>(), s.batch, s.hidden)));
            routines<LstmRoutines>(level).forward[dtype_of<T>()](
                {.xw = xw.data(),
                 .u = u.data(),
                 .h0 = setup.started ? h0.data() : nullptr,
                 .c0 = setup.started ? c0.data() : nullptr,
                 .mask = p.mask,
                 .y = out.data(),
                 .h = out.data() + ny,
                 .c = out.data() + ny + nh,
                 .gates = keep ? gates.data() : nullptr,
                 .cells = cells.data(),
                 .states = states.data(),
                 .shape = s,
                 .scratch = scratch.data(),
                 .threads = threads});
            return out;
          },
          [&](const std::vector<T>& out) { expect_close(out, joined(want, true), 32); });
    }
  }
}

// The gradient of the loss by one number, from both sides in double.
template <class F>
double slope(double& value, const F& loss) {
  const double kept = value, step = 1e-5;
  value = kept + step;
  const double up = loss();
  value = kept - step;
  const double down = loss();
  value = kept;
  return (up - down) / (2 * step);
}

// Some of the gradient by xw, h0 and c0, by differences, against what the routine found.
void expect_slopes(RnnProblem& p, const Doubles& dxw, const Doubles& dh0, const Doubles& dc0,
                   const Cell& cell) {
  const auto loss = [&] { return p.loss(run_naive(p.s, p.mask, p.gates, p.xw, p.h0, p.c0, cell)); };
  for (size_t i = 0; i < p.xw.size(); i += 1 + p.xw.size() / 60) {
    EXPECT_NEAR(dxw[i], slope(p.xw[i], loss), 1e-4) << "xw " << i;
  }
  for (size_t i = 0; i < p.h0.size(); i += 1 + p.h0.size() / 20) {
    EXPECT_NEAR(dh0[i], slope(p.h0[i], loss), 1e-4) << "h0 " << i;
  }
  for (size_t i = 0; i < dc0.size(); i += 1 + dc0.size() / 20) {
    EXPECT_NEAR(dc0[i], slope(p.c0[i], loss), 1e-4) << "c0 " << i;
  }
}

// The gradient by u: sum over rows and steps of states^T ds, against differences.
void expect_u_slopes(RnnProblem& p, const Doubles& states, const Doubles& ds, const Cell& cell) {
  const int64_t n = p.s.hidden, width = p.gates * n, rows = p.s.batch * p.s.time;
  const auto loss = [&] { return p.loss(run_naive(p.s, p.mask, p.gates, p.xw, p.h0, p.c0, cell)); };
  for (size_t i = 0; i < p.u.size(); i += 1 + p.u.size() / 30) {
    const int64_t k = static_cast<int64_t>(i) / width, j = static_cast<int64_t>(i) % width;
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      sum += states[static_cast<size_t>(r * n + k)] * ds[static_cast<size_t>(r * width + j)];
    }
    EXPECT_NEAR(sum, slope(p.u[i], loss), 1e-4) << "u " << i;
  }
}

TYPED_TEST(RnnTest, LstmGradientMatchesDifferences) {
  using T = TypeParam;
  for (const Setup& setup : all_setups) {
    SCOPED_TRACE(::testing::Message()
                 << setup.shape.batch << " " << setup.shape.time << " " << setup.shape.hidden);
    RnnProblem p(setup, 4);
    const RnnShape& s = p.s;
    const auto xw = as<T>(p.xw), u = as<T>(p.u), h0 = as<T>(p.h0), c0 = as<T>(p.c0);
    const auto dy = as<T>(p.dy), dh = as<T>(p.dh), dc = as<T>(p.dc);
    const size_t ny = dy.size(), nh = dh.size();
    std::vector<T> states(ny);
    on_every_level(
        [&](Level level, int threads) {
          std::vector<T> out(4 * ny + 2 * nh), gates(4 * ny), cells(ny);
          std::vector<char> scratch(
              static_cast<size_t>(rnn_scratch(dtype_of<T>(), s.batch, s.hidden)));
          routines<LstmRoutines>(level).forward[dtype_of<T>()]({.xw = xw.data(),
                                                                .u = u.data(),
                                                                .h0 = h0.data(),
                                                                .c0 = c0.data(),
                                                                .mask = p.mask,
                                                                .y = nullptr,
                                                                .h = nullptr,
                                                                .c = nullptr,
                                                                .gates = gates.data(),
                                                                .cells = cells.data(),
                                                                .states = states.data(),
                                                                .shape = s,
                                                                .scratch = scratch.data(),
                                                                .threads = threads});
          routines<LstmRoutines>(level).grad[dtype_of<T>()]({.u = u.data(),
                                                             .c0 = c0.data(),
                                                             .mask = p.mask,
                                                             .gates = gates.data(),
                                                             .cells = cells.data(),
                                                             .dy = dy.data(),
                                                             .dh = dh.data(),
                                                             .dc = dc.data(),
                                                             .dz = out.data(),
                                                             .dh0 = out.data() + 4 * ny,
                                                             .dc0 = out.data() + 4 * ny + nh,
                                                             .shape = s,
                                                             .scratch = scratch.data(),
                                                             .threads = threads});
          return out;
        },
        [&](const std::vector<T>& out) {
          const Doubles all(out.begin(), out.end());
          const auto slice = [&](size_t from, size_t n) {
            return Doubles(all.begin() + static_cast<long>(from),
                           all.begin() + static_cast<long>(from + n));
          };
          expect_slopes(p, slice(0, 4 * ny), slice(4 * ny, nh), slice(4 * ny + nh, nh),
                        lstm_cell(p.u));
          expect_u_slopes(p, Doubles(states.begin(), states.end()), slice(0, 4 * ny),
                          lstm_cell(p.u));
        });
  }
}

TYPED_TEST(RnnTest, GruMatchesTheDefinition) {
  using T = TypeParam;
  for (const Setup& setup : all_setups) {
    for (const bool after : {false, true}) {
      const RnnProblem p(setup, 3);
      const RnnShape& s = p.s;
      const Result want = run_naive(s, p.mask, 3, p.xw, p.h0, p.c0, gru_cell(p.u, p.bias, after));
      const auto xw = as<T>(p.xw), u = as<T>(p.u), h0 = as<T>(p.h0), bias = as<T>(p.bias);
      const size_t ny = p.dy.size(), nh = p.dh.size();
      for (const bool keep : {false, true}) {
        on_every_level(
            [&](Level level, int threads) {
              std::vector<T> out(ny + nh), gates(4 * ny), states(ny);
              std::vector<char> scratch(
                  static_cast<size_t>(rnn_scratch(dtype_of<T>(), s.batch, s.hidden)));
              routines<GruRoutines>(level).forward[dtype_of<T>()](
                  {.xw = xw.data(),
                   .u = u.data(),
                   .bias = after ? bias.data() : nullptr,
                   .h0 = setup.started ? h0.data() : nullptr,
                   .mask = p.mask,
                   .y = out.data(),
                   .h = out.data() + ny,
                   .gates = keep ? gates.data() : nullptr,
                   .states = states.data(),
                   .reset_after = after,
                   .shape = s,
                   .scratch = scratch.data(),
                   .threads = threads});
              return out;
            },
            [&](const std::vector<T>& out) { expect_close(out, joined(want, false), 32); });
      }
    }
  }
}

TYPED_TEST(RnnTest, GruGradientMatchesDifferences) {
  using T = TypeParam;
  for (const Setup& setup : all_setups) {
    for (const bool after : {false, true}) {
      SCOPED_TRACE(::testing::Message() << setup.shape.batch << " " << setup.shape.time << " "
                                        << setup.shape.hidden << " after " << after);
      RnnProblem p(setup, 3);
      p.dc.assign(p.dc.size(), 0);
      const RnnShape& s = p.s;
      const auto xw = as<T>(p.xw), u = as<T>(p.u), h0 = as<T>(p.h0), bias = as<T>(p.bias);
      const auto dy = as<T>(p.dy), dh = as<T>(p.dh);
      const size_t ny = dy.size(), nh = dh.size();
      std::vector<T> states(ny);
      on_every_level(
          [&](Level level, int threads) {
            std::vector<T> out(6 * ny + nh), gates(4 * ny);
            std::vector<char> scratch(
                static_cast<size_t>(rnn_scratch(dtype_of<T>(), s.batch, s.hidden)));
            routines<GruRoutines>(level).forward[dtype_of<T>()](
                {.xw = xw.data(),
                 .u = u.data(),
                 .bias = after ? bias.data() : nullptr,
                 .h0 = h0.data(),
                 .mask = p.mask,
                 .y = nullptr,
                 .h = nullptr,
                 .gates = gates.data(),
                 .states = states.data(),
                 .reset_after = after,
                 .shape = s,
                 .scratch = scratch.data(),
                 .threads = threads});
            routines<GruRoutines>(level).grad[dtype_of<T>()]({.u = u.data(),
                                                              .mask = p.mask,
                                                              .gates = gates.data(),
                                                              .states = states.data(),
                                                              .dy = dy.data(),
                                                              .dh = dh.data(),
                                                              .dxw = out.data(),
                                                              .ds = out.data() + 3 * ny,
                                                              .dh0 = out.data() + 6 * ny,
                                                              .reset_after = after,
                                                              .shape = s,
                                                              .scratch = scratch.data(),
                                                              .threads = threads});
            return out;
          },
          [&](const std::vector<T>& out) {
            const Doubles all(out.begin(), out.end());
            const auto slice = [&](size_t from, size_t n) {
              return Doubles(all.begin() + static_cast<long>(from),
                             all.begin() + static_cast<long>(from + n));
            };
            const Cell cell = gru_cell(p.u, p.bias, after);
            expect_slopes(p, slice(0, 3 * ny), slice(6 * ny, nh), {}, cell);
            if (after) {
              expect_u_slopes(p, Doubles(states.begin(), states.end()), slice(3 * ny, 3 * ny),
                              cell);
            }
          });
    }
  }
}

}  // namespace
}  // namespace keratin::cpu

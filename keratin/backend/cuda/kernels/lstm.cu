// The steps of an LSTM and of its gradient; ops/lstm.h says what is computed.
#pragma once

#include "keratin/backend/cuda/kernels/recurrent.cu"

namespace keratin::recurrent {

template <class T>
struct LstmForward {
  const T *xw, *h0, *c0, *recurrent;
  const bool* mask;
  T *ys, *h, *c, *gates, *cells, *states;
};

// Thread (unit, gate) adds up all four gates over its share of h, and gets the total of its own
// gate.
template <Layout l, class T>
void lstm_forward(const LstmForward<T>& p, Pack<T, 4>* memory) {
  constexpr int width = l.groups * 16, units = l.units;
  __shared__ alignas(16) float states[2][l.rows * width];
  zero<l>(states[0], 2 * l.rows * width);
  const int unit = threadIdx.x / 4, gate = threadIdx.x % 4;
  const bool active = unit < units;
  const auto weight = [&](int k, int g) {
    return active && k < units ? p.recurrent[k * (4 * units) + g * units + unit] : T();
  };
  const StateMatmul<l, 4, T, decltype(weight)> matmul(memory, weight);
  const int first = blockIdx.x * l.rows;
  float h[l.rows], c[l.rows], y[l.rows];
  __syncthreads();
  for (int r = 0; r < l.rows; ++r) {
    const bool there = active && first + r < l.batch;
    h[r] = there ? load(p.h0[(first + r) * units + unit]) : 0;
    c[r] = there ? load(p.c0[(first + r) * units + unit]) : 0;
    y[r] = 0;
    if (active && gate == 0) states[0][r * width + unit] = h[r];
  }
  // xw of the next step is loaded while this one is computed; converting it would wait for it.
  T next[l.rows] = {};
  const auto fetch = [&](int i) {
    for (int r = 0; r < l.rows; ++r)
      if (i < l.time && active && first + r < l.batch)
        next[r] = p.xw[((first + r) * int64_t(l.time) + step_at<l>(i)) * (4 * units) +
                       gate * units + unit];
  };
  fetch(0);
  __syncthreads();
  for (int i = 0; i < l.time; ++i) {
    const int t = step_at<l>(i);
    float xw[l.rows], sums[l.rows][4];
    bool on[l.rows], any = false;
    for (int r = 0; r < l.rows; ++r) {
      xw[r] = load(next[r]);
      on[r] = first + r < l.batch && counts<l>(p.mask, first + r, t);
      any = any || on[r];
    }
    fetch(i + 1);
    // A step that is masked for all samples of the block changes nothing.
    if (any) matmul.run(states[i % 2], width, sums);
    for (int r = 0; r < l.rows; ++r) {
      float mine = 0, made_c = c[r], made_h = h[r];
      if (any) {
        const float z = share_sums(sums[r], 1) + xw[r];
        mine = gate == 2 ? scalar::Tanh{}(z) : scalar::Sigmoid{}(z);
        const float in = of_gate(mine, 0), forget = of_gate(mine, 1), new_c = of_gate(mine, 2),
                    out = of_gate(mine, 3);
        made_c = forget * c[r] + in * new_c;
        made_h = out * scalar::Tanh{}(made_c);
      }
      const float before = h[r];
      if (on[r]) {
        c[r] = made_c;
        h[r] = made_h;
        y[r] = made_h;
      } else if (l.zero_output) {
        y[r] = 0;
      }
      if (!active) continue;
      if (gate == 0) states[(i + 1) % 2][r * width + unit] = h[r];
      if (first + r >= l.batch) continue;
      const int64_t at = ((first + r) * int64_t(l.time) + t) * units + unit;
      put(p.gates, ((first + r) * int64_t(l.time) + t) * (4 * units) + gate * units + unit, mine);
      if (gate == 1) put(p.ys, at, y[r]);
      if (gate == 2) put(p.cells, at, c[r]);
      if (gate == 3) put(p.states, at, before);
    }
    __syncthreads();
  }
  for (int r = 0; r < l.rows; ++r)
    if (active && gate == 0 && first + r < l.batch) {
      put(p.h, (first + r) * units + unit, h[r]);
      put(p.c, (first + r) * units + unit, c[r]);
    }
}

template <class T>
struct LstmBackward {
  const T *c0, *recurrent, *gates, *cells, *dys, *dh, *dc;
  const bool* mask;
  T *dxw, *dh0, *dc0;
};

// What a backward step reads, for one sample; thread (unit, gate) loads its own gate.
template <class T>
struct LstmStep {
  T gate, cell, before, dy;

  LstmStep<float> loaded() const { return {load(gate), load(cell), load(before), load(dy)}; }
};

// dh of the step before is dxw · recurrentᵀ: 16 threads share the sums of four units, and each gets
// the total of its own.
template <Layout l, class T>
void lstm_backward(const LstmBackward<T>& p, Pack<T, 4>* memory) {
  constexpr int width = l.groups * 64, units = l.units;
  __shared__ alignas(16) float slopes[2][l.rows * width];  // dxw of a step
  zero<l>(slopes[0], 2 * l.rows * width);
  const int unit = threadIdx.x / 4, gate = threadIdx.x % 4;
  const bool active = unit < units;
  const int first_unit = threadIdx.x / 16 * 4;
  const auto weight = [&](int j, int s) {
    return j < 4 * units && first_unit + s < units ? p.recurrent[(first_unit + s) * (4 * units) + j]
                                                   : T();
  };
  const StateMatmul<l, 16, T, decltype(weight)> matmul(memory, weight);
  const int first = blockIdx.x * l.rows;
  float dh[l.rows], dc[l.rows], waiting[l.rows];
  for (int r = 0; r < l.rows; ++r) {
    const bool there = active && first + r < l.batch;
    dh[r] = there ? load(p.dh[(first + r) * units + unit]) : 0;
    dc[r] = there ? load(p.dc[(first + r) * units + unit]) : 0;
    waiting[r] = 0;
  }
  LstmStep<T> next[l.rows] = {};
  const auto fetch = [&](int i) {
    for (int r = 0; r < l.rows; ++r) {
      if (i < 0 || !active || first + r >= l.batch) continue;
      const int64_t row = (first + r) * int64_t(l.time), at = row + step_at<l>(i);
      next[r] = {p.gates[at * (4 * units) + gate * units + unit], p.cells[at * units + unit],
                 i > 0 ? p.cells[(row + step_at<l>(i - 1)) * units + unit]
                       : p.c0[(first + r) * units + unit],
                 p.dys[at * units + unit]};
    }
  };
  fetch(l.time - 1);
  __syncthreads();
  for (int i = l.time - 1; i >= 0; --i) {
    const int t = step_at<l>(i);
    LstmStep<float> now[l.rows];
    bool on[l.rows], any = false;
    for (int r = 0; r < l.rows; ++r) {
      now[r] = next[r].loaded();
      on[r] = first + r < l.batch && counts<l>(p.mask, first + r, t);
      any = any || on[r];
    }
    fetch(i - 1);
    for (int r = 0; r < l.rows; ++r) {
      float slope = 0;
      const float dy = now[r].dy + waiting[r];
      if (any) {
        const float in = of_gate(now[r].gate, 0), forget = of_gate(now[r].gate, 1),
                    new_c = of_gate(now[r].gate, 2), out = of_gate(now[r].gate, 3);
        const float tanh_c = scalar::Tanh{}(now[r].cell), whole_dh = dh[r] + dy;
        const float whole_dc = dc[r] + whole_dh * out * (1 - tanh_c * tanh_c);
        slope = gate == 0   ? whole_dc * new_c * in * (1 - in)
                : gate == 1 ? whole_dc * now[r].before * forget * (1 - forget)
                : gate == 2 ? whole_dc * in * (1 - new_c * new_c)
                            : whole_dh * tanh_c * out * (1 - out);
        if (on[r]) dc[r] = whole_dc * forget;
      }
      if (!on[r]) slope = 0;
      // A masked step repeated the output of an earlier one, or gave zeros.
      waiting[r] = on[r] || l.zero_output || !l.masked ? 0 : dy;
      if (!active) continue;
      slopes[i % 2][r * width + gate * units + unit] = slope;
      if (first + r < l.batch)
        put(p.dxw, ((first + r) * int64_t(l.time) + t) * (4 * units) + gate * units + unit, slope);
    }
    __syncthreads();
    if (!any) continue;
    float sums[l.rows][4];
    matmul.run(slopes[i % 2], width, sums);
    for (int r = 0; r < l.rows; ++r) {
      const float made = total_of_unit(sums[r]);
      if (on[r]) dh[r] = made;
    }
  }
  for (int r = 0; r < l.rows; ++r)
    if (active && gate == 0 && first + r < l.batch) {
      put(p.dh0, (first + r) * units + unit, dh[r]);
      put(p.dc0, (first + r) * units + unit, dc[r]);
    }
}

}  // namespace keratin::recurrent

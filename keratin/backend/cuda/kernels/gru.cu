// The steps of a GRU with reset_after and of its gradient; ops/gru.h says what is computed.
#pragma once

#include "keratin/backend/cuda/kernels/recurrent.cu"

namespace keratin::recurrent {

template <class T>
struct GruForward {
  const T *xw, *h0, *recurrent, *bias;
  const bool* mask;
  T *ys, *h, *gates, *states;
};

// Threads (unit, 0 … 2) have z, r and g; the fourth has the term of h in g.
template <Layout l, class T>
void gru_forward(const GruForward<T>& p, Pack<T, 4>* memory) {
  constexpr int width = l.groups * 16, units = l.units;
  __shared__ alignas(16) float states[2][l.rows * width];
  zero<l>(states[0], 2 * l.rows * width);
  const int unit = threadIdx.x / 4, gate = threadIdx.x % 4;
  const bool active = unit < units, has_gate = active && gate < 3;
  const auto weight = [&](int k, int g) {
    return active && k < units && g < 3 ? p.recurrent[k * (3 * units) + g * units + unit] : T();
  };
  const StateMatmul<l, 4, T, decltype(weight)> matmul(memory, weight);
  const float bias = has_gate ? load(p.bias[gate * units + unit]) : 0.0f;
  const int first = blockIdx.x * l.rows;
  float h[l.rows], y[l.rows];
  T next[l.rows] = {};
  __syncthreads();
  for (int r = 0; r < l.rows; ++r) {
    h[r] = active && first + r < l.batch ? load(p.h0[(first + r) * units + unit]) : 0;
    y[r] = 0;
    if (active && gate == 0) states[0][r * width + unit] = h[r];
  }
  const auto fetch = [&](int i) {
    for (int r = 0; r < l.rows; ++r)
      if (i < l.time && has_gate && first + r < l.batch)
        next[r] = p.xw[((first + r) * int64_t(l.time) + step_at<l>(i)) * (3 * units) +
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
    if (any) matmul.run(states[i % 2], width, sums);
    for (int r = 0; r < l.rows; ++r) {
      float mine = 0, made = h[r];
      if (any) {
        const float s = share_sums(sums[r], 1) + bias;
        mine = scalar::Sigmoid{}(xw[r] + s);
        const float z = of_gate(mine, 0), reset = of_gate(mine, 1), s_g = of_gate(s, 2);
        const float g = of_gate(scalar::Tanh{}(xw[r] + reset * s_g), 2);
        made = z * h[r] + (1 - z) * g;
        if (gate == 2) mine = g;
        if (gate == 3) mine = s_g;
      }
      const float before = h[r];
      if (on[r]) {
        h[r] = made;
        y[r] = made;
      } else if (l.zero_output) {
        y[r] = 0;
      }
      if (!active) continue;
      if (gate == 0) states[(i + 1) % 2][r * width + unit] = h[r];
      if (first + r >= l.batch) continue;
      const int64_t at = ((first + r) * int64_t(l.time) + t) * units + unit;
      put(p.gates, ((first + r) * int64_t(l.time) + t) * (4 * units) + gate * units + unit, mine);
      if (gate == 1) put(p.ys, at, y[r]);
      if (gate == 2) put(p.states, at, before);
    }
    __syncthreads();
  }
  for (int r = 0; r < l.rows; ++r)
    if (active && gate == 0 && first + r < l.batch) put(p.h, (first + r) * units + unit, h[r]);
}

template <class T>
struct GruBackward {
  const T *recurrent, *gates, *states, *dys, *dh;
  const bool* mask;
  T *dxw, *ds, *dh0;
};

template <class T>
struct GruStep {
  T gate, before, dy;

  GruStep<float> loaded() const { return {load(gate), load(before), load(dy)}; }
};

// As lstm_backward, with ds in place of dxw; the fourth thread of a unit has dxw of g.
template <Layout l, class T>
void gru_backward(const GruBackward<T>& p, Pack<T, 4>* memory) {
  constexpr int width = l.groups * 64, units = l.units;
  __shared__ alignas(16) float slopes[2][l.rows * width];
  zero<l>(slopes[0], 2 * l.rows * width);
  const int unit = threadIdx.x / 4, gate = threadIdx.x % 4;
  const bool active = unit < units;
  const int first_unit = threadIdx.x / 16 * 4;
  const auto weight = [&](int j, int s) {
    return j < 3 * units && first_unit + s < units ? p.recurrent[(first_unit + s) * (3 * units) + j]
                                                   : T();
  };
  const StateMatmul<l, 16, T, decltype(weight)> matmul(memory, weight);
  const int first = blockIdx.x * l.rows;
  float dh[l.rows], waiting[l.rows];
  GruStep<T> next[l.rows] = {};
  for (int r = 0; r < l.rows; ++r) {
    dh[r] = active && first + r < l.batch ? load(p.dh[(first + r) * units + unit]) : 0;
    waiting[r] = 0;
  }
  const auto fetch = [&](int i) {
    for (int r = 0; r < l.rows; ++r) {
      if (i < 0 || !active || first + r >= l.batch) continue;
      const int64_t at = (first + r) * int64_t(l.time) + step_at<l>(i);
      next[r] = {p.gates[at * (4 * units) + gate * units + unit], p.states[at * units + unit],
                 p.dys[at * units + unit]};
    }
  };
  fetch(l.time - 1);
  __syncthreads();
  for (int i = l.time - 1; i >= 0; --i) {
    const int t = step_at<l>(i);
    GruStep<float> now[l.rows];
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
        const float z = of_gate(now[r].gate, 0), reset = of_gate(now[r].gate, 1),
                    g = of_gate(now[r].gate, 2), s_g = of_gate(now[r].gate, 3);
        const float whole = dh[r] + dy, da_g = whole * (1 - z) * (1 - g * g);
        slope = gate == 0   ? whole * (now[r].before - g) * z * (1 - z)
                : gate == 1 ? da_g * s_g * reset * (1 - reset)
                : gate == 2 ? da_g * reset
                            : da_g;
        if (on[r]) dh[r] = whole * z;
      }
      if (!on[r]) slope = 0;
      waiting[r] = on[r] || l.zero_output || !l.masked ? 0 : dy;
      if (!active) continue;
      if (gate < 3) slopes[i % 2][r * width + gate * units + unit] = slope;
      if (first + r >= l.batch) continue;
      const int64_t at = ((first + r) * int64_t(l.time) + t) * (3 * units) + unit;
      if (gate < 3) put(p.ds, at + gate * units, slope);
      if (gate != 2) put(p.dxw, at + min(gate, 2) * units, slope);
    }
    __syncthreads();
    if (!any) continue;
    float sums[l.rows][4];
    matmul.run(slopes[i % 2], width, sums);
    for (int r = 0; r < l.rows; ++r) {
      const float made = total_of_unit(sums[r]);
      if (on[r]) dh[r] += made;
    }
  }
  for (int r = 0; r < l.rows; ++r)
    if (active && gate == 0 && first + r < l.batch) put(p.dh0, (first + r) * units + unit, dh[r]);
}

}  // namespace keratin::recurrent

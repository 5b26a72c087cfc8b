// Recurrent layers in one kernel: a block keeps the states of a few samples and runs all steps.
// Four threads share a unit; recurrent weights are in registers, then in shared memory, and the
// rest is read again in each step. T is only the type in memory and in shared memory: states,
// arithmetic and the weights in registers are float, because half types would be unpacked in each
// step.
#pragma once

namespace keratin::recurrent {

// The numbers that a kernel is compiled for; written by recurrent.cpp.
struct Layout {
  int batch, time, units;
  int rows;              // samples of a block
  int threads;           // four per unit, whole warps
  int groups;            // of 16 weights of a thread
  int in_registers;      // groups
  int in_shared;         // groups
  bool reverse, masked;  // the order of the steps; whether there is a mask
  bool zero_output;      // of masked steps; if not, they repeat the output before
};

// Four sums of a thread, over inputs that it shares with `lanes` - 1 neighbours: in group g it
// takes the inputs (g · lanes + lane) · 4 to + 3. `weight(input, sum)` is a weight, a T, 0 outside.
template <Layout l, int lanes, class T, class Weight>
struct StateMatmul {
  float kept[l.in_registers > 0 ? l.in_registers : 1][16];
  Pack<T, 4>* shared;  // of one input, for each of the sums
  const Weight weight;
  const int lane = threadIdx.x % lanes;

  int input(int group, int e) const { return (group * lanes + lane) * 4 + e; }

  StateMatmul(Pack<T, 4>* memory, Weight w) : shared(memory), weight(w) {
#pragma unroll
    for (int g = 0; g < l.in_registers; ++g)
#pragma unroll
      for (int e = 0; e < 16; ++e) kept[g][e] = load(weight(input(g, e / 4), e % 4));
    for (int g = 0; g < l.in_shared; ++g)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int from = input(l.in_registers + g, e);
        shared[(g * 4 + e) * l.threads + threadIdx.x] = {weight(from, 0), weight(from, 1),
                                                         weight(from, 2), weight(from, 3)};
      }
  }

  // For each row of the block: sums of `inputs`, which are `stride` apart.
  void run(const float* inputs, int stride, float (&sums)[l.rows][4]) const {
#pragma unroll
    for (int r = 0; r < l.rows; ++r)
#pragma unroll
      for (int s = 0; s < 4; ++s) sums[r][s] = 0;
#pragma unroll
    for (int g = 0; g < l.in_registers; ++g)
      add(inputs, stride, g, sums, [&](int e, int s) { return kept[g][e * 4 + s]; });
#pragma unroll
    for (int g = 0; g < l.in_shared; ++g) {
      Pack<T, 4> w[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) w[e] = shared[(g * 4 + e) * l.threads + threadIdx.x];
      add(inputs, stride, l.in_registers + g, sums,
          [&](int e, int s) { return load(w[e].items[s]); });
    }
#pragma unroll 2
    for (int g = l.in_registers + l.in_shared; g < l.groups; ++g)
      add(inputs, stride, g, sums, [&](int e, int s) { return load(weight(input(g, e), s)); });
  }

 private:
  template <class At>
  void add(const float* inputs, int stride, int g, float (&sums)[l.rows][4], At at) const {
#pragma unroll
    for (int r = 0; r < l.rows; ++r) {
      const float4 x = *reinterpret_cast<const float4*>(inputs + r * stride + input(g, 0));
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        sums[r][s] = fmaf(x.x, at(0, s), sums[r][s]);
        sums[r][s] = fmaf(x.y, at(1, s), sums[r][s]);
        sums[r][s] = fmaf(x.z, at(2, s), sums[r][s]);
        sums[r][s] = fmaf(x.w, at(3, s), sums[r][s]);
      }
    }
  }
};

// Adds up four sums over lanes; two bits of the lane choose which total it gets. Two of the sums
// are exchanged with the lane `apart` · 2 away, then one with the lane `apart` away.
inline float share_sums(const float (&sums)[4], int apart) {
  const bool high = threadIdx.x & (2 * apart), odd = threadIdx.x & apart;
  const float a =
      (high ? sums[2] : sums[0]) + __shfl_xor_sync(~0u, high ? sums[0] : sums[2], 2 * apart);
  const float b =
      (high ? sums[3] : sums[1]) + __shfl_xor_sync(~0u, high ? sums[1] : sums[3], 2 * apart);
  return (odd ? b : a) + __shfl_xor_sync(~0u, odd ? a : b, apart);
}

// The total of the thread's own unit, of four units that 16 threads have sums of.
inline float total_of_unit(const float (&sums)[4]) {
  float total = share_sums(sums, 4);
  total += __shfl_xor_sync(~0u, total, 1);
  return total + __shfl_xor_sync(~0u, total, 2);
}

// The value of the thread that has this gate of the same unit.
inline float of_gate(float value, int gate) {
  return __shfl_sync(~0u, value, threadIdx.x % 32 / 4 * 4 + gate);
}

template <class T>
void put(T* to, int64_t at, float value) {
  if (to != nullptr) to[at] = T(value);
}

// The i-th step, in the order that the layout says.
template <Layout l>
int step_at(int i) {
  return l.reverse ? l.time - 1 - i : i;
}

template <Layout l>
bool counts(const bool* mask, int row, int t) {
  if constexpr (l.masked)
    return mask[int64_t(row) * l.time + t];
  else
    return true;
}

template <Layout l>
void zero(float* memory, int count) {
  for (int i = threadIdx.x; i < count; i += l.threads) memory[i] = 0;
}

}  // namespace keratin::recurrent

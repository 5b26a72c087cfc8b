// Recurrent layers in one kernel: a block keeps the states of a few samples and goes through all
// steps. Four threads share a unit; recurrent weights lie in registers, then in shared memory, and
// what fits neither is read anew in each step. Half types are how T lies in memory: states and all
// arithmetic are float, as are the weights in registers, which would have to be unpacked in each
// step. In shared memory there is room for twice as many halves.
#pragma once

namespace keratin::recurrent {

// How a kernel is laid out; written by recurrent.cpp.
struct Layout {
  int batch, time, units;
  int rows;              // samples of a block
  int threads;           // four per unit, whole warps
  int groups;            // of 16 weights of a thread
  int in_registers;      // groups
  int in_shared;         // groups
  bool reverse, masked;  // the order of the steps; is there a mask?
  bool zero_output;      // of masked steps; otherwise they repeat the output before
};

// Four sums of a thread, over inputs that it shares with `lanes` - 1 neighbours: in group g it
// takes the inputs (g · lanes + lane) · 4 to + 3. `weight(input, sum)` is a weight, a T, 0 outside.
template <Layout l, int lanes, class T, class Weight>
struct Product {
  float kept[l.in_registers > 0 ? l.in_registers : 1][16];
  Pack<T, 4>* shared;  // of one input, for each of the sums
  const Weight weight;
  const int lane = threadIdx.x % lanes;

  int input(int group, int e) const { return (group * lanes + lane) * 4 + e; }

  Product(Pack<T, 4>* memory, Weight w) : shared(memory), weight(w) {
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

// What two bits of the lane choose of four sums: half of them are exchanged with the neighbour
// `apart` · 2 away, then with that `apart` away, and each lane is left with the total of one of
// them.
inline float share_sums(const float (&sums)[4], int apart) {
  const bool high = threadIdx.x & (2 * apart), odd = threadIdx.x & apart;
  const float a =
      (high ? sums[2] : sums[0]) + __shfl_xor_sync(~0u, high ? sums[0] : sums[2], 2 * apart);
  const float b =
      (high ? sums[3] : sums[1]) + __shfl_xor_sync(~0u, high ? sums[1] : sums[3], 2 * apart);
  return (odd ? b : a) + __shfl_xor_sync(~0u, odd ? a : b, apart);
}

// Of four units that 16 threads have sums of: the total of the thread's own unit.
inline float total_of_unit(const float (&sums)[4]) {
  float total = share_sums(sums, 4);
  total += __shfl_xor_sync(~0u, total, 1);
  return total + __shfl_xor_sync(~0u, total, 2);
}

// A value of the thread that has this gate of the same unit.
inline float of_gate(float value, int gate) {
  return __shfl_sync(~0u, value, threadIdx.x % 32 / 4 * 4 + gate);
}

template <class T>
void put(T* place, int64_t at, float value) {
  if (place != nullptr) place[at] = T(value);
}

// One step after the other, in the order that the layout says.
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

// Walks along one axis: a thread has a line, or one element of it.
#pragma once

namespace keratin::lines {

// A box as [outer, size, inner] around the axis; written by movement/line.h.
struct Layout {
  int64_t size, inner;

  // Element k of line i.
  template <class Index, class K>
  constexpr auto at(Index i, K k) const {
    const Index step = divisor(inner);
    return (i / step * Index(size) + k) * step + i % step;
  }
};

// Element k combines the elements up to k, or before it if `exclusive`; from the end if `reverse`.
template <Layout l, class Combine, bool exclusive, bool reverse, class Index, class T>
void cumulate(Index count, const T* x, T* y) {
  using C = compute_t<T>;
  for_each_element(count, [&](Index i) {
    C total = start_of<C>(Combine{});
    for (Index step = 0; step < Index(l.size); ++step) {
      const Index at = l.at(i, reverse ? Index(l.size) - 1 - step : step);
      const C next = Combine{}(total, load(x[at]));
      y[at] = T(exclusive ? total : next);
      total = next;
    }
  });
}

// The first position of the largest element, or the smallest; NaN beats everything.
template <Layout l, bool largest, class Index, class T, class Y>
void arg_extremum(Index count, const T* x, Y* y) {
  for_each_element(count, [&](Index i) {
    long long best = 0;
    auto known = load(x[l.at(i, Index(0))]);
    for (Index k = 1; k < Index(l.size); ++k) {
      const auto next = load(x[l.at(i, k)]);
      if (known == known && (next != next || (largest ? next > known : next < known))) {
        best = k;
        known = next;
      }
    }
    y[i] = best;
  });
}

// The order of the elements of each line, by counting those that come before each one. Equals keep
// their order, NaN comes last.
template <Layout l, bool descending, class Index, class T, class Y>
void argsort(Index count, const T* x, Y* y) {
  constexpr Index step = divisor(l.inner), size = divisor(l.size);
  for_each_element(count, [&](Index i) {
    const Index in = i % step, k = i / step % size, base = i / (step * size) * (step * size) + in;
    const auto own = load(x[i]);
    Index before = 0;
    for (Index j = 0; j < size; ++j) {
      const auto other = load(x[base + j * step]);
      const bool nans = own != own && other != other;
      const bool first =
          own != own ? other == other : other == other && (descending ? other > own : other < own);
      if (first || ((other == own || nans) && j < k)) ++before;
    }
    y[base + before * step] = k;
  });
}

// Writes the sorted order of line blockIdx.y, which kernels/sort.cu found.
template <Layout l, class Index, class Y>
void store_order(const unsigned* order, Y* y) {
  const Index line = blockIdx.y, i = blockIdx.x * Index(block_size) + threadIdx.x;
  if (i < Index(l.size)) y[l.at(line, i)] = order[line * Index(l.size) + i];
}

}  // namespace keratin::lines

// Convolutions and pooling, straight from their definitions: one thread per output element, or per
// few neighbouring channels.
#pragma once

namespace keratin::windows {

// Along one axis, output o sees the inputs o · stride - low + k · dilation for 0 <= k < window.
struct Axis {
  int64_t input, window, output, stride, dilation, low;

  constexpr int64_t extent() const { return (window - 1) * dilation + 1; }
};
// The numbers that a kernel is compiled for; written by conv/window_kernels.cpp.
struct Layout {
  Axis axes[3];
  int64_t channels, outputs, groups;  // of the input, of the output

  constexpr int64_t all(int64_t Axis::*size) const {
    return axes[0].*size * (axes[1].*size) * (axes[2].*size);
  }
  constexpr int64_t inputs() const { return all(&Axis::input); }
  constexpr int64_t positions() const { return all(&Axis::output); }
  constexpr int64_t window() const { return all(&Axis::window); }
  constexpr int64_t depth() const { return channels / groups; }
  constexpr int64_t width() const { return outputs / groups; }
};

// The coordinate along `axis` of element i of a row-major box whose sizes are this member.
template <Layout l, int64_t Axis::*size, int axis, class Index>
Index coordinate(Index i) {
  constexpr int64_t own = l.axes[axis].*size;
  if constexpr (own == 1) return Index(0);
  constexpr int64_t inner = (axis < 1 ? l.axes[1].*size : 1) * (axis < 2 ? l.axes[2].*size : 1);
  constexpr bool outermost =
      (axis < 1 || l.axes[0].*size == 1) && (axis < 2 || l.axes[1].*size == 1);
  const Index here = inner == 0 ? i : i / Index(inner == 0 ? 1 : inner);
  if constexpr (outermost || own == 0)
    return here;
  else
    return here % Index(own);
}

// An element of an image, and whether it exists.
template <class Index>
struct Position {
  bool inside;
  Index at;
};

// The spatial input under element k of the window of the spatial output o.
template <Layout l, int axis = 0, class Index>
Position<Index> find_input(Index o, Index k, Position<Index> found = {true, 0}) {
  if constexpr (axis == 3) {
    return found;
  } else {
    constexpr Axis a = l.axes[axis];
    const Index c = coordinate<l, &Axis::output, axis>(o) * Index(a.stride) - Index(a.low) +
                    coordinate<l, &Axis::window, axis>(k) * Index(a.dilation);
    if constexpr (a.low > 0) found.inside = found.inside && c >= 0;
    if constexpr ((a.output - 1) * a.stride - a.low + a.extent() - 1 >= a.input)
      found.inside = found.inside && c < Index(a.input);
    found.at = found.at * Index(a.input) + c;
    return find_input<l, axis + 1>(o, k, found);
  }
}

// The spatial output that has the spatial input x under element k of its window.
template <Layout l, int axis = 0, class Index>
Position<Index> find_output(Index x, Index k, Position<Index> found = {true, 0}) {
  if constexpr (axis == 3) {
    return found;
  } else {
    constexpr Axis a = l.axes[axis];
    const Index t = coordinate<l, &Axis::input, axis>(x) + Index(a.low) -
                    coordinate<l, &Axis::window, axis>(k) * Index(a.dilation);
    const Index c = t / Index(a.stride);
    found.inside = found.inside && t >= 0 && t % Index(a.stride) == 0 && c < Index(a.output);
    found.at = found.at * Index(a.output) + c;
    return find_output<l, axis + 1>(x, k, found);
  }
}

// y[n, o, c] = Σ x[n, under (o, k), d] · filter[k, d, c]
template <Layout l, class Index, class T>
void conv(Index count, const T* x, const T* filter, T* y) {
  constexpr Index depth = l.depth(), width = l.width(), channels = l.outputs;
  constexpr Index positions = l.positions();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, o = i / channels % positions, n = i / (channels * positions);
    compute_t<T> total = 0;
    for (Index k = 0; k < Index(l.window()); ++k) {
      const auto [inside, at] = find_input<l>(o, k);
      if (!inside) continue;
      for (Index d = 0; d < depth; ++d)
        total =
            fma(load(x[(n * Index(l.inputs()) + at) * Index(l.channels) + c / width * depth + d]),
                load(filter[(k * depth + d) * channels + c]), total);
    }
    y[i] = T(total);
  });
}

// dx[n, x, c] = Σ dy[n, above (x, k), m] · filter[k, c, m]
template <Layout l, class Index, class T>
void conv_grad_input(Index count, const T* dy, const T* filter, T* dx) {
  constexpr Index depth = l.depth(), width = l.width(), channels = l.channels;
  constexpr Index inputs = l.inputs();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, x = i / channels % inputs, n = i / (channels * inputs);
    compute_t<T> total = 0;
    for (Index k = 0; k < Index(l.window()); ++k) {
      const auto [inside, at] = find_output<l>(x, k);
      if (!inside) continue;
      const Index first = c / depth * width;
      for (Index m = first; m < first + width; ++m)
        total = fma(load(dy[(n * Index(l.positions()) + at) * Index(l.outputs) + m]),
                    load(filter[(k * depth + c % depth) * Index(l.outputs) + m]), total);
    }
    dx[i] = T(total);
  });
}

// One block per element of the filter: its threads share the samples and the positions.
template <Layout l, int threads, class Index, class T>
void conv_grad_filter(Index count, const T* x, const T* dy, T* dfilter) {
  constexpr Index depth = l.depth(), width = l.width(), outputs = l.outputs;
  constexpr Index positions = l.positions() > 0 ? l.positions() : 1;
  const Index m = blockIdx.x % outputs, d = blockIdx.x / outputs % depth,
              k = blockIdx.x / (outputs * depth);
  compute_t<T> total = 0;
  __shared__ compute_t<T> shared[threads];
  for (Index at = threadIdx.x; at < count; at += threads) {
    const Index o = at % positions, n = at / positions;
    const auto [inside, from] = find_input<l>(o, k);
    if (inside)
      total =
          fma(load(x[(n * Index(l.inputs()) + from) * Index(l.channels) + m / width * depth + d]),
              load(dy[at * outputs + m]), total);
  }
  total = combine<scalar::Add, threads, 1>(total, shared, threadIdx.x, 0);
  if (threadIdx.x == 0) dfilter[blockIdx.x] = T(total);
}

// y is the largest element of each window, NaN above all, and `where` its element of the window. A
// thread has `size` neighbouring channels.
template <Layout l, int size, class Index, class T, class Where>
void max_pool(Index count, const T* x, T* y, Where* where) {
  constexpr Index channels = l.channels / size, positions = l.positions();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, o = i / channels % positions, n = i / (channels * positions);
    Pack<T, size> best;
    Pack<Where, size> at;
    bool found = false;
#pragma unroll
    for (Index k = 0; k < Index(l.window()); ++k) {
      const auto [inside, from] = find_input<l>(o, k);
      if (!inside) continue;
      const auto next = *reinterpret_cast<const Pack<T, size>*>(
          x + ((n * Index(l.inputs()) + from) * channels + c) * Index(size));
#pragma unroll
      for (int e = 0; e < size; ++e) {
        const auto known = load(best.items[e]), now = load(next.items[e]);
        if (found && !(known == known && (now > known || now != now))) continue;
        best.items[e] = next.items[e];
        at.items[e] = Where(k);
      }
      found = true;
    }
    if (y != nullptr) *reinterpret_cast<Pack<T, size>*>(y + i * Index(size)) = best;
    if (where != nullptr) *reinterpret_cast<Pack<Where, size>*>(where + i * Index(size)) = at;
  });
}

// Calls f(o, k) for the spatial outputs o whose windows cover the spatial input x with their
// element k, in order.
template <Layout l, int axis = 0, class Index, class F>
void for_each_window(Index x, F f, Index o = 0, Index k = 0) {
  if constexpr (axis == 3) {
    f(o, k);
  } else {
    constexpr Axis a = l.axes[axis];
    const Index at = coordinate<l, &Axis::input, axis>(x) + Index(a.low);
    for (Index w =
             max(at - Index(a.extent() - 1) + Index(a.stride - 1), Index(0)) / Index(a.stride);
         w < Index(a.output) && w * Index(a.stride) <= at; ++w) {
      const Index off = at - w * Index(a.stride);
      if (off % Index(a.dilation) != 0) continue;
      for_each_window<l, axis + 1>(x, f, o * Index(a.output) + w,
                                   k * Index(a.window) + off / Index(a.dilation));
    }
  }
}

// dx = Σ dy over the windows in which x is the largest element.
template <Layout l, int size, class Index, class T, class Where>
void max_unpool(Index count, const T* dy, const Where* where, T* dx) {
  constexpr Index channels = l.channels / size, inputs = l.inputs();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, x = i / channels % inputs, n = i / (channels * inputs);
    compute_t<T> total[size] = {};
    for_each_window<l>(x, [&](Index o, Index k) {
      const Index from = ((n * Index(l.positions()) + o) * channels + c) * Index(size);
      const auto at = *reinterpret_cast<const Pack<Where, size>*>(where + from);
      const auto slope = *reinterpret_cast<const Pack<T, size>*>(dy + from);
#pragma unroll
      for (int e = 0; e < size; ++e)
        if (Index(at.items[e]) == k) total[e] += load(slope.items[e]);
    });
    Pack<T, size> sums;
#pragma unroll
    for (int e = 0; e < size; ++e) sums.items[e] = T(total[e]);
    *reinterpret_cast<Pack<T, size>*>(dx + i * Index(size)) = sums;
  });
}

// y is the element of each window that `where` selects.
template <Layout l, class Index, class T, class Where>
void max_repool(Index count, const T* x, const Where* where, T* y) {
  constexpr Index channels = l.channels, positions = l.positions();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, o = i / channels % positions, n = i / (channels * positions);
    compute_t<T> total = 0;
    const auto [inside, at] = find_input<l>(o, Index(where[i]));
    if (inside) total = load(x[(n * Index(l.inputs()) + at) * channels + c]);
    y[i] = T(total);
  });
}

// y is the mean of the elements of each window that are not padding.
template <Layout l, class Index, class T>
void avg_pool(Index count, const T* x, T* y) {
  constexpr Index channels = l.channels, positions = l.positions();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, o = i / channels % positions, n = i / (channels * positions);
    compute_t<T> total = 0;
    Index elements = 0;
    for (Index k = 0; k < Index(l.window()); ++k) {
      const auto [inside, at] = find_input<l>(o, k);
      if (!inside) continue;
      ++elements;
      total += load(x[(n * Index(l.inputs()) + at) * channels + c]);
    }
    total /= elements;
    y[i] = T(total);
  });
}

// The elements of the window of output o that are not padding.
template <Layout l, int axis = 0, class Index>
Index count_inside(Index o, Index count = 1) {
  if constexpr (axis == 3) {
    return count;
  } else {
    constexpr Axis a = l.axes[axis];
    const Index c = coordinate<l, &Axis::output, axis>(o) * Index(a.stride) - Index(a.low);
    Index here = 0;
    for (Index j = 0; j < Index(a.window); ++j) {
      const Index at = c + j * Index(a.dilation);
      here += at >= 0 && at < Index(a.input);
    }
    return count_inside<l, axis + 1>(o, count * here);
  }
}

// dx = Σ dy / elements of the window, over the windows that cover x.
template <Layout l, class Index, class T>
void avg_pool_grad(Index count, const T* dy, T* dx) {
  constexpr Index channels = l.channels, inputs = l.inputs();
  for_each_element(count, [&](Index i) {
    const Index c = i % channels, x = i / channels % inputs, n = i / (channels * inputs);
    compute_t<T> total = 0;
    for (Index k = 0; k < Index(l.window()); ++k) {
      const auto [inside, o] = find_output<l>(x, k);
      if (!inside) continue;
      total += load(dy[(n * Index(l.positions()) + o) * channels + c]) / count_inside<l>(o);
    }
    dx[i] = T(total);
  });
}

}  // namespace keratin::windows

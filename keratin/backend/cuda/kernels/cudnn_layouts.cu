// What stands around cuDNN's kernels: filters in its layout, and images with the padding and the
// channels that it does well.
#pragma once

#include "keratin/backend/cuda/kernels/windows.cu"

namespace keratin::cudnn {

using windows::Axis, windows::coordinate, windows::Layout, windows::Position;

// A convolution as it is, and as cuDNN computes it: its image may have more padding and channels,
// and along each axis `fold` neighbours of one channel are channels of one position. Written by
// conv/cudnn_step_sources.cpp.
struct Change {
  Layout own, wide;
  int64_t fold[3];

  constexpr int64_t folded() const { return fold[0] * fold[1] * fold[2] * own.channels; }
  // The padding in front of the image.
  constexpr int64_t added(int axis) const { return own.axes[axis].low - wide.axes[axis].low; }
};

// The neighbour along an axis that channel c of the wide image stands for.
template <Change g, int axis, class Index>
Index neighbour(Index c) {
  constexpr int64_t inner =
      g.own.channels * (axis < 1 ? g.fold[1] : 1) * (axis < 2 ? g.fold[2] : 1);
  return c / Index(inner) % Index(g.fold[axis]);
}

// Transposes a filter tile by tile. to = scaled(from, column); `once` is called for each column.
template <int tile, int tile_rows, class Index, class T, class Scaled, class Once>
void turn(Index rows, Index columns, const T* from, T* to, Scaled scaled, Once once) {
  __shared__ T shared[tile][tile + 1];
  const Index row = blockIdx.x * Index(tile), column = blockIdx.y * Index(tile);
  for (int j = threadIdx.y; j < tile; j += tile_rows)
    if (row + j < rows && column + threadIdx.x < columns)
      shared[j][threadIdx.x] = from[(row + j) * columns + column + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < tile; j += tile_rows)
    if (const Index o = column + j; o < columns && row + threadIdx.x < rows)
      to[(column + j) * rows + row + threadIdx.x] = scaled(shared[threadIdx.x][j], o);
  if (const Index o = column + threadIdx.x; blockIdx.x == 0 && threadIdx.y == 0 && o < columns)
    once(o);
}

// The element of the own window that is `element` of the wide one, at channel c.
template <Change g, int axis = 0, class Index>
Position<Index> own_element(Index c, Index element, Position<Index> found) {
  if constexpr (axis == 3) {
    return found;
  } else {
    constexpr Index window = g.own.axes[axis].window;
    const Index k = coordinate<g.wide, &Axis::window, axis>(element) * Index(g.fold[axis]) +
                    neighbour<g, axis>(c);
    found.inside = found.inside && k < window;
    found.at = found.at * window + k;
    return own_element<g, axis + 1>(c, element, found);
  }
}

// The same as `turn` for filters that get more channels, padded with zeros.
template <Change g, class Index, class T, class Scaled, class Once>
void turn_and_widen(Index count, const T* from, T* to, Scaled scaled, Once once) {
  constexpr Index wide = g.wide.channels, window = g.wide.window(), depth = g.own.channels;
  for_each_element(count, [&](Index i) {
    const Index c = i % wide, element = i / wide % window, o = i / (wide * window);
    const auto [inside, k] = own_element<g>(c, element, {c < Index(g.folded()), Index(0)});
    to[i] = inside ? scaled(from[(k * depth + c % depth) * Index(g.own.outputs) + o], o) : T(0);
    if (c == 0 && element == 0) once(o);
  });
}

// Where element k of the own window is in the wide one: its element and its neighbour.
template <class Index>
struct WideElement {
  Index element, neighbour;
};
template <Change g, int axis = 0, class Index>
WideElement<Index> wide_element(Index k, WideElement<Index> found = {0, 0}) {
  if constexpr (axis == 3) {
    return found;
  } else {
    constexpr Index fold = g.fold[axis];
    const Index own = coordinate<g.own, &Axis::window, axis>(k);
    return wide_element<g, axis + 1>(k,
                                     {found.element * Index(g.wide.axes[axis].window) + own / fold,
                                      found.neighbour * fold + own % fold});
  }
}

// The inverse for a gradient: elements of added zeros are dropped.
template <Change g, class Index, class T>
void turn_and_narrow(Index count, const T* from, T* to) {
  constexpr Index outputs = g.own.outputs, depth = g.own.channels, window = g.wide.window();
  for_each_element(count, [&](Index i) {
    const Index o = i % outputs, c = i / outputs % depth, k = i / (outputs * depth);
    const auto [element, neighbour] = wide_element<g>(k);
    to[i] = from[(o * window + element) * Index(g.wide.channels) + neighbour * depth + c];
  });
}

// Element i of an image: its channel, spatial position and sample.
template <class Index>
struct Element {
  Index c, x, n;
};
template <Layout l, class Index>
Element<Index> split(Index i) {
  constexpr Index channels = l.channels, inputs = l.inputs();
  return {i % channels, i / channels % inputs, i / (inputs * channels)};
}

// The spatial position of the own image, after those of `found`, at channel c of position x of the
// wide one.
template <Change g, int axis = 0, class Index>
Position<Index> own_position(Index c, Index x, Position<Index> found) {
  if constexpr (axis == 3) {
    return found;
  } else {
    constexpr Index size = g.own.axes[axis].input;
    const Index at = coordinate<g.wide, &Axis::input, axis>(x) * Index(g.fold[axis]) +
                     neighbour<g, axis>(c) - Index(g.added(axis));
    found.inside = found.inside && at >= 0 && at < size;
    found.at = found.at * size + at;
    return own_position<g, axis + 1>(c, x, found);
  }
}

// The wide image.
template <Change g, class Index, class T>
void pad(Index count, const T* own, T* wide) {
  constexpr Index channels = g.own.channels;
  for_each_element(count, [&](Index i) {
    const auto [c, x, n] = split<g.wide>(i);
    const auto [inside, at] = own_position<g>(c, x, {c < Index(g.folded()), n});
    wide[i] = inside ? own[at * channels + c % channels] : T(0);
  });
}

// The spatial position of the wide image, after those of `found`, that has position x of the own
// one, and as which neighbour.
template <class Index>
struct WidePosition {
  bool inside;
  Index at, neighbour;
};
template <Change g, int axis = 0, class Index>
WidePosition<Index> wide_position(Index x, WidePosition<Index> found) {
  if constexpr (axis == 3) {
    return found;
  } else {
    constexpr Index size = g.wide.axes[axis].input, fold = g.fold[axis];
    const Index t = coordinate<g.own, &Axis::input, axis>(x) + Index(g.added(axis)), at = t / fold;
    found.inside = found.inside && at >= 0 && at < size;
    found.at = found.at * size + at;
    found.neighbour = found.neighbour * fold + t % fold;
    return wide_position<g, axis + 1>(x, found);
  }
}

// The own image from the wide one, or their gradients.
template <Change g, class Index, class T>
void crop(Index count, const T* wide, T* own) {
  for_each_element(count, [&](Index i) {
    const auto [c, x, n] = split<g.own>(i);
    const auto [inside, at, neighbour] = wide_position<g>(x, {true, n, Index(0)});
    own[i] =
        inside ? wide[at * Index(g.wide.channels) + (neighbour * Index(g.own.channels) + c)] : T(0);
  });
}

}  // namespace keratin::cudnn

// Ops that move elements: each output element is a copy of the input element that it finds.
#pragma once

namespace keratin::movement {

// For element i of a row-major box: base + Σ (i / inner % size) · stride, without the remainder
// where size is 0. These are the numbers that a kernel is compiled for; written by
// movement/movement.cpp.
struct Term {
  int64_t inner, size, stride;
};
struct Positions {
  int64_t base;
  int count;
  Term terms[8];
};

template <Positions p, int k = 0, class Index>
Index position(Index i, Index sum = 0) {
  if constexpr (k == p.count) {
    return sum + Index(p.base);
  } else {
    constexpr Term term = p.terms[k];
    const Index above = term.inner == 1 ? i : i / Index(term.inner);
    const Index at = term.size == 0 ? above : above % Index(divisor(term.size));
    return position<p, k + 1>(i, sum + at * Index(term.stride));
  }
}

// `pack` neighbours are moved together.
template <Positions from, int pack, class Index, class T>
void move(Index count, const T* x, T* y) {
  using Elements = Pack<T, pack>;
  for_each_element(count, [&](Index i) {
    reinterpret_cast<Elements*>(y)[i] = reinterpret_cast<const Elements*>(x)[position<from>(i)];
  });
}

// One axis of a window of a box: `at` is the coordinate of an element of the box, the window has
// `size` elements and begins at 0 to `room`. Neighbours are `stride` apart in the window's memory,
// `box_stride` in that of the box.
struct Window {
  Positions at;
  int64_t size, room, stride, box_stride;
};
struct Windows {
  int rank;
  Window axes[8];
};

template <class I>
long long clamped(I start, long long room) {
  return min(max((long long)start, 0LL), room);
}

template <Windows windows, int axis = 0, class Index, class I>
Index move_to_window(Index position, const I* start) {
  if constexpr (axis == windows.rank) {
    return position;
  } else {
    constexpr Window w = windows.axes[axis];
    if constexpr (w.room > 0) position += Index(clamped(start[axis], w.room)) * Index(w.box_stride);
    return move_to_window<windows, axis + 1>(position, start);
  }
}

template <Positions from, Windows windows, class Index, class T, class I>
void slice(Index count, const T* x, const I* start, T* y) {
  for_each_element(count,
                   [&](Index i) { y[i] = x[move_to_window<windows>(position<from>(i), start)]; });
}

// An element of a smaller box, and whether it is there.
template <class Index>
struct Found {
  bool inside;
  Index at;
};

template <Windows windows, int axis = 0, class Index, class I>
Found<Index> find_in_window(Index i, const I* start, Found<Index> found = {true, 0}) {
  if constexpr (axis == windows.rank) {
    return found;
  } else {
    constexpr Window w = windows.axes[axis];
    const Index c = position<w.at>(i) - Index(clamped(start[axis], w.room));
    found.inside = found.inside && c >= 0 && c < Index(w.size);
    found.at += c * Index(w.stride);
    return find_in_window<windows, axis + 1>(i, start, found);
  }
}

template <Windows windows, class Index, class T, class I>
void update(Index count, const T* x, const T* updates, const I* start, T* y) {
  for_each_element(count, [&](Index i) {
    const auto [inside, at] = find_in_window<windows>(i, start);
    y[i] = inside ? updates[at] : x[i];
  });
}

// One axis of a padded box: `at` is the coordinate of an element, and behind `low` others are
// `size` elements of the input, one at every `step`; these are `stride` apart in its memory.
struct Padded {
  Positions at;
  int64_t low, step, size, stride;
};
struct Padding {
  int rank;
  Padded axes[8];
};

template <Padding padding, int axis = 0, class Index>
Found<Index> find_in_padding(Index i, Found<Index> found = {true, 0}) {
  if constexpr (axis == padding.rank) {
    return found;
  } else {
    constexpr Padded p = padding.axes[axis];
    const Index c = position<p.at>(i) - Index(p.low);
    found.inside =
        found.inside && c >= 0 && c % Index(p.step) == 0 && c / Index(p.step) < Index(p.size);
    found.at += c / Index(p.step) * Index(p.stride);
    return find_in_padding<padding, axis + 1>(i, found);
  }
}

template <Padding padding, int pack, class Index, class T>
void pad(Index count, const T* x, T* y, double value) {
  using Elements = Pack<T, pack>;
  for_each_element(count, [&](Index i) {
    const auto [inside, at] = find_in_padding<padding>(i);
    Elements one;
    for (int e = 0; e < pack; ++e) one.items[e] = convert<T>(value);
    reinterpret_cast<Elements*>(y)[i] = inside ? reinterpret_cast<const Elements*>(x)[at] : one;
  });
}

// Element c of row o of inputs that are joined; their rows have these sizes, and the first one
// begins at `start`.
template <int64_t start, int64_t size, int64_t... sizes, class Index, class T, class... Others>
T joined(Index o, Index c, const T* x, const Others*... others) {
  if (sizeof...(sizes) == 0 || c < Index(start + size))
    return x[o * Index(size) + c - Index(start)];
  if constexpr (sizeof...(sizes) > 0) return joined<start + size, sizes...>(o, c, others...);
}

template <int64_t... sizes, class Index, class T, class... Inputs>
void concat(Index count, T* y, const Inputs*... inputs) {
  constexpr Index row = divisor((sizes + ...));
  for_each_element(count,
                   [&](Index i) { y[i] = joined<0, sizes...>(i / row, i % row, inputs...); });
}

// y[i] is the coordinate of element i.
template <Positions at, class Index, class T>
void iota(Index count, T* y) {
  for_each_element(count, [&](Index i) { y[i] = convert<T>((long long)position<at>(i)); });
}

}  // namespace keratin::movement

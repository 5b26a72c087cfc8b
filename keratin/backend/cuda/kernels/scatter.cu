// Adds updates at positions that indices select: no atomics, so a sum is always the same.
#pragma once

namespace keratin::scattering {

// What is indexed, as [outer, size, inner] around an axis, and how many indices there are along it;
// written by movement/scatter.cpp.
struct Layout {
  int64_t size, inner, count;
};

// Every element looks for its updates, in the order of the indices. `along`: each update has an
// index of its own.
template <Layout l, bool along, class Index, class T, class I>
void search(Index count, const T* x, const I* indices, const T* updates, T* y, long long* fault,
            long long tag) {
  constexpr Index size = divisor(l.size), inner = divisor(l.inner), most = divisor(l.count);
  for_each_element(count, [&](Index i) {
    const Index in = i % inner, k = i / inner % size, o = i / (inner * size);
    compute_t<T> total = load(x[i]);
    for (Index j = 0; j < Index(l.count); ++j) {
      const Index at = (o * most + j) * inner + in;
      if (Index(checked_index(indices[along ? at : j], l.size, fault, tag)) == k)
        total = scalar::Add{}(total, load(updates[at]));
    }
    y[i] = T(total);
  });
}

// Sorted updates are cut into chunks, so that threads share the updates of one target; a second
// kernel joins runs of one target that cross chunks, in order.

constexpr unsigned chunk = 64;

// One column of the table: target k's element is out[k · step], item j's is updates[j · step].
template <class T>
struct Column {
  const unsigned *keys, *order;  // targets, and which update each is
  unsigned items;
  const T* updates;
  T* out;
  int64_t step;
  compute_t<T>* partial;  // [chunk][2]: sums of the first and the last run of a chunk
  int64_t partial_step;

  unsigned end_of(unsigned c) const { return min(items, (c + 1) * chunk); }
  bool crosses_end(unsigned c) const {
    const unsigned end = end_of(c);
    return end < items && keys[end] == keys[end - 1];
  }
  void add(unsigned target, compute_t<T> total) const {
    T& element = out[target * step];
    element = T(scalar::Add{}(load(element), total));
  }
  compute_t<T>& partial_at(unsigned c, bool first) const {
    return partial[(2 * int64_t(c) + !first) * partial_step];
  }
};

template <class T>
void add_chunk(const Column<T>& column, unsigned c) {
  constexpr unsigned ahead = 8;  // loads that wait together
  const unsigned begin = c * chunk, end = column.end_of(c);
  unsigned current = column.keys[begin];
  compute_t<T> total = 0;
  bool first = true;
  const auto finish_run = [&](bool last) {
    const bool crosses = (first && begin > 0 && column.keys[begin - 1] == current) ||
                         (last && column.crosses_end(c));
    if (crosses)
      column.partial_at(c, first) = total;
    else
      column.add(current, total);
  };
  for (unsigned i = begin; i < end; i += ahead) {
    unsigned keys[ahead];
    compute_t<T> values[ahead];
#pragma unroll
    for (unsigned e = 0; e < ahead; ++e) {
      const unsigned at = min(i + e, end - 1);
      keys[e] = column.keys[at];
      values[e] = load(column.updates[column.order[at] * column.step]);
    }
#pragma unroll
    for (unsigned e = 0; e < ahead; ++e) {
      if (i + e >= end) break;
      if (keys[e] != current) {
        finish_run(false);
        first = false;
        current = keys[e];
        total = 0;
      }
      total = scalar::Add{}(total, values[e]);
    }
  }
  finish_run(true);
}

// The run that begins in this chunk and crosses its end, if there is one.
template <class T>
void join_chunk(const Column<T>& column, unsigned c) {
  if (!column.crosses_end(c)) return;
  const unsigned begin = c * chunk, target = column.keys[column.end_of(c) - 1];
  const bool whole = column.keys[begin] == target;
  if (whole && begin > 0 && column.keys[begin - 1] == target) return;
  compute_t<T> total = column.partial_at(c, whole);
  do {
    ++c;
    total = scalar::Add{}(total, column.partial_at(c, true));
  } while (column.crosses_end(c) && column.keys[column.end_of(c) - 1] == target);
  column.add(target, total);
}

}  // namespace keratin::scattering

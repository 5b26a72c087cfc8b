// Elements that indices select.
#pragma once

namespace keratin::gathering {

// What is indexed, as [outer, size, inner] around an axis, and how many indices there are along it;
// written by movement/indexing.cpp.
struct Layout {
  int64_t size, inner, count;
};

// `along`: each output element has an index of its own.
template <Layout l, bool along, class Index, class T, class I>
void gather(Index count, const T* x, const I* indices, T* y, long long* fault, long long tag) {
  constexpr Index size = divisor(l.size), inner = divisor(l.inner), all = divisor(l.count);
  for_each_element(count, [&](Index i) {
    const Index in = i % inner, j = i / inner % all, o = i / (inner * all);
    const Index index = checked_index(indices[along ? i : j], l.size, fault, tag);
    y[i] = x[(o * size + index) * inner + in];
  });
}

}  // namespace keratin::gathering

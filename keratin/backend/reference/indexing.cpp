#include "keratin/ops/indexing.h"

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/indexing_operands.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

// Which element of a tensor each index selects. The tensor's shape is [outer, size, inner] around
// the axis; there are `count` indices (for each inner position and outer one, where `along`).
class IndexedPositions {
 public:
  IndexedPositions(const Node& node, const Shape& shape, const View& indices, bool along)
      : node_(node), indices_(indices), along_(along) {
    const int64_t axis = node.attr<ops::AxisAttrs>().axis;
    outer_ = shape.count(0, axis);
    size_ = shape[axis];
    inner_ = shape.count(axis + 1, shape.rank());
    count_ = along ? indices.shape()[axis] : indices.shape().count();
  }

  // f(position in the tensor, position in [outer, count, inner]), in order.
  template <class F>
  void for_each(F&& f) const {
    int64_t next = 0;
    for (int64_t o = 0; o < outer_; ++o)
      for (int64_t j = 0; j < count_; ++j)
        for (int64_t i = 0; i < inner_; ++i) f(position(o, j, i), next++);
  }

 private:
  // The element of [outer, size, inner] that belongs to (o, j, i) of [outer, count, inner].
  int64_t position(int64_t o, int64_t j, int64_t i) const {
    const int64_t index = integer_at(indices_, along_ ? (o * count_ + j) * inner_ + i : j);
    return (o * size_ + ops::checked_index(node_, index, size_)) * inner_ + i;
  }

  const Node& node_;
  const View indices_;
  const bool along_;
  int64_t outer_, size_, inner_, count_;
};

template <bool along>
void gather(const Node& node, const ops::GatherOperands<View>& v) {
  IndexedPositions(node, v.x.shape(), v.indices, along).for_each([&](int64_t from, int64_t to) {
    copy_element(v.y, to, v.x, from);
  });
}

// Floats add up in double: the reference should not be what rounds.
template <bool along>
void scatter_add(const Node& node, const ops::ScatterOperands<View>& v) {
  dispatch(v.y.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<S, bool>) {
      using A = std::conditional_t<std::is_integral_v<S>, S, double>;
      const auto read = [](S value) { return static_cast<A>(static_cast<compute_t<S>>(value)); };
      std::vector<A> totals;
      for (int64_t i = 0; i < v.y.shape().count(); ++i) totals.push_back(read(v.x.as<S>()[i]));
      IndexedPositions(node, v.y.shape(), v.indices, along).for_each([&](int64_t to, int64_t from) {
        A& total = totals[static_cast<size_t>(to)];
        total = scalar::Add{}(total, read(v.updates.as<S>()[from]));
      });
      for (size_t i = 0; i < totals.size(); ++i)
        v.y.as<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
    }
  });
}

}  // namespace

extern const KernelDef gather_loop{.name = "gather",
                                   .ops = {&ops::gather_op},
                                   .make = make_loop<ops::GatherOperands, gather<false>>};
extern const KernelDef take_along_axis_loop{.name = "take_along_axis",
                                            .ops = {&ops::take_along_axis_op},
                                            .make = make_loop<ops::GatherOperands, gather<true>>};
extern const KernelDef scatter_add_loop{
    .name = "scatter_add",
    .ops = {&ops::scatter_add_op},
    .make = make_loop<ops::ScatterOperands, scatter_add<false>>};
extern const KernelDef scatter_add_along_axis_loop{
    .name = "scatter_add_along_axis",
    .ops = {&ops::scatter_add_along_axis_op},
    .make = make_loop<ops::ScatterOperands, scatter_add<true>>};

}  // namespace keratin::reference

#include "keratin/ops/indexing.h"

#include "keratin/backend/reference/families.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::reference {

namespace {

// x as [outer, size, inner] around the axis, with `count` indices (for each inner position and
// outer one, where `along`).
class Places {
 public:
  Places(const Call& call, bool along)
      : call_(call), along_(along), axis_(call.node.attr<ops::AxisAttrs>().axis) {
    const Shape &x = call.node.in(0).shape(), &indices = call.node.in(1).shape();
    outer = x.count(0, axis_);
    size = x[axis_];
    inner = x.count(axis_ + 1, x.rank());
    count = along ? indices[axis_] : indices.count();
  }

  // The element of x, [outer, size, inner], that belongs to (o, j, i) of [outer, count, inner].
  int64_t position(int64_t o, int64_t j, int64_t i) const {
    const int64_t at = along_ ? (o * count + j) * inner + i : j;
    const int64_t index = call_.node.in(1).dtype() == DType::i32 ? call_.in<int32_t>(1)[at]
                                                                 : call_.in<int64_t>(1)[at];
    return (o * size + ops::checked_index(call_.node, index, size)) * inner + i;
  }

  // f(position in x, position in [outer, count, inner]), in order.
  template <class F>
  void for_each(F&& f) const {
    int64_t next = 0;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < count; ++j)
        for (int64_t i = 0; i < inner; ++i) f(position(o, j, i), next++);
  }

  int64_t outer, size, inner, count;

 private:
  const Call& call_;
  bool along_;
  int64_t axis_;
};

template <bool along>
void gather(const Call& call) {
  const size_t size = size_of(call.node.type().dtype);
  Places(call, along).for_each([&](int64_t from, int64_t to) {
    std::memcpy(call.out<std::byte>() + static_cast<size_t>(to) * size,
                call.in<std::byte>(0) + static_cast<size_t>(from) * size, size);
  });
}

// Floats add up in double: the reference should not be what rounds.
template <bool along>
void scatter_add(const Call& call) {
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<S, bool>) {
      using A = std::conditional_t<std::is_integral_v<S>, S, double>;
      const auto read = [](S value) { return static_cast<A>(static_cast<compute_t<S>>(value)); };
      std::vector<A> totals;
      for (int64_t i = 0; i < call.node.type().shape.count(); ++i)
        totals.push_back(read(call.in<S>(0)[i]));
      Places(call, along).for_each([&](int64_t to, int64_t from) {
        A& total = totals[static_cast<size_t>(to)];
        total = scalar::Add{}(total, read(call.in<S>(2)[from]));
      });
      for (size_t i = 0; i < totals.size(); ++i)
        call.out<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
    }
  });
}

constexpr Entry table[] = {
    {&ops::gather_op, gather<false>},
    {&ops::scatter_add_op, scatter_add<false>},
    {&ops::take_along_axis_op, gather<true>},
    {&ops::scatter_add_along_axis_op, scatter_add<true>},
};

}  // namespace

std::span<const Entry> indexing_loops() { return table; }

}  // namespace keratin::reference

#include "keratin/backend/reference/loops.h"
#include "keratin/ops/scalar.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

// A node and its operands in memory.
struct Call {
  const Node& node;
  const JoinOperands<View>& operands;

  template <class T>
  const T* in(size_t i) const {
    return operands.inputs[i].as<const T>();
  }
  template <class T>
  T* out() const {
    return operands.y.as<T>();
  }
};

// Reads input i at an index of the output, in the type that arithmetic is done in.
template <class S>
compute_t<S> read(const Call& call, size_t i, const Dims& index) {
  return static_cast<compute_t<S>>(
      call.in<S>(i)[broadcast_position(index, call.node.in(i).shape())]);
}

// A functor whose operands have one dtype.
template <class S, class Functor>
void uniform(const Call& call, Functor f) {
  using C = compute_t<S>;
  if constexpr (Functor::template takes<C>) {
    int64_t position = 0;
    const auto store = [&](auto result) {
      if constexpr (std::is_same_v<decltype(result), bool>) {
        call.out<bool>()[position++] = result;
      } else {
        call.out<S>()[position++] = static_cast<S>(result);
      }
    };
    for_each_index(call.node.type().shape, [&](const Dims& index) {
      if constexpr (std::is_invocable_v<Functor, C>) {
        store(f(read<S>(call, 0, index)));
      } else if constexpr (std::is_invocable_v<Functor, C, C>) {
        store(f(read<S>(call, 0, index), read<S>(call, 1, index)));
      } else {
        store(f(read<S>(call, 0, index), read<S>(call, 1, index), read<S>(call, 2, index)));
      }
    });
  }
}

void select(const Call& call) {
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    int64_t position = 0;
    for_each_index(call.node.type().shape, [&](const Dims& index) {
      const size_t source = read<bool>(call, 0, index) ? 1 : 2;
      call.out<S>()[position++] =
          call.in<S>(source)[broadcast_position(index, call.node.in(source).shape())];
    });
  });
}

void cast(const Call& call) {
  dispatch(call.node.in().dtype(), [&](auto from) {
    dispatch(call.node.type().dtype, [&](auto to) {
      using S = typename decltype(from)::type;
      using T = typename decltype(to)::type;
      for (int64_t i = 0; i < call.node.type().shape.count(); ++i)
        call.out<T>()[i] = convert<T>(call.in<S>(0)[i]);
    });
  });
}

void pointwise(const Node& node, const JoinOperands<View>& v) {
  const Call call{node, v};
  const ScalarOp op = *call.node.op().scalar;
  if (op == ScalarOp::select) return select(call);
  if (op == ScalarOp::cast) return cast(call);
  scalar::visit(op, [&]<class Row>(const Row&) {
    dispatch(call.node.in().dtype(), [&](auto tag) {
      uniform<typename decltype(tag)::type>(call, typename Row::Functor());
    });
  });
}

std::optional<std::string> refuses_pointwise(const Node& node) {
  if (node.op().scalar) return std::nullopt;
  return "the op has no scalar function";
}

}  // namespace

extern const KernelDef pointwise_loop{.name = "pointwise",
                                      .refuses = refuses_pointwise,
                                      .make = make_elementwise_loop<JoinOperands, pointwise>};

}  // namespace keratin::reference

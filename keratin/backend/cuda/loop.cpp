#include "keratin/backend/cuda/loop.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"

namespace keratin::cuda {

namespace {

// The functor of prelude.h that joins two elements.
std::string_view combine_of(const OpDef& op) {
  const std::pair<const OpDef*, std::string_view> table[] = {
      {&ops::sum_op, "scalar::Add"},     {&ops::prod_op, "scalar::Mul"},
      {&ops::max_op, "scalar::Maximum"}, {&ops::min_op, "scalar::Minimum"},
      {&ops::any_op, "scalar::BitOr"},   {&ops::all_op, "scalar::BitAnd"}};
  for (const auto& [reduction, functor] : table)
    if (reduction == &op) return functor;
  return "";
}

bool is_reduction(const Node& node) { return !combine_of(node.op()).empty(); }

// bit_and -> scalar::BitAnd: the functors are named after the ops.
std::string functor_of(const Node& node) {
  static constexpr std::string_view names[] = {"Add",
                                               "Sub",
                                               "Mul",
                                               "Div",
                                               "Mod",
                                               "FloorDiv",
                                               "Maximum",
                                               "Minimum",
                                               "Pow",
                                               "Atan2",
                                               "Equal",
                                               "NotEqual",
                                               "Less",
                                               "LessEqual",
                                               "Greater",
                                               "GreaterEqual",
                                               "BitAnd",
                                               "BitOr",
                                               "BitXor",
                                               "BitNot",
                                               "ShiftLeft",
                                               "ShiftRight",
                                               "ShiftRightLogical",
                                               "select",
                                               "Neg",
                                               "Abs",
                                               "Sign",
                                               "Relu",
                                               "Floor",
                                               "Ceil",
                                               "Round",
                                               "Trunc",
                                               "Sqrt",
                                               "Rsqrt",
                                               "Exp",
                                               "Expm1",
                                               "Log",
                                               "Log1p",
                                               "Sin",
                                               "Cos",
                                               "Tan",
                                               "Asin",
                                               "Acos",
                                               "Atan",
                                               "Sinh",
                                               "Cosh",
                                               "Tanh",
                                               "Asinh",
                                               "Acosh",
                                               "Atanh",
                                               "Erf",
                                               "Erfinv",
                                               "Sigmoid",
                                               "IsNan",
                                               "IsInf",
                                               "IsFinite"};
  return text("scalar::", names[static_cast<size_t>(*node.op().scalar)]);
}

// What a loop is made of: the inside of a `fused` node, or one node alone.
struct Body {
  Values parameters, results;
  std::vector<const Node*> nodes;
  Shape shape;  // of everything but reductions' results

  explicit Body(const Node& node) {
    if (&node.op() == &ops::fused_op) {
      parameters = node.region().parameter_values();
      results = node.region().results;
      for (const auto& inner : node.region().nodes()) nodes.push_back(inner.get());
    } else {
      parameters.assign(node.inputs().begin(), node.inputs().end());
      results = node.outputs();
      nodes = {&node};
    }
    for (const Node* inner : nodes)
      if (&inner->op() != &ops::constant_op) {
        shape = is_reduction(*inner) ? inner->in().shape() : inner->type().shape;
        break;
      }
  }
};

using Key = std::pair<const Node*, size_t>;

class LoopWriter {
 public:
  explicit LoopWriter(const Node& node) : node_(node), body_(node) {
    for (const Node* inner : body_.nodes)
      if (is_reduction(*inner)) reductions_.push_back(inner);
  }

  Source write() {
    source_.elementwise = true;
    for (const Node* inner : body_.nodes)
      if (&inner->op() != &ops::constant_op)
        source_.name += text(source_.name.empty() ? "" : " ", inner->name());
    const std::string body = write_body();
    if (!reductions_.empty()) return write_reduction(body);
    Source made = element_kernel(node_, body_.shape.count(), body);
    made.name = source_.name;
    made.elementwise = true;
    return made;
  }

 private:
  static Key key(Value value) { return {&value.node(), value.index()}; }
  size_t outputs() const { return node_.input_count(); }

  // The statements for element i: loads, ops, stores.
  std::string write_body() {
    std::string body;
    for (size_t p = 0; p < body_.parameters.size(); ++p) {
      const Value value = body_.parameters[p];
      if (names_.contains(key(value))) continue;
      const std::string position =
          affine(body_.shape.dims(), broadcast_strides(value.shape(), body_.shape), 0, "i");
      body += text("    const auto a", p, " = load(p", p, "[", position, "]);\n");
      names_[key(value)] = text("a", p);
    }
    for (const Node* inner : body_.nodes) body += write_node(*inner);
    for (size_t r = 0; r < body_.results.size(); ++r) {
      const Value result = body_.results[r];
      if (is_reduction(result.node())) continue;
      body += text("    ", guard(r), "p", outputs() + r, "[i] = ", storage_type(result.dtype()),
                   "(", names_.at(key(result)), ");\n");
    }
    return body;
  }

  std::string write_node(const Node& inner) {
    const auto in = [&](size_t i) { return names_.at(key(inner.in(i))); };
    std::string& name = names_[key(inner.out())];
    if (&inner.op() == &ops::constant_op) {
      name = literal_of(inner.attr<ops::ConstantAttrs>().value);
      return "";
    }
    if (&inner.op() == &ops::broadcast_to_op || is_reduction(inner)) {
      name = in(0);
      return "";
    }
    std::string value;
    if (*inner.op().scalar == ScalarOp::select) {
      value = text(in(0), " ? ", in(1), " : ", in(2));
    } else if (*inner.op().scalar == ScalarOp::cast) {
      value = text("load(convert<", storage_type(inner.type().dtype), ">(", in(0), "))");
    } else {
      value = text(functor_of(inner), "{}(", in(0));
      for (size_t i = 1; i < inner.input_count(); ++i) value += text(", ", in(i));
      value += ")";
    }
    name = text("v", counter_++);
    return text("    const ", compute_type(inner.type().dtype), " ", name, " = ", value, ";\n");
  }

  // A result nobody uses has no memory; it can only be one of several.
  std::string guard(size_t result) const {
    return body_.results.size() > 1 ? text("if (p", outputs() + result, " != nullptr) ") : "";
  }

  // The reductions of a loop run over the same axes; o counts what is kept, r what is not.
  Source write_reduction(const std::string& body) {
    const Dims& dims = body_.shape.dims();
    const Dims strides = body_.shape.strides();
    const Dims& axes = reductions_.front()->attr<ops::ReduceAttrs>().axes;
    Dims kept, kept_strides, reduced, reduced_strides;
    bool rows = true;  // neighbours in memory are reduced
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const bool gone =
          std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
      (gone ? reduced : kept).push_back(dims[axis]);
      (gone ? reduced_strides : kept_strides).push_back(strides[axis]);
      if (dims[axis] != 1) rows = gone;
    }
    const int64_t o = Shape(kept).count(), r = Shape(reduced).count();
    layout(rows, o, r);
    const std::string lane = rows ? "threadIdx.x" : "threadIdx.y";
    const std::string other = rows ? "threadIdx.y" : "threadIdx.x";
    std::string before, inside = body, after;
    for (size_t k = 0; k < reductions_.size(); ++k) {
      const Node& node = *reductions_[k];
      const std::string functor(combine_of(node.op())), type(compute_type(node.type().dtype));
      before += text("  ", type, " acc", k, " = start_of<", type, ">(", functor, "{});\n",
                     "  __shared__ ", type, " shared", k, "[", lanes_ * outputs_per_block_, "];\n");
      inside +=
          text("    acc", k, " = ", functor, "{}(acc", k, ", ", names_.at(key(node.in())), ");\n");
      after += text("  acc", k, " = combine<", functor, ", ", lanes_, ", ",
                    rows ? 1 : outputs_per_block_, ">(acc", k, ", shared", k, ", ", lane, ", ",
                    other, rows ? text(" * ", lanes_) : "", ");\n");
      after += text("  if (o < Index(", o, ") && ", lane, " == 0) ",
                    chunks_ > 1
                        ? text(partial(k, o), "[blockIdx.y * Index(", o, ") + o] = acc", k, ";\n")
                        : store(k));
    }
    const int64_t chunk = (r + chunks_ - 1) / chunks_;
    source_.text =
        text("using Index = ", index_type(node_), ";\n") +
        function(node_, source_, "kernel",
                 text("  const Index o = blockIdx.x * Index(", outputs_per_block_, ") + ", other,
                      ";\n  const Index begin = blockIdx.y * Index(", chunk,
                      "), end = min(begin + Index(", chunk, "), Index(", r, "));\n", before,
                      "  if (o < Index(", o, ")) for (Index r = begin + ", lane,
                      "; r < end; r += ", lanes_,
                      ") {\n    const Index i = ", affine(kept, kept_strides, 0, "o"), " + ",
                      affine(reduced, reduced_strides, 0, "r"), ";\n", inside, "  }\n", after));
    const unsigned x = static_cast<unsigned>(rows ? lanes_ : outputs_per_block_);
    const unsigned y = static_cast<unsigned>(rows ? outputs_per_block_ : lanes_);
    if (o > 0)
      source_.passes.push_back(
          {"kernel", static_cast<unsigned>((o + outputs_per_block_ - 1) / outputs_per_block_),
           static_cast<unsigned>(chunks_), x, y});
    if (chunks_ > 1 && o > 0) write_finish(o);
    return std::move(source_);
  }

  // How threads share the work: enough of them, but no more than there are elements.
  void layout(bool rows, int64_t o, int64_t r) {
    const auto power = [](int64_t n) {
      return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
    };
    if (rows) {
      lanes_ = std::min<int64_t>(power(r), block_size);
      outputs_per_block_ = std::min<int64_t>(block_size / lanes_, power(o));
    } else {
      outputs_per_block_ = std::min<int64_t>(32, power(o));
      lanes_ = std::min<int64_t>(block_size / outputs_per_block_, power(r));
    }
    constexpr int64_t wanted = 512;  // blocks that fill a large GPU
    const int64_t blocks = std::max<int64_t>((o + outputs_per_block_ - 1) / outputs_per_block_, 1);
    chunks_ = std::clamp<int64_t>(std::min(wanted / blocks, r / (lanes_ * 8)), 1, wanted);
  }

  std::string store(size_t k) const {
    std::string all;
    for (size_t r = 0; r < body_.results.size(); ++r)
      if (&body_.results[r].node() == reductions_[k])
        all += text("{ ", guard(r), "p", outputs() + r,
                    "[o] = ", storage_type(body_.results[r].dtype()), "(acc", k, "); }\n");
    return all.empty() ? "{}\n" : all;
  }

  std::string partial(size_t k, int64_t o) {
    while (partial_offsets_.size() <= k) {
      partial_offsets_.push_back(source_.scratch_bytes);
      source_.scratch_bytes += static_cast<size_t>(o * chunks_) * 8;
    }
    return text("reinterpret_cast<", compute_type(reductions_[k]->type().dtype), "*>(p",
                outputs() + node_.output_count(), " + ", partial_offsets_[k], ")");
  }

  // Joins what the blocks of each output found.
  void write_finish(int64_t o) {
    std::string body = "  const Index o = blockIdx.x;\n";
    for (size_t k = 0; k < reductions_.size(); ++k) {
      const std::string functor(combine_of(reductions_[k]->op())),
          type(compute_type(reductions_[k]->type().dtype));
      body +=
          text("  ", type, " acc", k, " = start_of<", type, ">(", functor, "{});\n",
               "  __shared__ ", type, " shared", k, "[64];\n", "  for (Index c = threadIdx.x; c < ",
               chunks_, "; c += 64) acc", k, " = ", functor, "{}(acc", k, ", ", partial(k, o),
               "[c * Index(", o, ") + o]);\n", "  acc", k, " = combine<", functor, ", 64, 1>(acc",
               k, ", shared", k, ", threadIdx.x, 0);\n", "  if (threadIdx.x == 0) ", store(k));
    }
    source_.text += function(node_, source_, "finish", body);
    source_.passes.push_back({"finish", static_cast<unsigned>(o), 1, 64, 1});
  }

  const Node& node_;
  const Body body_;
  std::vector<const Node*> reductions_;
  std::map<Key, std::string> names_;
  int counter_ = 0;
  Source source_;
  int64_t lanes_ = 1, outputs_per_block_ = 1, chunks_ = 1;
  std::vector<size_t> partial_offsets_;
};

bool fits_loop(const Node& node) {
  return node.op().scalar.has_value() || is_reduction(node) || &node.op() == &ops::broadcast_to_op;
}

}  // namespace

bool is_loop(const Node& node) {
  if (&node.op() != &ops::fused_op) return fits_loop(node);
  const auto& nodes = node.region().nodes();
  return std::all_of(nodes.begin(), nodes.end(), [](const auto& inner) {
    return &inner->op() == &ops::constant_op || fits_loop(*inner);
  });
}

Source make_loop(const Node& node) { return LoopWriter(node).write(); }

}  // namespace keratin::cuda

#include <algorithm>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/source.h"
#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"
#include "keratin/ops/window_operands.h"

namespace keratin::cuda {

namespace {

std::optional<ConvKind> kind_of(const Node& node) {
  if (&node.op() == &ops::conv_op) return ConvKind::forward;
  if (&node.op() == &ops::conv_grad_input_op) return ConvKind::grad_input;
  if (&node.op() == &ops::conv_grad_filter_op) return ConvKind::grad_filter;
  return std::nullopt;
}

// Reads a region as a chain of ops that begins with a convolution.
class Reader {
 public:
  Reader(const Node& node, const Node& conv)
      : node_(node), conv_(conv), value_(conv.out()), shape_(conv.type().shape) {}

  std::optional<ConvEpilogue> read() {
    for (const auto& inner : node_.region().nodes())
      if (inner.get() != &conv_ && &inner->op() != &ops::constant_op && !take(*inner))
        return std::nullopt;
    const Values& results = node_.region().results;
    if (results.size() != 1 || results[0] != value_) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool take(const Node& inner) {
    if (found_.relu && inner.op().scalar != ScalarOp::cast) return false;
    if (inner.in(0) != value_ && (inner.input_count() < 2 || inner.in(1) != value_)) return false;
    const bool first = inner.in(0) == value_;
    value_ = inner.out();
    if (inner.op().scalar == ScalarOp::cast) return is_float(inner.type().dtype);
    if (inner.op().scalar == ScalarOp::relu) return found_.relu = true;
    if (inner.input_count() != 2) return false;
    const Value other = inner.in(first ? 1 : 0);
    const std::string number = channel(other);
    if (inner.op().scalar == ScalarOp::add) return number.empty() ? add_image(other) : add(number);
    if (inner.op().scalar == ScalarOp::sub && first && !number.empty()) return add("-" + number);
    return inner.op().scalar == ScalarOp::mul && !number.empty() && multiply(number);
  }

  bool add(const std::string& number) {
    found_.shift = found_.shift.empty() ? number : text("(", found_.shift, " + ", number, ")");
    return true;
  }
  bool multiply(const std::string& number) {
    if (found_.added) return false;
    found_.scale = found_.scale.empty() ? number : text(found_.scale, " * ", number);
    if (!found_.shift.empty()) found_.shift = text(found_.shift, " * ", number);
    return true;
  }
  bool add_image(Value other) {
    const auto index = index_of(other);
    if (found_.added || !index || other.shape() != shape_) return false;
    found_.added = index;
    return other.dtype() == node_.type().dtype;
  }

  std::optional<size_t> index_of(Value value) const {
    const Values parameters = node_.region().parameter_values();
    const auto found = std::find(parameters.begin(), parameters.end(), value);
    if (found == parameters.end()) return std::nullopt;
    return static_cast<size_t>(found - parameters.begin());
  }

  // The number for channel o, as an expression; empty if there is not one number per channel.
  std::string channel(Value value) const {
    if (const Tensor* constant = ops::constant_value(value); constant && constant->count() == 1)
      return literal(DType::f32, constant->at(0));
    const auto index = index_of(value);
    if (!index) return "";
    if (value.shape().count() == 1) return text("load(p", *index, "[0])");
    const bool by_channel = value.shape().count() == shape_.back() && value.shape().rank() > 0 &&
                            value.shape().back() == shape_.back();
    return by_channel ? text("load(p", *index, "[o])") : "";
  }

  const Node& node_;
  const Node& conv_;
  Value value_;
  const Shape shape_;
  ConvEpilogue found_;
};

}  // namespace

std::string ConvEpilogue::after(std::string scaled, std::string_view at) const {
  if (!shift.empty()) scaled += " + " + shift;
  if (added) scaled += text(" + load(p", *added, "[", at, "])");
  return relu ? text("scalar::Relu{}(", scaled, ")") : scaled;
}

std::optional<ConvJob> conv_job(const Node& node) {
  if (const auto kind = kind_of(node)) {
    switch (*kind) {
      case ConvKind::forward: {
        const auto p = arguments<ops::ConvOperands>(node);
        return ConvJob{node, node, *kind, p.x.index, p.filter.index, p.y.index};
      }
      case ConvKind::grad_input: {
        const auto p = arguments<ops::ConvGradInputOperands>(node);
        return ConvJob{node, node, *kind, p.dx.index, p.filter.index, p.dy.index};
      }
      default: {
        const auto p = arguments<ops::ConvGradFilterOperands>(node);
        return ConvJob{node, node, *kind, p.x.index, p.dfilter.index, p.dy.index};
      }
    }
  }
  if (&node.op() != &ops::fused_op || node.attr<ops::FusedAttrs>().kind != "epilogue") return {};
  const auto& nodes = node.region().nodes();
  const auto conv = std::find_if(nodes.begin(), nodes.end(),
                                 [](const auto& inner) { return &inner->op() == &ops::conv_op; });
  if (conv == nodes.end()) return {};
  const Values parameters = node.region().parameter_values();
  const auto index = [&](size_t input) {
    return static_cast<size_t>(std::find(parameters.begin(), parameters.end(), (*conv)->in(input)) -
                               parameters.begin());
  };
  if (index(0) == parameters.size() || index(1) == parameters.size()) return {};
  auto epilogue = Reader(node, **conv).read();
  if (!epilogue || node.type().dtype != (*conv)->type().dtype) return {};
  return ConvJob{
      node, **conv, ConvKind::forward, index(0), index(1), node.input_count(), std::move(epilogue)};
}

}  // namespace keratin::cuda

#include "keratin/backend/cuda/matmul/fused_matmul.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ir/module.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"

namespace keratin::cuda {

MatmulSizes::MatmulSizes(const Node& node) {
  const auto& attrs = node.attr<ops::MatmulAttrs>();
  ta = attrs.transpose_a;
  tb = attrs.transpose_b;
  const Shape &a = node.in(0).shape(), &b = node.in(1).shape(), &out = node.type().shape;
  rows = out[out.rank() - 2];
  columns = out[out.rank() - 1];
  depth = a[a.rank() - (ta ? 2 : 1)];
  const auto front = [](const Shape& s) { return Shape(std::span(s.begin(), s.end() - 2)); };
  batch_shape = front(out);
  batch_a = front(a);
  batch_b = front(b);
  batch = batch_shape.count();
}

std::optional<std::string> refuses_matmul(const Node& node) {
  const MatmulSizes p(node);
  const auto whole = [&](const Shape& batch) {
    return batch.count() == 1 || batch.count() == p.batch;
  };
  if (!is_float(node.type().dtype)) return text(node.type().dtype, " is not a float type");
  if (!whole(p.batch_a) || !whole(p.batch_b)) return "some batch axes are broadcast, not all";
  if (p.batch == 0 || p.rows == 0 || p.columns == 0 || p.depth == 0) return "a matrix is empty";
  return std::nullopt;
}

std::optional<MatmulJob> read_matmul(const Node& node) {
  if (refuses_matmul(node)) return {};
  const MatmulSizes p(node);
  MatmulShape shape{.rows = p.rows,
                    .columns = p.columns,
                    .depth = p.depth,
                    .transpose_a = p.ta,
                    .transpose_b = p.tb,
                    .batch = p.batch,
                    .stride_a = p.batch_a.count() == 1 ? 0 : p.rows * p.depth,
                    .stride_b = p.batch_b.count() == 1 ? 0 : p.depth * p.columns,
                    .alignment_a = alignment_of(node.in(0).type()),
                    .alignment_b = alignment_of(node.in(1).type()),
                    .alignment_out = alignment_of(node.type())};
  // Many matrices times one are one matrix with many rows.
  if (shape.stride_b == 0 && shape.stride_a != 0 && !p.ta) {
    shape.rows *= shape.batch;
    shape.batch = 1;
    shape.stride_a = 0;
  }
  return MatmulJob{shape};
}

namespace {

// cuBLASLt loads several numbers of a bias at once. The plan's own memory is aligned; a slice that
// is given to the body of a loop may not be.
bool is_aligned(const Value& value) {
  const Node* node = &value.node();
  while (node->op().view) node = &node->in().node();
  const bool given = is_parameter(*node) && !node->attr<ParameterAttrs>().state;
  return !given || bytes_of(value.type()) % 16 == 0;
}

class EpilogueReader {
 public:
  explicit EpilogueReader(const Node& fused) : fused_(fused), region_(fused.region()) {}

  std::optional<MatmulJob> read() {
    if (region_.results.size() != 1 || !read_all({})) return {};
    return found_;
  }

  // Any pointwise ops after the matmul; passes/fuse_epilogue checks what these read.
  std::optional<MatmulJob> read_matmul_alone() {
    for (const auto& node : region_.nodes())
      if (&node->op() != &ops::constant_op && !node->op().scalar && (begun_ || !take_matmul(*node)))
        return {};
    if (!begun_) return {};
    found_.needs_loop = true;
    return found_;
  }

  // With a second result, which is a sum of rows.
  std::optional<MatmulJob> read_with_sum() {
    if (region_.results.size() != 2) return {};
    const Node& sum = region_.results[1].node();
    if (&sum.op() != &ops::sum_op || !read_all(&sum) || found_.shape.batch != 1) return {};
    found_.shape.sum = sum_of(sum);
    if (found_.shape.sum == MatmulSum::none) return {};
    return found_;
  }

 private:
  bool read_all(const Node* apart) {
    for (const auto& node : region_.nodes())
      if (&node->op() != &ops::constant_op && node.get() != apart && !take_gate(*node) &&
          !(begun_ ? take_next(*node) : take_matmul(*node)))
        return false;
    const bool gated = gate_.defined() == found_.gate.has_value();
    return begun_ && gated && region_.results[0] == value_;
  }

  // The sums that cuBLASLt computes: of a factor over the depth, if nothing but an addend follows
  // the matmul, or of the gradient of relu over all rows.
  MatmulSum sum_of(const Node& sum) const {
    const MatmulShape& s = found_.shape;
    const Value summed = sum.in();
    const Dims& axes = sum.attr<ops::ReduceAttrs>().axes;
    const bool over_rows = !axes.empty() && axes.back() == summed.rank() - 2 &&
                           static_cast<int64_t>(axes.size()) == summed.rank() - 1;
    if (!over_rows) return MatmulSum::none;
    if (summed == value_) return s.relu_grad && !s.addend ? MatmulSum::of_result : MatmulSum::none;
    if (s.bias || s.relu || s.relu_grad) return MatmulSum::none;
    const auto input = parameter(summed);
    if (input == found_.b && !s.transpose_b) return MatmulSum::of_b;
    if (input == found_.a && s.transpose_a) return MatmulSum::of_a;
    return MatmulSum::none;
  }

  std::optional<size_t> parameter(const Value& value) const {
    const Values all = region_.parameter_values();
    const auto found = std::find(all.begin(), all.end(), value);
    if (found == all.end()) return {};
    return static_cast<size_t>(found - all.begin());
  }

  bool take_matmul(const Node& node) {
    if (&node.op() != &ops::matmul_op) return false;
    const auto a = parameter(node.in(0)), b = parameter(node.in(1));
    const auto job = read_matmul(node);
    if (!a || !b || !job || node.type().dtype == DType::f64) return false;
    found_.shape = job->shape;
    found_.a = *a;
    found_.b = *b;
    value_ = node.out();
    return begun_ = true;
  }

  // greater(y, 0), the condition of a gradient of relu.
  bool take_gate(const Node& node) {
    if (gate_.defined() || node.op().scalar != ScalarOp::greater ||
        ops::uniform_value(node.in(1)) != 0.0)
      return false;
    gate_input_ = parameter(node.in(0));
    if (!gate_input_) return false;
    gate_ = node.out();
    return true;
  }

  bool take_choice(const Node& node) {
    if (node.op().scalar != ScalarOp::select || !gate_.defined() || node.in(0) != gate_ ||
        node.in(1) != value_ || ops::uniform_value(node.in(2)) != 0.0)
      return false;
    const bool whole = gate_.shape() == value_.shape() && node.type() == value_.type();
    if (!whole || found_.shape.batch != 1 || found_.shape.bias) return false;
    found_.gate = gate_input_;
    return found_.shape.relu_grad = true;
  }

  bool take_next(const Node& node) {
    const bool taken = !found_.shape.relu && !found_.shape.relu_grad &&
                       (take_relu(node) || take_choice(node) || take_sum(node));
    if (taken) value_ = node.out();
    return taken;
  }

  bool take_relu(const Node& node) {
    if (node.op().scalar != ScalarOp::relu || node.in() != value_) return false;
    return found_.shape.relu = true;
  }

  bool take_sum(const Node& node) {
    if (node.op().scalar != ScalarOp::add) return false;
    const Value other = node.in(0) == value_ ? node.in(1) : node.in(0);
    if (other == value_ || (node.in(0) != value_ && node.in(1) != value_)) return false;
    const auto input = parameter(other);
    if (!input || other.dtype() != value_.dtype() || node.type() != value_.type()) return false;
    if (other.shape() == value_.shape() && !found_.shape.addend) {
      found_.addend = input;
      return found_.shape.addend = true;
    }
    const bool is_row = other.shape().rank() > 0 && other.shape().count() == found_.shape.columns &&
                        other.shape().back() == found_.shape.columns;
    if (!is_row || found_.shape.bias || !is_aligned(fused_.in(*input))) return false;
    found_.bias = input;
    return found_.shape.bias = true;
  }

  const Node& fused_;
  const Block& region_;
  MatmulJob found_;
  bool begun_ = false;
  Value value_, gate_;
  std::optional<size_t> gate_input_;
};

}  // namespace

std::optional<MatmulJob> read_epilogue(const Node& node) {
  if (&node.op() != &ops::fused_op || node.attr<ops::FusedAttrs>().kind != "epilogue") return {};
  return EpilogueReader(node).read();
}

std::optional<MatmulJob> read_any_epilogue(const Node& node) {
  if (&node.op() != &ops::fused_op || node.attr<ops::FusedAttrs>().kind != "epilogue") return {};
  return EpilogueReader(node).read_matmul_alone();
}

std::optional<MatmulJob> read_summed(const Node& node) {
  if (&node.op() != &ops::fused_op || node.attr<ops::FusedAttrs>().kind != "summed") return {};
  return EpilogueReader(node).read_with_sum();
}

}  // namespace keratin::cuda

#include "keratin/backend/cpu/matmul.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/records.h"
#include "keratin/plan/view.h"

namespace keratin::cpu {
namespace {

// Strides of an operand along the batch axes of the result: 0 where it is repeated.
Dims batch_strides(const Shape& operand, const Dims& strides, const Shape& result) {
  Dims out(static_cast<size_t>(result.rank() - 2), 0);
  const int64_t missing = result.rank() - operand.rank();
  for (int64_t axis = 0; axis + 2 < operand.rank(); ++axis) {
    if (operand[axis] != 1) {
      out[static_cast<size_t>(axis + missing)] = strides[static_cast<size_t>(axis)];
    }
  }
  return out;
}

class MatmulKernel final : public PreparedKernel {
 public:
  MatmulKernel(const Node& node, const MatmulDesc& desc, int threads, PackedB b)
      : node_(node), matmul_(desc, threads), packed_(matmul_, std::move(b)) {}

  std::string describe() const override { return "matmul " + matmul_.describe(); }
  size_t scratch_bytes() const override { return matmul_.scratch_bytes(); }
  std::unique_ptr<Preparation> preparation() const override {
    return packed_.preparation(node_, 1, matmul_);
  }
  Launch bind(Pointers pointers) const override {
    return [this, v = operands<BinaryOperands>(node_, pointers),
            scratch = scratch_slot(node_, pointers),
            prepared = packed_.is_prepared() ? prepared_slot(node_, pointers) : nullptr] {
      const void* b = prepared != nullptr ? *prepared : packed_.constant();
      if (b == nullptr) b = v.b.data();
      matmul_.run({.a = v.a.data(), .b = b, .c = v.y.data(), .scratch = *scratch});
    };
  }

 private:
  const Node& node_;
  TiledMatmul matmul_;
  PackedMatrix packed_;
};

Offer make_matmul(const Node& node, const KernelOptions& options) {
  MatmulDesc desc = describe_matmul(node);
  if (const std::string reason = refuse_matmul(desc); !reason.empty()) return refuse(reason);
  const int threads = useful_threads(node.op().flops(node), options.threads);
  const PackedB b = choose_packed_b(node.in(1), desc, threads, options);
  desc.packed_b = b.is_packed();
  return {.kernel = std::make_unique<MatmulKernel>(node, desc, threads, b)};
}

}  // namespace

int useful_threads(double flops, int threads) {
  return static_cast<int>(std::clamp(std::floor(flops / 120e3), 1.0, static_cast<double>(threads)));
}

PackedB choose_packed_b(Value b, const MatmulDesc& desc, int threads,
                        const KernelOptions& options) {
  if (b.rank() != 2 || desc.n == 0 || desc.k == 0) return {};
  if (const Tensor* constant = ops::constant_value(b)) return {.constant = constant};
  if (!options.is_stable || !options.is_stable(b)) return {};
  return {.prepared = packs_b(desc, threads) || (is_computed(b) && takes_packed_b(desc))};
}

// True unless a value is a parameter under another name.
bool is_computed(Value value) {
  while (value.node().op().view) value = value.node().in();
  return !is_parameter(value.node());
}

PackedMatrix::PackedMatrix(const TiledMatmul& matmul, PackedB b) : is_prepared_(b.prepared) {
  if (b.constant == nullptr) return;
  constant_ = Buffer::allocate(matmul.packed_bytes());
  matmul.pack(b.constant->raw(), constant_.data());
}

std::unique_ptr<Preparation> PackedMatrix::preparation(const Node& node, size_t input,
                                                       const TiledMatmul& matmul) const {
  if (!is_prepared_) return nullptr;
  return std::make_unique<Packing>(
      node, input, matmul.packed_bytes(), matmul.describe_packing(),
      [&matmul](const void* from, void* to) { matmul.pack(from, to); });
}

MatmulDesc describe_matmul(const Node& matmul) {
  return describe_matmul(matmul, {matmul.in(0).shape().strides(), matmul.in(1).shape().strides(),
                                  matmul.type().shape.strides()});
}

MatmulDesc describe_matmul(const Node& matmul, const MatmulStrides& strides) {
  const auto& attrs = matmul.attr<ops::MatmulAttrs>();
  const Shape &a = matmul.in(0).shape(), &b = matmul.in(1).shape(), &c = matmul.type().shape;
  MatmulDesc desc{.dtype = matmul.type().dtype,
                  .m = c[c.rank() - 2],
                  .n = c.back(),
                  .k = a[a.rank() - (attrs.transpose_a ? 2 : 1)],
                  .c_row = strides.c.rbegin()[1]};
  desc.a_row = strides.a.rbegin()[attrs.transpose_a ? 0 : 1];
  desc.a_column = strides.a.rbegin()[attrs.transpose_a ? 1 : 0];
  desc.b_row = strides.b.rbegin()[attrs.transpose_b ? 0 : 1];
  desc.b_column = strides.b.rbegin()[attrs.transpose_b ? 1 : 0];
  desc.batch = Dims(c.begin(), c.end() - 2);
  desc.a_batch = batch_strides(a, strides.a, c);
  desc.b_batch = batch_strides(b, strides.b, c);
  desc.c_batch = batch_strides(c, strides.c, c);
  return desc;
}

extern constinit const KernelDef matmul_kernel{
    .name = "matmul tiles",
    .ops = {&ops::matmul_op},
    .make = make_matmul,
};

}  // namespace keratin::cpu

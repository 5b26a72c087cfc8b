#include "keratin/backend/cpu/matmul.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "keratin/backend/cpu/kernels.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/records.h"

namespace keratin::cpu {
namespace {

// Steps of an operand along the batch axes of the result: 0 where it is repeated.
Dims batch_steps(const Shape& operand, const Dims& steps, const Shape& result) {
  Dims out(static_cast<size_t>(result.rank() - 2), 0);
  const int64_t missing = result.rank() - operand.rank();
  for (int64_t axis = 0; axis + 2 < operand.rank(); ++axis) {
    if (operand[axis] != 1) {
      out[static_cast<size_t>(axis + missing)] = steps[static_cast<size_t>(axis)];
    }
  }
  return out;
}

class MatmulKernel final : public Kernel {
 public:
  MatmulKernel(const GemmDesc& desc, int threads, const Tensor* constant_b) : gemm_(desc, threads) {
    if (constant_b == nullptr) return;
    packed_ = Buffer::allocate(gemm_.packed_bytes());
    gemm_.pack(constant_b->raw(), packed_.data());
  }

  std::string describe() const override { return "matmul " + gemm_.describe(); }
  size_t scratch_bytes() const override { return gemm_.scratch_bytes(); }
  Launch bind(Pointers p) const override {
    return [this, p] {
      const void* b = packed_.data() != nullptr ? packed_.data() : p[1];
      gemm_.run({.a = p[0], .b = b, .c = p[2], .scratch = p[3]});
    };
  }

 private:
  Gemm gemm_;
  Buffer packed_;  // B, when it is a constant
};

}  // namespace

int useful_threads(double flops, int threads) {
  return static_cast<int>(std::clamp(std::floor(flops / 120e3), 1.0, static_cast<double>(threads)));
}

GemmDesc describe_matmul(const Node& matmul) {
  return describe_matmul(matmul, {matmul.in(0).shape().strides(), matmul.in(1).shape().strides(),
                                  matmul.type().shape.strides()});
}

GemmDesc describe_matmul(const Node& matmul, const MatmulSteps& steps) {
  const auto& attrs = matmul.attr<ops::MatmulAttrs>();
  const Shape &a = matmul.in(0).shape(), &b = matmul.in(1).shape(), &c = matmul.type().shape;
  GemmDesc desc{.dtype = matmul.type().dtype,
                .m = c[c.rank() - 2],
                .n = c.back(),
                .k = a[a.rank() - (attrs.transpose_a ? 2 : 1)],
                .c_row = steps.c.rbegin()[1]};
  desc.a_row = steps.a.rbegin()[attrs.transpose_a ? 0 : 1];
  desc.a_column = steps.a.rbegin()[attrs.transpose_a ? 1 : 0];
  desc.b_row = steps.b.rbegin()[attrs.transpose_b ? 0 : 1];
  desc.b_column = steps.b.rbegin()[attrs.transpose_b ? 1 : 0];
  desc.batch = Dims(c.begin(), c.end() - 2);
  desc.a_batch = batch_steps(a, steps.a, c);
  desc.b_batch = batch_steps(b, steps.b, c);
  desc.c_batch = batch_steps(c, steps.c, c);
  return desc;
}

Offer make_matmul(const Node& node, const KernelOptions& options) {
  GemmDesc desc = describe_matmul(node);
  if (const std::string reason = refuse_gemm(desc); !reason.empty()) return refuse(reason);
  const Tensor* constant_b = ops::constant_value(node.in(1));
  const bool one_b = node.in(1).rank() == 2;
  desc.packed_b = constant_b != nullptr && one_b && desc.n > 0 && desc.k > 0;
  const int threads = useful_threads(node.op().flops(node), options.threads);
  return {.kernel =
              std::make_unique<MatmulKernel>(desc, threads, desc.packed_b ? constant_b : nullptr)};
}

}  // namespace keratin::cpu

#pragma once

#include "keratin/backend/cpu/packing.h"
#include "keratin/backend/cpu/tile/matmul.h"

namespace keratin::cpu {

// The strides of the operands and of the result.
struct MatmulStrides {
  Dims a, b, c;
};

// The matmul of a node, of arrays without gaps or with these strides.
MatmulDesc describe_matmul(const Node& matmul);
MatmulDesc describe_matmul(const Node& matmul, const MatmulStrides& strides);

// Where a matmul finds B in packed form: packed when the plan is built, if it is a constant, or by
// a preparation, if it is stable; or else in no packed form.
struct PackedB {
  const Tensor* constant = nullptr;
  bool prepared = false;

  bool is_packed() const { return constant != nullptr || prepared; }
};
// Weights that were scaled are packed for every matmul, even one that would read them in place:
// then they are kept in one form alone.
PackedB choose_packed_b(Value b, const MatmulDesc& desc, int threads, const KernelOptions& options);

// Whether stable weights are in no memory that is kept anyway.
bool is_computed(Value value);

class PackedMatrix {
 public:
  PackedMatrix(const TiledMatmul& matmul, PackedB b);

  bool is_prepared() const { return is_prepared_; }
  const void* constant() const { return constant_.data(); }  // nullptr if it is none
  // Packs this input of a node for the matmul, which must live as long; nullptr if none is needed.
  std::unique_ptr<Preparation> preparation(const Node& node, size_t input,
                                           const TiledMatmul& matmul) const;

 private:
  bool is_prepared_;
  Buffer constant_;
};

// Threads worth using for this much arithmetic: one more costs as much as about 60 KFLOP.
int useful_threads(double flops, int threads);

}  // namespace keratin::cpu

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "keratin/ir/module.h"
#include "keratin/tensor/tensor.h"

namespace keratin::testing {

// One call of an op. `check_op` makes many checks of it:
//   - the shape rule, with every size known and with each size unknown in turn;
//   - print → parse → print;
//   - gradients against finite differences, in f64 on the reference backend;
//   - every backend against reference, with 1 and 2 threads, values and gradients; where there is a
//     GPU, that too, without tf32;
//   - kernels against decompositions;
//   - the same bits from run to run, and for any number of threads when deterministic.
struct OpCase {
  std::string name;
  Types inputs;
  std::function<Values(const Values&)> build;
  // The range of random inputs (integers too); `data` replaces them.
  double low = -2;
  double high = 2;
  std::vector<Tensor> data = {};
  bool unknown_sizes = true;  // the shape rule works when a size is unknown
  bool gradient = true;       // there is a gradient, smooth at the inputs
  bool second_order = false;  // the gradient has a gradient, too
  double tolerance = 0;       // relative, backends against reference; 0: by dtype
};

void check_op(const OpCase& test);

// Random data for a type, the same for the same seed.
Tensor random_tensor(const Type& type, double low, double high, uint64_t seed);

// Element by element, |a - b| <= tolerance · (1 + |b|), NaN equal to NaN; exact for integers. One
// failure, which names the first difference.
void expect_close(const Tensor& actual, const Tensor& expected, double tolerance,
                  const std::string& what);

// How far two backends may differ for a dtype.
double default_tolerance(DType dtype);

}  // namespace keratin::testing

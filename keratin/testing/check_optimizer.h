#pragma once

#include <string>
#include <vector>

#include "keratin/engine/compile.h"
#include "keratin/optimizers/optimizer.h"

namespace keratin::testing {

// Runs every case that real Keras recorded of an optimizer class (tests/golden/optimizers), on
// every backend and in f64:
//   - reading and writing its config;
//   - 20 steps: the learning rates, and the weights after some of them;
//   - all its variables after the last one: their paths, their order, their values;
//   - the weights after finalize, which sets them to their averages.
void check_optimizer(const std::string& class_name);

struct OptimizerRunOptions {
  DType dtype = DType::f32;
  std::string backend = "cpu";
  std::string constraint = {};       // of one kernel
  std::vector<size_t> missing = {};  // variables without a gradient
};

// The recorded variables, and one compiled program that makes an optimizer's step.
class OptimizerRun {
 public:
  explicit OptimizerRun(Optimizer optimizer, const OptimizerRunOptions& options = {});

  const std::vector<Variable>& variables() const { return variables_; }
  // Makes the next step with its recorded gradients, or with an infinity among them.
  void step(bool finite = true);
  void steps(int count) {
    while (count-- > 0) step();
  }

 private:
  Optimizer optimizer_;
  std::vector<Variable> variables_, state_;  // the trained ones; all of the program's
  std::vector<Tensor> gradients_;            // of each variable, for all steps
  std::vector<bool> missing_;
  std::optional<Executable> program_;
  int64_t made_ = 0;
};

// Element by element, within tolerance times the largest expected element, or times `scale` if that
// is larger; NaN equals NaN.
void expect_near(const Tensor& actual, const Tensor& expected, double tolerance,
                 const std::string& what, double scale = 0);

}  // namespace keratin::testing

#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "keratin/tensor/tensor.h"

namespace keratin {

class Tracer;

// The sizes in a program that depend on its inputs of strings, such as how many words the longest
// text has. Another batch needs another program if its sizes differ.
class MeasuredSizes {
 public:
  MeasuredSizes() = default;
  explicit MeasuredSizes(const Tracer& tracer);

  // Those of a batch. `inputs` are the program's, in order.
  std::vector<int64_t> of(std::span<const Tensor> inputs) const;
  bool empty() const { return measures_.empty(); }

 private:
  std::vector<std::pair<size_t, std::function<int64_t(const Tensor&)>>> measures_;
};

}  // namespace keratin

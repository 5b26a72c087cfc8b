#include "keratin/graph/measured_sizes.h"

#include "keratin/graph/tracer.h"
#include "keratin/ir/node.h"

namespace keratin {

MeasuredSizes::MeasuredSizes(const Tracer& tracer) {
  const auto& parameters = tracer.block().parameters();
  for (const Tracer::MeasuredSize& size : tracer.measured_sizes())
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].get() == &size.input.node()) measures_.emplace_back(i, size.measure);
}

std::vector<int64_t> MeasuredSizes::of(std::span<const Tensor> inputs) const {
  std::vector<int64_t> sizes;
  for (const auto& [input, measure] : measures_)
    sizes.push_back(input < inputs.size() && inputs[input].dtype() == DType::string
                        ? measure(inputs[input])
                        : -1);
  return sizes;
}

}  // namespace keratin

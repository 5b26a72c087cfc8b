#include "keratin/backend/cuda/driver/standalone_step.h"

#include "keratin/plan/preparation.h"

namespace keratin::cuda {

StandaloneStep::StandaloneStep(const Node& node)
    : queue_(node.device()), operands_(node.input_count() + node.output_count()) {
  for (const Value& input : node.inputs())
    pointers_.push_back(queue_.allocate(bytes_of(input.type())));
  for (const Type& type : node.types()) pointers_.push_back(queue_.allocate(bytes_of(type)));
  pointers_.resize(operands_ + 2);
}

std::byte* StandaloneStep::take(Room& room, size_t bytes) {
  if (bytes > room.bytes) room = {queue_.allocate(bytes), bytes};
  return room.memory;
}

Launch StandaloneStep::bind(const Kernel& kernel) {
  queue_.enter();
  pointers_[operands_] = take(scratch_, kernel.scratch_bytes());
  if (const auto* prepared = dynamic_cast<const PreparedKernel*>(&kernel))
    if (const auto preparation = prepared->preparation()) {
      pointers_[operands_ + 1] = take(prepared_, preparation->scratch_bytes());
      std::vector<void*> pointers(pointers_.begin(), pointers_.end() - 1);
      pointers.back() = pointers_.back();
      preparation->bind(pointers.data())();
    }
  return kernel.bind(pointers_.data());
}

}  // namespace keratin::cuda

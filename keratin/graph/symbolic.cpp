#include "keratin/graph/symbolic.h"

#include <ostream>

#include "keratin/base/text.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/layer.h"

namespace keratin {

const OutputSpec& SymbolicTensor::spec() const {
  ensure(defined(), "an undefined symbolic tensor was used");
  return node_->outputs()[index_];
}

const LayerPtr& SymbolicTensor::layer() const { return node_->layer(); }

std::string keras_shape(const Shape& shape) {
  std::string out = "(";
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ", ";
    out += shape[i] == unknown ? "None" : std::to_string(shape[i]);
  }
  return out + (shape.rank() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& out, const SymbolicTensor& tensor) {
  return out << "<KerasTensor shape=" << keras_shape(tensor.shape())
             << ", dtype=" << keras_name(tensor.dtype())
             << ", sparse=False, ragged=False, name=" << tensor.name() << ">";
}

CallNode::CallNode(LayerPtr layer, size_t index, Arguments<SymbolicTensor> arguments,
                   std::vector<OutputSpec> outputs)
    : layer_(std::move(layer)),
      index_(index),
      arguments_(std::move(arguments)),
      outputs_(std::move(outputs)) {
  arguments_.each([&](const SymbolicTensor& t) { inputs_.push_back(t); });
}

// Releasing a long chain of calls recursively would overflow the stack; instead each call hands its
// inputs to the outermost destructor.
CallNode::~CallNode() {
  thread_local std::vector<NodePtr>* pending = nullptr;
  std::vector<NodePtr> mine;
  std::vector<NodePtr>& held = pending != nullptr ? *pending : mine;
  for (const SymbolicTensor& t : inputs_) held.push_back(t.node_ptr());
  for (OutputSpec& output : outputs_)
    for (MaskSource& source : output.mask_sources) held.push_back(std::move(source.node));
  inputs_.clear();
  arguments_ = {};
  if (pending != nullptr) return;
  pending = &mine;
  while (!mine.empty()) {
    const NodePtr last = std::move(mine.back());
    mine.pop_back();
  }
  pending = nullptr;
}

}  // namespace keratin

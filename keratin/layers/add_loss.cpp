#include "keratin/layers/add_loss.h"

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/graph/functional.h"
#include "keratin/graph/symbolic_ops.h"
#include "keratin/graph/tracer.h"
#include "keratin/layers/core.h"
#include "keratin/layers/dropout.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

// The model that files have: the penalty |Σ loss|, beside x if there is one.
std::shared_ptr<const Layer> as_penalty(const std::string& name, const std::vector<Type>& types) {
  std::vector<SymbolicTensor> inputs;
  for (const Type& type : types)
    inputs.push_back(
        InputLayer::make(type.shape, type.dtype, text(name, "_input_", inputs.size()))->output());
  const auto options = [&](const char* what, const Type& type) {
    return LayerOptions{.name = name + what, .dtype = type.dtype};
  };
  const SymbolicTensor& loss = inputs.back();
  const ActivityRegularization penalty({.l1 = 1}, options("_penalty", types.back()));
  const SymbolicTensor counted = penalty(loss.shape().rank() > 0 ? ops::sum(loss) : loss);
  if (types.size() == 1) {
    const SymbolicTensor same = Identity({}, options("_same", types[0]))(loss);
    const Symbols both = Identity({}, options("_beside", types[0]))({same, counted});
    return FunctionalLayer::make(loss, both[0], {name});
  }
  const Symbols both = Identity({}, options("_beside", types[0]))({inputs[0], counted});
  return FunctionalLayer::make(Symbols::List{inputs[0], loss}, both[0], {name});
}

}  // namespace

AddLossLayer::AddLossLayer(AddLossConfig config, LayerOptions options)
    : LayerOf(config, std::move(options)) {
  set_built();
}

Results AddLossLayer::call(const Call& c) const {
  const Values given = c.inputs();
  require(given.size() == 1 || given.size() == 2, "AddLoss '", name(),
          "': expected a loss, or a value and a loss, got ", given.size(), " tensors");
  const Value loss = given.back();
  c.add_loss(loss.rank() > 0 ? ops::sum(loss) : loss);
  if (c.tracer().warns) {
    const std::lock_guard guard(lock_);
    inputs_.clear();
    for (const Value value : given) inputs_.push_back({value.dtype(), value.shape()});
    form_ = nullptr;
  }
  return given[0];
}

Masks AddLossLayer::compute_mask(const Call& c, size_t) const { return {c.masks()[0]}; }

std::shared_ptr<const Layer> AddLossLayer::saved_form() const {
  const std::lock_guard guard(lock_);
  if (form_ != nullptr) return form_;
  if (inputs_.empty()) {
    warn(text("AddLoss '", name(),
              "' is saved as such, which Keras 3 cannot open: it was never called"));
    return nullptr;
  }
  warn(text("AddLoss '", name(),
            "' is saved as an activity penalty, the loss's absolute value: Keras 3 has no other "
            "loss inside a functional model. The penalty is the loss unless that is negative"));
  return form_ = as_penalty(name(), inputs_);
}

AddMetricLayer::AddMetricLayer(AddMetricConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)),
      form_(std::make_shared<IdentityLayer>(
          IdentityConfig{}, LayerOptions{name(), this->options().trainable, dtype_policy()})) {
  set_built();
  warn(text("AddMetric '", name(), "': the metric ", cfg.metric_name.dump(),
            " is not reported. Metrics are given to `compile`, for the outputs of a model"));
}

Results AddMetricLayer::call(const Call& c) const { return c.input(); }

}  // namespace keratin

#include "keratin/graph/layer_state.h"

#include <atomic>
#include <unordered_set>

#include "keratin/base/hash.h"
#include "keratin/base/text.h"
#include "keratin/graph/build_scope.h"
#include "keratin/graph/layer.h"
#include "keratin/graph/named.h"
#include "keratin/graph/next_seed.h"
#include "keratin/graph/unique_name.h"

namespace keratin {
namespace {

std::atomic<uint64_t> change_count = 0;

void append_new(std::vector<Variable>& out, std::unordered_set<Variable, VariableHash>& seen,
                const std::vector<Variable>& more) {
  for (const Variable& v : more)
    if (seen.insert(v).second) out.push_back(v);
}

}  // namespace

LayerState::LayerState(std::string_view class_name, LayerOptions options)
    : options_(std::move(options)) {
  if (options_.name.empty()) options_.name = unique_name(snake_case(class_name));
  require(options_.name.find('/') == std::string::npos,
          "Argument `name` must be a string and cannot contain character `/`. Received: name=",
          options_.name);
  mark_changed();
}

uint64_t LayerState::changes() { return change_count.load(std::memory_order_relaxed); }

void LayerState::mark_changed() { changed_at_ = ++change_count; }

size_t LayerState::revision() const {
  size_t seed = detail::mix(changed_at_, options_.trainable ? 1 : 0);
  for (const Sublayer& sub : sublayers()) seed = detail::mix(seed, sub.layer->revision());
  return seed;
}

// Freezing and unfreezing gives the old revision again, so its programs are still in the cache.
void LayerState::set_trainable(bool trainable) {
  if (options_.trainable != trainable) ++change_count;
  options_.trainable = trainable;
  for (const Variable& v : own_trainable_) v.set_trainable(trainable);
  for (const Sublayer& sub : sublayers()) sub.layer->set_trainable(trainable);
}

void LayerState::add_sublayer(std::string attribute, LayerPtr layer, bool in_list) {
  ensure(layer != nullptr, "layer '", name(), "': no layer was given as ", attribute);
  sublayers_.push_back({std::move(attribute), std::move(layer), in_list});
}

Variable LayerState::add_weight(const std::string& name, const Shape& shape,
                                const Initializer& initializer, const WeightOptions& options) {
  Variable variable({.name = name,
                     .shape = shape,
                     .dtype = options.dtype.value_or(variable_dtype()),
                     .initializer = initializer,
                     .trainable = options.trainable && trainable(),
                     .regularizer = options.regularizer,
                     .constraint = options.constraint,
                     .device = device_});
  variable.set_path(BuildScope::path_of(name));
  (options.trainable ? own_trainable_ : own_others_).push_back(variable);
  return variable;
}

Variable LayerState::add_seed(std::optional<int64_t> seed) {
  const auto first = static_cast<int64_t>(seed ? static_cast<uint64_t>(*seed) : next_seed());
  Variable variable({.name = "seed_generator_state",
                     .shape = {2},
                     .dtype = DType::i64,
                     .initializer = Initializer([first](const Shape& shape, DType dtype, uint64_t) {
                       return Tensor::of<int64_t>(dtype, shape, {first, 0});
                     }),
                     .trainable = false,
                     .device = device_});
  variable.set_path(BuildScope::path_of(unique_name("seed_generator")) + "/seed_generator_state");
  seeds_.push_back(variable);
  return variable;
}

std::vector<Variable> LayerState::own_variables(bool seeds) const {
  std::vector<Variable> out;
  out.insert(out.end(), own_trainable_.begin(), own_trainable_.end());
  out.insert(out.end(), own_others_.begin(), own_others_.end());
  if (seeds) out.insert(out.end(), seeds_.begin(), seeds_.end());
  return out;
}

std::vector<Variable> LayerState::own_weights() const { return own_variables(/*seeds=*/false); }

std::vector<Variable> LayerState::weights() const {
  std::vector<Variable> out;
  std::unordered_set<Variable, VariableHash> seen;
  append_new(out, seen, own_weights());
  for (const Sublayer& sub : sublayers()) append_new(out, seen, sub.layer->weights());
  return out;
}

std::vector<Variable> LayerState::variables() const {
  std::vector<Variable> out;
  std::unordered_set<Variable, VariableHash> seen;
  append_new(out, seen, own_variables(/*seeds=*/true));
  for (const Sublayer& sub : sublayers()) append_new(out, seen, sub.layer->variables());
  return out;
}

std::vector<Variable> LayerState::trainable_weights() const {
  std::vector<Variable> out;
  if (!trainable()) return out;
  for (const Variable& v : weights())
    if (v.trainable()) out.push_back(v);
  return out;
}

std::vector<Variable> LayerState::non_trainable_weights() const {
  if (!trainable()) return weights();
  std::vector<Variable> out;
  for (const Variable& v : weights())
    if (!v.trainable()) out.push_back(v);
  return out;
}

int64_t LayerState::count_params() const {
  require(
      built_ || !weights().empty(), "You tried to call `count_params` on layer '", name(),
      "', but the layer isn't built. You can build it manually via: `layer.build(input_shape)`.");
  int64_t total = 0;
  for (const Variable& v : weights()) total += v.shape().count();
  return total;
}

std::vector<Tensor> LayerState::get_weights() const {
  std::vector<Tensor> values;
  for (const Variable& v : weights()) values.push_back(v.value().clone());
  return values;
}

void LayerState::set_weights(const std::vector<Tensor>& values) {
  const std::vector<Variable> mine = weights();
  require(values.size() == mine.size(), "You called `set_weights(weights)` on layer '", name(),
          "' with a weight list of length ", values.size(), ", but the layer was expecting ",
          mine.size(), " weights.");
  for (size_t i = 0; i < mine.size(); ++i)
    require(mine[i].shape() == values[i].shape(), "Layer '", name(), "' weight '", mine[i].path(),
            "' with shape ", keras_shape(mine[i].shape()),
            " is not compatible with provided weight "
            "shape ",
            keras_shape(values[i].shape()), ".");
  for (size_t i = 0; i < mine.size(); ++i) mine[i].assign(values[i]);
}

}  // namespace keratin

#include "keratin/graph/layer.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "keratin/base/hash.h"
#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

std::mutex names_lock;
std::atomic<uint64_t> change_count = 0;

std::unordered_map<std::string, size_t>& name_counts() {
  static std::unordered_map<std::string, size_t> counts;
  return counts;
}

// The names of the layers being built, outermost first: they make up the paths of weights.
thread_local std::vector<const std::string*> build_stack;

std::string path_of(const std::string& weight) {
  std::string path;
  for (const std::string* name : build_stack) path += *name + "/";
  return path + weight;
}

void append_new(std::vector<Variable>& out, std::unordered_set<Variable, VariableHash>& seen,
                const std::vector<Variable>& more) {
  for (const Variable& v : more)
    if (seen.insert(v).second) out.push_back(v);
}

}  // namespace

BuildScope::BuildScope(const Layer& layer) { build_stack.push_back(&layer.name()); }
BuildScope::~BuildScope() { build_stack.pop_back(); }

LayerPtr find_layer(const std::vector<LayerPtr>& layers, const std::string& name) {
  std::string names;
  for (const LayerPtr& layer : layers) {
    if (layer->name() == name) return layer;
    names += (names.empty() ? "'" : ", '") + layer->name() + "'";
  }
  fail("No such layer: ", name, ". Existing layers are: [", names, "].");
}

LayerPtr find_layer(const std::vector<LayerPtr>& layers, size_t index) {
  require(index < layers.size(), "Was asked to retrieve layer at index ", index,
          " but model only has ", layers.size(), " layers.");
  return layers[index];
}

std::string unique_name(std::string_view prefix) {
  const std::lock_guard guard(names_lock);
  const size_t count = name_counts()[std::string(prefix)]++;
  return count == 0 ? std::string(prefix) : text(prefix, "_", count);
}

void clear_session() {
  const std::lock_guard guard(names_lock);
  name_counts().clear();
}

Layer::Layer(std::string_view class_name, LayerOptions options) : options_(std::move(options)) {
  if (options_.name.empty()) options_.name = unique_name(snake_case(class_name));
  require(options_.name.find('/') == std::string::npos,
          "Argument `name` must be a string and cannot contain character `/`. Received: name=",
          options_.name);
  mark_changed();
}

uint64_t Layer::changes() { return change_count.load(std::memory_order_relaxed); }

void Layer::mark_changed() { changed_at_ = ++change_count; }

size_t Layer::revision() const {
  size_t seed = detail::mix(changed_at_, options_.trainable ? 1 : 0);
  for (const Sublayer& sub : sublayers()) seed = detail::mix(seed, sub.layer->revision());
  return seed;
}

// The tensors come before the masks and options of a call.
std::vector<std::string_view> Layer::argument_names() const {
  std::vector<std::string_view> names;
  for (const std::string_view name : call_arguments()) {
    if (name == "training" || name == "mask" || name.ends_with("_mask")) break;
    names.push_back(name);
  }
  if (names.empty()) names.emplace_back("inputs");
  return names;
}

void Layer::refuse_argument(const std::string& what) const {
  std::string takes;
  for (const std::string_view name : call_arguments())
    takes += text(takes.empty() ? "" : ", ", name);
  fail(class_name(), " '", name(), "': its call takes (", takes, "), ", what);
}

// Freezing and thawing gives the revision of before: programs are found again.
void Layer::set_trainable(bool trainable) {
  if (options_.trainable != trainable) ++change_count;
  options_.trainable = trainable;
  for (const Variable& v : own_trainable_) v.set_trainable(trainable);
  for (const Sublayer& sub : sublayers()) sub.layer->set_trainable(trainable);
}

Json Layer::get_config() const {
  Json config = Json::Object{
      {"name", name()}, {"trainable", trainable()}, {"dtype", dtype_policy().to_json()}};
  if (options_.activity_regularizer)
    config["activity_regularizer"] = options_.activity_regularizer.to_json();
  for (const auto& [key, value] : own_config().as_object()) config[key] = value;
  return config;
}

void Layer::ensure_built(const Shapes& inputs) {
  if (built_) return;
  require(!inputs.empty() || is_operation(), "layer '", name(), "': expected a tensor, got none");
  const BuildScope scope(*this);
  build(inputs);
  built_with_ = inputs;
  built_ = true;
}

Variable Layer::add_weight(const std::string& name, const Shape& shape,
                           const Initializer& initializer, const WeightOptions& options) {
  Variable variable({.name = name,
                     .shape = shape,
                     .dtype = options.dtype.value_or(variable_dtype()),
                     .initializer = initializer,
                     .trainable = options.trainable && trainable(),
                     .regularizer = options.regularizer,
                     .constraint = options.constraint,
                     .device = device_});
  variable.set_path(path_of(name));
  (options.trainable ? own_trainable_ : own_others_).push_back(variable);
  return variable;
}

Variable Layer::add_seed(std::optional<int64_t> seed) {
  const auto first = static_cast<int64_t>(seed ? static_cast<uint64_t>(*seed) : next_seed());
  Variable variable({.name = "seed_generator_state",
                     .shape = {2},
                     .dtype = DType::i64,
                     .initializer = Initializer([first](const Shape& shape, DType dtype, uint64_t) {
                       return Tensor::of<int64_t>(dtype, shape, {first, 0});
                     }),
                     .trainable = false,
                     .device = device_});
  variable.set_path(name() + "/seed_generator/seed_generator_state");
  seeds_.push_back(variable);
  return variable;
}

void Layer::add_sublayer(std::string attribute, LayerPtr layer, bool in_list) {
  ensure(layer != nullptr, "layer '", name(), "': no layer was given as ", attribute);
  sublayers_.push_back({std::move(attribute), std::move(layer), in_list});
}

Masks Layer::compute_mask(const Call& c, size_t outputs) const {
  Masks masks(outputs);
  if (!supports_masking()) return masks;
  const Masks given = c.masks();
  // Keras 2 gives one mask to every output, Keras 3 to the first.
  const bool broadcast = c.dialect() == Dialect::keras2 && given.size() == 1;
  for (size_t i = 0; i < outputs; ++i)
    if (broadcast || i < given.size()) masks[i] = given[broadcast ? 0 : i];
  return masks;
}

Tree<Traced> Layer::apply(const Call& call, const Call& for_masks) const {
  const Results results = this->call(call);
  const Masks masks = compute_mask(for_masks, results.leaf_count());
  ensure(masks.size() == results.leaf_count(), "layer '", name(), "' (", class_name(),
         "): compute_mask gave ", masks.size(), " masks for ", results.leaf_count(), " outputs");
  if (const Regularizer& penalty = options_.activity_regularizer)
    results.each([&](Value y) {
      const double batch =
          y.rank() > 0 ? static_cast<double>(std::max<int64_t>(1, y.shape()[0])) : 1;
      call.add_loss(penalty(y) / batch);
    });
  const std::vector<Traced> given = for_masks.argument(0).flat();
  size_t next = 0;
  return results.map<Traced>([&](Value y) {
    Traced traced{y, masks[next++]};
    // Keras ties a mask to its tensor: one that is handed on as it came keeps it, in Keras 2 by a
    // layer without masking.
    if (!traced.mask && (call.dialect() == Dialect::keras3 || !supports_masking()))
      for (const Traced& input : given)
        if (input.value == y) traced.mask = input.mask;
    return traced;
  });
}

void Layer::check_inputs(const Shapes& shapes) const {
  if (input_specs_.empty()) return;
  require(shapes.size() == input_specs_.size(), "Layer \"", name(), "\" expects ",
          input_specs_.size(), " input(s), but it received ", shapes.size(), " input tensors.");
  for (size_t i = 0; i < shapes.size(); ++i) {
    const InputSpec& spec = input_specs_[i];
    const Shape& shape = shapes[i];
    const auto check = [&](bool fine, const auto&... parts) {
      require(fine, "Input ", i, " of layer '", name(),
              "' is incompatible with the layer: ", parts...,
              ". Full shape received: ", keras_shape(shape));
    };
    const int64_t rank = shape.rank();
    if (spec.ndim) check(rank == *spec.ndim, "expected ndim=", *spec.ndim, ", found ndim=", rank);
    if (spec.max_ndim)
      check(rank <= *spec.max_ndim, "expected max_ndim=", *spec.max_ndim, ", found ndim=", rank);
    if (spec.min_ndim)
      check(rank >= *spec.min_ndim, "expected min_ndim=", *spec.min_ndim, ", found ndim=", rank);
    for (const auto& [axis, size] : spec.axes) {
      const int64_t at = axis < 0 ? rank + axis : axis;
      if (at < 0 || at >= rank || shape[at] == unknown) continue;
      check(shape[at] == size, "expected axis ", axis, " of input shape to have value ", size,
            ", but received input with shape ", keras_shape(shape));
    }
  }
}

void Layer::own_variables(std::vector<Variable>& out, bool seeds) const {
  out.insert(out.end(), own_trainable_.begin(), own_trainable_.end());
  out.insert(out.end(), own_others_.begin(), own_others_.end());
  if (seeds) out.insert(out.end(), seeds_.begin(), seeds_.end());
}

std::vector<Variable> Layer::own_weights() const {
  std::vector<Variable> out;
  own_variables(out, false);
  return out;
}

std::vector<Variable> Layer::weights() const {
  std::vector<Variable> out;
  std::unordered_set<Variable, VariableHash> seen;
  append_new(out, seen, own_weights());
  for (const Sublayer& sub : sublayers()) append_new(out, seen, sub.layer->weights());
  return out;
}

std::vector<Variable> Layer::variables() const {
  std::vector<Variable> own, out;
  own_variables(own, true);
  std::unordered_set<Variable, VariableHash> seen;
  append_new(out, seen, own);
  for (const Sublayer& sub : sublayers()) append_new(out, seen, sub.layer->variables());
  return out;
}

std::vector<Variable> Layer::trainable_weights() const {
  std::vector<Variable> out;
  if (!trainable()) return out;
  for (const Variable& v : weights())
    if (v.trainable()) out.push_back(v);
  return out;
}

std::vector<Variable> Layer::non_trainable_weights() const {
  if (!trainable()) return weights();
  std::vector<Variable> out;
  for (const Variable& v : weights())
    if (!v.trainable()) out.push_back(v);
  return out;
}

int64_t Layer::count_params() const {
  require(
      built_ || !weights().empty(), "You tried to call `count_params` on layer '", name(),
      "', but the layer isn't built. You can build it manually via: `layer.build(input_shape)`.");
  int64_t total = 0;
  for (const Variable& v : weights()) total += v.shape().count();
  return total;
}

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const Variable& v : weights()) values.push_back(v.value().clone());
  return values;
}

void Layer::set_weights(const std::vector<Tensor>& values) {
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

NodePtr Layer::add_node(Arguments<SymbolicTensor> arguments, std::vector<OutputSpec> outputs) {
  auto node = std::make_shared<const CallNode>(shared_from_this(), call_count_++,
                                               std::move(arguments), std::move(outputs));
  nodes_.push_back(node);
  return node;
}

std::vector<NodePtr> Layer::inbound_nodes() const {
  std::vector<NodePtr> alive;
  for (const auto& node : nodes_)
    if (auto held = node.lock()) alive.push_back(std::move(held));
  return alive;
}

Symbols Layer::operator()(const Symbols& input, const Keywords& named) {
  return call_symbolic({{input}, named});
}

}  // namespace keratin

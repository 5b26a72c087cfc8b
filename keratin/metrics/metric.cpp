#include "keratin/metrics/metric.h"

#include <mutex>
#include <numeric>

#include "keratin/base/lru_cache.h"
#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/graph/tracer.h"
#include "keratin/losses/weighting.h"
#include "keratin/metrics/reduction.h"
#include "keratin/metrics/registry.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

struct MetricState::Program {
  std::vector<Variable> variables;
  std::optional<Executable> executable;
};

// The programs of `update` and `result`.
struct MetricState::Programs {
  struct Key {
    std::string data = {};  // what it is given
    EngineOptions options = {};
    static constexpr auto fields =
        field_list(field("data", &Key::data), field("options", &Key::options));
  };
  struct Memory {
    static size_t bytes(const Program& p) { return p.executable->memory_bytes(); }
    static void shrink(const Program& p) { p.executable->release_memory(); }
  };

  std::mutex lock;
  detail::LruCache<Key, Program, Memory> known;
};

MetricState::MetricState(std::string_view class_name, MetricOptions options)
    : options_(std::move(options)), programs_(std::make_unique<Programs>()) {
  if (options_.name.empty()) options_.name = snake_case(class_name);
  if (!options_.dtype) options_.dtype = DType::f32;
  path_ = options_.name;
}

MetricState::~MetricState() = default;

void MetricState::set_name(std::string name) {
  options_.name = std::move(name);
  path_ = options_.name;
  for (const Variable& v : variables_) v.set_path(text(path_, '/', v.name()));
}

void MetricState::build(const Shape& y_true, const Shape& y_pred) {
  if (!built_) make_variables(y_true, y_pred);
  built_ = true;
}

void MetricState::require_built() const {
  require(built_, "metric '", name(), "': it has no result before the first update");
}

Variable MetricState::add_variable(const std::string& name, const Shape& shape, DType dtype) {
  Variable variable(VariableSpec{.name = name, .shape = shape, .dtype = dtype, .trainable = false});
  variable.set_path(text(path_, '/', name));
  variables_.push_back(variable);
  return variable;
}

Value MetricState::read(Tracer& tracer, const Variable& variable) { return tracer.read(variable); }

void MetricState::assign(Tracer& tracer, const Variable& variable, Value value) {
  tracer.update(variable, cast_to(value, variable.dtype()));
}

void MetricState::add(Tracer& tracer, const Variable& variable, Value value) const {
  tracer.update(variable, tracer.read(variable) + cast_to(value, variable.dtype()));
}

void MetricState::reset() {
  for (const Variable& v : variables_) v.assign(Tensor::zeros(v.dtype(), v.shape()));
}

template <class Write>
std::shared_ptr<MetricState::Program> MetricState::program(const std::string& data,
                                                           const EngineOptions& options,
                                                           const Write& write) {
  static_assert(detail::lists_every_member<Programs::Key>());
  Programs::Key key{data, options};
  if (auto known = programs_->known.find(key)) return known;
  Module module;
  Tracer tracer(module, false);
  write(module, tracer);
  tracer.finish();
  auto made = std::make_shared<Program>();
  made->variables = tracer.variables();
  made->executable.emplace(compile(std::move(module), options));
  programs_->known.insert(std::move(key), made);
  return made;
}

void MetricState::update_with(const SampleData& data, const EngineOptions& options) {
  const std::lock_guard guard(programs_->lock);
  std::vector<Tensor> tensors;
  std::string key;
  const auto add = [&](const char* kind, const std::optional<Tensor>& tensor) {
    if (!tensor) return;
    tensors.push_back(*tensor);
    key += text(kind, tensor->dtype(), tensor->shape());
  };
  add("t", data.y_true);
  add("p", data.y_pred);
  add("w", data.weight);
  add("m", data.mask);
  build(data.y_true ? data.y_true->shape() : Shape{}, data.y_pred.shape());
  const auto step = program(key, options, [&](Module& module, Tracer& tracer) {
    const auto input = [&](const std::optional<Tensor>& t) -> std::optional<Value> {
      if (!t) return std::nullopt;
      return module.input({t->dtype(), t->shape()});
    };
    Sample sample;
    if (const auto y_true = input(data.y_true)) sample.y_true = *y_true;
    sample.y_pred = *input(data.y_pred);
    sample.weight = input(data.weight);
    sample.mask = input(data.mask);
    update(tracer, sample);
  });
  for (const Variable& v : step->variables) tensors.push_back(v.value());
  (*step->executable)(tensors);
}

Tensor MetricState::current(const EngineOptions& options) {
  const std::lock_guard guard(programs_->lock);
  const auto step = program("result", options,
                            [&](Module& module, Tracer& tracer) { module.output(result(tracer)); });
  std::vector<Tensor> tensors;
  for (const Variable& v : step->variables) tensors.push_back(v.value());
  return (*step->executable)(tensors)[0];
}

Value detail::as_float(Value x, DType dtype) { return is_float(x.dtype()) ? x : cast_to(x, dtype); }

detail::Samplewise detail::samplewise(Value values, std::optional<Value> weight,
                                      const std::optional<Value>& mask, DType dtype,
                                      Reduce reduce) {
  const auto axes_from = [](int64_t first, int64_t rank) {
    Dims axes(static_cast<size_t>(rank - first));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
  };
  values = cast_to(values, dtype);
  if (weight) {
    Value w = *masked_weight(weight, mask, dtype, false);
    std::tie(values, w) = to_same_rank(values, w);
    const int64_t rank = w.rank();
    if (values.rank() > rank) values = reduce(values, axes_from(rank, values.rank()), false);
    w = ops::broadcast_to(w, values.shape().dims());
    values = values * w;
    weight = rank > 1 ? reduce(w, axes_from(1, rank), false) : w;
  }
  if (values.rank() > 1) values = reduce(values, axes_from(1, values.rank()), false);
  return {values, weight};
}

MeanState::MeanState(std::string_view class_name, MetricOptions options)
    : MetricState(class_name, std::move(options)),
      total_(add_variable("total", {})),
      count_(add_variable("count", {})) {}

void MeanState::add_values(Tracer& tracer, Value values, std::optional<Value> weight,
                           const std::optional<Value>& mask) {
  const detail::Samplewise each = detail::samplewise(values, weight, mask, dtype(), ops::mean);
  const int64_t samples = each.values.rank() > 0 ? each.values.shape()[0] : 1;
  add(tracer, total_, ops::sum(each.values));
  add(tracer, count_,
      each.weight ? ops::sum(*each.weight)
                  : ops::scalar_like(tracer.read(count_), static_cast<double>(samples)));
}

void MeanState::add_terms(Tracer& tracer, const LossTerms& terms, const Sample& sample) {
  if (sample.dialect == Dialect::keras2) {
    std::optional<Value> mask = sample.mask ? sample.mask : terms.mask;
    if (sample.mask && terms.mask) mask = *sample.mask & *terms.mask;
    const Value mean =
        reduce_as_keras2(cast_to(terms.values, dtype()), sample.weight, mask, "mean");
    const auto samples = static_cast<double>(sample.y_pred.shape()[0]);
    add_values(tracer, mean, ops::scalar_like(mean, samples));
    return;
  }
  add_values(tracer, terms.values, masked_weight(sample.weight, sample.mask, dtype(), false),
             terms.mask);
}

Value MeanState::result(Tracer& tracer) {
  return divide_no_nan(tracer.read(total_), tracer.read(count_));
}

Metric::Metric(const std::string& name) : Metric(metric_from_user_name(name)) {
  // Keras gives "accuracy" to the variables too, and keeps the names of classes.
  const bool has_class =
      !state_->class_name().empty() && state_->class_name() != "MeanMetricWrapper";
  has_class ? state_->set_reported_name(name) : state_->set_name(name);
  requested_name_ = name;
}

Metric Metric::of_function(Function function, MetricOptions options) {
  return metrics::MeanMetricWrapper(std::move(function), std::move(options));
}

Json Metric::to_json() const {
  if (!saved_.is_null()) return saved_;
  if (!requested_name_.empty()) return requested_name_;
  require(!state_->class_name().empty(), "metric '", name(),
          "' is a function of the program: it has no config to be saved");
  Json config = Json::Object{{"name", name()}, {"dtype", keras_name(state_->dtype())}};
  for (const auto& [key, value] : state_->own_config().as_object()) config[key] = value;
  const MetricState& state = *state_;
  const std::string class_name(state.class_name());
  return detail::class_json(typeid(state), class_name, std::move(config), "keras.metrics",
                            {.is_keras = is_metric_class(class_name, typeid(state)),
                             .is_name_of_keras = is_metric_name(class_name)});
}

Metric Metric::saved_as(Json json) const {
  Metric same = *this;
  same.saved_ = std::move(json);
  return same;
}

Metric Metric::from_json(const Json& json) {
  const bool known = is_metric_name(detail::name_in_json(json));
  if (auto custom = detail::custom_unless_keras<Metric>(json, {}, known)) return std::move(*custom);
  if (known) detail::require_of_keras("metric", json);
  if (json.is_string()) return json.as_string();
  const Named named = Named::from_json(json);
  return named.class_name == "function" ? Metric(named.config.as_string()) : metric_by_name(named);
}

}  // namespace keratin

#include "keratin/metrics/metric.h"

#include <numeric>

#include "keratin/graph/named.h"
#include "keratin/metrics/registry.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {

MetricState::MetricState(std::string_view class_name, MetricOptions options)
    : options_(std::move(options)) {
  if (options_.name.empty()) options_.name = snake_case(class_name);
}

Variable MetricState::add_variable(const std::string& name, const Shape& shape,
                                   const Initializer& initializer) {
  Variable variable(VariableSpec{.name = name,
                                 .shape = shape,
                                 .dtype = dtype(),
                                 .initializer = initializer,
                                 .trainable = false});
  variable.set_path(text(this->name(), '/', name));
  variables_.push_back(variable);
  return variable;
}

void MetricState::add(Tracer& tracer, const Variable& variable, Value value) const {
  if (value.dtype() != variable.dtype()) value = ops::cast(value, variable.dtype());
  tracer.update(variable, tracer.read(variable) + value);
}

void MetricState::reset() {
  for (const Variable& v : variables_) v.assign(Tensor::zeros(v.dtype(), v.shape()));
}

MeanState::MeanState(std::string_view class_name, MetricOptions options)
    : MetricState(class_name, std::move(options)),
      total_(add_variable("total", {})),
      count_(add_variable("count", {})) {}

void MeanState::add_values(Tracer& tracer, Value values, std::optional<Value> weight) {
  const auto axes_from = [](int64_t first, int64_t rank) {
    Dims axes(static_cast<size_t>(std::max<int64_t>(rank - first, 0)));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
  };
  if (values.dtype() != dtype()) values = ops::cast(values, dtype());
  if (weight) {
    Value w = ops::cast(*weight, dtype());
    std::tie(values, w) = to_same_rank(values, w);
    // Values go down to the axes of the weights, then both to one number per sample.
    if (values.rank() > w.rank()) values = ops::mean(values, axes_from(w.rank(), values.rank()));
    w = ops::broadcast_to(w, values.shape().dims());
    values = values * w;
    if (w.rank() > 1) w = ops::mean(w, axes_from(1, w.rank()));
    weight = w;
  }
  if (values.rank() > 1) values = ops::mean(values, axes_from(1, values.rank()));
  const int64_t samples = values.rank() > 0 ? values.shape()[0] : 1;
  add(tracer, total_, ops::sum(values));
  add(tracer, count_,
      weight ? ops::sum(*weight)
             : ops::scalar_like(tracer.read(count_), static_cast<double>(samples)));
}

Value MeanState::result(Tracer& tracer) {
  return divide_no_nan(tracer.read(total_), tracer.read(count_));
}

namespace {

// A callable of the user's: it has no config.
class MeanOfFunction final : public MeanState {
 public:
  MeanOfFunction(Metric::Function function, MetricOptions options)
      : MeanState("MeanMetricWrapper", std::move(options)), function_(std::move(function)) {}

  std::string_view class_name() const override { return ""; }
  std::shared_ptr<MetricState> fresh_copy() const override {
    return std::make_shared<MeanOfFunction>(function_, options());
  }
  void update(Tracer& tracer, const Sample& sample) override {
    add_values(tracer, function_(sample.y_true, sample.y_pred),
               masked_weight(sample.weight, sample.mask, dtype(), false));
  }

 private:
  Metric::Function function_;
};

}  // namespace

Metric::Metric(const std::string& name) : Metric(metric_by_name({name})) {
  if (name != state_->class_name()) state_->set_name(name);
}

Metric Metric::of_function(Function function, MetricOptions options) {
  return std::shared_ptr<MetricState>(
      std::make_shared<MeanOfFunction>(std::move(function), std::move(options)));
}

Json Metric::to_json() const {
  require(!state_->class_name().empty(), "metric '", name(),
          "' is a function of the program: it has no config to be saved");
  Json config = Json::Object{{"name", name()}, {"dtype", keras_name(state_->dtype())}};
  for (const auto& [key, value] : state_->own_config().as_object()) config[key] = value;
  return Named{std::string(state_->class_name()), std::move(config)}.to_json("keras.metrics");
}

Metric Metric::from_json(const Json& json) { return metric_by_name(Named::from_json(json)); }

}  // namespace keratin

#include "keratin/optimizers/optimizer.h"

#include <algorithm>

#include "keratin/engine/evaluate.h"
#include "keratin/graph/named.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/optimizers/registry.h"

namespace keratin {
namespace {

void check(const OptimizerOptions& options) {
  const auto given = [](const auto& option) { return option ? 1 : 0; };
  require(given(options.clipnorm) + given(options.clipvalue) + given(options.global_clipnorm) <= 1,
          "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set.");
  require(options.gradient_accumulation_steps.value_or(2) >= 2,
          "`gradient_accumulation_steps` must be an integer >= 2. Received: "
          "gradient_accumulation_steps=",
          options.gradient_accumulation_steps.value_or(2));
  require(
      options.ema_momentum >= 0 && options.ema_momentum <= 1,
      "`ema_momentum` must be in the range [0, 1]. Received: ema_momentum=", options.ema_momentum);
  require(options.ema_overwrite_frequency.value_or(1) >= 1,
          "`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
          "ema_overwrite_frequency=",
          options.ema_overwrite_frequency.value_or(1));
}

Value clipped_by_norm(Value gradient, double limit) {
  const Value norm = ops::sqrt(ops::sum(ops::square(gradient)));
  return gradient * limit / ops::maximum(norm, ops::scalar_like(norm, limit));
}

// A factor for all gradients; NaN when their norm is not finite.
Value global_factor(const Values& gradients, double limit) {
  Value squares;
  for (const Value g : gradients) {
    if (!g.defined()) continue;
    const Value own = ops::sum(ops::square(g));
    squares = squares.defined() ? squares + own : own;
  }
  const Value norm = ops::sqrt(squares);
  const Value finite = ops::minimum(1.0 / norm, ops::scalar_like(norm, 1 / limit)) * limit;
  return finite + (norm - norm);
}

}  // namespace

OptimizerState::OptimizerState(std::string_view class_name, LearningRate rate,
                               OptimizerOptions options)
    : rate_(std::move(rate)), options_(std::move(options)) {
  check(options_);
  if (options_.name.empty()) options_.name = snake_case(class_name);
  iteration_ = add_variable("iteration", {}, DType::i32);
  if (!rate_.is_number()) return;
  learning_rate_ = add_variable("learning_rate", {}, DType::f32);
  learning_rate_.assign(Tensor::scalar(DType::f32, rate_.number()));
}

Variable OptimizerState::add_variable(const std::string& name, const Shape& shape, DType dtype,
                                      const Initializer& initializer) {
  Variable variable(VariableSpec{.name = name,
                                 .shape = shape,
                                 .dtype = dtype,
                                 .initializer = initializer,
                                 .trainable = false});
  variable.set_path(text(options_.name, '/', name));
  variables_.push_back(variable);
  return variable;
}

Variable OptimizerState::add_slot(const Variable& like, const std::string& name,
                                  const Initializer& initializer) {
  std::string of = like.path();
  std::replace(of.begin(), of.end(), '/', '_');
  return add_variable(of + '_' + name, like.shape(), like.dtype(), initializer);
}

std::vector<Variable> OptimizerState::add_slots(const std::vector<Variable>& variables,
                                                const std::string& name,
                                                const Initializer& initializer) {
  std::vector<Variable> slots;
  for (const Variable& v : variables) slots.push_back(add_slot(v, name, initializer));
  return slots;
}

void OptimizerState::build(const std::vector<Variable>& variables) {
  if (built_) {
    require(variables == trained_, "optimizer '", name(),
            "' was built for other variables. When working with a new set of variables, you "
            "should recreate a new optimizer instance.");
    return;
  }
  trained_ = variables;
  if (options_.use_ema) averages_ = add_slots(variables, "average");
  if (options_.gradient_accumulation_steps)
    accumulators_ = add_slots(variables, "gradient_accumulator");
  make_slots(variables);
  built_ = true;
}

Value OptimizerState::scale_loss(Tracer& tracer, Value loss) {
  (void)tracer;
  return options_.loss_scale_factor ? loss * *options_.loss_scale_factor : loss;
}

Value OptimizerState::current_rate(Tracer& tracer) const {
  if (rate_.is_number()) return tracer.read(learning_rate_);
  return rate_.at(ops::cast(tracer.read(iteration_), DType::f32));
}

Values OptimizerState::clipped(Values gradients) const {
  Value factor;
  if (options_.global_clipnorm) factor = global_factor(gradients, *options_.global_clipnorm);
  for (Value& g : gradients) {
    if (!g.defined()) continue;
    if (options_.clipnorm) g = clipped_by_norm(g, *options_.clipnorm);
    if (options_.clipvalue) g = ops::clip(g, -*options_.clipvalue, *options_.clipvalue);
    if (factor.defined()) g = g * ops::cast(factor, g.dtype());
  }
  return gradients;
}

bool OptimizerState::decays(const Variable& variable) const {
  return std::none_of(undecayed_.begin(), undecayed_.end(), [&](const std::string& part) {
    return variable.name().find(part) != std::string::npos;
  });
}

void OptimizerState::step_all(Tracer& tracer, const Values& gradients) {
  const Values ready = clipped(gradients);
  const Value rate = current_rate(tracer);
  Value made = tracer.read(iteration_);
  if (const auto every = options_.gradient_accumulation_steps)
    made = ops::floor_div(made, ops::scalar_like(made, static_cast<double>(*every)));
  begin(tracer);
  for (size_t i = 0; i < trained_.size(); ++i) {
    if (!ready[i].defined()) continue;
    const Variable& v = trained_[i];
    const auto own = [&](Value x) { return x.dtype() == v.dtype() ? x : ops::cast(x, v.dtype()); };
    const Value lr = own(rate);
    if (options_.weight_decay && decays(v)) {
      const Value old = tracer.read(v);
      tracer.update(v, old - old * *options_.weight_decay * lr);
    }
    update({tracer, i, v, own(ready[i]), lr, own(made) + 1.0});
  }
}

void OptimizerState::average(Tracer& tracer) {
  const Value made = tracer.read(iteration_);
  const Value started = ops::not_equal(made, ops::scalar_like(made, 0));
  Value overwrites;
  if (const auto every = options_.ema_overwrite_frequency) {
    const Value next = made + 1.0;
    overwrites = ops::equal(ops::mod(next, ops::scalar_like(next, static_cast<double>(*every))),
                            ops::scalar_like(next, 0));
  }
  for (size_t i = 0; i < trained_.size(); ++i) {
    const Value now = tracer.read(trained_[i]), old = tracer.read(averages_[i]);
    const Value momentum = ops::cast(started, now.dtype()) * options_.ema_momentum;
    const Value mean = momentum * old + (1.0 - momentum) * now;
    tracer.update(averages_[i], mean);
    if (overwrites.defined()) tracer.update(trained_[i], ops::select(overwrites, mean, now));
  }
}

void OptimizerState::apply(Tracer& tracer, Values gradients) {
  ensure(gradients.size() == trained_.size(), "optimizer: a gradient for each variable");
  require(std::any_of(gradients.begin(), gradients.end(), [](Value g) { return g.defined(); }),
          "No gradients provided for any variable.");
  if (const auto factor = options_.loss_scale_factor)
    for (Value& g : gradients)
      if (g.defined()) g = g / *factor;
  if (const auto every = options_.gradient_accumulation_steps) {
    const Value next = tracer.read(iteration_) + 1.0;
    const Value due =
        ops::equal(ops::mod(next, ops::scalar_like(next, static_cast<double>(*every))),
                   ops::scalar_like(next, 0));
    Values means = gradients;
    for (size_t i = 0; i < means.size(); ++i) {
      if (!means[i].defined()) continue;
      const Value sum = tracer.read(accumulators_[i]) + gradients[i];
      means[i] = sum / static_cast<double>(*every);
      tracer.update(accumulators_[i], ops::select(due, ops::zeros_like(sum), sum));
    }
    only_if(tracer, due, [&] { step_all(tracer, means); });
  } else {
    step_all(tracer, gradients);
  }
  if (options_.use_ema) average(tracer);
  for (size_t i = 0; i < trained_.size(); ++i)
    if (const Constraint& constraint = trained_[i].spec().constraint; constraint)
      tracer.update(trained_[i], constraint(tracer.read(trained_[i])));
  tracer.update(iteration_, tracer.read(iteration_) + 1.0);
}

void OptimizerState::only_if(Tracer& tracer, Value condition, const std::function<void()>& write) {
  std::vector<Variable> all = trained_;
  all.insert(all.end(), variables_.begin(), variables_.end());
  Values before;
  for (const Variable& v : all) before.push_back(tracer.read(v));
  write();
  for (size_t i = 0; i < all.size(); ++i) {
    const Value after = tracer.read(all[i]);
    if (!(after == before[i])) tracer.update(all[i], ops::select(condition, after, before[i]));
  }
}

double OptimizerState::learning_rate() const {
  if (rate_.is_number()) return learning_rate_.value().at(0);
  const Tensor rate = evaluate({iteration_.value()}, [&](const Values& inputs) {
    return rate_.at(ops::cast(inputs[0], DType::f32));
  });
  return rate.at(0);
}

void OptimizerState::set_learning_rate(double rate) {
  require(rate_.is_number(), "optimizer '", name(),
          "' was created with a `LearningRateSchedule` object as its `learning_rate`, hence its "
          "learning rate is not settable.");
  learning_rate_.assign(Tensor::scalar(DType::f32, rate));
}

int64_t OptimizerState::iterations() const {
  return static_cast<int64_t>(iteration_.value().at(0)) /
         options_.gradient_accumulation_steps.value_or(1);
}

void OptimizerState::finalize() {
  for (size_t i = 0; i < averages_.size(); ++i) trained_[i].assign(averages_[i].value());
}

void OptimizerState::exclude_from_weight_decay(std::vector<std::string> parts_of_names) {
  require(!built_,
          "`exclude_from_weight_decay()` can only be configured before the optimizer is "
          "built.");
  undecayed_ = std::move(parts_of_names);
}

Json OptimizerState::get_config() const {
  Json config = Json::object();
  for_each_field(options_, [&](std::string_view key, const auto& value) {
    config[key] = config::write(value);
  });
  for (const auto& [key, value] : own_config().as_object()) config[key] = value;
  if (rate_.is_number() && config.contains("learning_rate"))
    config["learning_rate"] = learning_rate_.value().at(0);
  return config;
}

Optimizer::Optimizer(const std::string& name) : Optimizer(optimizer_by_name({name})) {}

Json Optimizer::to_json() const {
  return Named{std::string(state_->class_name()), state_->get_config()}.to_json("keras.optimizers");
}

Optimizer Optimizer::from_json(const Json& json) {
  return optimizer_by_name(Named::from_json(json));
}

}  // namespace keratin

#include "keratin/optimizers/optimizer.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/engine/evaluate.h"
#include "keratin/graph/tracer.h"
#include "keratin/graph/unique_name.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/promote.h"
#include "keratin/ops/reduce.h"
#include "keratin/optimizers/pattern.h"
#include "keratin/optimizers/registry.h"

namespace keratin {
namespace {

std::string python(const std::optional<double>& number) {
  return number ? Json(*number).dump() : "None";
}

void check(const OptimizerOptions& o) {
  require(
      o.clipnorm.has_value() + o.clipvalue.has_value() + o.global_clipnorm.has_value() <= 1,
      "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: clipnorm=",
      python(o.clipnorm), ", clipvalue=", python(o.clipvalue),
      ", global_clipnorm=", python(o.global_clipnorm));
  const int64_t steps = o.gradient_accumulation_steps.value_or(0);
  require(steps == 0 || steps >= 2,
          "`gradient_accumulation_steps` must be an integer >= 2. Received: "
          "gradient_accumulation_steps=",
          steps);
  if (!o.use_ema) return;
  require(o.ema_momentum >= 0 && o.ema_momentum <= 1,
          "`ema_momentum` must be in the range [0, 1]. Received: ema_momentum=",
          python(o.ema_momentum));
  require(o.ema_overwrite_frequency.value_or(1) >= 0,
          "`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
          "ema_overwrite_frequency=",
          o.ema_overwrite_frequency.value_or(1));
}

Value product(Value a, Value b) {
  const Values both = ops::promote({a, b});
  return both[0] * both[1];
}

Value clipped_by_norm(Value gradient, double limit) {
  const Value norm = ops::sqrt(ops::sum(ops::square(gradient)));
  return gradient * limit / ops::maximum(norm, ops::scalar_like(norm, limit));
}

// The factor that clips all gradients together; NaN if their norm is not finite.
Value global_factor(const Values& gradients, double limit) {
  Value squares;
  for (const Value g : gradients) {
    if (!g.defined()) continue;
    const Value own = ops::sum(ops::square(g));
    const Values both = ops::promote({squares.defined() ? squares : own, own});
    squares = squares.defined() ? both[0] + both[1] : own;
  }
  const Value norm = ops::sqrt(squares);
  const Value finite = ops::minimum(1.0 / norm, ops::scalar_like(norm, 1 / limit)) * limit;
  return finite + (norm - norm);
}

void warn_of_missing(const Values& gradients, const std::vector<Variable>& variables) {
  std::string missing;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i].defined())
      missing += text(missing.empty() ? "'" : ", '", variables[i].path(), '\'');
  if (missing.empty()) return;
  warn(text("Gradients do not exist for variables [", missing,
            "] when minimizing the loss. If using `model.compile()`, did you forget to provide a "
            "`loss` argument?"));
}

// True if the next step is a multiple of `every`.
Value is_due(Value made, int64_t every) {
  const Value next = made + 1.0;
  return ops::equal(ops::mod(next, ops::scalar_like(next, static_cast<double>(every))),
                    ops::scalar_like(next, 0));
}

// The device of a variable's step; null for mirrored variables, which are updated on each device.
std::optional<Device> step_device(const Variable& v) {
  const VariableShards* sharded = shards_of(v);
  return sharded != nullptr && sharded->mirrored() ? std::nullopt : std::optional(v.device());
}

Value in(Value x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }

}  // namespace

Value OptimizerStep::read(const Variable& v) const { return tracer.read(v); }

Value OptimizerStep::weight() const { return tracer.read(variable); }

Value OptimizerStep::assign(const Variable& v, Value value) const {
  tracer.update(v, value);
  return tracer.read(v);
}

void OptimizerStep::descend(Value change) const { tracer.update(variable, weight() - change); }

Value OptimizerStep::approach(const Variable& slot, Value target, double beta) const {
  const Value old = read(slot);
  return assign(slot, old + (target - old) * (1 - beta));
}

Value OptimizerStep::number(double value) const { return ops::scalar_like(count, value); }

Value OptimizerStep::power(double base) const { return ops::power(number(base), count); }

OptimizerState::OptimizerState(std::string_view class_name, LearningRate rate,
                               OptimizerOptions options)
    : rate_(std::move(rate)), options_(std::move(options)) {
  check(options_);
  if (options_.name.empty()) options_.name = unique_name(snake_case(class_name));
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
  const bool on_several_devices = shards_of(like) != nullptr;
  const DeviceScope beside(on_several_devices ? Device{} : like.device());
  const Variable slot = add_variable(of + '_' + name, like.shape(), like.dtype(), initializer);
  if (on_several_devices) unplaced_slots_.emplace_back(slot, like);
  return slot;
}

std::vector<Variable> OptimizerState::add_slots(const std::vector<Variable>& variables,
                                                const std::string& name,
                                                const Initializer& initializer) {
  std::vector<Variable> slots;
  for (const Variable& v : variables) slots.push_back(add_slot(v, name, initializer));
  return slots;
}

std::pair<OptimizerState::Slots, OptimizerState::Slots> OptimizerState::add_slot_pairs(
    const std::vector<Variable>& variables, const std::string& first, const std::string& second) {
  std::pair<Slots, Slots> slots;
  for (const Variable& v : variables) {
    slots.first.push_back(add_slot(v, first));
    slots.second.push_back(add_slot(v, second));
  }
  return slots;
}

void OptimizerState::build(const std::vector<Variable>& variables) {
  make(variables);
  place_slots();
}

void OptimizerState::place_slots() {
  for (; !unplaced_slots_.empty(); unplaced_slots_.pop_back())
    store_like(unplaced_slots_.back().first, unplaced_slots_.back().second);
  for (const Inner& inner : inner_optimizers()) inner.optimizer->place_slots();
}

void OptimizerState::make(const std::vector<Variable>& variables) {
  if (built_) {
    for (const Variable& v : variables)
      require(std::find(trained_.begin(), trained_.end(), v) != trained_.end(),
              "Unknown variable: ", v.path(),
              ". This optimizer can only be called for the variables it was originally built with. "
              "When working with a new set of variables, you should recreate a new optimizer "
              "instance.");
    require(variables == trained_, "optimizer '", name(), "': it was built for ", trained_.size(),
            " variables, and trains all of them, got ", variables.size(),
            "; another choice of variables needs a new optimizer");
    return;
  }
  trained_ = variables;
  if (options_.use_ema) averages_ = add_slots(variables, "average");
  if (accumulation()) accumulators_ = add_slots(variables, "gradient_accumulator");
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

std::optional<int64_t> OptimizerState::accumulation() const {
  const auto steps = options_.gradient_accumulation_steps;
  return steps.value_or(0) == 0 ? std::nullopt : steps;
}

Value OptimizerState::steps_made(Tracer& tracer) const {
  const Value batches = tracer.read(iteration_);
  const auto every = accumulation();
  if (!every) return batches;
  return ops::floor_divide(batches, ops::scalar_like(batches, static_cast<double>(*every)));
}

Values OptimizerState::clipped(Values gradients) const {
  const double norm = options_.clipnorm.value_or(0), value = options_.clipvalue.value_or(0);
  Value factor;
  if (const double global = options_.global_clipnorm.value_or(0); global > 0)
    factor = global_factor(gradients, global);
  for (Value& g : gradients) {
    if (!g.defined()) continue;
    if (norm > 0) g = clipped_by_norm(g, norm);
    if (value > 0) g = ops::clip(g, -value, value);
    if (factor.defined()) g = product(g, factor);
  }
  return gradients;
}

bool OptimizerState::decays(const Variable& variable) const {
  return std::find(undecayed_.begin(), undecayed_.end(), variable) == undecayed_.end() &&
         std::none_of(
             undecayed_names_.begin(), undecayed_names_.end(),
             [&](const std::string& pattern) { return found_in(variable.name(), pattern); });
}

void OptimizerState::step_all(Tracer& tracer, const Values& gradients) {
  const Values ready = clipped(gradients);
  const Value rate = current_rate(tracer);
  const Value count = steps_made(tracer) + 1.0;
  begin(tracer, count);
  for (size_t i = 0; i < trained_.size(); ++i) {
    if (!ready[i].defined()) continue;
    const Variable& v = trained_[i];
    const std::optional<Device> device = step_device(v);
    const auto here = [&](Value x) { return in(device ? tracer.bring(x, *device) : x, v.dtype()); };
    const PlacementScope scope(tracer.placement(), device);
    const Value lr = here(rate);
    if (const auto decay = weight_decay_of(v); decay && decays(v)) {
      const Value old = tracer.read(v);
      tracer.update(v, old - old * *decay * lr);
    }
    update({tracer, i, v, here(ready[i]), lr, here(count)});
  }
}

void OptimizerState::average(Tracer& tracer) {
  const Value made = steps_made(tracer);
  const Value started = ops::not_equal(made, ops::scalar_like(made, 0));
  Value overwrites;
  if (const int64_t every = options_.ema_overwrite_frequency.value_or(0); every > 0)
    overwrites = is_due(made, every);
  for (size_t i = 0; i < trained_.size(); ++i) {
    const Device device = trained_[i].device();
    const Value now = tracer.read(trained_[i]), old = tracer.read(averages_[i]);
    const Value momentum =
        ops::cast(tracer.bring(started, device), now.dtype()) * options_.ema_momentum;
    const Value mean = momentum * old + (1.0 - momentum) * now;
    tracer.update(averages_[i], mean);
    if (overwrites.defined())
      tracer.update(trained_[i], ops::where(tracer.bring(overwrites, device), mean, now));
  }
}

void OptimizerState::accumulate(Tracer& tracer, Values gradients) {
  const int64_t every = *accumulation();
  const Value due = is_due(tracer.read(iteration_), every);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const Values both = ops::promote({gradients[i], tracer.read(accumulators_[i])});
    const Value sum = both[0] + both[1];
    gradients[i] = sum / static_cast<double>(every);
    tracer.update(accumulators_[i], ops::where(tracer.bring(due, accumulators_[i].device()),
                                               ops::zeros_like(sum), sum));
  }
  only_if(tracer, due, [&] { step_all(tracer, gradients); });
}

void OptimizerState::apply(Tracer& tracer, Values gradients) {
  ensure(gradients.size() == trained_.size(), "optimizer: a gradient for each variable");
  const auto exists = [](Value g) { return g.defined(); };
  require(std::any_of(gradients.begin(), gradients.end(), exists),
          "No gradients provided for any variable.");
  warn_of_missing(gradients, trained_);
  if (const auto factor = options_.loss_scale_factor)
    for (Value& g : gradients)
      if (g.defined()) g = g / *factor;
  if (accumulation())
    accumulate(tracer, gradients);
  else
    step_all(tracer, gradients);
  if (options_.use_ema) average(tracer);
  for (size_t i = 0; i < trained_.size(); ++i)
    if (const Constraint& constraint = trained_[i].spec().constraint;
        constraint && gradients[i].defined())
      tracer.update(trained_[i], constraint(tracer.read(trained_[i])));
  tracer.update(iteration_, tracer.read(iteration_) + 1.0);
}

void OptimizerState::only_if(Tracer& tracer, Value condition, const std::function<void()>& write) {
  std::vector<Variable> all = trained_;
  const std::vector<Variable> own = variables();
  all.insert(all.end(), own.begin(), own.end());
  Values before;
  for (const Variable& v : all) before.push_back(tracer.read(v));
  write();
  for (size_t i = 0; i < all.size(); ++i) {
    const Value after = tracer.read(all[i]);
    if (!(after == before[i]))
      tracer.update(all[i], ops::where(tracer.bring(condition, all[i].device()), after, before[i]));
  }
}

void OptimizerState::refuse_options(std::initializer_list<std::string_view> but,
                                    std::string_view hint) const {
  const OptimizerOptions defaults;
  detail::for_each_listed<OptimizerOptions>([&](const auto& field) {
    const bool given = options_.*(field.member) != defaults.*(field.member);
    require(!given || std::find(but.begin(), but.end(), field.name) != but.end(), class_name(),
            " does not support `", field.name, "`. ", hint);
  });
}

double OptimizerState::learning_rate() const {
  if (rate_.is_number()) return learning_rate_.value().at(0);
  const Tensor rate = evaluate({iteration_.value()}, [&](const Values& inputs) {
    return rate_.at(ops::cast(inputs[0], DType::f32));
  });
  return rate.at(0);
}

void OptimizerState::set_learning_rate(double rate) {
  require(rate_.is_number(),
          "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
          "constructor argument, hence its learning rate is not settable. If you need the learning "
          "rate to be settable, you should instantiate the optimizer with a float "
          "`learning_rate` argument.");
  learning_rate_.assign(Tensor::scalar(DType::f32, rate));
}

int64_t OptimizerState::iterations() const {
  return static_cast<int64_t>(iteration_.value().at(0)) / accumulation().value_or(1);
}

void OptimizerState::finalize() {
  for (size_t i = 0; i < averages_.size(); ++i) trained_[i].assign(averages_[i].value());
}

void OptimizerState::set_loss_scale_factor(std::optional<double> factor) {
  options_.loss_scale_factor = factor;
}

void OptimizerState::exclude_from_weight_decay(std::vector<std::string> names) {
  exclude_from_weight_decay(std::vector<Variable>{}, std::move(names));
}

void OptimizerState::exclude_from_weight_decay(std::vector<Variable> variables,
                                               std::vector<std::string> names) {
  require(!built_,
          "`exclude_from_weight_decay()` can only be configured before the optimizer is built.");
  undecayed_ = std::move(variables);
  undecayed_names_ = std::move(names);
}

Json OptimizerState::get_config() const {
  const Json own = own_config();
  const Json* schedule = own.find("learning_rate");
  Json config = Json::object();
  config["name"] = name();
  if (rate_.is_number())
    config["learning_rate"] = learning_rate_.value().at(0);
  else
    config["learning_rate"] = schedule != nullptr ? *schedule : rate_.to_json();
  for (const auto& [key, value] : config::write_fields(options_).as_object()) config[key] = value;
  for (const auto& [key, value] : own.as_object())
    if (key != "learning_rate") config[key] = value;
  return config;
}

Optimizer::Optimizer(const std::string& name) : Optimizer(optimizer_by_name({name})) {}

Json Optimizer::to_json() const {
  const std::string class_name(state_->class_name());
  const OptimizerState& state = *state_;
  if (state.saved().is_null())
    return detail::class_json(typeid(state), class_name, state_->get_config(), "keras.optimizers",
                              {.is_keras = is_optimizer_class(class_name, typeid(state)),
                               .is_name_of_keras = is_optimizer_name(class_name)});
  Json json = state_->saved();
  // C++ of another class has another config.
  const std::string name = detail::name_in_json(json);
  if (name.substr(name.rfind('>') + 1) == class_name) json["config"] = state_->get_config();
  return json;
}

Optimizer Optimizer::fresh_copy() const {
  if (!state_) return *this;
  Optimizer copy(state_->fresh_copy());
  require(static_cast<bool>(copy), "optimizer '", state_->name(), "': class ", state_->class_name(),
          " cannot be copied; derive it from OptimizerOf or override "
          "fresh_copy");
  copy->set_saved(state_->saved());
  return copy;
}

Optimizer Optimizer::saved_as(Json envelope) const {
  state_->set_saved(std::move(envelope));
  return *this;
}

Optimizer Optimizer::from_json(const Json& json) {
  const bool known = is_optimizer_name(detail::name_in_json(json));
  if (const auto custom = detail::custom_unless_keras<Optimizer>(json, {}, known)) return *custom;
  if (known) detail::require_of_keras("optimizer", json);
  return optimizer_by_name(Named::from_json(json));
}

}  // namespace keratin

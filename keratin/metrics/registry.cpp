#include "keratin/metrics/registry.h"

#include <map>

#include "keratin/base/text.h"
#include "keratin/losses/registry.h"
#include "keratin/metrics/metrics.h"

namespace keratin {
namespace {

struct Known {
  Metric (*make)(const Json& config);
  std::type_index type;  // of its state
};
using Table = std::map<std::string, Known, std::less<>>;

// Mean and Sum add functions to a SharedMetric.
template <class S>
std::type_index state_of(const SharedMetric<S>*) {
  return typeid(S);
}
template <class M>
std::type_index state_type() {
  return state_of(static_cast<const M*>(nullptr));
}

template <class M>
Metric make(const Json& config) {
  typename M::Config own;
  MetricOptions options;
  const auto read_other = [&](const std::string& key, const Json& value) {
    return detail::read_metric_option(options, key, value);
  };
  config::read_fields(config, M::Config::keras_name, {}, read_other, own);
  return M(own, options);
}

template <class... M>
Table table() {
  return {{std::string(M::Config::keras_name), Known{&make<M>, state_type<M>()}}...};
}

const Table& classes() {
  using namespace metrics;
  static const Table all =
      table<AUC, Accuracy, BinaryAccuracy, BinaryCrossentropy, BinaryIoU, CategoricalAccuracy,
            CategoricalCrossentropy, CategoricalHinge, ConcordanceCorrelation, CosineSimilarity,
            F1Score, FBetaScore, FalseNegatives, FalsePositives, Hinge, IoU, KLDivergence,
            LogCoshError, Mean, MeanAbsoluteError, MeanAbsolutePercentageError, MeanIoU,
            MeanSquaredError, MeanSquaredLogarithmicError, OneHotIoU, OneHotMeanIoU,
            PearsonCorrelation, Poisson, Precision, PrecisionAtRecall, R2Score, Recall,
            RecallAtPrecision, RootMeanSquaredError, SensitivityAtSpecificity,
            SparseCategoricalAccuracy, SparseCategoricalCrossentropy, SparseTopKCategoricalAccuracy,
            SpecificityAtSensitivity, SquaredHinge, Sum, TopKCategoricalAccuracy, TrueNegatives,
            TruePositives>();
  return all;
}

const std::map<std::string_view, std::string_view> aliases = {
    {"bce", "BinaryCrossentropy"},
    {"BCE", "BinaryCrossentropy"},
    {"mse", "MeanSquaredError"},
    {"MSE", "MeanSquaredError"},
    {"mae", "MeanAbsoluteError"},
    {"MAE", "MeanAbsoluteError"},
    {"mape", "MeanAbsolutePercentageError"},
    {"MAPE", "MeanAbsolutePercentageError"},
    {"msle", "MeanSquaredLogarithmicError"},
    {"MSLE", "MeanSquaredLogarithmicError"},
};

// Makes a function of metrics, which is no loss, from its arguments.
using MakeFunction = Metric::Function (*)(const Json& arguments);

template <class Config>
Metric::Function make_function(const Json& arguments) {
  Config config;
  const auto no_other = [](const std::string&, const Json&) { return false; };
  config::read_fields(arguments, Config::keras_name, {}, no_other, config);
  return [config](Value y_true, Value y_pred) { return config.call(y_true, y_pred); };
}

template <class... C>
std::map<std::string, MakeFunction, std::less<>> function_table() {
  return {{snake_case(C::keras_name), &make_function<C>}...};
}

Metric mean_of(const Loss& loss, MetricOptions options, Json config) {
  return metrics::MeanMetricWrapper([loss](Value t, Value p) { return loss.each(t, p); },
                                    std::move(options), std::move(config), Direction::down);
}

// A metric from the config of a wrapper, which has the wrapped function beside that function's
// arguments; in Keras 2, the name of the function.
Metric make_wrapper(const Json& config) {
  using namespace metrics;
  static const auto functions =
      function_table<AccuracyConfig, BinaryAccuracyConfig, CategoricalAccuracyConfig,
                     SparseCategoricalAccuracyConfig, TopKCategoricalAccuracyConfig,
                     SparseTopKCategoricalAccuracyConfig, PearsonCorrelationConfig,
                     ConcordanceCorrelationConfig>();
  MetricOptions options;
  Json arguments = Json::object(), own = Json::object();
  std::string name;
  for (const auto& [key, value] : config.as_object()) {
    if (detail::read_metric_option(options, key, value)) continue;
    own[key] = value;
    if (key != "fn") {
      arguments[key] = value;
      continue;
    }
    const Named named = Named::from_json(value);
    name = named.class_name == "function" ? named.config.as_string() : named.class_name;
  }
  require(!name.empty(), "MeanMetricWrapper: expected a config with the key 'fn', got ", config);
  if (const auto found = functions.find(name); found != functions.end()) {
    own["fn"] = function_json(name);
    return MeanMetricWrapper(found->second(arguments), options, own);
  }
  require(is_loss_name(name), "Could not interpret metric identifier: ", name);
  const Loss loss = loss_by_name({name, arguments});
  own["fn"] = function_json(snake_case(loss.class_name()));
  return mean_of(loss, options, own);
}

// Chooses by the shapes, as Keras does for "accuracy".
Value any_accuracy(Value y_true, Value y_pred) {
  if (y_pred.shape().back() == 1) return metrics::BinaryAccuracyConfig{}.call(y_true, y_pred);
  const bool numbers = y_true.rank() < y_pred.rank() || y_true.shape().back() == 1;
  if (numbers) return metrics::SparseCategoricalAccuracyConfig{}.call(y_true, y_pred);
  return metrics::CategoricalAccuracyConfig{}.call(y_true, y_pred);
}

}  // namespace

bool detail::read_metric_option(MetricOptions& options, const std::string& key, const Json& value) {
  if (key == "name") {
    if (!value.is_null()) options.name = value.as_string();
  } else if (key == "dtype") {
    // A policy is written as an object; its compute dtype is the metric's dtype.
    if (!value.is_null()) options.dtype = DTypePolicy::from_json(value).compute();
  } else {
    return false;
  }
  return true;
}

bool is_metric_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "accuracy" || lower == "acc" || name == "MeanMetricWrapper" ||
         find_class(classes(), aliases, name) != classes().end() || is_loss_name(name);
}

bool is_metric_class(std::string_view name, std::type_index type) {
  if (type == typeid(metrics::MeanOfFunction)) return true;
  const auto found = find_class(classes(), aliases, name);
  return found != classes().end() && found->second.type == type;
}

Metric metric_by_name(const Named& named) {
  if (named.class_name == "MeanMetricWrapper") return make_wrapper(named.config);
  const auto found = find_class(classes(), aliases, named.class_name);
  require(found != classes().end(), "Could not interpret metric identifier: ", named.class_name);
  return found->second.make(named.config);
}

Metric metric_from_user_name(const std::string& name) {
  const std::string lower = lower_case(name);
  if (lower == "accuracy" || lower == "acc")
    return metrics::MeanMetricWrapper(any_accuracy, {}, {}, Direction::up);
  // Functions of losses are metrics, too: "huber".
  if (find_class(classes(), aliases, name) == classes().end() && is_loss_name(name))
    return mean_of(loss_by_name({name}), {}, {});
  return metric_by_name({name});
}

}  // namespace keratin

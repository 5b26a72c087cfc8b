#include "keratin/metrics/registry.h"

#include <map>

#include "keratin/losses/registry.h"
#include "keratin/metrics/metrics.h"

namespace keratin {
namespace {

using Make = Metric (*)(const Json& config);

template <class M>
Metric make(const Json& config) {
  typename M::Config own;
  MetricOptions options;
  for (const auto& [key, value] : config.as_object()) {
    if (key == "name") options.name = value.as_string();
    if (key == "dtype" && value.is_string())
      options.dtype = dtype_from_keras(value.as_string(), "metric");
    for_each_field(own, [&, &key = key, &value = value](std::string_view name, auto& out) {
      if (name == key) config::read(value, out, {});
    });
  }
  return M(own, options);
}

template <class... M>
std::map<std::string, Make, std::less<>> table() {
  return {{std::string(M::Config::keras_name), &make<M>}...};
}

// Chooses by the shapes it meets, as Keras does for "accuracy".
Value any_accuracy(Value y_true, Value y_pred) {
  const int64_t classes = y_pred.shape()[y_pred.rank() - 1];
  if (classes == 1) return metrics::BinaryAccuracyConfig{}.call(y_true, y_pred);
  const bool numbers = y_true.rank() < y_pred.rank() || y_true.shape()[y_true.rank() - 1] == 1;
  if (numbers) return metrics::SparseCategoricalAccuracyConfig{}.call(y_true, y_pred);
  return metrics::CategoricalAccuracyConfig{}.call(y_true, y_pred);
}

}  // namespace

Metric metric_by_name(const Named& named) {
  static const auto classes = table<metrics::BinaryAccuracy, metrics::CategoricalAccuracy,
                                    metrics::SparseCategoricalAccuracy>();
  const std::string& name = named.class_name;
  if (name == "accuracy" || name == "acc") return {any_accuracy, {.name = name}};
  auto found = classes.find(name);
  for (auto it = classes.begin(); found == classes.end() && it != classes.end(); ++it)
    if (snake_case(it->first) == name) found = it;
  if (found != classes.end()) return found->second(named.config);
  // The function of a loss serves as a metric: its mean.
  const Loss loss = loss_by_name(named);
  return {[loss](Value y_true, Value y_pred) { return loss.each(y_true, y_pred).values; },
          {.name = name}};
}

}  // namespace keratin

#include "keratin/io/compile_config.h"

#include <algorithm>
#include "keratin/base/text.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/named.h"
#include "keratin/losses/registry.h"
#include "keratin/metrics/registry.h"
#include "keratin/train/callback.h"

namespace keratin::io {
namespace {

Json written(double number) { return number; }
// A loss or a metric. A C++ function has no config and is written by its name.
template <class T>
requires requires(const T& t) { t.to_json(), t.name(); }
Json written(const T& object) {
  try {
    return object.to_json();
  } catch (const UserError&) {
    const bool is_name_of_keras =
        std::is_same_v<T, Loss> ? is_loss_name(object.name()) : is_metric_name(object.name());
    detail::warn_of_function(std::is_same_v<T, Loss> ? "loss" : "metric", object.name(),
                             is_name_of_keras);
    return function_json(object.name(), is_name_of_keras);
  }
}
template <class T>
Json written(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& item : list) json.push_back(written(item));
  return json;
}
template <class T>
Json written(const PerOutput<T>& given) {
  if (given.one()) return written(*given.one());
  if (given.each()) return written(*given.each());
  if (!given.by_name()) return {};
  Json json = Json::object();
  for (const auto& [name, value] : *given.by_name()) json[name] = written(value);
  return json;
}
Json written(const Metrics& metrics) {
  return metrics.flat().empty() ? written(metrics.lists()) : written(metrics.flat());
}

// Tells the user how to pass a loss or metric for one that a file names.
std::string remedy(std::string_view kind, const Json& json) {
  const std::string name = detail::name_in_json(json);
  const bool is_class = json.is_object() && *json.find("class_name") == Json(name);
  const std::string object =
      is_class
          ? text("CustomObject::of<Your", kind, ">()")
          : text(kind, "([](Value y_true, Value y_pred) { return ops::square(y_true - y_pred); })");
  return text(
      ". If it is yours, ",
      is_class ? text("register its class: register_serializable<Your", kind, ">(\"package\"), or ")
               : "say in C++ what it computes, such as ",
      "load_model(path, {.custom_objects = {{\"", name, "\", ", object,
      "}}}); load_model(path, {.compile = false}) leaves training out");
}

template <class T>
T one_of(const Json& json, std::string_view kind) {
  try {
    return T::from_json(json);
  } catch (const UserError& error) {
    if (!std::string_view(error.what()).starts_with("Could not interpret")) throw;
    fail(error.what(), remedy(kind, json));
  }
}

bool is_envelope(const Json& json) {
  return json.is_object() && json.find("class_name") != nullptr && json.find("config") != nullptr;
}

// [[a], [b]] is [a, b]: Keras pairs losses with outputs however both are nested.
void flatten(const Json& json, Json::Array& out) {
  if (!json.is_array()) return out.push_back(json);
  for (const Json& item : json.as_array()) flatten(item, out);
}

// The only item of a list, however deep it is nested.
Json unwrapped(const Json& json) {
  return json.is_array() && json.size() == 1 ? unwrapped(json[0]) : json;
}

// One object for all outputs, a list, or objects by name; `read` makes one.
template <class T, class Read>
PerOutput<T> per_output(const Json& json, const Read& read) {
  if (json.is_null()) return {};
  if (json.is_array()) {
    Json::Array flat;
    flatten(json, flat);
    std::vector<T> each;
    for (const Json& item : flat) each.push_back(read(item));
    return each;
  }
  if (!json.is_object() || is_envelope(json)) return read(json);
  typename PerOutput<T>::ByName by_name;
  for (const auto& [name, item] : json.as_object()) by_name.emplace(name, read(unwrapped(item)));
  return by_name;
}

// An unknown optimizer may be the user's, or have a schedule that is.
Optimizer optimizer_from(const Json& json) {
  try {
    return Optimizer::from_json(json);
  } catch (const UserError& error) {
    const std::string_view what = error.what();
    if (what.find("Could not interpret") == what.npos) throw;
    const bool schedule = what.find("learning rate schedule identifier") != what.npos;
    fail(what,
         ". If it is yours, register its class: register_serializable<YourClass>(\"package\"), or "
         "load_model(path, {.custom_objects = {{\"name\", CustomObject::of<YourClass>()}}}); ",
         schedule
             ? "a function is bound by its name, too, {{\"name\", [](Value step) { return 0.1 / "
               "(step + 1.0); }}}; "
             : "",
         "load_model(path, {.compile = false}) leaves training out");
  }
}

Metrics metrics_from(const Json& json) {
  const auto one = [](const Json& item) { return one_of<Metric>(item, "Metric"); };
  const auto list = [&](const Json& item) {
    Metrics::List metrics;
    if (item.is_null()) return metrics;
    Json::Array flat;
    flatten(item, flat);
    for (const Json& metric : flat)
      if (!metric.is_null()) metrics.push_back(one(metric));
    return metrics;
  };
  if (json.is_null()) return {};
  if (json.is_object() && !is_envelope(json)) {
    std::map<std::string, Metrics::List> by_name;
    for (const auto& [name, item] : json.as_object()) by_name.emplace(name, list(item));
    return by_name;
  }
  if (!json.is_array()) return Metrics::List{one(json)};
  const Json::Array& items = json.as_array();
  if (std::none_of(items.begin(), items.end(), [](const Json& i) { return i.is_array(); }))
    return list(json);
  std::vector<Metrics::List> each;
  for (const Json& item : items) each.push_back(list(item));
  return Metrics::each(std::move(each));
}

}  // namespace

Json compile_config(const CompileOptions& options) {
  return Json::Object{{"optimizer", options.optimizer.to_json()},
                      {"loss", written(options.loss)},
                      {"loss_weights", written(options.loss_weights)},
                      {"metrics", written(options.metrics)},
                      {"weighted_metrics", written(options.weighted_metrics)},
                      {"run_eagerly", false},
                      {"steps_per_execution", options.steps_per_execution},
                      {"jit_compile", "auto"}};
}

CompileOptions training_options(const Json& config) {
  const auto at = [&](std::string_view key) {
    const Json* found = config.find(key);
    return found == nullptr ? Json() : *found;
  };
  CompileOptions options;
  if (!at("optimizer").is_null()) options.optimizer = optimizer_from(at("optimizer"));
  options.loss =
      per_output<Loss>(at("loss"), [](const Json& j) { return one_of<Loss>(j, "Loss"); });
  options.loss_weights =
      per_output<double>(at("loss_weights"), [](const Json& j) { return j.as_double(); });
  options.metrics = metrics_from(at("metrics"));
  options.weighted_metrics = metrics_from(at("weighted_metrics"));
  if (!at("steps_per_execution").is_null())
    options.steps_per_execution = at("steps_per_execution").as_int();
  return options;
}

}  // namespace keratin::io

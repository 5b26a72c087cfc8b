#include "keratin/graph/constraint.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/named.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

constexpr double epsilon = 1e-7;  // keras.config.epsilon()

Json axes_json(const Dims& axis) {
  if (axis.size() == 1) return axis[0];
  Json json = Json::array();
  for (const int64_t a : axis) json.push_back(a);
  return json;
}

Dims axes_of(const Json& config) {
  const Json& axis = config.at("axis");
  if (axis.is_number()) return {axis.as_int()};
  Dims axes;
  for (const Json& a : axis.as_array()) axes.push_back(a.as_int());
  return axes;
}

Value norm_of(Value w, const Json& config) {
  return ops::sqrt(ops::sum(ops::square(w), axes_of(config), true));
}

}  // namespace

bool Constraint::knows(const std::string& name) {
  const std::vector<std::string> known = {"max_norm", "non_neg", "unit_norm", "min_max_norm"};
  return std::find(known.begin(), known.end(), snake_case(name)) != known.end();
}

struct Constraint::Recipe {
  Named named;
  Function custom = {};
  Json saved = {};
  std::type_index type = typeid(void);  // of a struct of the user's
  bool operator==(const Recipe& other) const { return named == other.named; }
};

Constraint::Constraint(Named named) {
  const std::string name = snake_case(named.class_name);
  const auto with = [&](std::string class_name, Json defaults) {
    recipe_ = Recipe{named.over(std::move(class_name), std::move(defaults))};
  };
  if (name == "max_norm")
    with("MaxNorm", Json::Object{{"max_value", 2}, {"axis", 0}});
  else if (name == "non_neg")
    with("NonNeg", Json::object());
  else if (name == "unit_norm")
    with("UnitNorm", Json::Object{{"axis", 0}});
  else if (name == "min_max_norm")
    with("MinMaxNorm",
         Json::Object{{"min_value", 0.0}, {"max_value", 1.0}, {"rate", 1.0}, {"axis", 0}});
  else
    fail("Could not interpret constraint identifier: ", named.class_name);
}

Constraint::Constraint(std::string name, Function function)
    : recipe_(Recipe{{std::move(name)}, std::move(function)}) {
  require(!recipe_->named.class_name.empty(), "Constraint: expected a name, got an empty one");
  require(recipe_->custom != nullptr, "Constraint '", recipe_->named.class_name,
          "': expected a function, got an empty one");
}

Constraint::Constraint(detail::ConfiguredFunction<Function> own)
    : recipe_(Recipe{{std::string(own.class_name), std::move(own.config)},
                     std::move(own.function),
                     {},
                     own.type}) {}

Json Constraint::to_json() const {
  if (!*this) return {};
  if (!recipe_->saved.is_null()) return recipe_->saved;
  const std::string& name = recipe_->named.class_name;
  if (recipe_->type != typeid(void))
    return detail::own_class_json(recipe_->type, name, recipe_->named.config, knows(name));
  return recipe_->custom ? function_json(name, knows(name))
                         : recipe_->named.to_json("keras.constraints");
}

Constraint Constraint::saved_as(Json json) const {
  Recipe recipe = *recipe_;
  recipe.saved = std::move(json);
  Constraint same;
  same.recipe_ = std::move(recipe);
  return same;
}

Constraint Constraint::from_json(const Json& json) {
  return json.is_null() ? Constraint() : Constraint(Named::from_json(json));
}

Value Constraint::operator()(Value w) const {
  if (recipe_->custom) return recipe_->custom(w);
  const Json& c = recipe_->named.config;
  if (recipe_->named.class_name == "NonNeg") return ops::relu(w);
  const Value norm = norm_of(w, c);
  if (recipe_->named.class_name == "UnitNorm") return w / (norm + epsilon);
  const double high = c.at("max_value").as_double();
  if (recipe_->named.class_name == "MaxNorm")
    return w * (ops::clip(norm, 0, high) / (norm + epsilon));
  const double low = c.at("min_value").as_double(), rate = c.at("rate").as_double();
  return w * ((ops::clip(norm, low, high) * rate + norm * (1 - rate)) / (norm + epsilon));
}

bool Constraint::operator==(const Constraint& other) const { return recipe_ == other.recipe_; }

Constraint::Constraint(const char* name) : Constraint(Named{name}) {}

namespace constraints {

Constraint MaxNorm(double max_value, const Dims& axis) {
  return Named{"MaxNorm", Json::Object{{"max_value", max_value}, {"axis", axes_json(axis)}}};
}
Constraint NonNeg() { return Named{"NonNeg"}; }
Constraint UnitNorm(const Dims& axis) {
  return Named{"UnitNorm", Json::Object{{"axis", axes_json(axis)}}};
}
Constraint MinMaxNorm(const MinMaxOptions& o) {
  return Named{"MinMaxNorm", Json::Object{{"min_value", o.min_value},
                                          {"max_value", o.max_value},
                                          {"rate", o.rate},
                                          {"axis", axes_json(o.axis)}}};
}

}  // namespace constraints

}  // namespace keratin

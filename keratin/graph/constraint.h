#pragma once

#include <functional>
#include <string>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"
#include "keratin/graph/function_config.h"
#include "keratin/ir/value.h"
#include "keratin/tensor/shape.h"

namespace keratin {

struct Named;

// Projects a weight after each step of training. Default: no constraint.
class KERATIN_API Constraint {
 public:
  using Function = std::function<Value(Value)>;
  using CustomKind = Constraint;
  using CustomFunction = Function;

  Constraint() = default;
  Constraint(const char* name);  // NOLINT
  Constraint(Named named);       // NOLINT
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  Constraint(std::string name, Function function);
  // A struct with a config of its own, which files have.
  template <FunctionConfig C>
  Constraint(C config)  // NOLINT(google-explicit-constructor)
      : Constraint(detail::configured(std::move(config))) {}

  explicit operator bool() const { return static_cast<bool>(recipe_); }
  Value operator()(Value weight) const;

  Json to_json() const;
  static Constraint from_json(const Json& json);
  static bool knows(const std::string& name);  // whether Keras has one of that name
  // The same, written to files as this JSON instead of `to_json`'s.
  Constraint saved_as(Json json) const;
  bool operator==(const Constraint& other) const;

 private:
  explicit Constraint(detail::ConfiguredFunction<Function> own);

  struct Recipe;
  detail::SharedValue<Recipe> recipe_;
};

namespace constraints {

struct MinMaxOptions {
  double min_value = 0;
  double max_value = 1;
  double rate = 1;
  Dims axis = {0};
};

KERATIN_API Constraint MaxNorm(double max_value = 2, const Dims& axis = {0});
KERATIN_API Constraint NonNeg();
KERATIN_API Constraint UnitNorm(const Dims& axis = {0});
KERATIN_API Constraint MinMaxNorm(const MinMaxOptions& options = {});

}  // namespace constraints
}  // namespace keratin

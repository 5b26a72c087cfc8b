#pragma once

#include <functional>
#include <string>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/base/shared_value.h"
#include "keratin/graph/function_config.h"
#include "keratin/ir/value.h"

namespace keratin {

struct Named;

// A penalty on a weight or an activity, added to the loss. Made by the functions below, by name
// ("l2"), or read from a config. Default: no penalty.
class KERATIN_API Regularizer {
 public:
  using Function = std::function<Value(Value)>;
  using CustomKind = Regularizer;
  using CustomFunction = Function;

  Regularizer() = default;
  Regularizer(const char* name);  // NOLINT
  Regularizer(Named named);       // NOLINT
  // A callable. Files know it by the name, to which LoadOptions binds it again.
  Regularizer(std::string name, Function function);
  // A struct with a config of its own, which files have.
  template <FunctionConfig C>
  Regularizer(C config)  // NOLINT(google-explicit-constructor)
      : Regularizer(detail::configured(std::move(config))) {}

  explicit operator bool() const { return static_cast<bool>(recipe_); }
  Value operator()(Value x) const;  // a scalar of the dtype of x

  Json to_json() const;
  static Regularizer from_json(const Json& json);
  static bool knows(const std::string& name);  // whether Keras has one of that name
  // The same, written to files as this JSON instead of `to_json`'s.
  Regularizer saved_as(Json json) const;
  bool operator==(const Regularizer& other) const;

 private:
  explicit Regularizer(detail::ConfiguredFunction<Function> own);

  struct Recipe;
  detail::SharedValue<Recipe> recipe_;
};

namespace regularizers {

KERATIN_API Regularizer L1(double l1 = 0.01);                // l1 · Σ|x|
KERATIN_API Regularizer L2(double l2 = 0.01);                // l2 · Σx²
KERATIN_API Regularizer L1L2(double l1 = 0, double l2 = 0);  // both
// How far from orthogonal the rows (or columns) of a matrix are: the mean of |cosine| between them.
KERATIN_API Regularizer OrthogonalRegularizer(double factor = 0.01,
                                              const std::string& mode = "rows");

}  // namespace regularizers
}  // namespace keratin

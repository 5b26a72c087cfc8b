#include "keratin/graph/regularizer.h"

#include <algorithm>

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/graph/custom_objects.h"
#include "keratin/graph/named.h"
#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

Value orthogonality(Value x, const Named& named) {
  require(x.rank() == 2, "OrthogonalRegularizer: expected a matrix, got shape ", x.shape());
  const bool rows = named.config.at("mode").as_string() == "rows";
  const int64_t axis = rows ? 1 : 0;
  // Keras's l2 normalisation: x · rsqrt(max(Σx², ε)).
  const Value squares = ops::sum(ops::square(x), {axis}, true);
  const Value unit = x * ops::rsqrt(ops::maximum(squares, ops::scalar_like(squares, 1e-12)));
  const Value products = rows ? ops::matmul(unit, unit, {.transpose_b = true})
                              : ops::matmul(unit, unit, {.transpose_a = true});
  const int64_t size = x.shape()[1 - axis];
  const Value row = ops::iota(x.block(), DType::i64, {size, size}, 0);
  const Value column = ops::iota(x.block(), DType::i64, {size, size}, 1);
  const Value off = ops::cast(ops::not_equal(row, column), x.dtype());
  const double pairs = static_cast<double>(size * (size - 1)) / 2;
  return ops::sum(ops::abs(products * off)) * (0.5 * named.number("factor", 0.01) / pairs);
}

}  // namespace

bool Regularizer::knows(const std::string& name) {
  const std::vector<std::string> known = {"l1", "l2", "l1_l2", "l1l2", "orthogonal_regularizer"};
  return std::find(known.begin(), known.end(), snake_case(name)) != known.end();
}

struct Regularizer::Recipe {
  Named named;
  Function custom = {};
  Json saved = {};
  std::type_index type = typeid(void);  // of a struct of the user's
  bool operator==(const Recipe& other) const { return named == other.named; }
};

Regularizer::Regularizer(Named named) {
  const std::string name = snake_case(named.class_name);
  const auto with = [&](std::string class_name, Json defaults) {
    recipe_ = Recipe{named.over(std::move(class_name), std::move(defaults))};
    for (const char* key : {"l1", "l2"}) {
      const double strength = recipe_->named.number(key, 0);
      require(std::isfinite(strength) && strength >= 0, "Invalid value for argument ", key,
              ": expected a non-negative float.Received: ", key, "=", strength);
    }
  };
  if (name == "l1")
    with("L1", Json::Object{{"l1", 0.01}});
  else if (name == "l2")
    with("L2", Json::Object{{"l2", 0.01}});
  else if (name == "l1_l2" || name == "l1l2")
    // By its name alone Keras's function gives 0.01 of each.
    with("L1L2", named.class_name == "l1_l2" ? Json::Object{{"l1", 0.01}, {"l2", 0.01}}
                                             : Json::Object{{"l1", 0.0}, {"l2", 0.0}});
  else if (name == "orthogonal_regularizer")
    with("OrthogonalRegularizer", Json::Object{{"factor", 0.01}, {"mode", "rows"}});
  else
    fail("Could not interpret regularizer identifier: ", named.class_name);
}

Regularizer::Regularizer(std::string name, Function function)
    : recipe_(Recipe{{std::move(name)}, std::move(function)}) {
  require(!recipe_->named.class_name.empty(), "Regularizer: expected a name, got an empty one");
  require(recipe_->custom != nullptr, "Regularizer '", recipe_->named.class_name,
          "': expected a function, got an empty one");
}

Regularizer::Regularizer(detail::ConfiguredFunction<Function> own)
    : recipe_(Recipe{{std::string(own.class_name), std::move(own.config)},
                     std::move(own.function),
                     {},
                     own.type}) {}

Json Regularizer::to_json() const {
  if (!*this) return {};
  if (!recipe_->saved.is_null()) return recipe_->saved;
  const std::string& name = recipe_->named.class_name;
  if (recipe_->type != typeid(void))
    return detail::own_class_json(recipe_->type, name, recipe_->named.config, knows(name));
  return recipe_->custom ? function_json(name, knows(name))
                         : recipe_->named.to_json("keras.regularizers");
}

Regularizer Regularizer::saved_as(Json json) const {
  Recipe recipe = *recipe_;
  recipe.saved = std::move(json);
  Regularizer same;
  same.recipe_ = std::move(recipe);
  return same;
}

Regularizer Regularizer::from_json(const Json& json) {
  return json.is_null() ? Regularizer() : Regularizer(Named::from_json(json));
}

Value Regularizer::operator()(Value x) const {
  if (recipe_->custom) return recipe_->custom(x);
  if (recipe_->named.class_name == "OrthogonalRegularizer") return orthogonality(x, recipe_->named);
  const double l1 = recipe_->named.number("l1", 0), l2 = recipe_->named.number("l2", 0);
  Value penalty;
  if (l1 != 0) penalty = ops::sum(ops::abs(x)) * l1;
  if (l2 != 0) {
    const Value squares = ops::sum(ops::square(x)) * l2;
    penalty = penalty.defined() ? penalty + squares : squares;
  }
  return penalty.defined() ? penalty : ops::constant(x.block(), Tensor::scalar(x.dtype(), 0));
}

bool Regularizer::operator==(const Regularizer& other) const { return recipe_ == other.recipe_; }

Regularizer::Regularizer(const char* name) : Regularizer(Named{name}) {}

namespace regularizers {

Regularizer L1(double l1) { return Named{"L1", Json::Object{{"l1", l1}}}; }
Regularizer L2(double l2) { return Named{"L2", Json::Object{{"l2", l2}}}; }
Regularizer L1L2(double l1, double l2) {
  return Named{"L1L2", Json::Object{{"l1", l1}, {"l2", l2}}};
}
Regularizer OrthogonalRegularizer(double factor, const std::string& mode) {
  require(mode == "rows" || mode == "columns",
          "OrthogonalRegularizer: expected the mode rows or columns, got '", mode, "'");
  return Named{"OrthogonalRegularizer", Json::Object{{"factor", factor}, {"mode", mode}}};
}

}  // namespace regularizers

}  // namespace keratin

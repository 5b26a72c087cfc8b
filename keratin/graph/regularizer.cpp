#include "keratin/graph/regularizer.h"

#include "keratin/ops/constant.h"
#include "keratin/ops/matmul.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"

namespace keratin {
namespace {

double number(const Json& config, std::string_view key, double otherwise) {
  const Json* value = config.find(key);
  return value == nullptr || value->is_null() ? otherwise : value->as_double();
}

Value orthogonality(Value x, const Json& config) {
  require(x.rank() == 2, "OrthogonalRegularizer: expected a matrix, got shape ", x.shape());
  const bool rows = config.find("mode") == nullptr || config.at("mode").as_string() == "rows";
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
  return ops::sum(ops::abs(products * off)) * (0.5 * number(config, "factor", 0.01) / pairs);
}

}  // namespace

Regularizer::Regularizer(Named named) {
  const std::string name = snake_case(named.class_name);
  const auto with = [&](std::string class_name, Json defaults) {
    named_ = {std::move(class_name), std::move(defaults)};
    for (const auto& [key, value] : named.config.as_object()) named_.config[key] = value;
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

Regularizer Regularizer::from_json(const Json& json) {
  return json.is_null() ? Regularizer() : Regularizer(Named::from_json(json));
}

Value Regularizer::operator()(Value x) const {
  if (named_.class_name == "OrthogonalRegularizer") return orthogonality(x, named_.config);
  const double l1 = number(named_.config, "l1", 0), l2 = number(named_.config, "l2", 0);
  Value penalty;
  if (l1 != 0) penalty = ops::sum(ops::abs(x)) * l1;
  if (l2 != 0) {
    const Value squares = ops::sum(ops::square(x)) * l2;
    penalty = penalty.defined() ? penalty + squares : squares;
  }
  return penalty.defined() ? penalty : ops::constant(x.block(), Tensor::scalar(x.dtype(), 0));
}

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

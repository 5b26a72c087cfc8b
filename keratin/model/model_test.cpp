#include "keratin/model/model.h"
#include "keratin/graph/input.h"

#include <gtest/gtest.h>

#include "keratin/layers/layers.h"
#include "keratin/layers/registry.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::expect_user_error;

Tensor ramp(const Shape& shape) {
  Tensor t(DType::f32, shape);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, 0.1 * static_cast<double>(i) - 0.3);
  return t;
}

TEST(Model, RunsAChainOfDenseLayers) {
  const auto x = Input({3});
  const auto y = Dense({.units = 2})(Dense({.units = 4, .activation = "relu"})(x));
  const Model model({.inputs = x, .outputs = y});
  EXPECT_EQ(model.layers().size(), 3u);
  EXPECT_EQ(model.weights().size(), 4u);
  const Tensor out = model.predict(ramp({5, 3}));
  EXPECT_EQ(out.shape(), Shape({5, 2}));
}

TEST(Model, ReturnsEveryOutputOfALambda) {
  const auto x = Input({4});
  const auto [a, b] = Lambda([](Value v) -> Values { return {v + 1.0, v}; })(x).unpack<2>();
  const Model model({.inputs = x, .outputs = {b, a}});
  const auto out = model.predict(ramp({2, 4}));
  expect_close(out[0], ramp({2, 4}), 1e-6, "second");
}

TEST(Model, CanBeMadeFromItsConfig) {
  const auto x = Input({.shape = {3}, .name = "x"});
  const auto shared = Dense({.units = 3}, "shared");
  const Model inner({.inputs = x, .outputs = shared(shared(x)), .name = "inner"});
  const auto z = Input({.shape = {3}, .name = "z"});
  const Model outer({.inputs = z, .outputs = {inner(inner(z)), inner(z)}, .name = "outer"});
  const Json config = Json::parse(outer.to_json());
  const Model copy(layer_from_json(config));
  EXPECT_EQ(Json::parse(copy.to_json()).dump(1), config.dump(1));
  copy.layer()->set_weights(outer.get_weights());
  const auto a = outer.predict(ramp({2, 3})), b = copy.predict(ramp({2, 3}));
  for (size_t i = 0; i < 2; ++i) expect_close(b[i], a[i], 0, "output");
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/lambda_operations.h"

#include <gtest/gtest.h>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/base/warning.h"
#include "keratin/graph/operation.h"
#include "keratin/keratin.h"
#include "keratin/ops/fill.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/check_op.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::expect_user_error;

Tensor random(const Shape& shape) { return testing::random_tensor({DType::f32, shape}, -2, 2, 3); }

// The operations that a file has for the function, in order.
std::vector<std::string> operations_of(const LayerPtr& lambda) {
  const auto form = std::dynamic_pointer_cast<const FunctionalLayer>(detail::saved_form(*lambda));
  if (form == nullptr) return {"none"};
  std::vector<std::string> names;
  for (const LayerPtr& layer : form->operations())
    if (is_operation(*layer)) names.push_back(layer->name());
  return names;
}

using Names = std::vector<std::string>;

// The model that is read from a file computes the same, without binding a function.
void expect_opens_alike(const Model& model, const Tree<Tensor>& x) {
  const Model back = model_from_json(model.to_json());
  const auto ours = model.predict(x).flat(), theirs = back.predict(x).flat();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].shape(), theirs[i].shape());
    ASSERT_EQ(ours[i].dtype(), theirs[i].dtype());
    for (int64_t k = 0; k < ours[i].count(); ++k)
      ASSERT_NEAR(ours[i].at(k), theirs[i].at(k), 1e-6) << "output " << i << ", element " << k;
  }
}

TEST(LambdaOperations, MatchTheFunction) {
  const auto x = Input({3, 4});
  const Lambda lambda([](Value v) { return ops::tanh(v * 2.0 + 1.0) * v; }, "bend");
  const Model model({.inputs = x, .outputs = Dense({.units = 2})(lambda(x))});
  EXPECT_EQ(operations_of(lambda), (Names{"multiply", "add", "tanh", "multiply_1"}));
  EXPECT_EQ(serialize_layer(*lambda).at("class_name"), Json("Functional"));
  EXPECT_EQ(model.to_json(), model.to_json());  // with the same names every time
}

struct FunctionCase {
  std::string name;
  LambdaFunction function;
};

const Tensor row = Tensor::of<float>(DType::f32, {4}, {1, -2, 0.5F, 3});

// One function for every rule of the table.
std::vector<FunctionCase> function_cases() {
  const auto one = [](auto f) { return lambda_function(f); };
  return {
      {"arithmetic", one([](Value x) { return (x + 1.0) / (ops::abs(x) + 2.0) - 3.0 * x; })},
      {"row", one([](Value x) { return x * ops::constant(x.block(), row) + x; })},
      {"compare", one([](Value x) { return ops::where((x > 0.5) & !(x < -1.0), x, -x); })},
      {"choose", one([](Value x) {
         return ops::where(x > 0, ops::scalar_like(x, 1), ops::scalar_like(x, -1));
       })},
      {"whole", one([](Value x) {
         const Value n = ops::cast(ops::round(x), DType::i32);
         return Values{ops::bitwise_and(n, n), n, ops::cast(n, DType::f32)};
       })},
      {"reduce", one([](Value x) {
         return Values{ops::sum(x, {1}),        ops::mean(x, {1, 2}, true), ops::max(x, {2}),
                       ops::min(x, {-1}, true), ops::var(x, {1}),           ops::logsumexp(x, {2}),
                       ops::prod(x, {1}),       ops::any(x > 0, {1}),       ops::all(x > -9, {1}),
                       ops::argmax(x, 2),       ops::argmin(x, 1, true)};
       })},
      {"move", one([](Value x) {
         return Values{ops::reshape(x, {ops::keep_size, 12}),
                       ops::transpose(x, {0, 2, 1}),
                       ops::expand_dims(x, 1),
                       ops::squeeze(ops::slice_axis(x, 1, 0, 1), 1),
                       ops::flip(x, {1, 2}),
                       ops::roll(x, 1, 2)};
       })},
      {"slices", one([](Value x) {
         return Values{ops::slice_axis(x, 2, 1, 4, 2), ops::slice_axis(x, 1, -2, ops::to_end)};
       })},
      {"join", one([](Value x) {
         return Values{ops::concatenate({x, x * 2.0}, 2),
                       ops::pad(x, {.lo = {0, 1, 0}, .hi = {0, 0, 2}}),
                       ops::pad(x, {.lo = {0, 1, 0}, .hi = {0, 1, 0}, .value = 7}),
                       ops::pad_reflect(x, {0, 1, 0}, {0, 0, 1}),
                       ops::tile(x, {1, 2, 1}),
                       ops::repeat(x, 2, 1)};
       })},
      {"products", one([](Value x) {
         const Value square = ops::matmul(x, x, {.transpose_b = true});
         return Values{square, ops::matmul(square, x), ops::einsum("bij,bkj->bik", {x, x})};
       })},
      {"order", one([](Value x) {
         const ops::TopK best = ops::top_k(x, 2);
         return Values{
             ops::sort(x, {.axis = 2}),   ops::argsort(x, {.axis = 1}), best.values, best.indices,
             ops::cumsum(x, {.axis = 1}), ops::cumprod(x, {.axis = 2})};
       })},
      {"take", one([](Value x) {
         const Value at = ops::constant(x.block(), Tensor::of<int32_t>(DType::i32, {2}, {2, 0}));
         return Values{ops::take(x, at, 1), ops::fill_like(x, 3, DType::f32)};
       })},
      {"activations", one([](Value x) {
         return Values{ops::softmax(x, -1), ops::log_softmax(x, 1), ops::gelu(x, true),
                       ops::silu(x),        ops::relu(x),           ops::softplus(x),
                       ops::sigmoid(x)};
       })},
      {"same", one([](Value x) {
         return Values{x, x + 1.0};
       })},
  };
}

TEST(LambdaOperations, ComputeTheSameValues) {
  for (const FunctionCase& test : function_cases()) {
    SCOPED_TRACE(test.name);
    const auto x = Input({3, 4});
    const Model model({.inputs = x, .outputs = Lambda(test.function, test.name.c_str())(x)});
    expect_opens_alike(model, random({2, 3, 4}));
  }
}

TEST(LambdaOperations, KeepStructuresAndSharing) {
  const auto a = Input({4}), b = Input({4}), c = Input({6});
  const Lambda sum([](const Values& v) { return v[0] + v[1] * 0.5; }, "sum");
  const Lambda twice([](Value v) { return v * 2.0; }, "twice");
  const Model model({.inputs = {a, b, c}, .outputs = {sum({a, b}), twice(a), twice(c)}});
  expect_opens_alike(model, Tree<Tensor>::List{random({2, 4}), random({2, 4}), random({2, 6})});
}

TEST(LambdaOperations, AreFoundInsideOtherLayers) {
  const auto lambda = [] { return Lambda([](Value v) { return v * v - 1.0; }, "bend"); };
  const auto x = Input({3, 4});
  const SymbolicTensor each = TimeDistributed({.layer = lambda()})(x);
  Sequential inner({Dense({.units = 4}), lambda()});
  const Model model({.inputs = x, .outputs = inner(each)});
  set_random_seed(1);
  Model back = model_from_json(model.to_json());
  back.set_weights(model.get_weights());
  const Tensor data = random({2, 3, 4});
  const Tensor ours = model.predict(data).leaf(), theirs = back.predict(data).leaf();
  for (int64_t i = 0; i < ours.count(); ++i) ASSERT_NEAR(ours.at(i), theirs.at(i), 1e-6);
}

TEST(LambdaOperations, AreInTheComputeDtype) {
  const auto x = Input({4});
  const Lambda half([](Value v) { return v * 0.3; }, {.name = "half", .dtype = "mixed_float16"});
  expect_opens_alike(Model({.inputs = x, .outputs = half(x)}), random({2, 4}));
}

// Files name no devices, whatever the devices of the layer and of saving.
TEST(LambdaOperations, HaveNoDevices) {
  set_logical_devices("gpu", 2);
  const auto x = Input({3, 4});
  const auto made = [&](std::string_view device) {
    const auto scope = device_scope(device);
    return Lambda([](Value v) { return ops::tanh(v * 2.0) + v; }, "bend");
  };
  const Lambda here = made("cpu:0"), there = made("gpu:1");
  const Model model({.inputs = x, .outputs = there(x)}), plain({.inputs = x, .outputs = here(x)});
  EXPECT_EQ(operations_of(there), (Names{"multiply", "tanh", "add"}));
  EXPECT_EQ(serialize_layer(*there), serialize_layer(*here));
  expect_opens_alike(model, random({2, 3, 4}));
  const auto scope = device_scope("gpu:0");
  expect_opens_alike(model, random({2, 3, 4}));
  set_logical_devices("gpu", cuda::device_count());
}

// A function that no operations compute is saved by name, with a warning that says why.
TEST(LambdaOperations, NameTheUnsupportedOp) {
  std::string warning;
  const auto before = set_warning_handler([&](const std::string& w) { warning += w; });
  const auto expect_opaque = [&](const LambdaFunction& function, const std::string& why,
                                 const LambdaMask& mask = {}) {
    SCOPED_TRACE(why);
    const auto tokens = Input({.shape = {5}, .dtype = DType::i32});
    const SymbolicTensor x =
        Embedding({.input_dim = 7, .output_dim = 4, .mask_zero = true})(tokens);
    const Lambda lambda(function, LambdaOptions{.mask = mask, .name = "mine"});
    const Model model({.inputs = tokens, .outputs = lambda(x)});
    warning.clear();
    EXPECT_EQ(serialize_layer(*lambda).at("class_name"), Json("Lambda"));
    EXPECT_NE(warning.find(why), std::string::npos) << warning;
    EXPECT_NE(warning.find("Lambda layer 'mine' is saved by its name alone"), std::string::npos);
    EXPECT_EQ(operations_of(lambda), Names{"none"});
    expect_user_error([&] { model_from_json(model.to_json()); }, {"Lambda layer 'mine'"});
  };
  const auto plain = lambda_function([](Value x) { return x * 2.0; });
  expect_opaque(plain, "it gives a mask", [](const Call& c) { return Masks{c.mask()}; });
  expect_opaque(lambda_function([](const Call& c) {
                  return c.input() * ops::expand_dims(ops::cast(*c.mask(), DType::f32), -1);
                }),
                "it looks at the mask of its input");
  expect_opaque(
      lambda_function([](const Call& c) { return c.training() ? c.input() * 2.0 : c.input(); }),
      "something else in training");
  expect_opaque(lambda_function([](Value x) { return ops::avg_pool(x, {.window = {2}}); }),
                "'avg_pool'");
  expect_opaque(lambda_function([](Value x) { return x * ops::sqrt(ops::scalar_like(x, 2)); }),
                "'sqrt' of constants alone");
  expect_opaque(
      lambda_function([](Value x) { return ops::cumsum(x, {.axis = 1, .reverse = true}); }),
      "in reverse");
  set_warning_handler(before);
}

TEST(LambdaOperations, DropAMaskAsTheLambdaDoes) {
  const auto tokens = Input({.shape = {5}, .dtype = DType::i32});
  const SymbolicTensor x = Embedding({.input_dim = 7, .output_dim = 4, .mask_zero = true})(tokens);
  const Lambda twice([](Value v) { return v * 2.0; }, "twice");
  const Model model({.inputs = tokens, .outputs = GlobalAveragePooling1D()(twice(x))});
  Model back = model_from_json(model.to_json());
  back.set_weights(model.get_weights());
  const Tensor data = Tensor::of<int32_t>(DType::i32, {1, 5}, {1, 2, 0, 0, 0});
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(back.predict(data).leaf().at(i), model.predict(data).leaf().at(i));
}

}  // namespace
}  // namespace keratin

#include <cmath>
#include <optional>

#include "gpu_testing.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/base/text.h"

// Tests the error of matmuls and convolutions in TF32, which has 11 significant bits and is the
// default.
namespace keratin::testing {
namespace {

const EngineOptions exact{.backend = "cuda", .tf32 = false}, fast{.backend = "cuda", .tf32 = true},
    reference{.backend = "reference"};

class Tf32 : public OnGpu {
 protected:
  // KERATIN_TF32=0 would disable TF32 in all programs.
  void SetUp() override {
    OnGpu::SetUp();
    if (const char* set = std::getenv(variable)) before_ = set;
    unsetenv(variable);
  }
  void TearDown() override {
    if (before_) setenv(variable, before_->c_str(), 1);
  }

  static bool gpu_has_it() {
    const std::string& chip = cuda::gpu({Device::Kind::gpu, 0}).chip();  // "sm_80"
    return std::stoi(chip.substr(3)) >= 80;
  }

 private:
  static constexpr const char* variable = "KERATIN_TF32";
  std::optional<std::string> before_;
};

// Both factors are rounded with a relative error of up to 2⁻¹⁰.
constexpr double tolerance = 2e-3;

// Results are sums of products. Run on absolute values of the inputs, the program gives the sums of
// absolute values, which bound the error.
void expect_near(const Inputs& inputs, const Build& build, const std::string& what,
                 const EngineOptions& with = reference) {
  const auto data = data_for(inputs);
  std::vector<Tensor> sizes;
  for (const Tensor& tensor : data) {
    sizes.push_back(tensor.clone());
    for (int64_t i = 0; i < tensor.count(); ++i) sizes.back().set(i, std::abs(tensor.at(i)));
  }
  const Executable right = program(inputs, build, with);
  const auto expected = right(data), bound = right(sizes);
  const auto actual = run_often(program(inputs, build, fast), data, what);
  for (size_t r = 0; r < actual.size(); ++r)
    for (int64_t i = 0; i < actual[r].count(); ++i)
      ASSERT_NEAR(actual[r].at(i), expected[r].at(i), tolerance * bound[r].at(i))
          << what << ", element " << i << " of result " << r;
}

TEST_F(Tf32, Matmuls) {
  expect_near({numbers({130, 520}), numbers({520, 96})},
              with_gradients([](const Values& v) { return Values{ops::matmul(v[0], v[1])}; }),
              "matmul and gradients");
  expect_near(
      {numbers({130, 520}), numbers({520, 96}), numbers({96})},
      [](const Values& v) { return Values{ops::relu(ops::matmul(v[0], v[1]) + v[2])}; },
      "matmul, bias, relu");
}

TEST_F(Tf32, Convolutions) {
  for (const int64_t window : {1, 3})
    expect_near({numbers({2, 14, 14, 32}), numbers({window, window, 32, 48})},
                with_gradients([](const Values& v) {
                  return Values{ops::conv(v[0], v[1], {.padding = "same"})};
                }),
                text("convolution and gradients, window ", window));
  expect_near(
      {numbers({2, 14, 14, 32}), numbers({3, 3, 32, 48}), numbers({48})},
      [](const Values& v) {
        return Values{ops::relu(ops::conv(v[0], v[1], {.padding = "same"}) + v[2])};
      },
      "convolution, bias, relu");
}

TEST_F(Tf32, Attention) {
  const Input x{{DType::f32, {2, 70, 2, 32}}, -1, 1};
  const Inputs inputs = {x, x, x};
  const Build build = with_gradients([](const Values& v) {
    return Values{ops::scaled_dot_product_attention(v[0], v[1], v[2], {.causal = true})};
  });
  const auto data = data_for(inputs);
  const auto expected = program(inputs, build, reference)(data);
  const auto actual = run_often(program(inputs, build, fast), data, "attention");
  for (size_t i = 0; i < expected.size(); ++i)
    expect_close(actual[i], expected[i], 1e-2, text("attention, result ", i));
  if (gpu_has_it()) {
    EXPECT_FALSE(actual == program(inputs, build, exact)(data))
        << "expected TF32, got full precision";
  }
}

TEST_F(Tf32, CanBeDisabled) {
  const Inputs inputs = {numbers({1024, 1024}), numbers({1024, 1024})};
  const Build build = [](const Values& v) { return Values{ops::matmul(v[0], v[1])}; };
  expect_near(inputs, build, "a large matmul", exact);
  if (!gpu_has_it()) GTEST_SKIP() << "the GPU has no TF32";
  const auto data = data_for(inputs);
  const auto with = program(inputs, build, fast)(data),
             without = program(inputs, build, exact)(data);
  EXPECT_FALSE(with == without) << "expected TF32, got full precision";
  setenv("KERATIN_TF32", "0", 1);
  EXPECT_TRUE(program(inputs, build, fast)(data) == without)
      << "expected KERATIN_TF32=0 to disable TF32";
  unsetenv("KERATIN_TF32");
}

}  // namespace
}  // namespace keratin::testing

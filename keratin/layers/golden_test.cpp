#include <gtest/gtest.h>

#include <set>

#include "keratin/testing/check_layer.h"
#include "keratin/testing/golden.h"

// The test <Class>.BehavesAsInKeras of every golden file of a layer: a new file needs no line here.
namespace keratin {
namespace {

// Classes whose own test files call check_layer, with options.
const std::set<std::string> checked_with_options = {"Activation",
                                                    "AdditiveAttention",
                                                    "Attention",
                                                    "Average",
                                                    "BatchNormalization",
                                                    "Bidirectional",
                                                    "Conv1D",
                                                    "Conv2D",
                                                    "Conv3D",
                                                    "ConvLSTM1D",
                                                    "ConvLSTM2D",
                                                    "ConvLSTM3D",
                                                    "Dense",
                                                    "EinsumDense",
                                                    "Embedding",
                                                    "GRU",
                                                    "GlobalAveragePooling1D",
                                                    "LSTM",
                                                    "Lambda",
                                                    "Masking",
                                                    "MelSpectrogram",
                                                    "Pipeline",
                                                    "RNN",
                                                    "RandomColorJitter",
                                                    "RandomHue",
                                                    "ReversibleEmbedding",
                                                    "SimpleRNN",
                                                    "SpectralNormalization"};

class GoldenTest : public ::testing::Test {
 public:
  explicit GoldenTest(std::string class_name) : class_name_(std::move(class_name)) {}
  void TestBody() override { testing::check_layer(class_name_); }

 private:
  std::string class_name_;
};

const bool registered = [] {
  for (const std::string& name : testing::golden_classes("layers"))
    if (!checked_with_options.contains(name))
      ::testing::RegisterTest(name.c_str(), "BehavesAsInKeras", nullptr, nullptr, __FILE__,
                              __LINE__, [=]() -> ::testing::Test* { return new GoldenTest(name); });
  return true;
}();

bool has_test(const std::string& suite_name, std::string_view name) {
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    if (suite.name() != suite_name) continue;
    for (int j = 0; j < suite.total_test_count(); ++j)
      if (suite.GetTestInfo(j)->name() == name) return true;
  }
  return false;
}

TEST(GoldenLayers, AreAllChecked) {
  const auto classes = testing::golden_classes("layers");
  EXPECT_TRUE(registered);
  EXPECT_GE(classes.size(), 90U);
  for (const std::string& name : classes) EXPECT_TRUE(has_test(name, "BehavesAsInKeras")) << name;
}

}  // namespace
}  // namespace keratin

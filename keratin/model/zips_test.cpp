// Tests with .keras files of Keras 2.12 and later, written by each version: tests/golden/zips.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/model/saving.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;

fs::path zips() { return testing::golden_path("zips"); }

std::vector<std::string> all_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(zips()))
    if (entry.path().extension() == ".keras") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Json record_of(const std::string& name) { return testing::read_golden("zips/" + name + ".json"); }

double tolerance_of(const std::string& name) { return name.starts_with("mixed") ? 2e-3 : 1e-5; }

// Compares the outputs of the first `count` samples, or of all.
void expect_told(const Model& model, const std::string& name, int64_t samples = -1) {
  const Json record = record_of(name);
  const Tensor ours = model.predict(testing::golden_tensor(record.at("inputs"))).leaf();
  const Tensor theirs = testing::golden_tensor(record.at("outputs"));
  ASSERT_EQ(ours.shape(), theirs.shape());
  const int64_t count = samples < 0 ? ours.count() : samples * ours.shape()[1];
  for (int64_t k = 0; k < count; ++k)
    ASSERT_NEAR(ours.at(k), theirs.at(k), tolerance_of(name) * (1 + std::abs(theirs.at(k)))) << k;
}

// Keras 3 computes attention differently if all is masked, as in every sample but the first.
int64_t samples_as_today(const std::string& name) {
  return name.starts_with("sequences_2") || name.starts_with("windows_2") ? 1 : -1;
}

fs::path zip_scratch(const std::string& name) {
  return fs::path(::testing::TempDir()) / text("keratin_zips_", getpid(), '_', name);
}

class SavedZip : public ::testing::TestWithParam<std::string> {};
// Files whose training was continued in the version that wrote them.
class TrainedZip : public SavedZip {};

std::vector<std::string> trained_cases() {
  std::vector<std::string> names = all_cases();
  std::erase_if(names, [](const std::string& name) { return !record_of(name).contains("losses"); });
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(OfEveryVersion, SavedZip, ::testing::ValuesIn(all_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(OfEveryVersion, TrainedZip, ::testing::ValuesIn(trained_cases()),
                         test_name);

TEST_P(SavedZip, GivesTheOutputsOfItsVersion) {
  std::vector<std::string> warnings;
  const WarningHandler before = set_warning_handler([&](const std::string& message) {
    if (message.find("does not support masking") == std::string::npos) warnings.push_back(message);
  });
  const Model model = load_model(zips() / (GetParam() + ".keras"));
  set_warning_handler(before);
  EXPECT_EQ(warnings, std::vector<std::string>{});  // everything in the file is read
  expect_told(model, GetParam());
}

TEST_P(SavedZip, RoundTripsInTodaysFormats) {
  for (const std::string suffix : {".keras", ".h5"}) {
    const fs::path back = zip_scratch(GetParam() + suffix);
    load_model(zips() / (GetParam() + ".keras")).save(back);
    expect_told(load_model(back), GetParam(), samples_as_today(GetParam()));
    fs::remove(back);
  }
}

TEST_P(SavedZip, LoadsItsWeightsIntoAModel) {
  const fs::path path = zips() / (GetParam() + ".keras");
  Model model = model_from_json(load_model(path).to_json());
  model.load_weights(path);
  expect_told(model, GetParam(), samples_as_today(GetParam()));
}

// The expected losses are those of the next epochs in the version that wrote the file.
TEST_P(TrainedZip, ContinuesTraining) {
  const Json record = record_of(GetParam());
  Model model = load_model(zips() / (GetParam() + ".keras"));
  const auto& losses = record.at("losses").as_array();
  const auto logs = model.fit(testing::golden_tensor(record.at("inputs")),
                              testing::golden_tensor(record.at("targets")),
                              {.batch_size = 6, .epochs = 3, .verbose = 0, .shuffle = false});
  ASSERT_EQ(logs["loss"].size(), losses.size());
  for (size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(logs["loss"][i], losses[i].as_double(),
                tolerance_of(GetParam()) * (1 + losses[i].as_double()))
        << "epoch " << i;
}

// The files follow different rules for paths; none of them fits another model by accident.
TEST(SavedZips, RefuseWeightsOfAnotherModel) {
  for (const std::string version : {"2.12.0", "2.13.1", "2.14.0", "2.15.0", "3.0.5"}) {
    SCOPED_TRACE(version);
    Model model = load_model(zips() / text("nested_", version, ".keras"));
    testing::expect_user_error(
        [&] { model.load_weights(zips() / text("dense_", version, ".keras")); },
        {"objects could not be loaded", "expected"});
    expect_told(model, "nested_" + version);
  }
}

}  // namespace
}  // namespace keratin

#include "keratin/model/inspect.h"
#include "keratin/graph/input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "keratin/base/text.h"
#include "keratin/layers/layers.h"
#include "keratin/model/program.h"
#include "keratin/model/saving.h"
#include "keratin/testing/expect_error.h"
#include "keratin/train/options.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

// A small model, compiled and trained for one step, and a folder that is deleted after the test.
class Inspecting : public ::testing::Test {
 protected:
  Inspecting() : folder_(fs::path(::testing::TempDir()) / text("keratin_inspect_", getpid())) {
    fs::create_directories(folder_);
    const auto x = Input({.shape = {3}, .name = "x"});
    model_.emplace(ModelOptions{.inputs = x, .outputs = Dense({.units = 2}, "out")(x)});
    model_->compile({.optimizer = "sgd", .loss = "mse"});
    model_->train_on_batch(Tensor::zeros(DType::f32, {1, 3}), Tensor::zeros(DType::f32, {1, 2}));
  }
  ~Inspecting() override { fs::remove_all(folder_); }
  fs::path at(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
  std::optional<Model> model_;
};

const StoredTensor& find(const FileContents& contents, const std::string& name) {
  for (const StoredTensor& tensor : contents.tensors)
    if (tensor.name == name) return tensor;
  throw InternalError("no array " + name);
}

TEST_F(Inspecting, ShowsWholeModels) {
  for (const char* name : {"m.keras", "m/", "m.h5"}) {
    model_->save(at(name));
    const FileContents contents = inspect_file(at(name));
    EXPECT_EQ(contents.keras_version, "3.15.1") << name;
    EXPECT_EQ(contents.config.at("class_name").as_string(), "Functional") << name;
    EXPECT_TRUE(contents.training.is_object()) << name;
    EXPECT_TRUE(contents.others.empty()) << name;
    size_t of_optimizer = 0;
    for (const StoredTensor& tensor : contents.tensors) of_optimizer += tensor.of_optimizer ? 1 : 0;
    EXPECT_EQ(contents.tensors.size() - of_optimizer, 2U) << name;
    EXPECT_EQ(of_optimizer, 2U) << name;
  }
}

TEST_F(Inspecting, ShowsWeights) {
  for (const char* name : {"w.weights.h5", "w.weights.json", "w.npz", "w.safetensors"}) {
    model_->save_weights(at(name));
    const FileContents contents = inspect_file(at(name));
    EXPECT_TRUE(contents.config.is_null()) << name;
    const StoredTensor& kernel = find(contents, "layers/dense/vars/0");
    EXPECT_EQ(kernel.dims, (Dims{3, 2})) << name;
    EXPECT_EQ(kernel.bytes(), 24U) << name;
    EXPECT_EQ(kernel.read(), model_->get_weights()[0]) << name;
    EXPECT_TRUE(find(contents, "optimizer/vars/0").of_optimizer) << name;
  }
}

TEST_F(Inspecting, DoesNotFollowShardsInOtherFolders) {
  model_->save_weights(at("w.weights.h5"));
  fs::create_directory(at("inner"));
  std::ofstream(at("inner/w.weights.json"))
      << R"({"weight_map": {"/layers/dense/vars": ["../w.weights.h5", "gone.weights.h5"]}})";
  const FileContents contents = inspect_file(at("inner/w.weights.json"));
  EXPECT_TRUE(contents.tensors.empty());
  EXPECT_EQ(contents.others.size(), 2U);
}

TEST_F(Inspecting, RefusesUnknownFiles) {
  std::ofstream(at("noise")) << "hello";
  std::ofstream(at("other.json")) << R"({"a": 1})";
  expect_user_error([&] { inspect_file(at("none")); }, "no such file");
  expect_user_error([&] { inspect_file(at("noise")); }, "not a Keras model");
  expect_user_error([&] { inspect_file(at("other.json")); }, "JSON without a class_name");
  expect_user_error([&] { inspect_file(folder_); }, "there is no 'config.json'");
}

TEST_F(Inspecting, ReplacesOnlyFoldersOfModels) {
  model_->save(at("m/"));
  model_->save(at("m/"));
  EXPECT_EQ(load_model(at("m")).get_weights()[0], model_->get_weights()[0]);
  fs::create_directory(at("mine"));
  expect_user_error([&] { model_->save(at("mine/")); }, "is not the folder of a model");
  size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++left;
  EXPECT_EQ(left, 2U);  // no temporary files are left
}

TEST_F(Inspecting, ProfilesTheStepsOfAPlan) {
  const Tensor x = Tensor::zeros(DType::f32, {4, 3});
  const auto steps = model_->profile(x, 2);
  EXPECT_EQ(steps.size(), model_->program(x)->executable().steps());
  double flops = 0;
  for (const auto& step : steps) flops += step.flops;
  EXPECT_GE(flops, 2 * 4 * 3 * 2);
  expect_user_error([&] { model_->profile(x, 0); }, "must be positive");
}

}  // namespace
}  // namespace keratin

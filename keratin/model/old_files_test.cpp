// Tests with files that old versions of Keras saved: tests/golden/old.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "keratin/base/text.h"
#include "keratin/files/hdf5_writer.h"
#include "keratin/graph/input.h"
#include "keratin/io/keras_file.h"
#include "keratin/io/load_options.h"
#include "keratin/layers/layers.h"
#include "keratin/model/inspect.h"
#include "keratin/model/saving.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/warnings.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

fs::path old_file(const std::string& name) { return testing::golden_path("old/" + name); }

class OldFiles : public ::testing::Test {
 protected:
  OldFiles() : folder_(fs::path(::testing::TempDir()) / text("keratin_old_", getpid())) {
    fs::create_directories(folder_);
  }
  ~OldFiles() override { fs::remove_all(folder_); }
  fs::path at(const std::string& name) const { return folder_ / name; }

  fs::path folder_;
};

std::vector<Json> old_entries() {
  const Json all = testing::read_golden("old/old.json");
  return all.as_array();
}

Json old_entry(const std::string& file) {
  for (const Json& entry : old_entries())
    if (entry.at("file") == Json(file)) return entry;
  fail("tests/golden/old has no file ", file);
}

Model open_old(const Json& entry) {
  const std::string& file = entry.at("file").as_string();
  Model model = load_model(old_file(file));
  if (const Json* weights = entry.find("weights"))
    model.load_weights(old_file(file.substr(0, file.rfind('.')) + weights->as_string()));
  return model;
}

void expect_old_outputs(const Model& model, const Json& entry) {
  const auto ours = model.predict(testing::golden_structure(entry.at("inputs"))).flat();
  const auto theirs = testing::golden_structure(entry.at("outputs")).flat();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].shape(), theirs[i].shape()) << "output " << i;
    for (int64_t k = 0; k < ours[i].count(); ++k)
      ASSERT_NEAR(ours[i].at(k), theirs[i].at(k), 1e-5 * (1 + std::abs(theirs[i].at(k))))
          << "output " << i << ", element " << k;
  }
}

TEST_F(OldFiles, GiveTheOutputsOfTheirVersion) {
  for (const Json& entry : old_entries()) {
    SCOPED_TRACE(entry.at("file").as_string());
    const Model model = open_old(entry);
    EXPECT_EQ(model.dialect(), Dialect::keras2);
    expect_old_outputs(model, entry);
  }
}

TEST_F(OldFiles, ContinueTraining) {
  size_t trained = 0;
  for (const Json& entry : old_entries()) {
    const Json* losses = entry.find("losses");
    if (losses == nullptr) continue;
    SCOPED_TRACE(entry.at("file").as_string());
    ++trained;
    Model model = open_old(entry);
    const auto logs = model.fit(testing::golden_structure(entry.at("inputs")),
                                testing::golden_structure(entry.at("targets")),
                                {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false});
    ASSERT_EQ(logs["loss"].size(), losses->size());
    for (size_t i = 0; i < losses->size(); ++i)
      EXPECT_NEAR(logs["loss"][i], (*losses)[i].as_double(), 2e-5) << "epoch " << i;
  }
  EXPECT_GE(trained, 8u);
}

TEST_F(OldFiles, LoadWithoutWarningsAndRoundTrip) {
  for (const Json& entry : old_entries()) {
    SCOPED_TRACE(entry.at("file").as_string());
    const testing::Warnings warnings;
    const Model model = open_old(entry);
    for (const std::string name : {"back.keras", "back.h5"}) {
      SCOPED_TRACE(name);
      model.save(at(name));
      expect_old_outputs(load_model(at(name)), entry);
    }
    const bool adds = entry.at("file") == Json("tf2_0_4_added_losses.h5");
    for (const std::string& message : warnings.messages) {  // one file has the metric as a mean
      const bool of_losses = message.find(
                                 "AddMetric 'add_metric': the metric \"mean_out\" is not "
                                 "reported") != message.npos ||
                             message.find("is saved as an activity penalty") != message.npos;
      EXPECT_TRUE(adds ? of_losses : message.find("the metric cosine_proximity") != message.npos)
          << message;
    }
  }
}

TEST_F(OldFiles, CanBeInspected) {
  for (const Json& entry : old_entries()) {
    SCOPED_TRACE(entry.at("file").as_string());
    const FileContents contents = inspect_file(old_file(entry.at("file").as_string()));
    EXPECT_TRUE(contents.config.is_object());
    const Dialect dialect = io::dialect_of_version(contents.keras_version);
    EXPECT_NO_THROW(model_from_json(contents.config.dump(), {.dialect = dialect}));
  }
}

TEST_F(OldFiles, AreRecognisedByTheirContents) {
  const Json entry = old_entry("keras2_2_4_nested.h5");
  const Model model = open_old(entry);
  model.save(at("model.keras"));
  model.save_weights(at("w.weights.h5"));
  model.save_weights(at("w.npz"));
  model.save_weights(at("w.safetensors"));
  std::ofstream(at("m.json")) << model.to_json();
  for (const std::string name : {"none", "a.model", "a.keras", "a.weights.h5"}) {
    SCOPED_TRACE(name);
    fs::copy_file(old_file("keras2_2_4_nested.h5"), at(name));
    expect_old_outputs(load_model(at(name)), entry);
    Model other = model_from_json(model.to_json(), {.dialect = Dialect::keras2});
    other.load_weights(at(name));
    expect_old_outputs(other, entry);
    EXPECT_EQ(inspect_file(at(name)).format, "legacy HDF5 model");
  }
  fs::rename(at("model.keras"), at("zip.h5"));
  expect_old_outputs(load_model(at("zip.h5")), entry);
  fs::rename(at("m.json"), at("config"));
  Model other = load_model(at("config"));
  for (const std::string name : {"w.weights.h5", "w.npz", "w.safetensors"}) {
    SCOPED_TRACE(name);
    const fs::path unnamed = at(name + "_");
    fs::rename(at(name), unnamed);
    Model next = load_model(at("config"));
    next.load_weights(unnamed);
    for (size_t i = 0; i < next.get_weights().size(); ++i)
      EXPECT_EQ(next.get_weights()[i], model.get_weights()[i]);
    if (name != "w.weights.h5")
      expect_user_error([&] { load_model(unnamed); }, "which has weights alone");
  }
  other.load_weights(at("zip.h5"));
  expect_user_error([&] { other.load_weights(at("config")); }, "no weights");
}

TEST_F(OldFiles, GiveEmbeddingsOfIntegersFloatWeights) {
  const Model model = open_old(old_entry("keras2_0_2_embedding.h5"));
  EXPECT_EQ(model.get_weights()[0].dtype(), DType::f32);
  EXPECT_EQ(model.inputs()[0].dtype(), DType::i32);
}

// This holds for every format.
TEST_F(OldFiles, RefuseFloatsForIntegerVariables) {
  const auto make = [](const char* dtype) {
    const auto in = Input({.shape = {2}, .dtype = DType::i32});
    const LayerOptions options{.name = "e", .dtype = dtype};
    const Initializer zeros = "zeros";
    return Model(
        {.inputs = in,
         .outputs = Embedding({.input_dim = 3, .output_dim = 2, .embeddings_initializer = zeros},
                              options)(in)});
  };
  const Model floats = make("float32");
  floats.save(at("whole.keras"));
  floats.save(at("whole.h5"));
  for (const char* name : {"a.weights.h5", "a.weights.json", "a.npz", "a.safetensors"})
    floats.save_weights(at(name));
  for (const char* name :
       {"whole.keras", "whole.h5", "a.weights.h5", "a.weights.json", "a.npz", "a.safetensors"}) {
    SCOPED_TRACE(name);
    Model integers = make("int32");
    expect_user_error([&] { integers.load_weights(at(name)); },
                      {name, "'e/embeddings' expected int32, got float32"});
  }
}

TEST_F(OldFiles, MayEncodeTheConfigTwice) {
  const std::string config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "Dense", "config": {"name": "d", "units": 2, "use_bias": false,
       "batch_input_shape": [null, 3]}}]}})";
  const Tensor kernel = Tensor::full(DType::f32, {3, 2}, 0.25);
  hdf5::Writer file;
  file.root().attribute("keras_version", "2.2.4");
  file.root().attribute("model_config", Json(Json(config).dump()).dump());
  hdf5::NewGroup& weights = file.root().group("model_weights");
  weights.strings("layer_names", {"d"});
  weights.attribute("keras_version", "2.2.4");
  weights.group("d").strings("weight_names", {"kernel"});
  weights.group("d").dataset("kernel", kernel);
  file.save(at("twice.h5"));
  EXPECT_EQ(load_model(at("twice.h5")).get_weights()[0], kernel);
  EXPECT_EQ(inspect_file(at("twice.h5")).config.at("class_name"), Json("Sequential"));
}

// Losses from `add_loss` make AddLoss the output.
TEST_F(OldFiles, MayNameTheOutputThatGetsALoss) {
  const Json entry = old_entry("tf2_0_4_added_losses.h5");
  std::ifstream in(old_file("tf2_0_4_added_losses.h5"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string_view before = R"("loss": "mse", "metrics": [], "weighted_metrics": null,)";
  std::string after = R"("loss":{"out":"mse"},"weighted_metrics":null,)";
  ASSERT_LE(after.size(), before.size());
  after.resize(before.size(), ' ');
  const size_t position = bytes.find(before);
  ASSERT_NE(position, bytes.npos);
  std::ofstream(at("named.h5"), std::ios::binary) << bytes.replace(position, before.size(), after);
  Model model = load_model(at("named.h5"));
  const auto logs = model.fit(testing::golden_structure(entry.at("inputs")),
                              testing::golden_structure(entry.at("targets")),
                              {.batch_size = 4, .epochs = 1, .verbose = 0, .shuffle = false});
  EXPECT_NEAR(logs["loss"][0], entry.at("losses")[0].as_double(), 2e-5);
}

TEST_F(OldFiles, MatchNamesWithSlashesByName) {
  const Model whole = open_old(old_entry("tf2_0_4_slashes.model"));
  const auto in = Input({4});
  Model first({.inputs = in, .outputs = Dense({.units = 3}, "block_first")(in)});
  first.load_weights(old_file("tf2_0_4_slashes.model"), {.by_name = true});
  EXPECT_EQ(first.get_weights()[0], whole.get_weights()[0]);
}

// Keras 2.0 wrote NumPy's numbers as {"type": "ndarray", "value": 0.2}.
TEST_F(OldFiles, MayHaveNumPyNumbersInConfigs) {
  const Model model = model_from_json(R"({"class_name": "Sequential", "keras_version": "2.0.5",
      "config": [{"class_name": "ThresholdedReLU", "config": {"name": "t",
      "batch_input_shape": [null, 3], "theta": {"type": "ndarray", "value": 0.5}}}]})");
  const Tensor x = Tensor::full(DType::f32, {1, 3}, 0.5);
  EXPECT_EQ(model.predict(x).leaf(), Tensor::zeros(DType::f32, {1, 3}));
}

TEST_F(OldFiles, WarnOfTheBilinearSamplingOfTensorFlow1) {
  for (const std::string version : {"2.2.4", "2.2.4-tf", "2.5.0"}) {
    SCOPED_TRACE(version);
    const testing::Warnings warnings;
    model_from_json(R"({"class_name": "Sequential", "keras_version": ")" + version + R"(",
        "config": [{"class_name": "UpSampling2D", "config": {"name": "up", "size": [2, 2],
        "interpolation": "bilinear", "batch_input_shape": [null, 3, 3, 1]}}]})");
    EXPECT_EQ(warnings.messages.size(), version == "2.2.4" ? 1u : 0u);
  }
}

TEST_F(OldFiles, RefuseLayersThatNoLongerExist) {
  const auto with = [](const std::string& kind, const std::string& config) {
    return R"({"class_name": "Sequential", "keras_version": "1.2.2", "config": [{"class_name": ")" +
           kind + R"(", "config": {"name": "old", "batch_input_shape": [null, 4], )" + config +
           "}}]}";
  };
  expect_user_error([&] { model_from_json(with("MaxoutDense", R"("output_dim": 3)")); },
                    {"MaxoutDense", "'old'"});
  expect_user_error([&] { model_from_json(with("Highway", R"("bias": true)")); }, "Highway");
  for (const char* mode : {"1", "2"})
    expect_user_error(
        [&] { model_from_json(with("BatchNormalization", text(R"("mode": )", mode))); },
        {"BatchNormalization", "mode 0", mode});
  expect_user_error(
      [&] {
        model_from_json(with("Dense", R"("output_dim": 2,
            "W_regularizer": {"name": "EigenvalueRegularizer", "k": 0.1})"));
      },
      "EigenvalueRegularizer");
}

}  // namespace
}  // namespace keratin

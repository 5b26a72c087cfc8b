// Tests with files that real Keras saved: tests/golden/saved.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "keratin/base/text.h"
#include "keratin/files/zip.h"
#include "keratin/io/keras_file.h"
#include "keratin/layers/layers.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

fs::path saved(const std::string& file) { return testing::golden_path("saved/" + file); }

fs::path scratch(const std::string& name) {
  return fs::path(::testing::TempDir()) / text("keratin_saved_", getpid(), '_', name);
}

Json entry_of(const std::string& file) {
  for (const Json& entry : testing::read_golden("saved/saved.json").as_array())
    if (entry.at("file") == Json(file)) return entry;
  fail("no golden file is named ", file);
}

void expect_outputs(const Model& model, const Json& entry) {
  const auto ours = model.predict(testing::golden_structure(entry.at("inputs"))).flat();
  const auto theirs = testing::golden_structure(entry.at("outputs")).flat();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(ours[i].shape(), theirs[i].shape());
    for (int64_t k = 0; k < ours[i].count(); ++k)
      ASSERT_NEAR(ours[i].at(k), theirs[i].at(k), 1e-5 * (1 + std::abs(theirs[i].at(k))))
          << "output " << i << ", element " << k;
  }
}

const LoadOptions bound{.lambdas = {
                            {"double", lambda_function([](const Call& c) {
                               return c.input() * c.argument("by").constant().as_double();
                             })},
                            {"add_three", lambda_function([](Value x) { return x + 3.0; })},
                        }};

// The name is the layer's or that of its function; the code in the file is never read.
TEST(SavedByKeras, BindsLambdasByName) {
  const std::string file = "python_lambda.keras";
  expect_user_error([&] { load_model(saved(file)); },
                    {"Lambda layer 'double'", "never run", ".lambdas"});
  expect_outputs(load_model(saved(file), bound), entry_of(file));
}

// The message shows C++ that compiles: the test itself contains the code of the message.
TEST(SavedByKeras, ShowsHowToBindALambda) {
  const fs::path path = saved("python_lambda.keras");
  std::string message;
  try {
    // clang-format off
    load_model(path, {.lambdas = {{"three", lambda_function([](Value x) { return x * 2.0; })}}});
    // clang-format on
  } catch (const UserError& error) {
    message = error.what();
  }
  EXPECT_EQ(
      message,
      "Lambda layer 'double' holds a Python function, which is never run here. Say in C++ what "
      "it computes, such as load_model(path, {.lambdas = {{\"double\", "
      "lambda_function([](Value x) { return x * 2.0; })}}})");
  std::ifstream source(__FILE__);
  const std::string text{std::istreambuf_iterator<char>(source), {}};
  std::string snippet = message.substr(message.find("load_model("));
  snippet.replace(snippet.find("double"), 6, "three");
  EXPECT_NE(text.find("    " + snippet + ";\n"), std::string::npos) << snippet;
}

std::string config_in(const fs::path& path) {
  const files::FileView view = files::ZipReader(files::map_file(path)).read("config.json");
  return {reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size()};
}

TEST(SavedByKeras, SavesALambdaAgainWithTheSameBytes) {
  const fs::path back = scratch("lambda.keras");
  load_model(saved("python_lambda.keras"), bound).save(back);
  const std::string before = config_in(saved("python_lambda.keras")), after = config_in(back);
  fs::remove(back);
  size_t lambdas = 0;
  const Json config = Json::parse(after);
  for (const Json& layer : config.at("config").at("layers").as_array()) {
    if (layer.at("class_name") != Json("Lambda")) continue;
    ++lambdas;
    EXPECT_NE(before.find(layer.at("config").dump()), std::string::npos) << layer;
  }
  EXPECT_EQ(lambdas, 2U);
}

TEST(SavedByKeras, ReadsOperationsWithoutModules) {
  expect_outputs(load_model(saved("operations.h5")), entry_of("operations.h5"));
}

// The files have the layouts of older versions. The expected outputs are those of the same models
// in Keras 3.
TEST(SavedByKeras, ConvertsOldFiles) {
  for (const std::string file : {"keras1.h5", "keras1_theano.h5", "cudnn.h5"}) {
    SCOPED_TRACE(file);
    const Model model = load_model(saved(file));
    expect_outputs(model, entry_of(file));
    EXPECT_EQ(model.dialect(), Dialect::keras2);
  }
}

// Keras 3 has another function with that name. The version that wrote the file decides, not the
// dialect that is set, and the model keeps the old function when it is saved again.
TEST(SavedByKeras, KeepsTheHardSigmoidOfKeras2) {
  for (const std::string file : {"keras2_hard_sigmoid.h5", "keras2_hard_sigmoid.keras"}) {
    SCOPED_TRACE(file);
    const Json entry = entry_of(file);
    const Model model = load_model(saved(file));
    expect_outputs(model, entry);
    expect_outputs(load_model(saved(file), {.dialect = Dialect::keras3}), entry);
    for (const std::string name : {"back.keras", "back.h5"}) {
      SCOPED_TRACE(name);
      model.save(scratch(name));
      expect_outputs(load_model(scratch(name)), entry);
      expect_outputs(load_model(scratch(name), {.dialect = Dialect::keras2}), entry);
      fs::remove(scratch(name));
    }
    Model copy = model_from_json(model.to_json());
    copy.set_weights(model.get_weights());
    expect_outputs(copy, entry);
  }
}

// The files have the optimizer state of Keras 2.11 and later, and of versions up to 2.10.
TEST(SavedByKeras, ContinuesTrainingOfKeras2) {
  for (const std::string file : {"keras2_adam.h5", "keras2_adam.keras", "keras2_sgd.keras",
                                 "keras2_rmsprop.h5", "keras2_10_adam.h5", "keras2_10_sgd.h5"}) {
    SCOPED_TRACE(file);
    const Json entry = entry_of(file);
    Model model = load_model(saved(file));
    expect_outputs(model, entry);
    const auto& losses = entry.at("losses").as_array();
    const auto logs = model.fit(testing::golden_structure(entry.at("inputs")),
                                testing::golden_structure(entry.at("targets")),
                                {.batch_size = 6, .epochs = 3, .verbose = 0, .shuffle = false});
    ASSERT_EQ(logs["loss"].size(), losses.size());
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(logs["loss"][i], losses[i].as_double(), 1e-5) << "epoch " << i;
  }
}

TEST(SavedByKeras, ReadsShardedWeights) {
  Model model = load_model(saved("sharded.keras"));
  model.load_weights(saved("sharded.weights.json"));
  expect_outputs(model, entry_of("sharded.keras"));
}

}  // namespace
}  // namespace keratin

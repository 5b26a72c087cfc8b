#include "keratin/model/file_editor.h"

#include <gtest/gtest.h>

#include <sstream>

#include "keratin/files/hdf5_writer.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/keratin.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using files::bytes_of;
using files::scratch;
using files::write_bytes;
using testing::expect_user_error;

Tensor filled(const Shape& shape, double value) { return Tensor::full(DType::f32, shape, value); }

Model small(int64_t units = 3) {
  const SymbolicTensor in = Input({4, 2});
  const auto sequence = LSTM({.units = 2}, "reader")(in);
  const auto hidden = Dense({.units = units}, "hidden")(sequence);
  return Model({.inputs = in, .outputs = Dense({.units = 1}, "out")(hidden)});
}

std::string summary_of(const KerasFileEditor& editor) {
  std::ostringstream out;
  editor.summary(out);
  const std::string text = out.str();
  return text.substr(text.find("Weights structure"));
}

using Paths = std::vector<std::string>;

TEST(FileEditor, ShowsTheTreeAsKerasDoes) {
  const auto path = scratch("editor.weights.h5");
  small().save_weights(path);
  const KerasFileEditor editor(path);
  EXPECT_EQ(editor.objects(), (Paths{"layers/dense", "layers/dense_1", "layers/lstm/cell"}));
  // Keras 3.15.1 prints the same, but loses objects whose own "vars" is empty, such as the LSTM.
  EXPECT_EQ(summary_of(editor),
            "Weights structure\n"
            "  > layers\n"
            "      ├─ dense ('hidden')\n"
            "      │   ├─ 0: shape=(2, 3), dtype=float32\n"
            "      │   └─ 1: shape=(3,), dtype=float32\n"
            "      ├─ dense_1 ('out')\n"
            "      │   ├─ 0: shape=(3, 1), dtype=float32\n"
            "      │   └─ 1: shape=(1,), dtype=float32\n"
            "      └─ lstm ('reader')\n"
            "          └─ cell ('lstm_cell')\n"
            "              ├─ 0: shape=(2, 8), dtype=float32\n"
            "              ├─ 1: shape=(2, 8), dtype=float32\n"
            "              └─ 2: shape=(8,), dtype=float32\n");
  EXPECT_TRUE(editor.config().is_null());
}

TEST(FileEditor, ComparesWithAModelInKerasWords) {
  const auto path = scratch("compared.weights.h5");
  small().save_weights(path);
  KerasFileEditor editor(path);
  auto same = editor.compare(small());
  EXPECT_EQ(same.status, "success");
  EXPECT_EQ(same.match_count, 7);
  EXPECT_EQ(same.report,
            "─────────────────────\nComparison successful: saved file is compatible with the "
            "reference model\n    Found 7 matching weights\n");
  editor.delete_object("lstm");
  editor.add_object("layers/extra", {{"0", filled({2}, 1)}});
  editor.delete_weight("layers/dense_1", "1");
  const auto other = editor.compare(small(5));
  EXPECT_EQ(other.status, "error");
  EXPECT_EQ(other.error_count, 6);
  EXPECT_EQ(other.match_count, 0);
  for (const char* line : {"...Object /layers/lstm present in reference model, missing from saved "
                           "file\n    In reference model, /layers/lstm contains the following "
                           "keys: ['cell']\n",
                           "...Weight shape mismatch for /layers/dense/0\n    In reference model: "
                           "shape=(2, 5)\n    In saved file: shape=(2, 3)\n",
                           "...Weight /layers/dense_1/1 present in reference model, missing from "
                           "saved file\n",
                           "...Object /layers/extra present in saved file, missing from reference "
                           "model\n",
                           "Found 6 errors: saved file is not compatible"})
    EXPECT_NE(other.report.find(line), std::string::npos) << line << "\nin " << other.report;
}

// Weights for a model whose layers were changed: one was put in between, one was removed.
TEST(FileEditor, AdaptsWeightsToAChangedModel) {
  const auto path = scratch("adapted.weights.h5");
  const Model old = small();
  old.save_weights(path);
  const SymbolicTensor in = Input({2});
  auto hidden = Dense({.units = 2}, "new")(in);
  hidden = Dense({.units = 3}, "hidden")(hidden);
  Model model({.inputs = in, .outputs = Dense({.units = 1}, "out")(hidden)});
  expect_user_error([&] { model.load_weights(path); }, "objects could not be loaded");

  KerasFileEditor editor(path);
  editor.delete_object("lstm");
  editor.rename_object("layers/dense_1", "dense_2");
  editor.rename_object("dense", "dense_1");
  editor.add_object("layers/dense", {{"0", filled({2, 2}, 7)}, {"1", filled({2}, 8)}});
  EXPECT_EQ(editor.compare(model).error_count, 0);
  editor.resave_weights(path);  // over the file that it reads
  model.load_weights(path);
  EXPECT_EQ(model.get_weights()[0].at(3), 7);
  EXPECT_EQ(exact_text(model.get_weights()[2]), exact_text(old.get_weights()[3]));
  EXPECT_EQ(exact_text(model.get_weights()[4]), exact_text(old.get_weights()[5]));
}

TEST(FileEditor, KeepsAllElseOfAModel) {
  const auto path = scratch("whole.keras"), copy = scratch("edited.keras");
  Model model = small();
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.train_on_batch(filled({2, 4, 2}, 1), filled({2, 1}, 1));
  model.save(path);
  KerasFileEditor editor(path);
  EXPECT_EQ(editor.config().at("class_name").as_string(), "Functional");
  EXPECT_EQ(editor.metadata().at("keras_version").as_string(), "3.15.1");
  EXPECT_EQ(editor.compare(model).error_count, 0);
  const Tensor bias = Tensor::of<float>(DType::f32, {1}, {42});
  editor.add_weights("layers/dense_1", {{"1", bias}});
  EXPECT_EQ(editor.weights("dense_1").at("1").at(0), 42);
  editor.save(copy);
  Model edited = load_model(copy);
  EXPECT_EQ(edited.get_weights()[6].at(0), 42);
  EXPECT_EQ(edited.optimizer().iterations(), 1);
  EXPECT_EQ(exact_text(edited.get_weights()[0]), exact_text(model.get_weights()[0]));
  // The weights alone, with the optimizer's state.
  editor.save(scratch("edited.weights.h5"));
  edited.load_weights(scratch("edited.weights.h5"));
  expect_user_error([&] { KerasFileEditor(scratch("edited.weights.h5")).save(copy); },
                    "has weights alone; a .keras needs the config of a model too");
}

TEST(FileEditor, EditsSingleWeights) {
  const auto path = scratch("single.weights.h5");
  small().save_weights(path);
  KerasFileEditor editor(path);
  editor.delete_object("layers/dense/0");
  editor.rename_object("layers/dense/1", "bias");
  const auto weights = editor.weights("dense");
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights.begin()->first, "bias");
  KerasFileEditor moved = std::move(editor);
  moved.rename_object("dense", "dense");
  EXPECT_EQ(moved.objects().size(), 3u);
}

TEST(FileEditor, KeepsEveryDtype) {
  const auto path = scratch("dtypes.weights.h5");
  small().save_weights(path);
  KerasFileEditor editor(path);
  KerasFileEditor::Weights weights;
  for (const DType dtype :
       {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::u8, DType::boolean})
    weights.emplace(std::to_string(weights.size()), Tensor::full(dtype, {3}, 1));
  editor.add_object("layers/all", weights);
  editor.save(path);
  for (const auto& [name, value] : KerasFileEditor(path).weights("all")) {
    EXPECT_EQ(value.dtype(), weights.at(name).dtype());
    EXPECT_EQ(exact_text(value), exact_text(weights.at(name)));
  }
}

TEST(FileEditor, NamesWhatItDoesNotFind) {
  const auto path = scratch("names.weights.h5");
  Model model = small();
  model.save_weights(path);
  KerasFileEditor editor(path);
  const std::string before = summary_of(editor);
  expect_user_error([&] { editor.delete_object("dense_7"); },
                    "Source name 'dense_7' does not appear in the model.");
  expect_user_error([&] { editor.delete_object("layers/dense_7"); },
                    "Path 'layers/dense_7' not found in model.");
  expect_user_error([&] { editor.delete_object("1"); },
                    "Name '1' occurs more than once in the model; try passing a complete path");
  expect_user_error([&] { editor.rename_object("dense", "layers/x"); },
                    "Argument `target_name` should be a leaf name, not a full path name. Received: "
                    "target_name='layers/x'");
  expect_user_error([&] { editor.rename_object("dense", "dense_1"); },
                    "there is a 'dense_1' beside 'dense' already");
  for (const std::string& name : {std::string(), std::string("."), std::string(".."),
                                  std::string("vars"), std::string("a\0b", 3)})
    expect_user_error([&] { editor.rename_object("dense", name); }, "cannot be a name in a file");
  expect_user_error([&] { editor.add_object("nowhere/new", {}); },
                    "Path 'nowhere' not found in model.");
  expect_user_error([&] { editor.add_object("layers/dense/0", {}); }, "is a weight");
  expect_user_error(
      [&] {
        editor.add_weights("layers/lstm", {{"cell", filled({1}, 0)}});
      },
      "'cell' is an object");
  expect_user_error([&] { editor.delete_weight("dense", "2"); },
                    "Weight 2 not found in object dense. Weights found: ['0', '1']");
  expect_user_error([&] { editor.weights("layers/dense/0"); },
                    "'layers/dense/0' is a weight, expected an object");
  expect_user_error([&] { editor.save(scratch("x.h5")); },
                    "Invalid `filepath` argument: expected a `.weights.h5` or `.keras` extension.");
  EXPECT_EQ(summary_of(editor), before);
}

TEST(FileEditor, RefusesOtherFiles) {
  expect_user_error([] { KerasFileEditor("no such.keras"); }, "File not found: filepath=no such");
  const auto legacy = scratch("legacy.h5");
  small().save(legacy);
  expect_user_error([&] { KerasFileEditor{legacy}; },
                    "Invalid filename: expected a `.keras` `.weights.h5` extension.");
  const auto path = scratch("damaged.weights.h5");
  small().save_weights(path);
  const std::string whole = bytes_of(path);
  write_bytes(path, whole.substr(0, whole.size() / 2));
  EXPECT_THROW(KerasFileEditor{path}, UserError);

  hdf5::Writer odd;
  odd.root().group("layers/dense/vars/more");
  odd.save(path);
  expect_user_error([&] { KerasFileEditor{path}; },
                    "'/layers/dense/vars' has the group 'more', expected weights alone");
  hdf5::Writer both;
  both.root().dataset("layers/dense/vars/0", filled({1}, 0));
  both.root().dataset("layers/dense/0/vars/0", filled({1}, 0));
  both.save(path);
  expect_user_error([&] { KerasFileEditor{path}; }, "both as an object and as a weight");
}

// What cannot be written leaves the old file whole.
TEST(FileEditor, LeavesTheOldFileWhole) {
  const auto path = scratch("whole.weights.h5");
  small().save_weights(path);
  const std::string before = bytes_of(path);
  KerasFileEditor editor(path);
  editor.delete_object("dense");
  EXPECT_THROW(editor.save(scratch("no folder") / "x.weights.h5"), UserError);
  EXPECT_EQ(bytes_of(path), before);
}

}  // namespace
}  // namespace keratin

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "keratin/files/scratch_testing.h"
#include "keratin/keratin.h"
#include "keratin/testing/expect_error.h"

// Models in memory and in streams.
namespace keratin {
namespace {

using files::bytes_of;
using files::scratch;
using testing::expect_user_error;

Tensor ones(const Shape& shape) { return Tensor::full(DType::f32, shape, 1); }

Model trained() {
  const SymbolicTensor in = Input({2});
  Model model({.inputs = in, .outputs = Dense({.units = 3}, "only")(in)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  model.train_on_batch(ones({4, 2}), ones({4, 3}));
  return model;
}

std::span<const std::byte> bytes_in(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// The next step of training gives the same bits.
void expect_same(Model& a, Model b) {
  EXPECT_EQ(a.optimizer().iterations(), b.optimizer().iterations());
  const Tensor x = ones({4, 2}), y = ones({4, 3});
  Model copy = load_model(a.to_bytes());
  copy.reset_metrics();
  b.reset_metrics();
  EXPECT_EQ(copy.train_on_batch(x, y), b.train_on_batch(x, y));
  EXPECT_EQ(exact_text(copy.get_weights()[0]), exact_text(b.get_weights()[0]));
}

TEST(Memory, HoldsAModelWithItsTraining) {
  Model model = trained();
  for (const char* format : {"keras", "h5"}) {
    const std::vector<std::byte> bytes = model.to_bytes({.stream_format = format});
    expect_same(model, load_model(bytes));
    std::stringstream stream;
    model.save(stream, {.stream_format = format});
    expect_same(model, load_model(stream));
  }
}

// The bytes are a file's: either may be written, and the other read.
TEST(Memory, HasTheBytesOfAFile) {
  Model model = trained();
  const auto path = scratch("memory.keras");
  {
    std::ofstream file(path, std::ios::binary);
    model.save(file);
  }
  expect_same(model, load_model(path));
  model.save(path);
  expect_same(model, load_model(bytes_in(bytes_of(path))));
  std::ifstream file(path, std::ios::binary);
  expect_same(model, load_model(file));
  const std::string json = model.to_json();
  EXPECT_EQ(load_model(bytes_in(json)).to_json(), json);
}

// The bytes are not needed once a model is loaded.
TEST(Memory, IsCopied) {
  Model model = trained();
  for (const char* format : {"keras", "h5"}) {
    std::vector<std::byte> bytes = model.to_bytes({.stream_format = format});
    const Model copy = load_model(bytes);
    std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
    EXPECT_EQ(exact_text(copy.get_weights()[0]), exact_text(model.get_weights()[0]));
  }
}

TEST(Memory, TakesBytesAtAnyAlignment) {
  Model model = trained();
  const std::vector<std::byte> bytes = model.to_bytes();
  for (const size_t shift : {1, 3}) {
    std::vector<std::byte> moved(shift);
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    expect_same(model, load_model(std::span(moved).subspan(shift)));
  }
}

TEST(Memory, IsCheckedLikeAFile) {
  Model model = trained();
  for (const char* format : {"keras", "h5"}) {
    const std::vector<std::byte> bytes = model.to_bytes({.stream_format = format});
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{100}, bytes.size() / 2, bytes.size() - 1})
      EXPECT_THROW(load_model(std::span(bytes).first(size)), UserError) << format << ' ' << size;
  }
  std::vector<std::byte> damaged = model.to_bytes();
  damaged[damaged.size() / 2] ^= std::byte{1};
  expect_user_error([&] { load_model(damaged); },
                    "the given bytes: 'model.weights.h5' is damaged: its checksum differs");
  expect_user_error([&] { load_model(bytes_in("hello")); },
                    "File format not supported: the given bytes are not a model");
  std::istringstream empty;
  expect_user_error([&] { load_model(empty); },
                    "File format not supported: the bytes of the stream are not a model");
}

TEST(Memory, NamesAStreamThatFails) {
  Model model = trained();
  std::ofstream full("/dev/full");
  expect_user_error([&] { model.save(full); }, "save: the stream cannot be written");
  std::ifstream missing("no such file");
  expect_user_error([&] { load_model(missing); }, "load_model: the stream cannot be read");
  expect_user_error([&] { model.to_bytes({.stream_format = "onnx"}); },
                    "save: `stream_format` must be \"keras\" or \"h5\", got \"onnx\"");
}

}  // namespace
}  // namespace keratin

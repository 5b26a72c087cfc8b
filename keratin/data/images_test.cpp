#include "keratin/data/images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "keratin/testing/expect_error.h"
#include "keratin/testing/golden.h"

// tests/golden/images.json has the tensors that Keras on TensorFlow reads from images of every
// format.
namespace keratin::testing {
namespace {

namespace fs = std::filesystem;

const fs::path images = golden_path("images");

std::vector<Json> records(const std::string& what) {
  std::vector<Json> out;
  const Json all = read_golden("images.json");
  for (const Json& record : all.as_array())
    if (record.at("what").as_string() == what) out.push_back(record);
  return out;
}

double worst(const Tensor& got, const Tensor& wanted) {
  EXPECT_EQ(got.shape(), wanted.shape());
  if (got.shape() != wanted.shape()) return INFINITY;
  double difference = 0;
  for (int64_t i = 0; i < got.count(); ++i)
    difference = std::max(difference, std::abs(got.at(i) - wanted.at(i)));
  return difference;
}

// The bits are the same, because TensorFlow uses the same two libraries.
TEST(LoadImage, DecodesAsTensorFlow) {
  for (const Json& record : records("decode")) {
    const std::string file = record.at("file").as_string();
    const std::string mode = record.at("color_mode").as_string();
    const Tensor wanted = golden_tensor(record.at("value"));
    EXPECT_EQ(worst(load_image(images / file, {.color_mode = mode}), wanted), 0)
        << file << ' ' << mode;
  }
}

// TensorFlow takes bicubic weights from a table of 1024 steps, which costs up to 0.1 of 255.
TEST(LoadImage, ResizesAsTensorFlow) {
  for (const Json& record : records("resize")) {
    const std::string method = record.at("interpolation").as_string();
    const std::string fit = record.at("fit").as_string();
    const Tensor wanted = golden_tensor(record.at("value"));
    const Tensor got =
        load_image(images / "cats/young/rgb.png",
                   {.image_size = {record.at("size")[0].as_int(), record.at("size")[1].as_int()},
                    .interpolation = method,
                    .crop_to_aspect_ratio = fit == "crop_to_aspect_ratio",
                    .pad_to_aspect_ratio = fit == "pad_to_aspect_ratio"});
    EXPECT_EQ(got.dtype(), DType::f32);
    EXPECT_LT(worst(got, wanted), method == "bicubic" ? 0.1 : 1e-3)
        << method << ' ' << fit << ' ' << wanted.shape();
  }
}

TEST(LoadImage, ReadsPalettes) {
  EXPECT_EQ(load_image(images / "emus/palette.bmp_"), load_image(images / "dogs/palette.png"));
}

// TensorFlow's decoders refuse some of these conversions.
TEST(LoadImage, ConvertsEveryFormatToEveryMode) {
  for (const char* file : {"cats/rgb.jpg", "cats/inks.jpg", "emus/rgb.bmp", "emus/palette.gif"}) {
    const Tensor rgb = load_image(images / file);
    const Tensor gray = load_image(images / file, {.color_mode = "grayscale"});
    const Tensor rgba = load_image(images / file, {.color_mode = "rgba"});
    EXPECT_EQ(gray.shape()[2], 1) << file;
    EXPECT_EQ(rgba.shape()[2], 4) << file;
    for (int64_t i = 0; i < gray.count(); ++i) {
      const double r = rgb.at(3 * i), g = rgb.at(3 * i + 1), b = rgb.at(3 * i + 2);
      // A JPEG stores gray itself; gray computed from its colours differs, as these are rounded and
      // clipped.
      EXPECT_NEAR(gray.at(i), 0.299 * r + 0.587 * g + 0.114 * b, 2) << file << ' ' << i;
      EXPECT_EQ(rgba.at(4 * i + 1), g) << file << ' ' << i;
      EXPECT_EQ(rgba.at(4 * i + 3), 255) << file << ' ' << i;
    }
  }
}

TEST(LoadImage, RefusesFilesThatAreNotImages) {
  const fs::path path = fs::path(::testing::TempDir()) / "no_image.png";
  std::ofstream(path) << "hello";
  expect_user_error([&] { load_image(path); }, {"no_image.png", "JPEG, PNG, GIF or BMP"});
  expect_user_error([&] { load_image(path.string() + "x"); }, "no_image.pngx");
  const fs::path good = images / "cats/rgb.jpg";
  expect_user_error([&] { load_image(good, {.color_mode = "cmyk"}); }, "`color_mode`");
  expect_user_error([&] { load_image(good, {.interpolation = "cubic"}); }, "`interpolation`");
  expect_user_error([&] { load_image(good, {.data_format = "nhwc"}); }, "`data_format`");
  expect_user_error([&] { load_image(good, {.image_size = {3, 0}}); }, "positive size");
  expect_user_error(
      [&] { load_image(good, {.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}); },
      "Only one");
}

std::vector<std::string> strings(const Json& json) {
  std::vector<std::string> out;
  if (json.is_null()) return out;
  for (const Json& item : json.as_array()) out.push_back(item.as_string());
  return out;
}

ImageDatasetOptions options_of(const Json& json) {
  ImageDatasetOptions options{.image_size = {11, 14}, .verbose = false};
  if (const Json* shuffle = json.find("shuffle")) options.shuffle = shuffle->as_bool();
  if (const Json* mode = json.find("label_mode")) options.label_mode = mode->as_string();
  if (const Json* names = json.find("class_names")) options.class_names = strings(*names);
  if (const Json* seed = json.find("seed")) options.seed = static_cast<uint64_t>(seed->as_int());
  if (const Json* split = json.find("validation_split"))
    options.validation_split = split->as_double();
  if (const Json* subset = json.find("subset")) options.subset = subset->as_string();
  if (const Json* format = json.find("data_format")) options.data_format = format->as_string();
  if (const Json* size = json.find("batch_size"))
    options.batch_size = size->is_null() ? std::nullopt : std::optional(size->as_int());
  if (const Json* labels = json.find("labels")) {
    options.labels = std::nullopt;
    if (labels->is_array()) {
      std::vector<int64_t> given;
      for (const Json& label : labels->as_array()) given.push_back(label.as_int());
      options.labels = given;
    }
  }
  return options;
}

void expect_batches(const Dataset& data, const Json& record) {
  const auto stream = data.stream();
  Batch batch;
  for (size_t i = 0; i < record.at("sums").size(); ++i) {
    ASSERT_TRUE(stream->next(batch));
    const Tensor x = batch.x.leaf();
    Dims shape;
    for (const Json& size : record.at("shapes")[i].as_array()) shape.push_back(size.as_int());
    EXPECT_EQ(x.shape(), Shape(shape));
    double sum = 0;
    for (int64_t j = 0; j < x.count(); ++j) sum += x.at(j);
    EXPECT_NEAR(sum, record.at("sums")[i].as_double(), 1e-5 * sum);
    const Json& labels = record.at("labels")[i];
    EXPECT_EQ(batch.y.is_none(), labels.is_null());
    if (!labels.is_null()) {
      EXPECT_EQ(batch.y.leaf(), golden_tensor(labels));
    }
  }
  EXPECT_FALSE(stream->next(batch));
}

TEST(ImageDataset, ReadsFoldersAsKerasDoes) {
  for (const Json& record : records("dataset")) {
    SCOPED_TRACE(record.at("name").as_string());
    const ImageDataset data =
        image_dataset_from_directory(images, options_of(record.at("options")));
    EXPECT_EQ(data.class_names, strings(record.at("class_names")));
    std::vector<std::string> files;
    for (const std::string& path : data.file_paths)
      files.push_back(fs::path(path).lexically_relative(images).string());
    EXPECT_EQ(files, strings(record.at("file_paths")));
    if (record.contains("sums")) expect_batches(data, record);
  }
}

TEST(ImageDataset, ShufflesEachPass) {
  const ImageDataset data =
      image_dataset_from_directory(images, {.image_size = {2, 2}, .seed = 5, .verbose = false});
  const auto labels = [&](int64_t pass) {
    Batch batch;
    EXPECT_TRUE(data.stream(pass)->next(batch));
    return batch.y.leaf().to_vector<int64_t>();
  };
  EXPECT_EQ(labels(0), labels(0));
  EXPECT_NE(labels(0), labels(1));
  auto sorted = labels(0), other = labels(1);
  std::sort(sorted.begin(), sorted.end());
  std::sort(other.begin(), other.end());
  EXPECT_EQ(sorted, other);
}

TEST(ImageDataset, ReturnsBothSubsets) {
  const auto [train, validation] =
      image_datasets_from_directory(images, {.seed = 3, .validation_split = 0.3, .verbose = false});
  EXPECT_EQ(train.file_paths.size(), 14u);
  EXPECT_EQ(validation.file_paths.size(), 6u);
  for (const std::string& path : validation.file_paths)
    EXPECT_EQ(std::count(train.file_paths.begin(), train.file_paths.end(), path), 0) << path;
  EXPECT_EQ(train.size(), 1);
}

TEST(ImageDataset, FollowsLinksIfSet) {
  const fs::path root = fs::path(::testing::TempDir()) / "linked_images";
  fs::remove_all(root);
  fs::create_directories(root / "a" / "deep");
  fs::create_directories(root / "b");
  fs::copy_file(images / "dogs/gray.png", root / "a/deep/one.png");
  fs::copy_file(images / "dogs/gray.png", root / "b/two.png");
  fs::create_directory_symlink(root / "a/deep", root / "b/link");
  fs::create_directory_symlink(root / "b", root / "b/circle");
  const auto count = [&](bool follow) {
    return image_dataset_from_directory(root, {.follow_links = follow, .verbose = false})
        .file_paths.size();
  };
  EXPECT_EQ(count(false), 2u);
  EXPECT_EQ(count(true), 3u);
}

TEST(ImageDataset, RefusesWhatKerasRefuses) {
  const auto refuse = [](const ImageDatasetOptions& options, const std::string& message) {
    expect_user_error([&] { image_dataset_from_directory(images, options); }, message);
  };
  refuse({.label_mode = "ints"}, "`label_mode`");
  refuse({.class_names = {"cows"}}, "did not match the names of the subdirectories");
  refuse({.label_mode = "binary", .verbose = false}, "exactly 2 class_names");
  refuse({.labels = std::vector<int64_t>{1, 2}, .verbose = false}, "len(labels) is 2");
  refuse({.labels = std::nullopt, .class_names = {"cats"}}, "`class_names`");
  refuse({.labels = std::vector<int64_t>(20, 9), .label_mode = "categorical", .verbose = false},
         "expected labels from 0 to 0, got 9");
  refuse({.validation_split = 0.5}, "`subset` is set");
  refuse({.subset = "training"}, "`subset` is set");
  refuse({.validation_split = 0.5, .subset = "training"}, "`seed`");
  refuse({.seed = 1, .validation_split = 0.5, .subset = "test"}, "received: test");
  refuse({.seed = 1, .validation_split = 0.5, .subset = "both"}, "image_datasets_from_directory");
  refuse({.validation_split = 1.5, .subset = "training"}, "between 0 and 1");
  refuse({.seed = 1, .validation_split = 0.01, .subset = "validation", .verbose = false},
         "No validation images");
  refuse({.batch_size = 0}, "`batch_size`");
  refuse({.image_size = {0, 3}}, "`image_size`");
  expect_user_error([] { image_dataset_from_directory("/nowhere"); }, "/nowhere is not a folder");
  expect_user_error([] { ImageLabels("guessed"); }, "guessed");
}

}  // namespace
}  // namespace keratin::testing

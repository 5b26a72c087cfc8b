#pragma once

#include <filesystem>

#include "keratin/base/export.h"
#include "keratin/data/dataset.h"

namespace keratin {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

struct LoadImageOptions {
  std::string color_mode = "rgb";  // or "grayscale", "rgba"
  ImageSize image_size = {};       // as the file has it by default
  // bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic
  std::string interpolation = "bilinear";
  // Instead of changing the aspect ratio: take the middle, or put zeros around.
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;
  std::string data_format = "channels_last";  // or "channels_first"
};
// An image as f32 [height, width, channels], from 0 to 255: JPEG, PNG, BMP, or the first frame of a
// GIF, whatever the file is called.
KERATIN_API Tensor load_image(const std::filesystem::path& path,
                              const LoadImageOptions& options = {});

// The classes of images: "inferred" from the folders they are in, none, or given in the order of
// the sorted paths.
class KERATIN_API ImageLabels {
 public:
  ImageLabels(const char* inferred);         // NOLINT(google-explicit-constructor)
  ImageLabels(std::nullopt_t) {}             // NOLINT
  ImageLabels(std::vector<int64_t> labels);  // NOLINT

  bool inferred() const { return inferred_; }
  const std::optional<std::vector<int64_t>>& given() const { return given_; }
  bool none() const { return !inferred_ && !given_; }

 private:
  bool inferred_ = false;
  std::optional<std::vector<int64_t>> given_;
};

// Keras's options.
struct ImageDatasetOptions {
  ImageLabels labels = "inferred";
  std::optional<std::string> label_mode = "int";  // or "categorical", "binary", nothing
  std::vector<std::string> class_names = {};      // some of the folders, in an order of one's own
  std::string color_mode = "rgb";
  std::optional<int64_t> batch_size = 32;  // nothing: single images
  ImageSize image_size = {256, 256};
  bool shuffle = true;
  std::optional<uint64_t> seed = {};
  double validation_split = 0;
  std::string subset = {};  // with a split: "training" or "validation"
  std::string interpolation = "bilinear";
  bool follow_links = false;
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;
  std::string data_format = "channels_last";
  bool verbose = true;
};

// Batches of images from files, which are read when they are asked for.
class KERATIN_API ImageDataset : public Dataset {
 public:
  ImageDataset(Dataset data, std::vector<std::string> classes, std::vector<std::string> paths)
      : Dataset(std::move(data)), class_names(std::move(classes)), file_paths(std::move(paths)) {}

  std::vector<std::string> class_names;
  std::vector<std::string> file_paths;
};

// The images of a folder with a folder for each class. A seed divides and orders the files as it
// does in Keras; the order of a pass is Keratin's own.
KERATIN_API ImageDataset image_dataset_from_directory(const std::filesystem::path& directory,
                                                      const ImageDatasetOptions& options = {});
// Both parts of a validation split, as with Keras's subset "both".
KERATIN_API std::pair<ImageDataset, ImageDataset> image_datasets_from_directory(
    const std::filesystem::path& directory, const ImageDatasetOptions& options);

}  // namespace keratin

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
  ImageSize image_size = {};       // by default, the size of the image in the file
  // bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic
  std::string interpolation = "bilinear";
  // Instead of changing the aspect ratio: crop to the centre, or pad with zeros.
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;
  std::string data_format = "channels_last";  // or "channels_first"
};
// Reads a JPEG, PNG, BMP, or the first frame of a GIF, as f32 [height, width, channels] from 0 to
// 255. The suffix of the file does not matter.
KERATIN_API Tensor load_image(const std::filesystem::path& path,
                              const LoadImageOptions& options = {});

// The labels of images: "inferred" from their folders, none, or given in the order of the sorted
// paths.
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

// The options of Keras's image_dataset_from_directory.
struct ImageDatasetOptions {
  ImageLabels labels = "inferred";
  std::optional<std::string> label_mode = "int";  // or "categorical", "binary", or none
  std::vector<std::string> class_names =
      {};  // the folders to use, in this order; by default all, sorted
  std::string color_mode = "rgb";
  std::optional<int64_t> batch_size = 32;  // none: single images
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

// Batches of images from files. A file is read when its batch is needed.
class KERATIN_API ImageDataset : public Dataset {
 public:
  ImageDataset(Dataset data, std::vector<std::string> classes, std::vector<std::string> paths)
      : Dataset(std::move(data)), class_names(std::move(classes)), file_paths(std::move(paths)) {}

  std::vector<std::string> class_names;
  std::vector<std::string> file_paths;
};

// The images of a folder that has a folder for each class. A seed splits and orders the files as in
// Keras; the order of later passes is Keratin's own.
KERATIN_API ImageDataset image_dataset_from_directory(const std::filesystem::path& directory,
                                                      const ImageDatasetOptions& options = {});
// The training and the validation subset, as with Keras's subset "both".
KERATIN_API std::pair<ImageDataset, ImageDataset> image_datasets_from_directory(
    const std::filesystem::path& directory, const ImageDatasetOptions& options);

}  // namespace keratin

#include "keratin/data/images.h"

#include <algorithm>
#include <iostream>
#include <random>
#include <set>

#include "keratin/base/text.h"
#include "keratin/files/mapped_file.h"
#include "keratin/graph/next_seed.h"
#include "keratin/graph/variable.h"
#include "keratin/image/decode.h"
#include "keratin/image/resize.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view formats[] = {".bmp", ".gif", ".jpeg", ".jpg", ".png"};
constexpr std::string_view allowed = "('.bmp', '.gif', '.jpeg', '.jpg', '.png')";

int64_t channels_of(const std::string& color_mode) {
  if (color_mode == "rgb") return 3;
  if (color_mode == "rgba") return 4;
  require(color_mode == "grayscale", "`color_mode` must be one of {\"rgb\", \"rgba\", ",
          "\"grayscale\"}. Received: color_mode=", color_mode);
  return 1;
}

void check(const LoadImageOptions& options) {
  channels_of(options.color_mode);
  image::check_interpolation(options.interpolation);
  require(!(options.crop_to_aspect_ratio && options.pad_to_aspect_ratio),
          "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`.");
  require(options.data_format == "channels_last" || options.data_format == "channels_first",
          "The `data_format` argument must be one of {'channels_first', 'channels_last'}. ",
          "Received: data_format=", options.data_format);
}

struct Files {
  std::vector<std::string> paths;
  std::vector<int64_t> labels;
  std::vector<std::string> class_names;
};

bool is_image(const fs::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(std::begin(formats), std::end(formats),
                     [&](std::string_view end) { return name.ends_with(end); });
}

// Collects the images below a folder, grouped by folder in the order of the folders' paths. A link
// to a folder above is not followed.
void gather(const fs::path& folder, bool follow_links, std::set<fs::path>& above,
            std::map<std::string, std::set<std::string>>& found) {
  const fs::path real = fs::canonical(folder);
  if (!above.insert(real).second) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) {
      if (follow_links || !entry.is_symlink()) gather(entry.path(), follow_links, above, found);
    } else if (is_image(entry.path())) {
      found[folder.string()].insert(entry.path().string());
    }
  }
  above.erase(real);
}

std::vector<std::string> images_below(const fs::path& folder, bool follow_links) {
  std::set<fs::path> above;
  std::map<std::string, std::set<std::string>> found;
  gather(folder, follow_links, above, found);
  std::vector<std::string> paths;
  for (const auto& [name, files] : found) paths.insert(paths.end(), files.begin(), files.end());
  return paths;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "'" : ", '") + name + "'";
  return '[' + out + ']';
}

std::vector<std::string> folders_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with('.')) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Files by_folder(const fs::path& directory, const ImageDatasetOptions& options) {
  Files files;
  files.class_names = folders_in(directory);
  if (!options.class_names.empty()) {
    for (const std::string& name : options.class_names)
      require(std::count(files.class_names.begin(), files.class_names.end(), name) > 0,
              "The `class_names` passed did not match the names of the subdirectories of the ",
              "target directory. Expected: ", listed(files.class_names),
              " (or a subset of it), but received: class_names=", listed(options.class_names));
    files.class_names = options.class_names;
  }
  for (size_t label = 0; label < files.class_names.size(); ++label)
    for (std::string& path :
         images_below(directory / files.class_names[label], options.follow_links)) {
      files.paths.push_back(std::move(path));
      files.labels.push_back(static_cast<int64_t>(label));
    }
  return files;
}

Files find_files(const fs::path& directory, const ImageDatasetOptions& options) {
  require(fs::is_directory(directory), "image_dataset_from_directory: ", directory.string(),
          " is not a folder");
  if (options.labels.inferred() && options.label_mode) return by_folder(directory, options);
  require(options.class_names.empty(),
          "You can only pass `class_names` if `labels=\"inferred\"`. Received: class_names=",
          listed(options.class_names));
  Files files{.paths = images_below(directory, options.follow_links)};
  if (!options.labels.given() || !options.label_mode) return files;
  files.labels = *options.labels.given();
  require(files.labels.size() == files.paths.size(),
          "Expected the lengths of `labels` to match the number of files in the target directory. ",
          "len(labels) is ", files.labels.size(), " while we found ", files.paths.size(),
          " files in directory ", directory.string(), ".");
  for (const int64_t label : std::set<int64_t>(files.labels.begin(), files.labels.end()))
    files.class_names.push_back(std::to_string(label));
  return files;
}

// The order that NumPy's RandomState(seed).shuffle gives, so that a seed gives the same order as in
// Keras.
std::vector<size_t> numpy_order(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (size_t i = count; i-- > 1;) {
    const auto mask = static_cast<uint32_t>(std::bit_ceil(i + 1) - 1);
    uint32_t chosen = random() & mask;
    while (chosen > i) chosen = random() & mask;
    std::swap(order[i], order[chosen]);
  }
  return order;
}

Files picked(const Files& files, const std::vector<size_t>& order) {
  Files out{.class_names = files.class_names};
  for (const size_t i : order) {
    out.paths.push_back(files.paths[i]);
    if (!files.labels.empty()) out.labels.push_back(files.labels[i]);
  }
  return out;
}

void check(const ImageDatasetOptions& options) {
  const auto& mode = options.label_mode;
  require(!mode || *mode == "int" || *mode == "categorical" || *mode == "binary",
          "`label_mode` argument must be one of \"int\", \"categorical\", \"binary\", or None. ",
          "Received: label_mode=", mode.value_or(""));
  require(options.validation_split >= 0 && options.validation_split < 1,
          "`validation_split` must be between 0 and 1, received: ", options.validation_split);
  require((options.validation_split > 0) == !options.subset.empty(),
          "If `subset` is set, `validation_split` must be set, and inversely.");
  require(
      options.validation_split == 0 || !options.shuffle || options.seed,
      "If using `validation_split` and shuffling the data, you must provide a `seed` argument, ",
      "to make sure that there is no overlap between the training and validation subset.");
  require(options.batch_size.value_or(1) > 0,
          "image_dataset_from_directory: `batch_size` must be positive, got ",
          options.batch_size.value_or(1));
  require(options.image_size.height > 0 && options.image_size.width > 0,
          "Invalid `image_size` value. Expected a positive height and width. Received: ",
          options.image_size.height, " x ", options.image_size.width);
}

// Finds all files, shuffled by the seed, and prints how many there are, as Keras does.
Files ordered(const fs::path& directory, const ImageDatasetOptions& options, uint64_t seed) {
  Files files = find_files(directory, options);
  if (options.verbose) {
    std::cout << "Found " << files.paths.size() << " files";
    if (!files.labels.empty())
      std::cout << " belonging to " << files.class_names.size() << " classes";
    std::cout << ".\n";
  }
  require(options.label_mode != "binary" || options.labels.none() || files.class_names.size() == 2,
          "When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: ",
          "class_names=", listed(files.class_names));
  const auto classes = static_cast<int64_t>(files.class_names.size());
  if (options.label_mode == "categorical")
    for (const int64_t label : files.labels)
      require(label >= 0 && label < classes,
              "label_mode \"categorical\": expected labels from 0 to ", classes - 1, ", got ",
              label);
  return options.shuffle ? picked(files, numpy_order(files.paths.size(), seed)) : files;
}

Files part_of(const Files& files, const fs::path& directory, const ImageDatasetOptions& options,
              const std::string& subset) {
  const size_t count = files.paths.size();
  const auto tail = static_cast<size_t>(options.validation_split * static_cast<double>(count));
  size_t begin = 0, end = count;
  if (subset == "training") end = count - tail;
  if (subset == "validation") begin = count - tail;
  if (options.verbose && !subset.empty())
    std::cout << "Using " << end - begin << " files for " << subset << ".\n";
  require(begin < end, "No ", subset, subset.empty() ? "" : " ", "images found in directory ",
          directory.string(), ". Allowed formats: ", allowed);
  std::vector<size_t> chosen;
  for (size_t i = begin; i < end; ++i) chosen.push_back(i);
  return picked(files, chosen);
}

Tree<Tensor> label_tensor(const Files& files, const ImageDatasetOptions& options) {
  if (files.labels.empty()) return {};
  const auto rows = static_cast<int64_t>(files.labels.size());
  if (options.label_mode == "int") return Tensor::of(DType::i32, {rows}, files.labels);
  if (options.label_mode == "binary") return Tensor::of(DType::f32, {rows, 1}, files.labels);
  const auto classes = static_cast<int64_t>(files.class_names.size());
  Tensor one_hot = Tensor::zeros(DType::f32, {rows, classes});
  for (int64_t i = 0; i < rows; ++i)
    one_hot.set(i * classes + files.labels[static_cast<size_t>(i)], 1);
  return one_hot;
}

ImageDataset dataset_of(const Files& files, const ImageDatasetOptions& options,
                        std::optional<uint64_t> shuffle_seed) {
  const LoadImageOptions load{.color_mode = options.color_mode,
                              .image_size = options.image_size,
                              .interpolation = options.interpolation,
                              .crop_to_aspect_ratio = options.crop_to_aspect_ratio,
                              .pad_to_aspect_ratio = options.pad_to_aspect_ratio,
                              .data_format = options.data_format};
  check(load);
  Tensor indices(DType::i64, {static_cast<int64_t>(files.paths.size())});
  for (int64_t i = 0; i < indices.count(); ++i) indices.data<int64_t>()[static_cast<size_t>(i)] = i;
  Dataset data = Dataset::from_tensors(indices, label_tensor(files, options));
  if (shuffle_seed) data = data.shuffle({}, *shuffle_seed);
  data = data.map([load, paths = files.paths](Batch one) {
    const Tensor index = one.x.leaf();
    one.x = load_image(paths[static_cast<size_t>(index.data<int64_t>()[0])], load);
    return one;
  });
  if (options.batch_size) data = data.batch(*options.batch_size);
  return {data.prefetch(), files.class_names, files.paths};
}

}  // namespace

ImageLabels::ImageLabels(const char* inferred) : inferred_(true) {
  require(std::string_view(inferred) == "inferred",
          "`labels`: expected \"inferred\", none, or a list of integers, got \"", inferred, "\"");
}

ImageLabels::ImageLabels(std::vector<int64_t> labels) : given_(std::move(labels)) {}

Tensor load_image(const std::filesystem::path& path, const LoadImageOptions& options) {
  check(options);
  const files::FileView file = files::map_file(path);
  const Tensor pixels =
      image::decode(file.bytes(), file.name(), {.channels = channels_of(options.color_mode)});
  const auto [height, width] = options.image_size;
  Tensor out;
  if (height == 0 && width == 0)
    out = pixels.cast(DType::f32);
  else if (options.pad_to_aspect_ratio)
    out = image::resize_with_pad(pixels, height, width, options.interpolation);
  else
    out = image::resize(
        options.crop_to_aspect_ratio ? image::crop_to_ratio(pixels, height, width) : pixels, height,
        width, options.interpolation);
  return options.data_format == "channels_first" ? image::channels_first(out) : out;
}

ImageDataset image_dataset_from_directory(const std::filesystem::path& directory,
                                          const ImageDatasetOptions& options) {
  require(options.subset != "both",
          "subset \"both\": call image_datasets_from_directory, which returns both");
  require(options.subset.empty() || options.subset == "training" || options.subset == "validation",
          "`subset` must be either \"training\" or \"validation\", received: ", options.subset);
  check(options);
  const uint64_t seed = options.seed ? *options.seed : next_seed();
  const Files files =
      part_of(ordered(directory, options, seed), directory, options, options.subset);
  return dataset_of(files, options, options.shuffle ? std::optional(seed) : std::nullopt);
}

std::pair<ImageDataset, ImageDataset> image_datasets_from_directory(
    const std::filesystem::path& directory, const ImageDatasetOptions& options) {
  ImageDatasetOptions both = options;
  both.subset = "both";
  check(both);
  const uint64_t seed = options.seed ? *options.seed : next_seed();
  const Files all = ordered(directory, both, seed);
  const Files train = part_of(all, directory, both, "training");
  const Files validation = part_of(all, directory, both, "validation");
  return {dataset_of(train, both, options.shuffle ? std::optional(seed) : std::nullopt),
          dataset_of(validation, both, std::nullopt)};
}

}  // namespace keratin

#include "keratin/cli/data.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

using Path = std::filesystem::path;

std::string suffix_of(const Path& path) {
  std::string suffix = path.extension().string();
  for (char& c : suffix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return suffix;
}

bool is_image(const Path& path) {
  const std::string suffix = suffix_of(path);
  return suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg" || suffix == ".bmp" ||
         suffix == ".gif";
}
bool is_csv(const Path& path) { return suffix_of(path) == ".csv"; }

std::string outline(const std::vector<Slot>& slots) {
  std::string out;
  for (const Slot& slot : slots)
    out += text(out.empty() ? "'" : ", '", slot.name, "' ", keras_shape(slot.shape));
  return out;
}

std::vector<Slot> slots_of(const std::vector<SymbolicTensor>& tensors,
                           const std::vector<std::string>& names) {
  std::vector<Slot> slots;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto* input = dynamic_cast<const InputLayer*>(tensors[i].layer().get());
    slots.push_back(
        {names[i], tensors[i].shape(), tensors[i].dtype(), input != nullptr && input->optional()});
  }
  return slots;
}

// True if the first line names the columns: one of its cells is not a number.
bool has_header(const Path& path) {
  std::ifstream file(path);
  std::string line;
  while (line.empty() && std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
  }
  for (std::string cell : split(line, ',')) {
    std::erase_if(cell, [](char c) { return c == ' ' || c == '\t' || c == '+'; });
    double value = 0;
    const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || stop != cell.data() + cell.size()) return true;
  }
  return false;
}

CsvTable read_table(const Path& path) { return read_csv(path, {.header = has_header(path)}); }

// Rows of a table are flat; the model may want them in another shape of as many numbers.
Tensor unflattened(const Tensor& table, const Shape& wanted) {
  if (wanted.rank() == 0 || table.shape().rank() != 2) return table;
  Dims dims = wanted.dims();
  dims[0] = table.shape()[0];
  const bool known = std::none_of(dims.begin(), dims.end(), [](int64_t d) { return d == unknown; });
  return known && Shape(dims).count(1, wanted.rank()) == table.shape()[1] ? table.reshape(dims)
                                                                          : table;
}

// Images in a batch, resized to what the input takes.
Tensor read_images(const std::vector<std::string>& paths, const Slot& slot, double scale) {
  require(slot.shape.rank() == 4 || slot.shape.rank() == 0, "input '", slot.name, "' takes ",
          keras_shape(slot.shape), ", not images: expected (None, height, width, channels)");
  LoadImageOptions options;
  if (slot.shape.rank() == 4) {
    const int64_t channels = slot.shape[3];
    require(channels == 1 || channels == 3 || channels == 4, "input '", slot.name, "' takes ",
            keras_shape(slot.shape), ", not images: expected 1, 3 or 4 channels at the end");
    options.color_mode = channels == 1 ? "grayscale" : channels == 3 ? "rgb" : "rgba";
    if (slot.shape[1] != unknown && slot.shape[2] != unknown)
      options.image_size = {slot.shape[1], slot.shape[2]};
  }
  Tensor batch;
  for (size_t i = 0; i < paths.size(); ++i) {
    const Tensor image = load_image(paths[i], options);
    Dims dims = image.shape().dims();
    dims.insert(dims.begin(), static_cast<int64_t>(paths.size()));
    if (i == 0) batch = Tensor(DType::f32, dims);
    require(batch.shape() == Shape(dims), paths[i], ": an image of another size than ", paths[0],
            ", and the model takes any: resize them, or predict one at a time");
    std::memcpy(batch.buffer().data() + i * image.bytes(), image.raw(), image.bytes());
  }
  for (float& pixel : batch.data<float>()) pixel *= static_cast<float>(scale);
  return batch;
}

// The only array of a file.
Tensor read_one(const std::string& path, const Slot& slot, double scale) {
  if (is_image(path)) return read_images({path}, slot, scale);
  if (is_csv(path)) return unflattened(read_table(path).values, slot.shape);
  if (suffix_of(path) == ".npy") return read_npy(path);
  require(suffix_of(path) == ".npz", path,
          ": expected data in .npy, .npz, .csv or an image (.png, .jpg, .bmp, .gif)");
  Arrays arrays = read_npz(path);
  if (const auto named = arrays.find(slot.name); named != arrays.end()) return named->second;
  require(arrays.size() == 1, path, ": has ", arrays.size(), " arrays, and none is named '",
          slot.name, "'");
  return arrays.begin()->second;
}

std::string names_in(const Arrays& arrays) {
  std::string out;
  for (const auto& [name, tensor] : arrays) out += text(out.empty() ? "'" : ", '", name, "'");
  return out.empty() ? "nothing" : out;
}

// What came for each slot.
using Found = std::vector<std::optional<Tensor>>;

void take_arrays(const std::string& path, const std::vector<Slot>& slots, char letter,
                 bool required, Found& found) {
  const Arrays arrays = read_npz(path);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor* array = find_array(arrays, slots, i, letter);
    require(array != nullptr || !required || slots[i].optional, path, ": no array for '",
            slots[i].name, "'; there is ", names_in(arrays), ", and the model has ",
            outline(slots));
    if (array != nullptr) found[i] = fitted(*array, slots[i], path);
  }
}

// --input NAME=FILE, or FILE alone where there is one slot.
void take_named(const std::vector<std::string>& given, const std::vector<Slot>& slots,
                const std::string& option, double scale, Found& found) {
  std::vector<std::string> known;
  for (const Slot& slot : slots) known.push_back(slot.name);
  for (const std::string& word : given) {
    auto [name, path] = named_file(word);
    if (name.empty() && slots.size() == 1) name = slots[0].name;
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end())
      throw UsageError(text("--", option, " '", word,
                            "': expected NAME=FILE, where NAME is one of ", outline(slots),
                            suggestion(name, known)));
    const auto i = static_cast<size_t>(at - known.begin());
    found[i] = fitted(read_one(path, slots[i], scale), slots[i], path);
  }
}

std::vector<Tensor> complete(const Found& found, const std::vector<Slot>& slots,
                             const std::string& what) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < slots.size(); ++i) {
    require(found[i] || slots[i].optional, "no data for the ", what, " '", slots[i].name,
            "'; the model has ", outline(slots));
    out.push_back(found[i].value_or(Tensor()));
  }
  return out;
}

void take_data(const std::vector<std::string>& data, const std::vector<Slot>& slots, double scale,
               Found& found) {
  if (data.empty()) return;
  const auto all_images = std::all_of(data.begin(), data.end(), is_image);
  if (data.size() > 1 && !all_images)
    throw UsageError("several DATA are images alone; name others by --input NAME=FILE");
  if (suffix_of(data[0]) == ".npz") return take_arrays(data[0], slots, 'x', false, found);
  if (slots.size() != 1)
    throw UsageError(text("the model has ", slots.size(), " inputs (", outline(slots),
                          "): give an .npz, or --input NAME=FILE for each"));
  found[0] = all_images ? fitted(read_images(data, slots[0], scale), slots[0], data[0])
                        : fitted(read_one(data[0], slots[0], scale), slots[0], data[0]);
}

std::vector<Tensor> inputs_from(const Model& model, const Arguments& arguments,
                                const std::vector<std::string>& data) {
  const std::vector<Slot> slots = input_slots(model);
  const double scale = arguments.number("scale");
  if (data.empty() && arguments.all("input").empty()) throw UsageError("DATA is missing");
  Found found(slots.size());
  take_data(data, slots, scale, found);
  take_named(arguments.all("input"), slots, "input", scale, found);
  return complete(found, slots, "input");
}

// The columns that are targets: by name or number, or the last one.
std::vector<size_t> label_columns(const CsvTable& table, const std::string& path,
                                  const std::string& asked) {
  const auto columns = static_cast<size_t>(table.values.shape()[1]);
  if (asked.empty()) return {columns - 1};
  std::vector<size_t> out;
  for (const std::string& word : split(asked, ',')) {
    const auto named = std::find(table.names.begin(), table.names.end(), word);
    size_t column = static_cast<size_t>(named - table.names.begin());
    if (named == table.names.end()) {
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), column);
      require(error == std::errc() && stop == word.data() + word.size() && column < columns, path,
              ": no column '", word, "'", suggestion(word, table.names));
    }
    out.push_back(column);
  }
  return out;
}

Tensor columns_of(const Tensor& table, const std::vector<size_t>& columns) {
  const int64_t rows = table.shape()[0], width = table.shape()[1];
  Tensor out(DType::f64, {rows, static_cast<int64_t>(columns.size())});
  for (int64_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < columns.size(); ++i)
      out.set(row * out.shape()[1] + static_cast<int64_t>(i),
              table.at(row * width + static_cast<int64_t>(columns[i])));
  return out;
}

// A table has inputs and targets side by side.
Batch samples_of_table(const Model& model, const Arguments& arguments, const std::string& path) {
  const std::vector<Slot> inputs = input_slots(model);
  if (inputs.size() != 1 || output_slots(model).size() != 1)
    throw UsageError("a table is for models of one input and one output; give an .npz");
  const CsvTable table = read_table(path);
  const std::vector<size_t> labels = label_columns(table, path, arguments.text("labels"));
  std::vector<size_t> others;
  for (size_t i = 0; i < static_cast<size_t>(table.values.shape()[1]); ++i)
    if (std::find(labels.begin(), labels.end(), i) == labels.end()) others.push_back(i);
  require(!others.empty(), path, ": every column is a target; none is left for the input");
  const Tensor x = unflattened(columns_of(table.values, others), inputs[0].shape);
  return {packed_inputs(model, {fitted(x, inputs[0], path)}),
          columns_of(table.values, labels).cast(DType::f32)};
}

// Targets may have a shape of their own, by the loss: only doubles become floats.
std::vector<Slot> target_slots(const Model& model) {
  std::vector<Slot> slots = output_slots(model);
  for (Slot& slot : slots) {
    slot.shape = {};
    slot.dtype = {};
  }
  return slots;
}

}  // namespace

Positional data_argument() {
  return {.name = "DATA",
          .help = "an .npy, .npz or .csv file, or images (.png, .jpg, .bmp, .gif)",
          .optional = true,
          .repeats = true};
}

std::vector<Option> input_options() {
  return {{.name = "input",
           .value = "[NAME=]FILE",
           .help = "data for one input of several",
           .letter = 'i',
           .repeats = true},
          {.name = "scale",
           .value = "FACTOR",
           .help = "what pixels of images, from 0 to 255, are multiplied by",
           .fallback = "1",
           .kind = Kind::number,
           .min = std::numeric_limits<double>::lowest()}};
}

std::vector<Option> target_options() {
  return {{.name = "target",
           .value = "[NAME=]FILE",
           .help = "targets for one output",
           .letter = 't',
           .repeats = true},
          {.name = "labels",
           .value = "COLUMNS",
           .help = "the columns of a .csv that are targets, by name or number from 0, with commas; "
                   "without it, the last one"}};
}

std::vector<Slot> input_slots(const Model& model) {
  if (model.functional() == nullptr) return {{.name = "x"}};
  return slots_of(model.inputs(), input_names(model));
}

std::vector<Slot> output_slots(const Model& model) {
  if (model.functional() == nullptr) return {{.name = "y"}};
  return slots_of(model.outputs(), output_names(model));
}

const Tensor* find_array(const Arrays& arrays, const std::vector<Slot>& slots, size_t slot,
                         char letter) {
  for (const std::string& name :
       {slots[slot].name, text(letter, '_', slot), slots.size() == 1 ? text(letter) : ""})
    if (const auto found = arrays.find(name); found != arrays.end()) return &found->second;
  return nullptr;
}

// As in Keras, a model whose batch is fixed takes others where its layers do.
bool fits(const Shape& shape, const Shape& wanted) {
  if (wanted.rank() == 0) return true;
  bool fits = shape.rank() == wanted.rank();
  for (int64_t axis = 1; fits && axis < shape.rank(); ++axis)
    fits = wanted[axis] == unknown || shape[axis] == wanted[axis];
  return fits;
}

Tensor fitted(const Tensor& tensor, const Slot& slot, const std::string& where) {
  require(fits(tensor.shape(), slot.shape), where, ": '", slot.name, "' takes ",
          keras_shape(slot.shape), ", got ", keras_shape(tensor.shape()));
  const DType fallback = tensor.dtype() == DType::f64 ? DType::f32 : tensor.dtype();
  const DType wanted = slot.dtype.value_or(fallback);
  return tensor.dtype() == wanted ? tensor : tensor.cast(wanted);
}

std::optional<int64_t> fixed_batch(const Model& model) {
  std::optional<int64_t> size;
  for (const Slot& slot : input_slots(model)) {
    if (slot.shape.rank() == 0 || slot.shape[0] == unknown) return {};
    if (size && *size != slot.shape[0]) return {};
    size = slot.shape[0];
  }
  return size == 0 ? std::nullopt : size;
}

int64_t batch_size(const Model& model, const Arguments& arguments) {
  if (!arguments.given("batch-size"))
    if (const auto fixed = fixed_batch(model)) return *fixed;
  return arguments.integer("batch-size");
}

bool is_in_samples(const Batch& all) {
  std::optional<int64_t> rows;
  bool same = true;
  all.each([&](const Tensor& t) {
    if (!t.defined()) return;
    const int64_t own = t.shape().rank() == 0 ? -1 : t.shape()[0];
    if (!rows) rows = own;
    same = same && own >= 0 && own == *rows;
  });
  return same;
}

Data as_data(const Batch& all) {
  if (is_in_samples(all)) return all;
  return Dataset::from_generator(
      [all] {
        return [all, given = false]() mutable -> std::optional<Batch> {
          if (std::exchange(given, true)) return std::nullopt;
          return all;
        };
      },
      1);
}

Tree<Tensor> outputs_for(const Model& model, const Tree<Tensor>& x, int64_t batch_size,
                         const std::function<void(int64_t, int64_t)>& watch) {
  if (!is_in_samples({x})) return model.predict_on_batch(x);
  if (!watch) return model.predict(x, {.batch_size = batch_size});
  const int64_t batches = (Batch{x}.size() + batch_size - 1) / batch_size;
  int64_t done = 0;
  return model.predict(Dataset::from_tensors(x).batch(batch_size).map([&](Batch batch) {
    watch(++done, batches);
    return batch;
  }));
}

Tree<Tensor> packed_inputs(const Model& model, const std::vector<Tensor>& tensors) {
  if (model.functional() == nullptr) return tensors[0];
  size_t next = 0;
  return model.input().map<Tensor>([&](const SymbolicTensor&) -> Tree<Tensor> {
    const Tensor& tensor = tensors[next++];
    return tensor.defined() ? Tree<Tensor>(tensor) : Tree<Tensor>();
  });
}

Tree<Tensor> read_inputs(const Model& model, const Arguments& arguments) {
  return packed_inputs(model, inputs_from(model, arguments, arguments.files("DATA")));
}

Batch read_samples(const Model& model, const Arguments& arguments) {
  const std::vector<std::string>& data = arguments.files("DATA");
  const std::vector<std::string>& targets = arguments.all("target");
  if (data.size() == 1 && is_csv(data[0]) && targets.empty())
    return samples_of_table(model, arguments, data[0]);
  const std::vector<Slot> slots = target_slots(model);
  Found found(slots.size());
  if (data.size() == 1 && suffix_of(data[0]) == ".npz")
    take_arrays(data[0], slots, 'y', targets.empty(), found);
  take_named(targets, slots, "target", 1, found);
  std::vector<Tensor> y;
  if (std::none_of(found.begin(), found.end(), [](const auto& t) { return t.has_value(); }))
    throw UsageError("no targets: give an .npz with them, or --target [NAME=]FILE");
  y = complete(found, slots, "output");
  return {packed_inputs(model, inputs_from(model, arguments, data)),
          y.size() == 1 ? Tree<Tensor>(y[0]) : Tree<Tensor>(y)};
}

}  // namespace keratin::cli

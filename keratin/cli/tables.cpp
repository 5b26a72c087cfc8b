#include "keratin/cli/tables.h"

#include <charconv>
#include <cmath>

#include "keratin/cli/models.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// Nested lists from `begin` on, of the axes from `axis` on.
Json nested(const Tensor& tensor, int64_t axis, int64_t begin) {
  const Shape& shape = tensor.shape();
  if (axis == shape.rank()) return number_json(tensor, begin);
  const int64_t stride = shape.count(axis + 1, shape.rank());
  Json out = Json::array();
  for (int64_t i = 0; i < shape[axis]; ++i)
    out.push_back(nested(tensor, axis + 1, begin + i * stride));
  return out;
}

int64_t width_of(const Tensor& tensor) {
  return tensor.shape().rank() == 0 ? 1 : tensor.shape().count(1, tensor.shape().rank());
}

std::string cell(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

int64_t rows_in(const Tensor& tensor) { return tensor.shape().rank() == 0 ? 1 : tensor.shape()[0]; }

std::string csv_of(const Outputs& outputs) {
  for (size_t i = 1; i < outputs.tensors.size(); ++i)
    require(rows_in(outputs.tensors[i]) == rows_in(outputs.tensors[0]), "the output '",
            outputs.names[i], "' has ", rows_in(outputs.tensors[i]), " rows, and '",
            outputs.names[0], "' has ", rows_in(outputs.tensors[0]),
            ": a table has as many of each; write .json or .npz");
  const char* comma = "";
  std::string out;
  for (size_t i = 0; i < outputs.names.size(); ++i) {
    const int64_t width = width_of(outputs.tensors[i]);
    for (int64_t column = 0; column < width; ++column, comma = ",")
      out += text(comma, cell(width == 1 ? outputs.names[i] : text(outputs.names[i], '_', column)));
  }
  out += '\n';
  for (int64_t row = 0; row < rows_in(outputs.tensors.at(0)); ++row) {
    comma = "";
    for (const Tensor& tensor : outputs.tensors)
      for (int64_t column = 0; column < width_of(tensor); ++column, comma = ",")
        out.append(comma).append(number_text(tensor, row * width_of(tensor) + column));
    out += '\n';
  }
  return out;
}

Json json_of(const Outputs& outputs) {
  Json out = Json::object();
  for (size_t i = 0; i < outputs.names.size(); ++i)
    out[outputs.names[i]] = nested(outputs.tensors[i], 0, 0);
  return Json::Object{{"outputs", out}};
}

// NumPy has no bfloat16; f32 holds all of it.
Tensor storable(const Tensor& tensor) {
  return tensor.dtype() == DType::bf16 ? tensor.cast(DType::f32) : tensor;
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

std::string number_text(const Tensor& tensor, int64_t position) {
  const double value = tensor.at(position);
  if (tensor.dtype() == DType::f64) return shortest(value);
  if (is_float(tensor.dtype())) return shortest(static_cast<float>(value));
  return std::to_string(static_cast<int64_t>(value));
}

Json number_json(const Tensor& tensor, int64_t position) {
  if (!is_float(tensor.dtype())) return static_cast<int64_t>(tensor.at(position));
  const std::string text = number_text(tensor, position);
  double value = tensor.at(position);
  if (std::isfinite(value)) std::from_chars(text.data(), text.data() + text.size(), value);
  return finite_json(value);
}

TableFormat table_format(const std::string& path, bool json) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (path.empty() || path == "-") return json ? TableFormat::json : TableFormat::csv;
  if (suffix == ".csv") return TableFormat::csv;
  if (suffix == ".json") return TableFormat::json;
  if (suffix == ".npy") return TableFormat::npy;
  if (suffix == ".npz") return TableFormat::npz;
  throw UsageError(text("--output must end in .npy, .npz, .csv or .json, got '", path, "'"));
}

void write_table(const Outputs& outputs, TableFormat format, const std::string& path) {
  if (format == TableFormat::csv) return write_text(path, csv_of(outputs));
  if (format == TableFormat::json) return write_text(path, json_of(outputs).dump() + '\n');
  if (format == TableFormat::npy) {
    require(outputs.tensors.size() == 1, path, ": an .npy holds one array, and the model has ",
            outputs.tensors.size(), " outputs; write an .npz");
    return write_npy(path, storable(outputs.tensors[0]));
  }
  std::map<std::string, Tensor> arrays;
  for (size_t i = 0; i < outputs.names.size(); ++i)
    arrays.emplace(outputs.names[i], storable(outputs.tensors[i]));
  write_npz(path, arrays);
}

}  // namespace keratin::cli

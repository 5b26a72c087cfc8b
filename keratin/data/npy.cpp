#include "keratin/data/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/data/npy_strings.h"
#include "keratin/files/zip.h"

namespace keratin {
namespace {

using Bytes = std::string_view;

struct DTypeName {
  std::string_view name;  // without the byte order's character
  DType dtype;
};
constexpr std::array<DTypeName, 8> dtype_names = {{{"f8", DType::f64},
                                                   {"f4", DType::f32},
                                                   {"f2", DType::f16},
                                                   {"i1", DType::i8},
                                                   {"u1", DType::u8},
                                                   {"i4", DType::i32},
                                                   {"i8", DType::i64},
                                                   {"b1", DType::boolean}}};

// The text after 'key': in the header, which is a Python dict of literals.
Bytes member(Bytes header, std::string_view key, const std::string& who) {
  const std::string quoted = text("'", key, "'");
  const size_t at = header.find(quoted);
  require(at != Bytes::npos, who, ": the header has no ", quoted);
  const size_t colon = header.find(':', at + quoted.size());
  require(colon != Bytes::npos, who, ": the header is damaged at ", quoted);
  const size_t begin = header.find_first_not_of(' ', colon + 1);
  require(begin != Bytes::npos, who, ": the header is damaged at ", quoted);
  return header.substr(begin);
}

Dims read_dims(Bytes tuple, const std::string& who) {
  require(!tuple.empty() && tuple[0] == '(', who, ": expected a tuple as shape");
  Dims dims;
  size_t at = 1;
  const auto skip = [&] {
    while (at < tuple.size() && (tuple[at] == ' ' || tuple[at] == ',')) ++at;
  };
  for (skip(); at < tuple.size() && tuple[at] != ')'; skip()) {
    int64_t dim = 0;
    const size_t begin = at;
    for (; at < tuple.size() && tuple[at] >= '0' && tuple[at] <= '9'; ++at) {
      require(at - begin < 18, who, ": a dimension of the shape is too large");
      dim = dim * 10 + (tuple[at] - '0');
    }
    require(at > begin, who, ": the shape is damaged");
    dims.push_back(dim);
    require(dims.size() <= 32, who, ": too many dimensions");
  }
  require(at < tuple.size(), who, ": the shape is damaged");
  return dims;
}

void swap_bytes(Tensor& tensor) {
  const size_t size = size_of(tensor.dtype());
  auto* bytes = static_cast<char*>(tensor.raw());
  for (size_t i = 0; i < tensor.bytes(); i += size) std::reverse(bytes + i, bytes + i + size);
}

// Converts column-major order to row-major.
Tensor row_major(const Tensor& columns, const Dims& dims) {
  Tensor rows(columns.dtype(), dims);
  const size_t size = size_of(columns.dtype());
  Dims at(dims.size(), 0), steps(dims.size(), 1);
  for (size_t i = 1; i < dims.size(); ++i) steps[i] = steps[i - 1] * dims[i - 1];
  for (int64_t to = 0; to < rows.count(); ++to) {
    int64_t from = 0;
    for (size_t i = 0; i < dims.size(); ++i) from += at[i] * steps[i];
    std::memcpy(rows.buffer().data() + static_cast<size_t>(to) * size,
                columns.buffer().data() + static_cast<size_t>(from) * size, size);
    for (size_t i = dims.size(); i-- > 0;) {
      if (++at[i] < dims[i]) break;
      at[i] = 0;
    }
  }
  return rows.own_strings();
}

Tensor parse_npy(const files::FileView& file) {
  const Bytes bytes = files::as_text(file.bytes());
  const std::string& who = file.name();
  require(bytes.size() >= 10 && bytes.substr(0, 6) == "\x93NUMPY", who,
          ": expected a file of NumPy's .npy format");
  const int version = static_cast<unsigned char>(bytes[6]);
  require(version >= 1 && version <= 3, who, ": unknown version ", version, " of .npy");
  files::Cursor at(file.bytes(), who, "the header", 8);
  const size_t length = version == 1 ? at.u16() : at.u32();
  const size_t begin = at.at();
  require(length <= bytes.size() - begin, who, ": the header is longer than the file");
  const Bytes header = bytes.substr(begin, length), data = bytes.substr(begin + length);

  const Bytes descr = member(header, "descr", who);
  require(descr.size() > 2 && descr[0] == '\'' && descr.find('\'', 1) != Bytes::npos, who,
          ": expected one dtype; records are not read");
  const Bytes type = descr.substr(1, descr.find('\'', 1) - 1);
  std::optional<DType> dtype;
  for (const DTypeName& known : dtype_names)
    if (type.size() > 1 && type.substr(1) == known.name) dtype = known.dtype;
  const bool fortran = member(header, "fortran_order", who).substr(0, 4) == "True";
  const Dims dims = read_dims(member(header, "shape", who), who);
  const Shape shape(dims);
  if (const auto strings = read_npy_strings(type, shape, data, who))
    return fortran && dims.size() > 1 ? row_major(*strings, dims) : *strings;
  require(dtype.has_value(), who, ": the dtype '", type, "' is not read");
  require(static_cast<size_t>(shape.count()) <= data.size() / size_of(*dtype), who, ": the shape ",
          shape, " needs more data than the file has");
  Tensor tensor(*dtype, shape);
  if (tensor.bytes() > 0) std::memcpy(tensor.raw(), data.data(), tensor.bytes());
  if (type[0] == '>') swap_bytes(tensor);
  if (*dtype == DType::boolean)
    for (int64_t i = 0; i < tensor.count(); ++i) {
      auto& byte = static_cast<uint8_t*>(tensor.raw())[i];
      byte = byte != 0 ? 1 : 0;
    }
  return fortran && dims.size() > 1 ? row_major(tensor, dims) : tensor;
}

// Everything before the elements.
std::string npy_header(const Tensor& tensor) {
  std::string name;
  for (const DTypeName& known : dtype_names)
    if (known.dtype == tensor.dtype())
      name = text(size_of(tensor.dtype()) == 1 ? '|' : '<', known.name);
  if (tensor.dtype() == DType::string) name = npy_string_type(tensor);
  require(!name.empty(), "NumPy has no dtype for ", tensor.dtype(), "; cast the tensor first");
  std::string shape;
  for (const int64_t dim : tensor.shape().dims()) shape += std::to_string(dim) + ", ";
  if (shape.size() > 2 && tensor.shape().rank() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape().rank() == 1) shape.resize(shape.size() - 1);
  std::string header =
      text("{'descr': '", name, "', 'fortran_order': False, 'shape': (", shape, "), }");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  return out;
}

void write_npy(files::Sink& sink, const Tensor& tensor) {
  sink.write(files::as_bytes(npy_header(tensor)));
  if (tensor.dtype() == DType::string) return write_npy_strings(sink, tensor);
  sink.write({tensor.buffer().data(), tensor.bytes()});
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) { return parse_npy(files::map_file(path)); }

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  files::AtomicFile file(path);
  write_npy(file, tensor);
  file.commit();
}

// An .npz is a zip of .npy files.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  const files::ZipReader zip(files::map_file(path));
  std::map<std::string, Tensor> out;
  for (const files::ZipEntry& entry : zip.entries()) {
    std::string name = entry.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    require(out.emplace(name, parse_npy(zip.read(entry))).second, path.string(), ": '", name,
            "' occurs twice");
  }
  return out;
}

void write_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors) {
  files::ZipWriter zip(path);
  for (const auto& [name, tensor] : tensors) write_npy(zip.begin(name + ".npy"), tensor);
  zip.commit();
}

}  // namespace keratin

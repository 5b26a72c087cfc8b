#include "keratin/data/npy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace keratin {
namespace {

using Bytes = std::string_view;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path.string(), ": the file cannot be opened");
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  require(!file.bad(), path.string(), ": the file cannot be read");
  return bytes;
}

// Numbers in a file are little-endian, and so are all machines we run on.
template <class T>
T number(Bytes bytes, size_t at, const std::string& who) {
  require(at <= bytes.size() && bytes.size() - at >= sizeof(T), who, ": the file ends too early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct DTypeName {
  std::string_view name;  // after the sign of the byte order
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

// The value behind 'key': in the header, a Python dict of literals.
Bytes member(Bytes header, std::string_view key, const std::string& who) {
  const std::string quoted = "'" + std::string(key) + "'";
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

// From column-major to row-major.
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
  return rows;
}

Tensor parse_npy(Bytes bytes, const std::string& who) {
  require(bytes.size() >= 10 && bytes.substr(0, 6) == "\x93NUMPY", who,
          ": expected a file of NumPy's .npy format");
  const int version = bytes[6];
  require(version >= 1 && version <= 3, who, ": unknown version ", version, " of .npy");
  const size_t length =
      version == 1 ? number<uint16_t>(bytes, 8, who) : number<uint32_t>(bytes, 8, who);
  const size_t begin = version == 1 ? 10 : 12;
  require(length <= bytes.size() - begin, who, ": the header is longer than the file");
  const Bytes header = bytes.substr(begin, length), data = bytes.substr(begin + length);

  const Bytes descr = member(header, "descr", who);
  require(descr.size() > 2 && descr[0] == '\'' && descr.find('\'', 1) != Bytes::npos, who,
          ": expected one dtype; records are not read");
  const Bytes type = descr.substr(1, descr.find('\'', 1) - 1);
  std::optional<DType> dtype;
  for (const DTypeName& known : dtype_names)
    if (type.size() > 1 && type.substr(1) == known.name) dtype = known.dtype;
  require(dtype.has_value(), who, ": the dtype '", type, "' is not read");
  const bool fortran = member(header, "fortran_order", who).substr(0, 4) == "True";
  const Dims dims = read_dims(member(header, "shape", who), who);
  const Shape shape(dims);
  require(static_cast<size_t>(shape.count()) <= data.size() / size_of(*dtype), who, ": the shape ",
          shape, " needs more data than the file has");
  Tensor tensor(*dtype, shape);
  std::memcpy(tensor.raw(), data.data(), tensor.bytes());
  if (type[0] == '>') swap_bytes(tensor);
  if (*dtype == DType::boolean)
    for (int64_t i = 0; i < tensor.count(); ++i) {
      auto& byte = static_cast<uint8_t*>(tensor.raw())[i];
      byte = byte != 0 ? 1 : 0;
    }
  return fortran && dims.size() > 1 ? row_major(tensor, dims) : tensor;
}

std::string npy_bytes(const Tensor& tensor) {
  std::string_view name;
  for (const DTypeName& known : dtype_names)
    if (known.dtype == tensor.dtype()) name = known.name;
  require(!name.empty(), "NumPy has no dtype for ", tensor.dtype(), "; cast the tensor first");
  std::string shape;
  for (const int64_t dim : tensor.shape().dims()) shape += std::to_string(dim) + ", ";
  if (shape.size() > 2 && tensor.shape().rank() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape().rank() == 1) shape.resize(shape.size() - 1);
  std::string header = text("{'descr': '", size_of(tensor.dtype()) == 1 ? '|' : '<', name,
                            "', 'fortran_order': False, 'shape': (", shape, "), }");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  return out;
}

// To the disk, whole or not at all.
void write_file(const std::filesystem::path& path, const std::string& bytes) {
  const std::filesystem::path beside = path.string() + ".part";
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  require(file >= 0, path.string(), ": cannot be written");
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t some = ::write(file, bytes.data() + done, bytes.size() - done);
    if (some <= 0) break;
    done += static_cast<size_t>(some);
  }
  const bool safe = done == bytes.size() && ::fsync(file) == 0;
  ::close(file);
  std::error_code error;
  if (safe) std::filesystem::rename(beside, path, error);
  if (!safe || error) std::filesystem::remove(beside);
  require(safe && !error, path.string(), ": cannot be written");
}

uint32_t crc32(Bytes bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  uint32_t crc = ~0u;
  for (const char b : bytes) crc = table[(crc ^ static_cast<uint8_t>(b)) & 255] ^ (crc >> 8);
  return ~crc;
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

constexpr uint32_t local_sign = 0x04034b50, central_sign = 0x02014b50, end_sign = 0x06054b50;

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  return parse_npy(read_file(path), path.string());
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_file(path, npy_bytes(tensor));
}

// An .npz is a zip of .npy files. Its directory is at the end; entries are stored as they are.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path) {
  const std::string file = read_file(path), who = path.string();
  const Bytes bytes = file;
  size_t end = bytes.size() < 22 ? Bytes::npos : bytes.size() - 22;
  while (end != Bytes::npos && number<uint32_t>(bytes, end, who) != end_sign)
    end = end == 0 || bytes.size() - end > 65557 ? Bytes::npos : end - 1;
  require(end != Bytes::npos, who, ": expected a zip file, as numpy.savez writes");
  const auto count = number<uint16_t>(bytes, end + 10, who);
  size_t at = number<uint32_t>(bytes, end + 16, who);
  std::map<std::string, Tensor> out;
  for (int i = 0; i < count; ++i) {
    require(number<uint32_t>(bytes, at, who) == central_sign, who,
            ": the zip's directory is damaged");
    const auto method = number<uint16_t>(bytes, at + 10, who);
    const auto crc = number<uint32_t>(bytes, at + 16, who);
    const size_t size = number<uint32_t>(bytes, at + 24, who);
    const size_t name_size = number<uint16_t>(bytes, at + 28, who);
    const size_t extra = number<uint16_t>(bytes, at + 30, who);
    const size_t comment = number<uint16_t>(bytes, at + 32, who);
    const size_t local = number<uint32_t>(bytes, at + 42, who);
    require(at + 46 + name_size <= bytes.size(), who, ": the zip's directory is damaged");
    std::string name(bytes.substr(at + 46, name_size));
    at += 46 + name_size + extra + comment;
    require(method == 0, who, ": '", name, "' is compressed; save it with numpy.savez instead");
    require(number<uint32_t>(bytes, local, who) == local_sign, who, ": '", name, "' is damaged");
    const size_t begin = local + 30 + number<uint16_t>(bytes, local + 26, who) +
                         number<uint16_t>(bytes, local + 28, who);
    require(begin <= bytes.size() && size <= bytes.size() - begin, who, ": '", name,
            "' is longer than the file");
    const Bytes data = bytes.substr(begin, size);
    require(crc32(data) == crc, who, ": '", name, "' is damaged: its checksum differs");
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    require(out.emplace(name, parse_npy(data, who + ": '" + name + "'")).second, who, ": '", name,
            "' is there twice");
  }
  return out;
}

void write_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors) {
  std::string out, directory;
  require(tensors.size() < 65535, path.string(), ": too many arrays for one file");
  for (const auto& [key, tensor] : tensors) {
    const std::string name = key + ".npy", data = npy_bytes(tensor);
    require(out.size() + data.size() < 0xffffffffu, path.string(),
            ": more than 4 GiB do not fit into this format");
    const auto local = static_cast<uint32_t>(out.size());
    std::string common;  // the part both headers share
    put<uint16_t>(common, 20);
    put<uint16_t>(common, 0x800);  // names are UTF-8
    put<uint16_t>(common, 0);      // stored
    put<uint32_t>(common, 0x00210000);
    put<uint32_t>(common, crc32(data));
    put<uint32_t>(common, static_cast<uint32_t>(data.size()));
    put<uint32_t>(common, static_cast<uint32_t>(data.size()));
    put<uint16_t>(common, static_cast<uint16_t>(name.size()));
    put<uint16_t>(common, 0);
    put(out, local_sign);
    out += common + name + data;
    put(directory, central_sign);
    put<uint16_t>(directory, 20);
    directory += common;
    put<uint16_t>(directory, 0);
    put<uint16_t>(directory, 0);
    put<uint16_t>(directory, 0);
    put<uint32_t>(directory, 0);
    put(directory, local);
    directory += name;
  }
  const auto directory_at = static_cast<uint32_t>(out.size());
  out += directory;
  put(out, end_sign);
  put<uint32_t>(out, 0);
  put(out, static_cast<uint16_t>(tensors.size()));
  put(out, static_cast<uint16_t>(tensors.size()));
  put(out, static_cast<uint32_t>(directory.size()));
  put(out, directory_at);
  put<uint16_t>(out, 0);
  write_file(path, out);
}

}  // namespace keratin

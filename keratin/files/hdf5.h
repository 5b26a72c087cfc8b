#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/files/mapped_file.h"

// Reads HDF5 files without trusting them: the subset that libhdf5 writes for Keras, and nothing
// outside of the file. docs/design/0009 describes the subset and why Keratin has its own reader.
namespace keratin::hdf5 {

struct Limits {
  size_t objects = 1 << 20;  // links in the file
  size_t depth = 256;        // groups within groups
  // A compressed dataset may unpack to the larger of this and `ratio` times its size in the file.
  uint64_t unpacked = uint64_t{256} << 20;
  uint64_t ratio = 100;
  bool checksums = true;  // false only in fuzzers, which damage files on purpose
};

class Contents;
struct Node;

// The value of an attribute or a dataset: numbers or strings.
class Value {
 public:
  explicit Value(Tensor numbers) : dims_(numbers.shape().dims()), data_(std::move(numbers)) {}
  Value(Dims dims, std::vector<std::string> strings)
      : dims_(std::move(dims)), data_(std::move(strings)) {}

  const Dims& dims() const { return dims_; }
  bool is_string() const { return data_.index() == 1; }
  // A UserError if the value is of the other kind.
  const Tensor& tensor() const;
  const std::vector<std::string>& strings() const;
  const std::string& string() const;  // an error unless there is exactly one

 private:
  Dims dims_;
  std::variant<Tensor, std::vector<std::string>> data_;
};

// The base of groups and datasets. Objects keep their file alive; they are not safe to use from
// several threads at a time.
class Object {
 public:
  Object(std::shared_ptr<const Contents> file, const Node& node)
      : file_(std::move(file)), node_(&node) {}

  std::string path() const;
  std::vector<std::string> attribute_names() const;
  bool has_attribute(std::string_view name) const;
  Value attribute(std::string_view name) const;
  // A list of strings, which Keras splits into attributes name0, name1, … above 64 KiB.
  std::vector<std::string> strings(std::string_view name) const;

 protected:
  template <class... Parts>
  void check(bool condition, const Parts&... parts) const;

  std::shared_ptr<const Contents> file_;
  const Node* node_;
};

class Dataset : public Object {
 public:
  using Object::Object;

  // The declared shape; the data is known to fit in the file.
  Dims dims() const;
  bool is_string() const;
  // The dtype of tensors from this dataset; an error for strings. Integers that Keratin lacks
  // become the next wider ones; two opaque bytes are a bfloat16.
  DType dtype() const;

  // The values, sharing the file's memory if they need no conversion.
  Tensor view() const;
  // The values, copied: later changes of the file do not matter.
  Tensor read() const;
  Value value() const;
};

class Group : public Object {
 public:
  using Object::Object;

  // The members' names, in the order of creation if the file keeps it, else sorted.
  const std::vector<std::string>& names() const;
  // Paths are relative to the group: "layers/dense/vars".
  bool has_group(std::string_view path) const;
  bool has_dataset(std::string_view path) const;
  Group group(std::string_view path) const;
  Dataset dataset(std::string_view path) const;

 private:
  const Node* find(std::string_view path) const;
};

class File {
 public:
  // Reads and checks the structure of the whole file; throws UserError if it is damaged. Data is
  // read when it is used.
  explicit File(files::FileView file, Limits limits = {});
  explicit File(const std::filesystem::path& path, Limits limits = {})
      : File(files::map_file(path), limits) {}

  Group root() const;

 private:
  std::shared_ptr<const Contents> contents_;
};

}  // namespace keratin::hdf5

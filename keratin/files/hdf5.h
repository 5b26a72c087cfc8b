#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "keratin/base/text.h"
#include "keratin/files/mapped_file.h"

// HDF5 files, read without trust: what libhdf5 writes for Keras, and nothing that leads out of the
// file. docs/design/0009 says what the subset is and why the reader is ours.
namespace keratin::hdf5 {

struct Limits {
  size_t objects = 1 << 20;  // links in the file
  size_t depth = 256;        // groups within groups
  // A compressed dataset may unpack to this much, or to `ratio` times its size in the file.
  uint64_t unpacked = uint64_t{256} << 20;
  uint64_t ratio = 100;
  bool checksums = true;  // false only where damage is the purpose
};

class Contents;
struct Node;

// An attribute, or the contents of a dataset: numbers or strings.
class Value {
 public:
  explicit Value(Tensor numbers) : dims_(numbers.shape().dims()), data_(std::move(numbers)) {}
  Value(Dims dims, std::vector<std::string> texts)
      : dims_(std::move(dims)), data_(std::move(texts)) {}

  const Dims& dims() const { return dims_; }
  bool is_text() const { return data_.index() == 1; }
  // Each is a UserError when the other is there.
  const Tensor& tensor() const;
  const std::vector<std::string>& texts() const;
  const std::string& text() const;  // exactly one

 private:
  Dims dims_;
  std::variant<Tensor, std::vector<std::string>> data_;
};

// What groups and datasets share. Objects keep their file alive; one thread at a time may use them.
class Object {
 public:
  Object(std::shared_ptr<const Contents> file, const Node& node)
      : file_(std::move(file)), node_(&node) {}

  std::string path() const;
  std::vector<std::string> attribute_names() const;
  bool has_attribute(std::string_view name) const;
  Value attribute(std::string_view name) const;
  // A list that may be in pieces name0, name1, …, as Keras splits what is over 64 KiB.
  std::vector<std::string> texts(std::string_view name) const;

 protected:
  template <class... Parts>
  void check(bool condition, const Parts&... parts) const;

  std::shared_ptr<const Contents> file_;
  const Node* node_;
};

class Dataset : public Object {
 public:
  using Object::Object;

  // As the file declares them, whose size is known to fit in the file; strings have no dtype.
  Dims dims() const;
  bool is_text() const;
  // Integers that Keratin lacks become the next wider ones; two opaque bytes are a bfloat16.
  DType dtype() const;

  // Over the file itself where the data lies there as Keratin wants it; else converted.
  Tensor view() const;
  // In memory of its own: what others do to the file later does not matter.
  Tensor read() const;
  Value value() const;
};

class Group : public Object {
 public:
  using Object::Object;

  // In the order of creation where the file keeps it, else by name.
  const std::vector<std::string>& names() const;
  // Paths lead down: "layers/dense/vars".
  bool has_group(std::string_view path) const;
  bool has_dataset(std::string_view path) const;
  Group group(std::string_view path) const;
  Dataset dataset(std::string_view path) const;

 private:
  const Node* find(std::string_view path) const;
};

class File {
 public:
  // Reads every group; a UserError when one is not as it should be. Data is left for later.
  explicit File(files::FileView file, Limits limits = {});
  explicit File(const std::filesystem::path& path, Limits limits = {})
      : File(files::map_file(path), limits) {}

  Group root() const;

 private:
  std::shared_ptr<const Contents> contents_;
};

}  // namespace keratin::hdf5

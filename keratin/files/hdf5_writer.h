#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "keratin/files/atomic_file.h"
#include "keratin/tensor/tensor.h"

namespace keratin::hdf5 {

// How strings are stored. h5py reads `variable` strings, which may have any length, as str, and
// `fixed` ones, of which an attribute holds 64 KiB, as bytes. Old versions of Keras 2 expect bytes.
enum class StringKind { variable, fixed };

// The attributes of a group or dataset that is to be written. Setting one again replaces it.
class NewObject {
 public:
  void attribute(const std::string& name, const Tensor& value);
  void attribute(const std::string& name, const std::string& value,
                 StringKind kind = StringKind::variable);
  void attribute(const std::string& name, const std::vector<std::string>& values,
                 StringKind kind = StringKind::fixed);
  // Writes a list as Keras does: split into name0, name1, … if one attribute cannot hold it.
  void strings(const std::string& name, const std::vector<std::string>& values);

 protected:
  friend class Layout;

  struct Attribute {
    Tensor numbers;
    std::vector<std::string> strings;
    bool is_string = false, scalar = false;
    StringKind kind = StringKind::variable;
  };
  std::map<std::string, Attribute> attributes_;
};

class NewDataset : public NewObject {
 private:
  friend class Layout;
  friend class NewGroup;
  Tensor tensor_;
};

class NewGroup : public NewObject {
 public:
  // The group at a path such as "layers/dense/vars". Missing groups on the path are made.
  NewGroup& group(const std::string& path);
  // The tensor is shared, not copied.
  NewDataset& dataset(const std::string& path, Tensor tensor);

 private:
  friend class Layout;
  // The group that contains the object of a path, and the object's name.
  NewGroup& parent_of(const std::string& path, std::string& name);

  std::map<std::string, std::unique_ptr<NewGroup>> groups_;
  std::map<std::string, NewDataset> datasets_;
};

// Writes an HDF5 file: the tree is made in memory, and then written in one stream. Tensors begin at
// multiples of 64 bytes.
class Writer {
 public:
  NewGroup& root() { return root_; }
  void write(files::Sink& sink) const;
  void save(const std::filesystem::path& path) const;

 private:
  NewGroup root_;
};

}  // namespace keratin::hdf5

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "keratin/files/atomic_file.h"
#include "keratin/tensor/tensor.h"

namespace keratin::hdf5 {

// How strings are stored. h5py gives `variable` ones of any length back as str, and `fixed` ones,
// of which an attribute holds 64 KiB, as bytes; Keras 2 of old wants bytes.
enum class Text { variable, fixed };

// What groups and datasets of a file to be written share: their attributes. Setting one again
// replaces it.
class NewObject {
 public:
  void attribute(const std::string& name, const Tensor& value);
  void attribute(const std::string& name, const std::string& value, Text text = Text::variable);
  void attribute(const std::string& name, const std::vector<std::string>& values,
                 Text text = Text::fixed);
  // As Keras does: in pieces name0, name1, … when an attribute cannot hold all.
  void texts(const std::string& name, const std::vector<std::string>& values);

 protected:
  friend class Layout;

  struct Attribute {
    Tensor numbers;
    std::vector<std::string> texts;
    bool is_text = false, scalar = false;
    Text text = Text::variable;
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
  // The group at the path, "layers/dense/vars"; made, with those above it, where missing.
  NewGroup& group(const std::string& path);
  // The tensor is shared, not copied.
  NewDataset& dataset(const std::string& path, Tensor tensor);

 private:
  friend class Layout;
  // Where a path ends, and the name left over there.
  NewGroup& parent_of(const std::string& path, std::string& name);

  std::map<std::string, std::unique_ptr<NewGroup>> groups_;
  std::map<std::string, NewDataset> datasets_;
};

// An HDF5 file to be written: first the tree, in memory, then all of it in one stream. Tensors
// start at multiples of 64 bytes.
class Writer {
 public:
  NewGroup& root() { return root_; }
  void write(files::Sink& sink) const;
  void save(const std::filesystem::path& path) const;

 private:
  NewGroup root_;
};

}  // namespace keratin::hdf5

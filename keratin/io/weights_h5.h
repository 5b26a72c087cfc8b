#pragma once

#include <optional>
#include <unordered_map>

#include "keratin/files/hdf5.h"
#include "keratin/files/hdf5_writer.h"
#include "keratin/io/weights.h"

namespace keratin::io {

// Keras 3's tree of weights in HDF5: each object has a group with numbered variables.
class H5Weights final : public WeightSource {
 public:
  explicit H5Weights(files::FileView file) : root_(hdf5::File(std::move(file)).root()) {}
  size_t count(const std::string& group) const override;
  bool has(const std::string& group, const std::string& name) const override;
  Dims dims(const std::string& group, const std::string& name) const override;
  Tensor read(const std::string& group, const std::string& name) const override;
  std::string group_of(const std::string& object) const override;
  // The name of a group's object; "" if the file has no names.
  std::string name_in(const std::string& group) const;

 private:
  // The path of a group in the file. Keras 2 on Windows joined paths with backslashes, which are
  // part of the name in HDF5: "layers\\dense/vars".
  std::string path_in_file(const std::string& group) const;

  hdf5::Group root_;
  // Groups by the names of their objects, "" if two objects share one. Computed on first use.
  mutable std::optional<std::unordered_map<std::string, std::string>> by_name_;
};

void write_weights(hdf5::NewGroup& root, const std::vector<SavedObject>& objects);
void write_variable(hdf5::NewGroup& group, const std::string& name, const Tensor& value);

}  // namespace keratin::io

#pragma once

#include <optional>
#include <unordered_map>

#include "keratin/files/hdf5.h"
#include "keratin/files/hdf5_writer.h"
#include "keratin/io/weights.h"

namespace keratin::io {

// Keras 3's tree of weights in HDF5: a group of numbered variables for every object.
class H5Weights final : public WeightSource {
 public:
  explicit H5Weights(files::FileView file) : root_(hdf5::File(std::move(file)).root()) {}
  size_t count(const std::string& group) const override;
  bool has(const std::string& group, const std::string& name) const override;
  Dims dims(const std::string& group, const std::string& name) const override;
  Tensor read(const std::string& group, const std::string& name) const override;
  std::string group_of(const std::string& object) const override;
  // What the object of a group is called; "" where names are not kept.
  std::string name_in(const std::string& group) const;

 private:
  // As the file has it: Keras 2 on Windows joined the parts of a path by backslashes, which are
  // parts of names in HDF5: "layers\\dense/vars".
  std::string place_of(const std::string& group) const;

  hdf5::Group root_;
  // Groups by the names of their objects, "" where two share one; made when first asked for.
  mutable std::optional<std::unordered_map<std::string, std::string>> by_name_;
};

void write_weights(hdf5::NewGroup& root, const std::vector<SavedObject>& objects);
void write_variable(hdf5::NewGroup& group, const std::string& name, const Tensor& value);

}  // namespace keratin::io

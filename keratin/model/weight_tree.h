#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/files/hdf5.h"
#include "keratin/files/hdf5_writer.h"
#include "keratin/io/saved_objects.h"

namespace keratin {

// A weight in a file, or a new one.
class StoredWeight {
 public:
  StoredWeight(Tensor value) : value_(std::move(value)) {}  // NOLINT
  explicit StoredWeight(hdf5::Dataset stored) : stored_(std::move(stored)) {}

  Shape shape() const { return stored_ ? Shape(stored_->dims()) : value_.shape(); }
  DType dtype() const { return stored_ ? stored_->dtype() : value_.dtype(); }
  // It may share the memory of the file.
  Tensor value() const { return stored_ ? stored_->view() : value_; }

 private:
  std::optional<hdf5::Dataset> stored_;
  Tensor value_;
};

// "2" before "10".
struct NumberOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

// The objects of a file of Keras 3's weights, as a tree.
struct WeightNode {
  std::string name;  // of the object, if the file has it: a layer's
  std::map<std::string, StoredWeight, NumberOrder> weights;
  std::vector<std::pair<std::string, std::unique_ptr<WeightNode>>> children;

  WeightNode* child(std::string_view key) const;
  // The child of that name, which is made if there is none.
  WeightNode& make_child(const std::string& key);
  // Whether it has no weight, nor any object in it.
  bool empty() const;
  // The names of its objects and weights.
  std::vector<std::string> keys() const;
};

WeightNode weight_tree(const hdf5::Group& root, const std::string& where);
// The tree that a file of these objects has. The weights have the shapes of the variables alone.
WeightNode weight_tree(const std::vector<io::SavedObject>& objects);
void write_weight_tree(const WeightNode& node, const std::string& path, hdf5::NewGroup& root);

}  // namespace keratin

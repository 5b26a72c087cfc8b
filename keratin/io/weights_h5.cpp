#include "keratin/io/weights_h5.h"

#include <algorithm>

namespace keratin::io {

std::string H5Weights::path_in_file(const std::string& group) const {
  const size_t end = group.rfind('/');
  if (root_.has_group(group) || end == std::string::npos) return group;
  std::string of_windows = group;
  std::replace(of_windows.begin(), of_windows.begin() + static_cast<std::ptrdiff_t>(end), '/',
               '\\');
  return root_.has_group(of_windows) ? of_windows : group;
}

size_t H5Weights::count(const std::string& group) const {
  const std::string path = path_in_file(group);
  return root_.has_group(path) ? root_.group(path).names().size() : 0;
}
bool H5Weights::has(const std::string& group, const std::string& name) const {
  return root_.has_dataset(path_in_file(group) + '/' + name);
}
Dims H5Weights::dims(const std::string& group, const std::string& name) const {
  return root_.dataset(path_in_file(group) + '/' + name).dims();
}
Tensor H5Weights::read(const std::string& group, const std::string& name) const {
  return root_.dataset(path_in_file(group) + '/' + name).read();
}

std::string H5Weights::name_in(const std::string& group) const {
  const std::string path = path_in_file(group);
  if (!root_.has_group(path)) return {};
  const hdf5::Group found = root_.group(path);
  return found.has_attribute("name") ? found.attribute("name").string() : std::string();
}

std::string H5Weights::group_of(const std::string& object) const {
  if (!by_name_) {
    by_name_.emplace();
    std::vector<std::string> pending{""};
    while (!pending.empty()) {
      const std::string path = std::move(pending.back());
      pending.pop_back();
      const hdf5::Group group = path.empty() ? root_ : root_.group(path);
      if (path.ends_with("vars") && group.has_attribute("name") && !group.names().empty()) {
        const auto [entry, added] = by_name_->emplace(group.attribute("name").string(), path);
        if (!added) entry->second.clear();
      }
      for (const std::string& name : group.names()) {
        const std::string below = path.empty() ? name : text(path, '/', name);
        if (root_.has_group(below)) pending.push_back(below);
      }
    }
  }
  const auto found = by_name_->find(object);
  return found == by_name_->end() ? std::string() : found->second;
}

void write_variable(hdf5::NewGroup& group, const std::string& name, const Tensor& value) {
  hdf5::NewDataset& dataset = group.dataset(name, value);
  // HDF5 has no bfloat16: Keras writes raw bytes, and their dtype into an attribute.
  if (value.dtype() == DType::bf16) dataset.attribute("dtype", "bfloat16");
}

void write_weights(hdf5::NewGroup& root, const std::vector<SavedObject>& objects) {
  for (const SavedObject& object : objects) {
    hdf5::NewGroup& group = root.group(object.group());
    group.attribute("name", object.name);
    for (size_t i = 0; i < object.variables.size(); ++i)
      write_variable(group, std::to_string(i), object.value(i));
    if (object.layer == nullptr) continue;
    for (const auto& [name, value] : object.layer->assets().tensors)
      write_variable(group, name, value);
  }
}

}  // namespace keratin::io

#include "keratin/distribute/layout.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <ostream>
#include <regex>
#include <set>

#include "keratin/base/text.h"

namespace keratin::distribute {
namespace {

// (2, 4), ('batch', 'model'), (None, 'model')
std::string tuple(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return '(' + out + (items.size() == 1 ? ",)" : ")");
}

std::string tuple(const Dims& sizes) {
  std::vector<std::string> items;
  for (const int64_t size : sizes) items.push_back(std::to_string(size));
  return tuple(items);
}

std::string quoted(const std::string& name) { return '\'' + name + '\''; }

std::string tuple_of_names(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(quoted(name));
  return tuple(items);
}

std::string tuple_of_axes(const TensorLayout::Axes& axes) {
  std::vector<std::string> items;
  for (const auto& axis : axes) items.push_back(axis ? quoted(*axis) : "None");
  return tuple(items);
}

template <class Names>
std::string set_of_names(const Names& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + quoted(name);
  return '{' + out + '}';
}

}  // namespace

std::vector<std::string> list_devices(std::optional<std::string> device_type) {
  if (!device_type) device_type = keratin::devices(Device::Kind::gpu).empty() ? "cpu" : "gpu";
  for (char& c : *device_type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  require(*device_type == "cpu" || *device_type == "gpu",
          "list_devices: device_type must be 'cpu' or 'gpu', got '", *device_type, "'");
  std::vector<std::string> names;
  for (const Device device :
       keratin::devices(*device_type == "gpu" ? Device::Kind::gpu : Device::Kind::cpu))
    names.push_back(text(device));
  return names;
}

int64_t get_device_count(std::optional<std::string> device_type) {
  return static_cast<int64_t>(list_devices(std::move(device_type)).size());
}

DeviceMesh::DeviceMesh(const DeviceMeshOptions& options)
    : shape_(options.shape), axis_names_(options.axis_names) {
  const std::string received =
      text("shape=", tuple(shape_), ", axis_names=", tuple_of_names(axis_names_));
  require(!shape_.empty() && !axis_names_.empty(),
          "Shape and axis_names cannot be empty. Received: ", received);
  require(shape_.size() == axis_names_.size(),
          "Shape and axis_names should have same size. Received: ", received);
  const auto count = static_cast<int64_t>(options.devices.size());
  require(std::accumulate(shape_.begin(), shape_.end(), int64_t{1}, std::multiplies<>()) == count,
          "Shape does not match the number of devices. Received: shape=", tuple(shape_),
          "; devices.shape=", tuple(Dims{count}));
  const std::set<std::string> different(axis_names_.begin(), axis_names_.end());
  require(different.size() == axis_names_.size(),
          "The axis_names of a DeviceMesh must differ. Received: ", received);
  const std::vector<Device> here = keratin::devices();
  for (const std::string& name : options.devices) {
    const auto device = parse_device(name);
    require(device && std::find(here.begin(), here.end(), *device) != here.end(),
            "DeviceMesh: there is no device '", name, "'; there are ", here.size(),
            ", the last is ", here.back());
    require(std::find(devices_.begin(), devices_.end(), *device) == devices_.end(),
            "DeviceMesh: the device '", name, "' is listed twice");
    devices_.push_back(*device);
  }
}

size_t DeviceMesh::index_of(const std::string& axis) const {
  const auto found = std::find(axis_names_.begin(), axis_names_.end(), axis);
  require(found != axis_names_.end(), "the mesh has the axes ", tuple_of_names(axis_names_),
          ", not '", axis, "'");
  return static_cast<size_t>(found - axis_names_.begin());
}

int64_t DeviceMesh::size_of(const std::string& axis) const { return shape_[index_of(axis)]; }

Device DeviceMesh::at(const Dims& position) const {
  int64_t index = 0;
  for (size_t i = 0; i < shape_.size(); ++i) index = index * shape_[i] + position[i];
  return devices_[static_cast<size_t>(index)];
}

std::optional<Dims> DeviceMesh::position_of(Device device) const {
  const auto found = std::find(devices_.begin(), devices_.end(), device);
  if (found == devices_.end()) return std::nullopt;
  int64_t index = found - devices_.begin();
  Dims position(shape_.size());
  for (size_t i = shape_.size(); i-- > 0; index /= shape_[i]) position[i] = index % shape_[i];
  return position;
}

std::vector<Device> DeviceMesh::along(const std::string& axis) const {
  const size_t index = index_of(axis);
  Dims position(shape_.size(), 0);
  std::vector<Device> found;
  for (int64_t& i = position[index]; i < shape_[index]; ++i) found.push_back(at(position));
  return found;
}

std::ostream& operator<<(std::ostream& out, const DeviceMesh& mesh) {
  return out << "<DeviceMesh shape=" << tuple(mesh.shape())
             << ", axis_names=" << tuple_of_names(mesh.axis_names()) << '>';
}

TensorLayout::TensorLayout(Axes axes, std::optional<DeviceMesh> mesh)
    : axes_(std::move(axes)), mesh_(std::move(mesh)) {
  check_axes();
}

void TensorLayout::set_device_mesh(DeviceMesh mesh) {
  require(!mesh_, "Cannot override device mesh value. Existing value is ",
          mesh_ ? text(*mesh_) : "");
  mesh_ = std::move(mesh);
  check_axes();
}

void TensorLayout::check_axes() const {
  if (!mesh_) return;
  std::set<std::string> valid(mesh_->axis_names().begin(), mesh_->axis_names().end()), got;
  for (const auto& axis : axes_)
    if (axis) got.insert(*axis);
  require(std::includes(valid.begin(), valid.end(), got.begin(), got.end()),
          "Invalid axis names for Layout. Valid axis names: ", set_of_names(valid), ", Got ",
          set_of_names(got));
}

std::ostream& operator<<(std::ostream& out, const TensorLayout& layout) {
  out << "<TensorLayout axes=" << tuple_of_axes(layout.axes()) << ", device_mesh=";
  if (!layout.device_mesh()) return out << "None>";
  return out << *layout.device_mesh() << '>';
}

std::vector<std::string> LayoutMap::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, layout] : entries_) keys.push_back(key);
  return keys;
}

void LayoutMap::set(const std::string& key, TensorLayout layout) {
  for (const auto& [known, value] : entries_)
    require(known != key, key, " already exist in the LayoutMap with value ", value,
            ". Please make sure to not use duplicated keys.");
  try {
    std::regex{key};
  } catch (const std::regex_error& error) {
    fail("LayoutMap: the key '", key, "' is no regular expression: ", error.what());
  }
  if (!layout.device_mesh()) layout.set_device_mesh(mesh_);
  entries_.emplace_back(key, std::move(layout));
}

void LayoutMap::erase(const std::string& key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  require(found != entries_.end(), "LayoutMap: there is no key '", key, "'");
  entries_.erase(found);
}

std::optional<TensorLayout> LayoutMap::find(const std::string& path) const {
  std::vector<std::string> matching;
  std::optional<TensorLayout> match;
  for (const auto& [key, layout] : entries_) {
    if (key == path) return layout;
    if (!std::regex_match(path, std::regex(key))) continue;
    matching.push_back(key);
    match = layout;
  }
  std::string listed;
  for (const std::string& key : matching) listed += (listed.empty() ? "" : ", ") + quoted(key);
  require(matching.size() <= 1, "Path '", path, "' matches multiple layout specification keys: [",
          listed,
          "]. Please make sure each tensor/variable path only matches at most one layout "
          "specification key in the LayoutMap.");
  return match;
}

}  // namespace keratin::distribute

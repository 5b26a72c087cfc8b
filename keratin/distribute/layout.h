#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/engine/devices.h"
#include "keratin/tensor/shape.h"

// Meshes of devices and layouts of tensors on them, in the words of keras.distribution.
namespace keratin::distribute {

// The names of the devices of a type, "cpu" or "gpu". Default: GPUs if there are any, or else the
// CPU's.
KERATIN_API std::vector<std::string> list_devices(std::optional<std::string> device_type = {});
KERATIN_API int64_t get_device_count(std::optional<std::string> device_type = {});

struct DeviceMeshOptions {
  Dims shape;                           // e.g. {2, 4}
  std::vector<std::string> axis_names;  // one per axis, e.g. {"batch", "model"}
  std::vector<std::string> devices = list_devices();
};

// Devices as a grid with named axes.
class KERATIN_API DeviceMesh {
 public:
  explicit DeviceMesh(const DeviceMeshOptions& options);

  const Dims& shape() const { return shape_; }
  const std::vector<std::string>& axis_names() const { return axis_names_; }
  const std::vector<Device>& devices() const { return devices_; }  // row by row

  // The number of devices along an axis, which the mesh must have.
  int64_t size_of(const std::string& axis) const;
  // The first device of each step along an axis.
  std::vector<Device> along(const std::string& axis) const;
  // The index of an axis; the device at a position, which has a number per axis; and its inverse.
  size_t index_of(const std::string& axis) const;
  Device at(const Dims& position) const;
  std::optional<Dims> position_of(Device device) const;  // none if not in the mesh

  bool operator==(const DeviceMesh&) const = default;

 private:
  Dims shape_;
  std::vector<std::string> axis_names_;
  std::vector<Device> devices_;
};
KERATIN_API std::ostream& operator<<(std::ostream& out, const DeviceMesh& mesh);

// Along which axis of the mesh each axis of a tensor is cut; none for an axis that is whole.
class KERATIN_API TensorLayout {
 public:
  using Axes = std::vector<std::optional<std::string>>;

  TensorLayout(Axes axes, std::optional<DeviceMesh> mesh = {});  // NOLINT
  TensorLayout(std::initializer_list<std::optional<std::string>> axes) : TensorLayout(Axes(axes)) {}

  const Axes& axes() const { return axes_; }
  const std::optional<DeviceMesh>& device_mesh() const { return mesh_; }
  void set_device_mesh(DeviceMesh mesh);  // once

  bool operator==(const TensorLayout&) const = default;

 private:
  void check_axes() const;

  Axes axes_;
  std::optional<DeviceMesh> mesh_;
};
KERATIN_API std::ostream& operator<<(std::ostream& out, const TensorLayout& layout);

// Layouts by the paths of variables, "encoder/dense/kernel", and of outputs of layers,
// "encoder/dense/output": keys are paths, or regular expressions that match a whole path.
class KERATIN_API LayoutMap {
 public:
  explicit LayoutMap(DeviceMesh mesh) : mesh_(std::move(mesh)) {}

  const DeviceMesh& device_mesh() const { return mesh_; }
  size_t size() const { return entries_.size(); }
  std::vector<std::string> keys() const;

  // A new key; a layout without a mesh gets this one.
  void set(const std::string& key, TensorLayout layout);
  void erase(const std::string& key);
  // The layout of the key that equals the path, or else of the one key whose expression matches it.
  std::optional<TensorLayout> find(const std::string& path) const;

 private:
  DeviceMesh mesh_;
  std::vector<std::pair<std::string, TensorLayout>> entries_;  // in the order they were set
};

}  // namespace keratin::distribute

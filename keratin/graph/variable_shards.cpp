#include "keratin/graph/variable_shards.h"

#include <cstring>

#include "keratin/base/text.h"

namespace keratin {
namespace {

// Calls f(bytes of the whole, bytes of the shard, count) for each run of bytes of a shard that
// begins at `begin` along an axis.
template <class F>
void each_run(const Tensor& whole, const Tensor& shard, int64_t axis, int64_t begin, F f) {
  const auto bytes_from = [](const Tensor& t, int64_t first) {
    return static_cast<size_t>(t.shape().count(first, t.shape().rank())) * size_of(t.dtype());
  };
  const size_t step = bytes_from(whole, axis), bytes = bytes_from(shard, axis);
  auto* in_whole = static_cast<std::byte*>(whole.raw()) +
                   static_cast<size_t>(begin) * bytes_from(whole, axis + 1);
  auto* in_shard = static_cast<std::byte*>(shard.raw());
  for (int64_t i = 0; bytes > 0 && i < whole.shape().count(0, axis); ++i)
    f(in_whole + static_cast<size_t>(i) * step, in_shard + static_cast<size_t>(i) * bytes, bytes);
}

}  // namespace

// Writes only bytes that differ, so that several threads may read while nothing changes.
void gather(const VariableShards& from, const Tensor& whole) {
  int64_t begin = 0;
  for (const Variable& shard : from.shards) {
    each_run(whole, shard.value(), *from.axis, begin,
             [](void* to, const void* bytes, size_t count) {
               if (std::memcmp(to, bytes, count) != 0) std::memcpy(to, bytes, count);
             });
    begin += shard.shape()[*from.axis];
  }
}

void scatter(const Tensor& whole, const VariableShards& to) {
  const int64_t axis = to.axis.value_or(0);
  int64_t begin = 0;
  for (const Variable& shard : to.shards) {
    Tensor value(whole.dtype(), shard.shape());
    each_run(whole, value, axis, begin,
             [](const void* from, void* bytes, size_t count) { std::memcpy(bytes, from, count); });
    shard.take(value);
    if (!to.mirrored()) begin += shard.shape()[axis];
  }
}

Device VariableShards::device_for(Device lead, size_t shard) const {
  for (const auto& [first, devices] : peers)
    if (first == lead) return devices[shard];
  return lead;
}

std::vector<Device> VariableShards::devices() const {
  std::vector<Device> all;
  for (const Variable& shard : shards) all.push_back(shard.device());
  return all;
}

namespace {

// Replaces the storage of a whole variable by a shard of the given shape on each of the devices. If
// memory runs out, nothing changes.
void store_in_shards(const Variable& variable, VariableShards shards, const Shape& shape,
                     const std::vector<Device>& devices) {
  // A copy: the variable's own value is replaced below.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const Tensor whole = variable.value();
  VariableSpec spec = variable.spec();
  spec.shape = shape;
  for (size_t j = 0; j < devices.size(); ++j) {
    spec.device = devices[j];
    shards.shards.push_back(make_shard(spec));
    shards.shards.back().set_path(text(variable.path(), '[', j, ']'));
  }
  scatter(whole, shards);
  set_shards(variable, std::move(shards));
}

}  // namespace

void shard_variable(const Variable& variable, int64_t axis, const std::vector<Device>& devices,
                    std::vector<std::pair<Device, std::vector<Device>>> peers) {
  const Shape& shape = variable.shape();
  const auto count = static_cast<int64_t>(devices.size());
  require(axis >= 0 && axis < shape.rank() && count > 0 && shape[axis] % count == 0, "variable '",
          variable.path(), "': axis ", axis, " of ", shape, " cannot be cut into ", count,
          " equal shards");
  Dims dims = shape.dims();
  dims[static_cast<size_t>(axis)] /= count;
  store_in_shards(variable, {axis, {}, std::move(peers)}, Shape(dims), devices);
}

void mirror_variable(const Variable& variable, const std::vector<Device>& devices) {
  store_in_shards(variable, {}, variable.shape(), devices);
}

namespace {

// How a variable is stored: on a device, or in shards, or mirrored; each shard in turn.
struct StorageLayout {
  Device device;
  std::optional<int64_t> axis = {};
  std::vector<std::pair<Device, std::vector<Device>>> peers = {};
  std::vector<StorageLayout> shards = {};
  bool operator==(const StorageLayout&) const = default;
};

StorageLayout layout_of(const Variable& variable) {
  StorageLayout layout{variable.device()};
  if (const VariableShards* sharded = shards_of(variable)) {
    layout.axis = sharded->axis;
    layout.peers = sharded->peers;
    for (const Variable& shard : sharded->shards) layout.shards.push_back(layout_of(shard));
  }
  return layout;
}

void store_as(const Variable& variable, const StorageLayout& layout) {
  if (layout.shards.empty()) return variable.move_to(layout.device);
  std::vector<Device> devices;
  for (const StorageLayout& shard : layout.shards) devices.push_back(shard.device);
  if (!layout.axis) return mirror_variable(variable, devices);
  shard_variable(variable, *layout.axis, devices, layout.peers);
  for (size_t j = 0; j < devices.size(); ++j)
    store_as(shards_of(variable)->shards[j], layout.shards[j]);
}

}  // namespace

void store_like(const Variable& variable, const Variable& other) {
  store_as(variable, layout_of(other));
}

void move_all_or_none(const std::vector<Variable>& variables,
                      const std::function<void()>& move_all) {
  std::vector<StorageLayout> before;
  for (const Variable& variable : variables) before.push_back(layout_of(variable));
  try {
    move_all();
  } catch (...) {
    for (size_t i = variables.size(); i-- > 0;)
      if (layout_of(variables[i]) != before[i]) store_as(variables[i], before[i]);
    throw;
  }
}

}  // namespace keratin

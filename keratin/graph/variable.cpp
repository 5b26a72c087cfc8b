#include "keratin/graph/variable.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "keratin/base/text.h"
#include "keratin/graph/variable_parts.h"
#include "keratin/tensor/known_devices.h"
#include "keratin/tensor/resident_copy.h"

namespace keratin {
namespace {

std::atomic<uint64_t> seed_stream{0x6b65726174696eULL};
std::atomic<uint64_t> move_count = 0;

// SplitMix64: consecutive counters become unrelated seeds.
uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
constexpr uint64_t seed_step = 0x9e3779b97f4a7c15ULL;

void require_home(Device device, const std::string& path) {
  if (device != Device{}) require_device(device, text("variable '", path, "'"));
}

// Calls f(bytes of the whole, bytes of the part, how many) for each run of a part that begins at
// some place along an axis.
template <class F>
void each_run(const Tensor& whole, const Tensor& part, int64_t axis, int64_t begin, F f) {
  const auto bytes_from = [](const Tensor& t, int64_t first) {
    return static_cast<size_t>(t.shape().count(first, t.shape().rank())) * size_of(t.dtype());
  };
  const size_t step = bytes_from(whole, axis), bytes = bytes_from(part, axis);
  auto* theirs = static_cast<std::byte*>(whole.raw()) +
                 static_cast<size_t>(begin) * bytes_from(whole, axis + 1);
  auto* mine = static_cast<std::byte*>(part.raw());
  for (int64_t i = 0; bytes > 0 && i < whole.shape().count(0, axis); ++i)
    f(theirs + static_cast<size_t>(i) * step, mine + static_cast<size_t>(i) * bytes, bytes);
}

// Writes what has changed, so that several threads may look while nothing does.
void gather(const VariableParts& cut, const Tensor& whole) {
  int64_t begin = 0;
  for (const Variable& part : cut.parts) {
    each_run(whole, part.value(), *cut.axis, begin, [](void* to, const void* from, size_t bytes) {
      if (std::memcmp(to, from, bytes) != 0) std::memcpy(to, from, bytes);
    });
    begin += part.shape()[*cut.axis];
  }
}

void scatter(const Tensor& whole, const VariableParts& cut) {
  const int64_t axis = cut.axis.value_or(0);
  int64_t begin = 0;
  for (const Variable& part : cut.parts) {
    Tensor mine(whole.dtype(), part.shape());
    each_run(whole, mine, axis, begin,
             [](const void* from, void* to, size_t bytes) { std::memcpy(to, from, bytes); });
    part.take(mine);
    if (!cut.mirrored()) begin += part.shape()[axis];
  }
}

}  // namespace

void set_random_seed(uint64_t seed) { seed_stream = scramble(seed); }

uint64_t next_seed() { return scramble(seed_stream.fetch_add(seed_step)); }

Variable::Data::~Data() = default;

Variable::Variable(VariableSpec spec) : data_(std::make_shared<Data>()) {
  require(spec.shape.known(), "variable '", spec.name, "': expected a known shape, got ",
          spec.shape);
  data_->spec = std::move(spec);
  if (!data_->spec.device) data_->spec.device = DeviceScope::current().value_or(Device{});
  data_->path = data_->spec.name;
  require_home(device(), path());
  data_->seed = next_seed();
}

Tensor Variable::Data::empty() const {
  const size_t bytes = static_cast<size_t>(spec.shape.count()) * size_of(spec.dtype);
  try {
    return Tensor(spec.dtype, spec.shape, Buffer::allocate(bytes, *spec.device));
  } catch (const BackendError& error) {
    throw BackendError(text("variable '", path, "': ", error.what()));
  }
}

// Tensors are made on cpu:0.
Tensor Variable::Data::at_home(const Tensor& given) const {
  if (*spec.device == Device{}) return given;
  Tensor copy = empty();
  if (given.bytes() > 0) std::memcpy(copy.raw(), given.raw(), given.bytes());
  return copy;
}

uint64_t Variable::moves() { return move_count; }

void Variable::move_to(Device device) const {
  if (device == this->device() && parts_of(*this) == nullptr) return;
  require_home(device, path());
  const Tensor old = value();
  const Device before = this->device();
  data_->spec.device = device;
  try {
    Tensor moved = data_->empty();
    if (old.bytes() > 0) std::memcpy(moved.raw(), old.raw(), old.bytes());
    data_->value = std::move(moved);
  } catch (...) {
    data_->spec.device = before;
    throw;
  }
  data_->parts.reset();
  ++move_count;
}

const Tensor& Variable::value() const {
  if (const VariableParts* cut = parts_of(*this)) {
    if (cut->mirrored()) return cut->parts[0].value();
    static std::recursive_mutex gathering;  // parts may be in parts
    const std::lock_guard guard(gathering);
    if (!data_->value.defined()) data_->value = Tensor::zeros(dtype(), shape());
    gather(*cut, data_->value);
    return data_->value;
  }
  data_->filled([&] {
    if (!data_->value.defined())
      data_->value = data_->at_home(
          data_->spec.initializer(data_->spec.shape, data_->spec.dtype, data_->seed));
  });
  copy_to_host(data_->value.raw());
  return data_->value;
}

void Variable::take(const Tensor& value) const {
  bool taken = false;
  if (value.shape() == shape() && value.dtype() == dtype())
    data_->filled([&] {
      data_->value = data_->at_home(value);
      taken = true;
    });
  if (!taken) assign(value);
}

void Variable::assign(const Tensor& value) const {
  require(value.shape() == shape(), "variable '", path(), "': expected shape ", shape(), ", got ",
          value.shape());
  const Tensor converted = value.dtype() == dtype() ? value : value.cast(dtype());
  if (const VariableParts* cut = parts_of(*this)) {
    scatter(converted, *cut);
    data_->value = Tensor();
    data_->spec.device = cut->parts[0].device();
    return;
  }
  data_->filled([&] { data_->value = data_->empty(); });
  copy_to_host(data_->value.raw());
  if (converted.bytes() > 0) std::memcpy(data_->value.raw(), converted.raw(), converted.bytes());
}

Device VariableParts::place(Device lead, size_t part) const {
  for (const auto& [leader, places] : peers)
    if (leader == lead) return places[part];
  return lead;
}

const VariableParts* parts_of(const Variable& variable) { return variable.data_->parts.get(); }

void set_parts(const Variable& variable, std::unique_ptr<VariableParts> parts) {
  variable.data_->parts = std::move(parts);
}

std::vector<Device> VariableParts::devices() const {
  std::vector<Device> all;
  for (const Variable& part : parts) all.push_back(part.device());
  return all;
}

namespace {

// Puts what `parts` says in place of a whole variable, a part on each of the devices.
void divide(const Variable& variable, VariableParts parts, const Shape& shape,
            const std::vector<Device>& devices) {
  const Tensor whole = variable.value();
  VariableSpec spec = variable.spec();
  spec.shape = shape;
  for (size_t j = 0; j < devices.size(); ++j) {
    spec.device = devices[j];
    parts.parts.emplace_back(spec).set_path(text(variable.path(), '[', j, ']'));
  }
  seed_stream.fetch_sub(seed_step * devices.size());  // nothing random was made
  scatter(whole, parts);  // may run out of memory, and then nothing has changed
  set_parts(variable, std::make_unique<VariableParts>(std::move(parts)));
  variable.assign(whole);  // gives the memory of the whole back
  ++move_count;
}

}  // namespace

void split(const Variable& variable, int64_t axis, const std::vector<Device>& devices,
           std::vector<std::pair<Device, std::vector<Device>>> peers) {
  const Shape& shape = variable.shape();
  const auto count = static_cast<int64_t>(devices.size());
  require(axis >= 0 && axis < shape.rank() && count > 0 && shape[axis] % count == 0, "variable '",
          variable.path(), "': axis ", axis, " of ", shape, " cannot be cut into ", count,
          " equal parts");
  Dims dims = shape.dims();
  dims[static_cast<size_t>(axis)] /= count;
  divide(variable, {axis, {}, std::move(peers)}, Shape(dims), devices);
}

void mirror(const Variable& variable, const std::vector<Device>& devices) {
  divide(variable, {}, variable.shape(), devices);
}

namespace {

// How a variable lies: on a device, or in parts, or mirrored, each part somehow.
struct Place {
  Device device;
  std::optional<int64_t> axis = {};
  std::vector<std::pair<Device, std::vector<Device>>> peers = {};
  std::vector<Place> parts = {};
  bool operator==(const Place&) const = default;
};

Place place_of(const Variable& variable) {
  Place place{variable.device()};
  if (const VariableParts* cut = parts_of(variable)) {
    place.axis = cut->axis;
    place.peers = cut->peers;
    for (const Variable& part : cut->parts) place.parts.push_back(place_of(part));
  }
  return place;
}

void lay(const Variable& variable, const Place& place) {
  if (place.parts.empty()) return variable.move_to(place.device);
  std::vector<Device> devices;
  for (const Place& part : place.parts) devices.push_back(part.device);
  if (!place.axis) return mirror(variable, devices);
  split(variable, *place.axis, devices, place.peers);
  for (size_t j = 0; j < devices.size(); ++j) lay(parts_of(variable)->parts[j], place.parts[j]);
}

}  // namespace

void lay_beside(const Variable& variable, const Variable& other) { lay(variable, place_of(other)); }

void lay_all_or_none(const std::vector<Variable>& variables, const std::function<void()>& lay_all) {
  std::vector<Place> before;
  for (const Variable& variable : variables) before.push_back(place_of(variable));
  try {
    lay_all();
  } catch (...) {
    for (size_t i = variables.size(); i-- > 0;)
      if (place_of(variables[i]) != before[i]) lay(variables[i], before[i]);
    throw;
  }
}

}  // namespace keratin

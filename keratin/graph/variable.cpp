#include "keratin/graph/variable.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "keratin/base/text.h"
#include "keratin/graph/next_seed.h"
#include "keratin/graph/variable_shards.h"
#include "keratin/tensor/known_devices.h"
#include "keratin/tensor/resident_copy.h"
#include "keratin/tensor/state_version.h"

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

void require_known(Device device, const std::string& path) {
  if (device != Device{}) require_device(device, text("variable '", path, "'"));
}

}  // namespace

void set_random_seed(uint64_t seed) { seed_stream = scramble(seed); }

uint64_t next_seed() { return scramble(seed_stream.fetch_add(seed_step)); }

Variable::Data::~Data() = default;

Variable::Variable(VariableSpec spec) : Variable(std::move(spec), next_seed) {}

Variable::Variable(VariableSpec spec, uint64_t (*seed)()) : data_(std::make_shared<Data>()) {
  require(spec.shape.known(), "variable '", spec.name, "': expected a known shape, got ",
          spec.shape);
  data_->spec = std::move(spec);
  if (!data_->spec.device) data_->spec.device = DeviceScope::current().value_or(Device{});
  data_->path = data_->spec.name;
  require_known(device(), path());
  data_->seed = seed();
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
Tensor Variable::Data::on_device(const Tensor& given) const {
  if (*spec.device == Device{}) return given;
  Tensor copy = empty();
  if (given.bytes() > 0) std::memcpy(copy.raw(), given.raw(), given.bytes());
  return copy;
}

uint64_t Variable::moves() { return move_count; }

void Variable::move_to(Device device) const {
  if (device == this->device() && shards_of(*this) == nullptr) return;
  require_known(device, path());
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
  data_->shards.reset();
  ++move_count;
}

const Tensor& Variable::value() const {
  if (const VariableShards* sharded = shards_of(*this)) {
    if (sharded->mirrored()) return sharded->shards[0].value();
    static std::recursive_mutex gathering;  // shards may be sharded in turn
    const std::lock_guard guard(gathering);
    if (!data_->value.defined()) data_->value = Tensor::zeros(dtype(), shape());
    gather(*sharded, data_->value);
    return data_->value;
  }
  data_->filled([&] {
    if (!data_->value.defined())
      data_->value = data_->on_device(
          data_->spec.initializer(data_->spec.shape, data_->spec.dtype, data_->seed));
  });
  copy_to_host(data_->value.raw());
  state_written(data_->value.raw());  // the caller may write to it
  return data_->value;
}

void Variable::take(const Tensor& value) const {
  bool taken = false;
  if (value.shape() == shape() && value.dtype() == dtype())
    data_->filled([&] {
      data_->value = data_->on_device(value);
      taken = true;
    });
  if (!taken) assign(value);
}

void Variable::assign(const Tensor& value) const {
  require(value.shape() == shape(), "variable '", path(), "': expected shape ", shape(), ", got ",
          value.shape());
  const Tensor converted = value.dtype() == dtype() ? value : value.cast(dtype());
  if (const VariableShards* sharded = shards_of(*this)) {
    scatter(converted, *sharded);
    data_->value = Tensor();
    data_->spec.device = sharded->shards[0].device();
    return;
  }
  data_->filled([&] { data_->value = data_->empty(); });
  copy_to_host(data_->value.raw());
  if (converted.bytes() > 0) std::memcpy(data_->value.raw(), converted.raw(), converted.bytes());
  state_written(data_->value.raw());
}

const VariableShards* shards_of(const Variable& variable) { return variable.data_->shards.get(); }

void set_shards(const Variable& variable, VariableShards shards) {
  variable.data_->spec.device = shards.shards[0].device();
  variable.data_->shards = std::make_unique<VariableShards>(std::move(shards));
  variable.data_->value = Tensor();  // gives the memory of the whole back
  ++move_count;
}

Variable make_shard(VariableSpec spec) {
  return Variable(std::move(spec), [] { return uint64_t{0}; });
}

}  // namespace keratin

#include "keratin/graph/variable.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "keratin/tensor/residence.h"

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

}  // namespace

void set_random_seed(uint64_t seed) { seed_stream = scramble(seed); }

uint64_t next_seed() { return scramble(seed_stream.fetch_add(0x9e3779b97f4a7c15ULL)); }

Variable::Variable(VariableSpec spec) : data_(std::make_shared<Data>()) {
  require(spec.shape.known(), "variable '", spec.name, "': expected a known shape, got ",
          spec.shape);
  data_->spec = std::move(spec);
  if (!data_->spec.device) data_->spec.device = DeviceScope::current().value_or(Device{});
  data_->path = data_->spec.name;
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
  if (device == this->device()) return;
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
  ++move_count;
}

const Tensor& Variable::value() const {
  std::call_once(data_->filled, [&] {
    if (!data_->value.defined())
      data_->value = data_->at_home(
          data_->spec.initializer(data_->spec.shape, data_->spec.dtype, data_->seed));
  });
  bring_home(data_->value.raw());
  return data_->value;
}

void Variable::take(const Tensor& value) const {
  bool taken = false;
  if (value.shape() == shape() && value.dtype() == dtype())
    std::call_once(data_->filled, [&] {
      data_->value = data_->at_home(value);
      taken = true;
    });
  if (!taken) assign(value);
}

void Variable::assign(const Tensor& value) const {
  require(value.shape() == shape(), "variable '", path(), "': expected shape ", shape(), ", got ",
          value.shape());
  const Tensor converted = value.dtype() == dtype() ? value : value.cast(dtype());
  std::call_once(data_->filled, [&] { data_->value = data_->empty(); });
  bring_home(data_->value.raw());
  if (converted.bytes() > 0) std::memcpy(data_->value.raw(), converted.raw(), converted.bytes());
}

}  // namespace keratin

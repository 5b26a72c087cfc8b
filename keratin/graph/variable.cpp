#include "keratin/graph/variable.h"

#include <atomic>
#include <cstring>
#include <mutex>

namespace keratin {
namespace {

std::atomic<uint64_t> seed_stream{0x6b65726174696eULL};

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
  data_->path = data_->spec.name;
  data_->seed = next_seed();
}

const Tensor& Variable::value() const {
  std::call_once(data_->filled, [&] {
    if (!data_->value.defined())
      data_->value = data_->spec.initializer(data_->spec.shape, data_->spec.dtype, data_->seed);
  });
  return data_->value;
}

void Variable::take(const Tensor& value) const {
  bool taken = false;
  if (value.shape() == shape() && value.dtype() == dtype())
    std::call_once(data_->filled, [&] {
      data_->value = value;
      taken = true;
    });
  if (!taken) assign(value);
}

void Variable::assign(const Tensor& value) const {
  require(value.shape() == shape(), "variable '", path(), "': expected shape ", shape(), ", got ",
          value.shape());
  const Tensor converted = value.dtype() == dtype() ? value : value.cast(dtype());
  std::call_once(data_->filled, [&] { data_->value = Tensor(dtype(), shape()); });
  if (converted.bytes() > 0) std::memcpy(data_->value.raw(), converted.raw(), converted.bytes());
}

}  // namespace keratin

#pragma once

#include <memory>
#include <optional>

#include "keratin/data/dataset.h"

// The internals of Dataset.
namespace keratin {

// The generator SplitMix64. It gives the same numbers on every machine.
class Random {
 public:
  Random(uint64_t seed, int64_t pass)
      : state_(seed ^ (0x9e3779b97f4a7c15u * (static_cast<uint64_t>(pass) + 1))) {}
  uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t limit) {
    return static_cast<int64_t>((*this)() % static_cast<uint64_t>(limit));
  }

 private:
  uint64_t state_;
};

// A dataset's source, or one transformation of it.
class Dataset::Stage {
 public:
  virtual ~Stage() = default;
  virtual std::optional<int64_t> size() const = 0;
  virtual std::unique_ptr<Stream> stream(int64_t pass) const = 0;
  // The same rows in a new order each pass, if that needs no buffer; else nothing.
  virtual std::shared_ptr<const Stage> shuffled(uint64_t seed) const {
    (void)seed;
    return nullptr;
  }
};

using StagePtr = std::shared_ptr<const Dataset::Stage>;

// Groups the elements of a stream into batches.
std::unique_ptr<Stream> batched(std::unique_ptr<Stream> rows, int64_t size, bool drop_remainder);
// Computes the elements of a stream on a thread, up to `count` of them ahead.
std::unique_ptr<Stream> prefetched(std::unique_ptr<Stream> source, int64_t count);

}  // namespace keratin

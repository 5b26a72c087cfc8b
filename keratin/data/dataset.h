#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "keratin/base/export.h"
#include "keratin/graph/tree.h"

namespace keratin {

// What a model learns from: inputs, targets and the samples' weights, each a tensor or a structure
// of them, or nothing. Of one example or, once batched, of several along a first axis.
struct KERATIN_API Batch {
  Tree<Tensor> x = {};
  Tree<Tensor> y = {};
  Tree<Tensor> sample_weight = {};

  // How many samples a batch holds: the size of the first axis.
  int64_t size() const;
  // Calls visit(tensor) for each tensor, in order.
  template <class Visit>
  void each(Visit&& visit) const {
    x.each(visit);
    y.each(visit);
    sample_weight.each(visit);
  }
  template <class Make>
  Batch map(Make&& make) const {
    return {x.map<Tensor>(make), y.map<Tensor>(make), sample_weight.map<Tensor>(make)};
  }
};

// One pass over a dataset. A batch belongs to the caller until the next call, which may write into
// the same tensors; whoever keeps one clones it.
class KERATIN_API Stream {
 public:
  virtual ~Stream() = default;
  virtual bool next(Batch& out) = 0;
  // Several elements stacked along a new first axis; fewer where they end, and false at the end.
  virtual bool next_stacked(int64_t count, Batch& out);
  virtual void skip(int64_t count);
};

// Where data come from and what is done to them on the way: from_tensors(x, y).shuffle().batch(32).
// Immutable; each pass makes a stream of its own. What is random follows from a seed and the number
// of the pass, so that a pass can be repeated.
class KERATIN_API Dataset {
 public:
  using Generator = std::function<std::optional<Batch>()>;

  // The rows of tensors, one by one.
  static Dataset from_tensors(Tree<Tensor> x, Tree<Tensor> y = {}, Tree<Tensor> sample_weight = {});
  // Whatever a generator gives until it gives nothing; `start` makes one for each pass. `size` is
  // how many it will give, if known.
  static Dataset from_generator(std::function<Generator()> start, std::optional<int64_t> size = {});

  Dataset batch(int64_t size, bool drop_remainder = false) const;
  // Draws each element from a buffer of so many; all of them by default.
  Dataset shuffle(std::optional<int64_t> buffer = {}, std::optional<uint64_t> seed = {}) const;
  Dataset map(std::function<Batch(Batch)> change) const;
  Dataset repeat(std::optional<int64_t> times = {}) const;  // for ever by default
  Dataset take(int64_t count) const;
  Dataset skip(int64_t count) const;
  // Prepares so many elements ahead, on a thread of its own.
  Dataset prefetch(int64_t count = 2) const;

  // How many elements one pass gives; nothing when that is not known, or endless.
  std::optional<int64_t> size() const;
  std::unique_ptr<Stream> stream(int64_t pass = 0) const;

  // What a stage does; see dataset.cpp.
  class Stage;

 private:
  explicit Dataset(std::shared_ptr<const Stage> stage) : stage_(std::move(stage)) {}
  std::shared_ptr<const Stage> stage_;
};

// A permutation of 0 … count-1 that follows from a seed and the number of a pass.
KERATIN_API std::vector<int64_t> shuffled_order(int64_t count, uint64_t seed, int64_t pass);

}  // namespace keratin

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "keratin/base/export.h"
#include "keratin/graph/tree.h"

namespace keratin {

// Inputs, targets and sample weights for a model. Each is a tensor, a tree of tensors, or empty.
// They belong to one sample or, after batching, to several samples along a first axis.
struct KERATIN_API Batch {
  Tree<Tensor> x = {};
  Tree<Tensor> y = {};
  Tree<Tensor> sample_weight = {};

  // The number of samples in a batch: the size of the first axis.
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

// One pass over a dataset. The next call of `next` may write into the same tensors; clone a batch
// to keep it.
class KERATIN_API Stream {
 public:
  virtual ~Stream() = default;
  virtual bool next(Batch& out) = 0;
  // Stacks up to `count` elements along a new first axis. False if there are none left.
  virtual bool next_stacked(int64_t count, Batch& out);
  virtual void skip(int64_t count);
};

// A source of data with transformations, such as from_tensors(x, y).shuffle().batch(32). Datasets
// are immutable, and each pass has its own stream. Random order is computed from a seed and the
// number of the pass, so any pass can be repeated.
class KERATIN_API Dataset {
 public:
  using Generator = std::function<std::optional<Batch>()>;

  // Gives the rows of tensors, one at a time.
  static Dataset from_tensors(Tree<Tensor> x, Tree<Tensor> y = {}, Tree<Tensor> sample_weight = {});
  // Gives what a generator returns, until it returns nothing. `start` makes a generator for each
  // pass. `size` is the number of elements, if known.
  static Dataset from_generator(std::function<Generator()> start, std::optional<int64_t> size = {});

  Dataset batch(int64_t size, bool drop_remainder = false) const;
  // Draws each element at random from a buffer of this size; by default, from all elements.
  Dataset shuffle(std::optional<int64_t> buffer = {}, std::optional<uint64_t> seed = {}) const;
  Dataset map(std::function<Batch(Batch)> change) const;
  Dataset repeat(std::optional<int64_t> times = {}) const;  // endless by default
  Dataset take(int64_t count) const;
  Dataset skip(int64_t count) const;
  // Computes up to `count` elements ahead, on a thread.
  Dataset prefetch(int64_t count = 2) const;

  // The number of elements in one pass; nothing if it is unknown or infinite.
  std::optional<int64_t> size() const;
  std::unique_ptr<Stream> stream(int64_t pass = 0) const;

  // A source or transformation; see dataset_stage.h.
  class Stage;

 private:
  explicit Dataset(std::shared_ptr<const Stage> stage) : stage_(std::move(stage)) {}
  std::shared_ptr<const Stage> stage_;
};

namespace detail {

// A permutation of 0 … count-1, determined by a seed and the number of a pass.
KERATIN_API std::vector<int64_t> shuffled_order(int64_t count, uint64_t seed, int64_t pass);

}  // namespace detail

}  // namespace keratin

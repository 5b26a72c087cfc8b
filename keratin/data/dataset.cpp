#include "keratin/data/dataset.h"

#include "keratin/base/text.h"
#include "keratin/data/dataset_stage.h"
#include "keratin/graph/next_seed.h"
#include "keratin/graph/variable.h"

// The transformations of datasets.
namespace keratin {
namespace {

// A transformation of another stage, given by two functions: its size from the size before it, and
// a stream from a pass over the stage before it.
class Derived final : public Dataset::Stage {
 public:
  using Size = std::function<std::optional<int64_t>(std::optional<int64_t>)>;
  using Wrap = std::function<std::unique_ptr<Stream>(const Dataset::Stage& before, int64_t pass)>;
  Derived(StagePtr before, Size size, Wrap wrap)
      : before_(std::move(before)), size_(std::move(size)), wrap_(std::move(wrap)) {}
  std::optional<int64_t> size() const override { return size_(before_->size()); }
  std::unique_ptr<Stream> stream(int64_t pass) const override { return wrap_(*before_, pass); }

 private:
  StagePtr before_;
  Size size_;
  Wrap wrap_;
};

// A stream given by a function.
class FunctionStream final : public Stream {
 public:
  explicit FunctionStream(std::function<bool(Batch&)> next) : next_(std::move(next)) {}
  bool next(Batch& out) override { return next_(out); }

 private:
  std::function<bool(Batch&)> next_;
};

}  // namespace

Dataset Dataset::batch(int64_t count, bool drop_remainder) const {
  require(count > 0, "Dataset.batch: expected a positive size, got ", count);
  return Dataset(std::make_shared<Derived>(
      stage_,
      [=](std::optional<int64_t> rows) -> std::optional<int64_t> {
        if (!rows) return rows;
        return drop_remainder ? *rows / count : (*rows + count - 1) / count;
      },
      [=](const Stage& before, int64_t pass) {
        return batched(before.stream(pass), count, drop_remainder);
      }));
}

Dataset Dataset::shuffle(std::optional<int64_t> buffer, std::optional<uint64_t> seed) const {
  require(buffer.value_or(1) > 0, "Dataset.shuffle: expected a positive buffer size, got ",
          buffer.value_or(1));
  const uint64_t own_seed = seed ? *seed : next_seed();
  const auto rows = stage_->size();
  if (!buffer || (rows && *buffer >= *rows))
    if (auto whole = stage_->shuffled(own_seed)) return Dataset(std::move(whole));
  const size_t limit = buffer ? static_cast<size_t>(*buffer) : SIZE_MAX;
  return Dataset(std::make_shared<Derived>(
      stage_, [](std::optional<int64_t> n) { return n; },
      [=](const Stage& before, int64_t pass) {
        auto source = std::shared_ptr<Stream>(before.stream(pass));
        auto held = std::make_shared<std::vector<Batch>>();
        auto random = std::make_shared<Random>(own_seed, pass);
        return std::make_unique<FunctionStream>([=](Batch& out) {
          Batch element;
          while (held->size() < limit && source->next(element))
            held->push_back(element.map([](const Tensor& t) { return t.clone(); }));
          if (held->empty()) return false;
          const auto chosen =
              static_cast<size_t>(random->below(static_cast<int64_t>(held->size())));
          std::swap((*held)[chosen], held->back());
          out = std::move(held->back());
          held->pop_back();
          return true;
        });
      }));
}

Dataset Dataset::map(std::function<Batch(Batch)> change) const {
  return Dataset(std::make_shared<Derived>(
      stage_, [](std::optional<int64_t> n) { return n; },
      [change = std::move(change)](const Stage& before, int64_t pass) {
        auto source = std::shared_ptr<Stream>(before.stream(pass));
        return std::make_unique<FunctionStream>([source, change](Batch& out) {
          Batch element;
          if (!source->next(element)) return false;
          out = change(std::move(element));
          return true;
        });
      }));
}

Dataset Dataset::repeat(std::optional<int64_t> times) const {
  return Dataset(std::make_shared<Derived>(
      stage_,
      [=](std::optional<int64_t> n) -> std::optional<int64_t> {
        if (!n || !times) return std::nullopt;
        return *n * *times;
      },
      [=, stage = stage_](const Stage&, int64_t pass) {
        // Pass p of the repeated dataset has the passes p·times, p·times + 1, … of this one.
        auto source = std::make_shared<std::unique_ptr<Stream>>();
        auto made = std::make_shared<int64_t>(0);
        return std::make_unique<FunctionStream>([=](Batch& out) {
          for (bool fresh = false;; fresh = true) {
            if (*source != nullptr && (*source)->next(out)) return true;
            if ((*source != nullptr && fresh) || (times && *made == *times)) return false;
            *source = stage->stream(pass * times.value_or(int64_t{1} << 32) + (*made)++);
          }
        });
      }));
}

Dataset Dataset::take(int64_t count) const {
  return Dataset(std::make_shared<Derived>(
      stage_, [=](std::optional<int64_t> n) { return n ? std::min(*n, count) : count; },
      [=](const Stage& before, int64_t pass) {
        auto source = std::shared_ptr<Stream>(before.stream(pass));
        auto left = std::make_shared<int64_t>(count);
        return std::make_unique<FunctionStream>(
            [=](Batch& out) { return (*left)-- > 0 && source->next(out); });
      }));
}

Dataset Dataset::skip(int64_t count) const {
  return Dataset(std::make_shared<Derived>(
      stage_,
      [=](std::optional<int64_t> n) -> std::optional<int64_t> {
        if (!n) return n;
        return std::max<int64_t>(*n - count, 0);
      },
      [=](const Stage& before, int64_t pass) {
        auto source = before.stream(pass);
        source->skip(count);
        return source;
      }));
}

Dataset Dataset::prefetch(int64_t count) const {
  require(count > 0, "Dataset.prefetch: expected a positive count, got ", count);
  return Dataset(std::make_shared<Derived>(
      stage_, [](std::optional<int64_t> n) { return n; },
      [=](const Stage& before, int64_t pass) { return prefetched(before.stream(pass), count); }));
}

std::optional<int64_t> Dataset::size() const { return stage_->size(); }

std::unique_ptr<Stream> Dataset::stream(int64_t pass) const { return stage_->stream(pass); }

}  // namespace keratin

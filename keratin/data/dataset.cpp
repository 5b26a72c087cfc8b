#include "keratin/data/dataset.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

#include "keratin/base/text.h"
#include "keratin/graph/variable.h"

namespace keratin {
namespace {

// SplitMix64: a short generator that gives the same numbers everywhere.
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

size_t row_bytes(const Tensor& t) {
  return t.shape()[0] == 0 ? 0 : t.bytes() / static_cast<size_t>(t.shape()[0]);
}

Shape with_rows(const Tensor& row_source, int64_t rows) {
  Dims dims = row_source.shape().dims();
  dims[0] = rows;
  return dims;
}

Shape without_rows(const Tensor& t) {
  const Dims dims = t.shape().dims();
  return Dims(dims.begin() + 1, dims.end());
}

// Tensors to write `count` rows of each source into: those of `out`, when they fit.
class Recycled {
 public:
  explicit Recycled(const Batch& out) {
    out.each([&](const Tensor& t) { old_.push_back(t); });
  }
  Tensor take(DType dtype, const Shape& shape) {
    const size_t i = next_++;
    if (i < old_.size() && old_[i].dtype() == dtype && old_[i].shape() == shape) return old_[i];
    return {dtype, shape};
  }

 private:
  std::vector<Tensor> old_;
  size_t next_ = 0;
};

}  // namespace

int64_t Batch::size() const {
  std::optional<int64_t> rows;
  each([&](const Tensor& t) {
    if (!rows && t.shape().rank() > 0) rows = t.shape()[0];
  });
  return rows.value_or(0);
}

std::vector<int64_t> shuffled_order(int64_t count, uint64_t seed, int64_t pass) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, pass);
  for (int64_t i = count; i > 1; --i)
    std::swap(order[static_cast<size_t>(i - 1)], order[static_cast<size_t>(random.below(i))]);
  return order;
}

bool Stream::next_stacked(int64_t count, Batch& out) {
  std::vector<Batch> elements;
  Batch element;
  // Each is cloned: the stream may write into its tensors again.
  while (static_cast<int64_t>(elements.size()) < count && next(element))
    elements.push_back(element.map([](const Tensor& t) { return t.clone(); }));
  if (elements.empty()) return false;
  const auto rows = static_cast<int64_t>(elements.size());
  std::vector<std::vector<Tensor>> columns;
  for (const Batch& e : elements) {
    size_t i = 0;
    e.each([&](const Tensor& t) {
      if (columns.size() <= i) columns.emplace_back();
      const Tensor& first = columns[i].empty() ? t : columns[i][0];
      require(first.shape() == t.shape() && first.dtype() == t.dtype(),
              "Dataset.batch: elements have different shapes or dtypes: ", first.dtype(),
              first.shape(), " and ", t.dtype(), t.shape(), "; pad them to one shape first");
      columns[i++].push_back(t);
    });
  }
  size_t next_column = 0;
  out = elements[0].map([&](const Tensor& t) {
    const std::vector<Tensor>& column = columns[next_column++];
    require(column.size() == elements.size(), "Dataset.batch: elements have different structures");
    Dims dims = t.shape().dims();
    dims.insert(dims.begin(), rows);
    Tensor stacked(t.dtype(), dims);
    for (size_t i = 0; i < column.size(); ++i)
      std::memcpy(stacked.buffer().data() + i * t.bytes(), column[i].raw(), t.bytes());
    return stacked;
  });
  return true;
}

void Stream::skip(int64_t count) {
  Batch dropped;
  while (count-- > 0 && next(dropped)) {
  }
}

// One step of the pipeline.
class Dataset::Stage {
 public:
  virtual ~Stage() = default;
  virtual std::optional<int64_t> size() const = 0;
  virtual std::unique_ptr<Stream> stream(int64_t pass) const = 0;
  // The same rows in another order each pass, where that is cheap; nothing otherwise.
  virtual std::shared_ptr<const Stage> shuffled(uint64_t seed) const {
    (void)seed;
    return nullptr;
  }
};

namespace {

using StagePtr = std::shared_ptr<const Dataset::Stage>;

// Rows of tensors in memory: batches are gathered straight from them.
class Rows final : public Dataset::Stage {
 public:
  Rows(Batch all, std::optional<uint64_t> seed) : all_(std::move(all)), seed_(seed) {}

  std::optional<int64_t> size() const override { return all_.size(); }
  std::shared_ptr<const Stage> shuffled(uint64_t seed) const override {
    return std::make_shared<Rows>(all_, seed);
  }

  std::unique_ptr<Stream> stream(int64_t pass) const override {
    return std::make_unique<RowStream>(
        all_, seed_ ? shuffled_order(all_.size(), *seed_, pass) : std::vector<int64_t>{});
  }

 private:
  class RowStream final : public Stream {
   public:
    RowStream(Batch all, std::vector<int64_t> order)
        : all_(std::move(all)), order_(std::move(order)), count_(all_.size()) {}

    bool next(Batch& out) override {
      if (next_ == count_) return false;
      Recycled recycled(out);
      out = all_.map([&](const Tensor& t) {
        Tensor row = recycled.take(t.dtype(), without_rows(t));
        std::memcpy(row.raw(), t.buffer().data() + row_bytes(t) * at(next_), row_bytes(t));
        return row;
      });
      ++next_;
      return true;
    }

    bool next_stacked(int64_t count, Batch& out) override {
      const int64_t rows = std::min(count, count_ - next_);
      if (rows == 0) return false;
      Recycled recycled(out);
      out = all_.map([&](const Tensor& t) {
        Tensor batch = recycled.take(t.dtype(), with_rows(t, rows));
        const size_t bytes = row_bytes(t);
        if (order_.empty()) {
          std::memcpy(batch.raw(), t.buffer().data() + bytes * at(next_),
                      bytes * static_cast<size_t>(rows));
        } else {
          for (int64_t i = 0; i < rows; ++i)
            std::memcpy(batch.buffer().data() + bytes * static_cast<size_t>(i),
                        t.buffer().data() + bytes * at(next_ + i), bytes);
        }
        return batch;
      });
      next_ += rows;
      return true;
    }

    void skip(int64_t count) override { next_ = std::min(count_, next_ + count); }

   private:
    size_t at(int64_t i) const {
      return static_cast<size_t>(order_.empty() ? i : order_[static_cast<size_t>(i)]);
    }
    Batch all_;
    std::vector<int64_t> order_;  // empty: as they lie
    int64_t count_, next_ = 0;
  };

  Batch all_;
  std::optional<uint64_t> seed_;
};

class Generated final : public Dataset::Stage {
 public:
  Generated(std::function<Dataset::Generator()> start, std::optional<int64_t> size)
      : start_(std::move(start)), size_(size) {}
  std::optional<int64_t> size() const override { return size_; }
  std::unique_ptr<Stream> stream(int64_t) const override {
    class GeneratedStream final : public Stream {
     public:
      explicit GeneratedStream(Dataset::Generator generator) : generator_(std::move(generator)) {}
      bool next(Batch& out) override {
        std::optional<Batch> made = generator_();
        if (!made) return false;
        out = std::move(*made);
        return true;
      }

     private:
      Dataset::Generator generator_;
    };
    return std::make_unique<GeneratedStream>(start_());
  }

 private:
  std::function<Dataset::Generator()> start_;
  std::optional<int64_t> size_;
};

// A stage made of how large it is and how a pass over the one before becomes a pass over this.
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

// A stream over another one, as a function.
class FunctionStream final : public Stream {
 public:
  explicit FunctionStream(std::function<bool(Batch&)> next) : next_(std::move(next)) {}
  bool next(Batch& out) override { return next_(out); }

 private:
  std::function<bool(Batch&)> next_;
};

class Batched final : public Stream {
 public:
  Batched(std::unique_ptr<Stream> rows, int64_t size, bool drop)
      : rows_(std::move(rows)), size_(size), drop_(drop) {}
  bool next(Batch& out) override {
    return rows_->next_stacked(size_, out) && (!drop_ || out.size() == size_);
  }
  void skip(int64_t count) override { rows_->skip(count * size_); }

 private:
  std::unique_ptr<Stream> rows_;
  int64_t size_;
  bool drop_;
};

class Prefetched final : public Stream {
 public:
  Prefetched(std::unique_ptr<Stream> source, int64_t count)
      : source_(std::move(source)),
        limit_(static_cast<size_t>(count)),
        worker_([this] { work(); }) {}
  ~Prefetched() override {
    {
      const std::lock_guard guard(lock_);
      stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  bool next(Batch& out) override {
    std::unique_lock guard(lock_);
    spare_.push_back(std::move(out));
    changed_.wait(guard, [&] { return !ready_.empty() || done_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    out = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return true;
  }

 private:
  void work() {
    try {
      for (;;) {
        Batch batch;
        {
          std::unique_lock guard(lock_);
          changed_.wait(guard, [&] { return ready_.size() < limit_ || stop_; });
          if (stop_) return;
          if (!spare_.empty()) {
            batch = std::move(spare_.front());
            spare_.pop_front();
          }
        }
        const bool more = source_->next(batch);
        const std::lock_guard guard(lock_);
        if (more) ready_.push_back(std::move(batch));
        done_ = !more;
        changed_.notify_all();
        if (done_) return;
      }
    } catch (...) {
      const std::lock_guard guard(lock_);
      error_ = std::current_exception();
      done_ = true;
      changed_.notify_all();
    }
  }

  std::unique_ptr<Stream> source_;
  size_t limit_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Batch> ready_, spare_;
  bool done_ = false, stop_ = false;
  std::exception_ptr error_;
  std::thread worker_;
};

void check_rows(const Batch& all) {
  std::optional<int64_t> rows;
  std::string sizes;
  bool same = true;
  const auto look = [&](const Tree<Tensor>& tree, const char* what) {
    std::string own;
    tree.each([&](const Tensor& t) {
      require(t.shape().rank() > 0, "'", what,
              "': expected at least one axis, that of the samples, ", "got a scalar");
      own += text(own.empty() ? "" : ", ", t.shape()[0]);
      if (!rows) rows = t.shape()[0];
      same = same && *rows == t.shape()[0];
    });
    if (!own.empty()) sizes += text(" '", what, "' sizes: ", own);
  };
  look(all.x, "x");
  look(all.y, "y");
  look(all.sample_weight, "sample_weight");
  require(rows.has_value(), "Dataset.from_tensors: no tensor was given");
  require(same,
          "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.",
          sizes);
}

}  // namespace

Dataset Dataset::from_tensors(Tree<Tensor> x, Tree<Tensor> y, Tree<Tensor> sample_weight) {
  Batch all{std::move(x), std::move(y), std::move(sample_weight)};
  check_rows(all);
  return Dataset(std::make_shared<Rows>(std::move(all), std::nullopt));
}

Dataset Dataset::from_generator(std::function<Generator()> start, std::optional<int64_t> size) {
  return Dataset(std::make_shared<Generated>(std::move(start), size));
}

Dataset Dataset::batch(int64_t count, bool drop_remainder) const {
  require(count > 0, "Dataset.batch: expected a positive size, got ", count);
  return Dataset(std::make_shared<Derived>(
      stage_,
      [=](std::optional<int64_t> rows) -> std::optional<int64_t> {
        if (!rows) return rows;
        return drop_remainder ? *rows / count : (*rows + count - 1) / count;
      },
      [=](const Stage& before, int64_t pass) {
        return std::make_unique<Batched>(before.stream(pass), count, drop_remainder);
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
        // Pass p of the whole is made of the passes p·times, p·times + 1, … of what is repeated.
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
      [=](const Stage& before, int64_t pass) {
        return std::make_unique<Prefetched>(before.stream(pass), count);
      }));
}

std::optional<int64_t> Dataset::size() const { return stage_->size(); }

std::unique_ptr<Stream> Dataset::stream(int64_t pass) const { return stage_->stream(pass); }

}  // namespace keratin

#include <cstring>
#include <numeric>

#include "keratin/base/text.h"
#include "keratin/data/dataset_stage.h"

// The sources of datasets: tensors and generators.
namespace keratin {
namespace {

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

// The tensors of the last batch, to be written again where dtype and shape are the same.
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

// The rows of tensors in memory. Batches are copied straight from these tensors.
class Rows final : public Dataset::Stage {
 public:
  Rows(Batch all, std::optional<uint64_t> seed) : all_(std::move(all)), seed_(seed) {}

  std::optional<int64_t> size() const override { return all_.size(); }
  std::shared_ptr<const Stage> shuffled(uint64_t seed) const override {
    return std::make_shared<Rows>(all_, seed);
  }

  std::unique_ptr<Stream> stream(int64_t pass) const override {
    return std::make_unique<RowStream>(
        all_, seed_ ? detail::shuffled_order(all_.size(), *seed_, pass) : std::vector<int64_t>{});
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
        return row.own_strings();
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
        return batch.own_strings();
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
    std::vector<int64_t> order_;  // empty: not shuffled
    int64_t count_, next_ = 0;
  };

  Batch all_;
  std::optional<uint64_t> seed_;
};

// The elements that a generator gives.
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

std::vector<int64_t> detail::shuffled_order(int64_t count, uint64_t seed, int64_t pass) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, pass);
  for (int64_t i = count; i > 1; --i)
    std::swap(order[static_cast<size_t>(i - 1)], order[static_cast<size_t>(random.below(i))]);
  return order;
}

Dataset Dataset::from_tensors(Tree<Tensor> x, Tree<Tensor> y, Tree<Tensor> sample_weight) {
  Batch all{std::move(x), std::move(y), std::move(sample_weight)};
  check_rows(all);
  return Dataset(std::make_shared<Rows>(std::move(all), std::nullopt));
}

Dataset Dataset::from_generator(std::function<Generator()> start, std::optional<int64_t> size) {
  return Dataset(std::make_shared<Generated>(std::move(start), size));
}

}  // namespace keratin

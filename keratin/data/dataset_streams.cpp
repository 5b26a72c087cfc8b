#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "keratin/base/text.h"
#include "keratin/data/dataset_stage.h"

// Streams: batching and prefetching.
namespace keratin {
namespace {

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

// A worker thread fills a queue with elements. Tensors of consumed elements go back to it.
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

}  // namespace

int64_t Batch::size() const {
  std::optional<int64_t> rows;
  each([&](const Tensor& t) {
    if (!rows && t.shape().rank() > 0) rows = t.shape()[0];
  });
  return rows.value_or(0);
}

bool Stream::next_stacked(int64_t count, Batch& out) {
  std::vector<Batch> elements;
  Batch element;
  // Elements are cloned, because the stream may write into the same tensors again.
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
    return stacked.own_strings();
  });
  return true;
}

void Stream::skip(int64_t count) {
  Batch dropped;
  while (count-- > 0 && next(dropped)) {
  }
}

std::unique_ptr<Stream> batched(std::unique_ptr<Stream> rows, int64_t size, bool drop_remainder) {
  return std::make_unique<Batched>(std::move(rows), size, drop_remainder);
}

std::unique_ptr<Stream> prefetched(std::unique_ptr<Stream> source, int64_t count) {
  return std::make_unique<Prefetched>(std::move(source), count);
}

}  // namespace keratin

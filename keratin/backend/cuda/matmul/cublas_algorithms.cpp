#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/driver/graph.h"
#include "keratin/backend/cuda/driver/kernel_cache.h"
#include "keratin/backend/cuda/matmul/cublas_matmul.h"
#include "keratin/backend/cuda/matmul/known_sums.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

// For matmuls that fill a device, one of the library's first few algorithms is good. For smaller
// ones the split of the work matters more, and timing takes less.
constexpr int64_t much_work = int64_t{1} << 31;
constexpr size_t choices_for_much = 8;
// An algorithm must be this much faster than the library's first, or noise would decide.
constexpr double clearly = 0.96;
constexpr int launches_per_round = 10, rounds_per_timing = 3;

using MaybeChoice = std::optional<cublas::Choice>;
static_assert(std::is_trivially_copyable_v<cublas::Choice>);

// Only choices that were found are cached.
std::string as_bytes(const MaybeChoice& choice) {
  if (!choice) throw BackendError("cuda: cuBLASLt has no algorithm for this matmul");
  return {reinterpret_cast<const char*>(&*choice), sizeof *choice};
}

MaybeChoice as_choice(const std::string& bytes) {
  if (bytes.size() != sizeof(cublas::Choice)) return {};
  cublas::Choice choice;
  std::memcpy(&choice, bytes.data(), sizeof choice);
  return choice;
}

// Choices that this process found. A failure is not kept: memory for timing may be short only now.
using Choices = std::map<std::string, MaybeChoice>;
template <class Find>
MaybeChoice once(Choices& known, const std::string& key, const Find& find) {
  if (const auto found = known.find(key); found != known.end()) return found->second;
  try {
    return known.try_emplace(key, find()).first->second;
  } catch (const BackendError&) {
    return {};
  }
}

// The seconds of one `launch` among many in a row.
template <class Launches>
double seconds_of(const Launches& launch, StreamHandle stream) {
  using Clock = std::chrono::steady_clock;
  const Driver& d = driver();
  launch();  // loads the kernel
  GraphExecHandle exec = record_graph(stream, [&] {
    for (int i = 0; i < launches_per_round; ++i) launch();
  });
  if (exec == nullptr) throw BackendError("cuda: a matmul cannot be recorded");
  const std::shared_ptr<void> owner(exec, [&](void*) { d.destroy_graph_exec(exec); });
  double best = 1e9;
  for (int i = 0; i <= rounds_per_timing; ++i) {
    const auto before = Clock::now();
    check(d.launch_graph(exec, stream), "cuGraphLaunch");
    check(d.synchronize(stream), "cuStreamSynchronize");
    const std::chrono::duration<double> took = Clock::now() - before;
    if (i > 0) best = std::min(best, took.count() / launches_per_round);
  }
  return best;
}

}  // namespace

std::string text_of(const MatmulShape& s, DType dtype, bool tf32) {
  // Choices are cached: "rounding once" tells these from choices among other algorithms.
  return text("cuBLASLt ", cublas::version(), " rounding once ", dtype, tf32 ? " tf32 " : " ",
              s.batch, 'x', s.rows, 'x', s.depth, 'x', s.columns, ' ', s.transpose_a, s.transpose_b,
              ' ', s.stride_a, ' ', s.stride_b, ' ', s.alignment_a, ' ', s.alignment_b, ' ',
              s.alignment_out, ' ', s.bias, s.addend, s.relu, s.relu_grad,
              s.sum == MatmulSum::none ? "" : text(" sum ", static_cast<int>(s.sum)));
}

// Memory to run algorithms in.
class CublasMatmul::Benchmark {
 public:
  Benchmark(const CublasMatmul& matmul, const std::vector<cublas::Choice>& choices)
      : matmul_(matmul) {
    const MatmulShape& s = matmul.shape_;
    const auto memory = [&](int64_t elements) {
      return allocate(matmul.device_, static_cast<size_t>(elements) * size_of(matmul.dtype_));
    };
    a_elements_ = std::max(s.stride_a * s.batch, s.rows * s.depth);
    a_ = memory(a_elements_);
    b_ = memory(std::max(s.stride_b * s.batch, s.depth * s.columns));
    out_ = memory(s.batch * s.rows * s.columns);
    bias_ = memory(s.columns);
    sums_ = memory(s.sums());
    if (s.relu_grad)
      bits_ = allocate(matmul.device_, static_cast<size_t>(s.rows * s.bits_of_row() / 8));
    size_t workspace = 0;
    for (const cublas::Choice& choice : choices)
      workspace = std::max(workspace, choice.workspace_bytes + cublas::alignment);
    scratch_ = allocate(matmul.device_, workspace);
    check(driver().create_stream(&stream_, Driver::stream_non_blocking), "cuStreamCreate");
  }
  ~Benchmark() {
    driver().synchronize(stream_);  // an algorithm that failed may still use the memory
    driver().destroy_stream(stream_);
  }
  Benchmark(const Benchmark&) = delete;
  Benchmark& operator=(const Benchmark&) = delete;

  // Infinity if the launch fails.
  double seconds(const cublas::Choice& choice) const {
    try {
      return seconds_of([&] { run(choice); }, stream_);
    } catch (const BackendError&) {
      return std::numeric_limits<double>::infinity();
    }
  }

  // False for algorithms whose fused ReLU drops NaN.
  bool keeps_nan(const cublas::Choice& choice) const {
    return holds([&] { return try_nan(choice); });
  }

  // Removes algorithms whose sums leave out elements, or count them twice.
  void keep_right_sums(std::vector<cublas::Choice>& choices) const {
    const SumCheck known = known_sums(matmul_.shape_, matmul_.dtype_);
    load(known);
    std::erase_if(choices, [&](const cublas::Choice& choice) {
      return !holds([&] { return are_close(sums_of(choice), known.sums); });
    });
  }

  // Removes algorithms whose sums have another order in each run.
  void keep_same_sums(std::vector<cublas::Choice>& choices) const {
    load(uneven_sums(matmul_.shape_, matmul_.dtype_));
    std::erase_if(choices, [&](const cublas::Choice& choice) {
      return !holds([&] {
        const Tensor first = sums_of(choice);
        for (int i = 1; i < rounds_per_timing; ++i)
          if (!(sums_of(choice) == first)) return false;
        return true;
      });
    });
  }

 private:
  template <class Test>
  static bool holds(const Test& test) {
    try {
      return test();
    } catch (const BackendError&) {
      return false;  // the launch fails
    }
  }

  void load(const SumCheck& numbers) const {
    copy_now(a_.get(), numbers.a.raw(), numbers.a.bytes());
    copy_now(b_.get(), numbers.b.raw(), numbers.b.bytes());
    if (bits_ != nullptr) copy_now(bits_.get(), numbers.bits.raw(), numbers.bits.bytes());
  }

  Tensor sums_of(const cublas::Choice& choice) const {
    const Tensor sums = Tensor::full(matmul_.dtype_, {matmul_.shape_.sums()}, std::nan(""));
    copy_now(sums_.get(), sums.raw(), sums.bytes());
    run(choice);
    check(driver().synchronize(stream_), "cuStreamSynchronize");
    copy_now(sums.raw(), sums_.get(), sums.bytes());
    return sums;
  }

  bool try_nan(const cublas::Choice& choice) const {
    const std::vector<std::byte> ones(static_cast<size_t>(a_elements_) * size_of(matmul_.dtype_),
                                      std::byte{0xff});
    copy_now(a_.get(), ones.data(), ones.size());
    run(choice);
    check(driver().synchronize(stream_), "cuStreamSynchronize");
    const Tensor row(matmul_.dtype_, {matmul_.shape_.columns});
    copy_now(row.raw(), out_.get(), row.bytes());
    for (int64_t i = 0; i < row.count(); ++i)
      if (row.at(i) == row.at(i)) return false;
    return true;
  }

  void run(const cublas::Choice& choice) const {
    matmul_.multiply(matmul_.operation_,
                     {.a = a_.get(),
                      .b = b_.get(),
                      .out = out_.get(),
                      .scratch = scratch_.get(),
                      .bias = bias_.get(),
                      .addend = out_.get(),
                      .bits = bits_.get(),
                      .sums = sums_.get()},
                     choice, stream_);
  }

  const CublasMatmul& matmul_;
  int64_t a_elements_ = 0;
  std::shared_ptr<void> a_, b_, out_, bias_, bits_, sums_, scratch_;
  StreamHandle stream_ = nullptr;
};

MaybeChoice CublasMatmul::choose(bool for_speed) const {
  const KernelCache& cache = KernelCache::of_user();
  // Without a cache the next process might choose another algorithm, and get other bits: then the
  // library's first is taken.
  for_speed = for_speed && shape_.is_worth_timing() && cache.keeps();
  static std::mutex lock;
  static Choices fastest, first;
  const std::lock_guard guard(lock);
  const std::string key = gpu(device_).chip() + ' ' + text_of(shape_, dtype_, tf32_);
  if (for_speed) {
    const auto kept = [&] { return cache.find(key, [&] { return as_bytes(search(true)); }); };
    if (const auto found = once(fastest, key, [&] { return as_choice(kept()); })) return found;
  }
  return once(first, key, [&] { return search(false); });
}

MaybeChoice CublasMatmul::search(bool for_speed) const {
  const bool sums = shape_.sum != MatmulSum::none;
  if (shape_.bias || sums)  // any aligned address
    operation_.bias(reinterpret_cast<const void*>(cublas::alignment));
  if (shape_.relu_grad) operation_.bits(reinterpret_cast<const void*>(cublas::alignment));
  std::vector<cublas::Choice> all = cublas::choices(
      operation_, b_, a_, out_, {shape_.alignment_b, shape_.alignment_a, shape_.alignment_out});
  if (all.empty() || (!for_speed && !shape_.relu && !sums))
    return all.empty() ? MaybeChoice() : all[0];
  const int64_t elements = shape_.batch * shape_.rows * shape_.columns;
  if (elements >= much_work / shape_.depth) all.resize(std::min(all.size(), choices_for_much));
  const Benchmark benchmark(*this, all);
  if (shape_.relu)
    std::erase_if(all, [&](const cublas::Choice& choice) { return !benchmark.keeps_nan(choice); });
  if (sums) {
    benchmark.keep_right_sums(all);
    benchmark.keep_same_sums(all);
  }
  if (all.empty() || !for_speed) return all.empty() ? MaybeChoice() : all[0];
  size_t best = 0;
  double best_seconds = clearly * benchmark.seconds(all[0]);
  for (size_t i = 1; i < all.size(); ++i)
    if (const double seconds = benchmark.seconds(all[i]); seconds < best_seconds) {
      best = i;
      best_seconds = seconds;
    }
  return std::isinf(best_seconds) ? MaybeChoice() : all[best];
}

}  // namespace keratin::cuda

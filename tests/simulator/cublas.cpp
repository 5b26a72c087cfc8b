// The functions of cuBLASLt that Keratin uses. They refuse everything that Keratin does not use.
// Of the algorithms that they offer some are as bad as real ones may be: those come first.
#include <atomic>

#include "cublas_job.h"
#include "machine.h"

namespace keratin::simulator {

namespace {

// The library's numbers.
constexpr int turn_left_attribute = 3, turn_right_attribute = 4, epilogue_attribute = 7,
              bias_attribute = 8, bits_attribute = 11, bits_stride_attribute = 12;
constexpr int batch_count_attribute = 5, batch_stride_attribute = 6;
constexpr int workspace_attribute = 1, join_attribute = 3, first_alignment_attribute = 5;

constexpr int64_t min_split_depth = 4;

struct Found {
  Choice algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

constexpr Algorithm algorithms[] = {
    {.join = Join::in_place, .unsteady = true},
    {.loses_nan = true},
    {.sums_twice = true},
    {.rounds_sums = true},
    {.unsteady = true},
    {},
    {.join = Join::as_computed},
    {.join = Join::as_given},
};

template <class T>
void read(T& to, const void* from, size_t bytes) {
  need(from != nullptr && bytes == sizeof to, invalid_value);
  std::memcpy(&to, from, bytes);
}

// Wrong algorithms are offered for the matmuls that they compute wrongly.
bool is_for(const Algorithm& algorithm, const Job& job) {
  const Sums sums = job.epilogue.sums;
  if (algorithm.loses_nan) return job.epilogue.relu;
  if (algorithm.sums_twice) return sums != Sums::none;
  if (algorithm.rounds_sums) return job.tf32 && (sums == Sums::of_left || sums == Sums::of_right);
  if (algorithm.join != Join::none) return job.depth() >= min_split_depth;
  return !algorithm.unsteady || sums != Sums::none;
}

bool is_allowed(const Job& job, const Preference& preference) {
  const auto join = static_cast<uint32_t>(job.algorithm.join);
  return (join & ~preference.joins) == 0 && job.workspace_bytes() <= preference.workspace_bytes;
}

int find_algorithms(Job job, const Preference& preference, int most, Found* found) {
  int count = 0;
  for (uint64_t number = 0; number < std::size(algorithms) && count < most; ++number) {
    job.algorithm = algorithms[number];
    if (!is_for(job.algorithm, job) || !is_allowed(job, preference)) continue;
    Found one{.algorithm = {.mark = Choice::right_mark, .number = number},
              .workspace_bytes = job.workspace_bytes(),
              .waves = 1};
    std::copy(std::begin(preference.alignments), std::end(preference.alignments),
              one.algorithm.alignments);
    found[count++] = one;
  }
  return count;
}

void choose(Job& job, const Choice& choice) {
  need(choice.mark == Choice::right_mark && choice.number < std::size(algorithms), invalid_value);
  job.algorithm = algorithms[choice.number];
  need(is_for(job.algorithm, job), not_supported);
}

double scale_at(const void* address, Number type) {
  need(address != nullptr, invalid_value);
  return type == Number::f64 ? *static_cast<const double*>(address)
                             : *static_cast<const float*>(address);
}

void enqueue_product(const Job& job, Stream* stream) {
  static std::atomic<unsigned> runs = 0;
  const int result = enqueue(stream, [job] {
    report_all(job);
    const bool changed = job.algorithm.unsteady && ++runs % 2 == 1;
    with_type(job.out.type, [&](auto number) { Matmul<decltype(number)>(job, changed).make(); });
  });
  need(result == 0, execution_failed);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

size_t cublasLtGetVersion() { return 130000; }

int cublasLtCreate(void** handle) {
  static char library;
  *handle = &library;
  return 0;
}

int cublasLtMatmulDescCreate(Operation** made, int compute, int scale) {
  return status_of([&] {
    const bool f64 = compute == compute_f64;
    need(f64 || compute == compute_f32 || compute == compute_tf32, not_supported);
    need(scale == (f64 ? scale_f64 : scale_f32), not_supported);
    *made = new Operation{.compute = compute};
  });
}

int cublasLtMatmulDescDestroy(Operation* operation) {
  delete operation;
  return 0;
}

int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value,
                                   size_t bytes) {
  return status_of([&] {
    switch (attribute) {
      case turn_left_attribute:
      case turn_right_attribute: {
        int turn = 0;
        read(turn, value, bytes);
        need(turn == 0 || turn == 1, not_supported);
        (attribute == turn_left_attribute ? operation->turn_left : operation->turn_right) = turn;
        return;
      }
      case epilogue_attribute:
        read(operation->epilogue, value, bytes);
        epilogue_of(operation->epilogue);
        return;
      case bias_attribute:
        return read(operation->bias, value, bytes);
      case bits_attribute:
        return read(operation->bits, value, bytes);
      case bits_stride_attribute:
        return read(operation->bits_stride, value, bytes);
      default:
        throw Refused{not_supported};
    }
  });
}

int cublasLtMatrixLayoutCreate(Matrix** made, int type, uint64_t rows, uint64_t columns,
                               int64_t stride) {
  return status_of([&] {
    need(rows > 0 && columns > 0 && stride >= static_cast<int64_t>(rows), invalid_value);
    *made = new Matrix{.type = number_of(type),
                       .rows = static_cast<int64_t>(rows),
                       .columns = static_cast<int64_t>(columns),
                       .stride = stride};
  });
}

int cublasLtMatrixLayoutDestroy(Matrix* matrix) {
  delete matrix;
  return 0;
}

int cublasLtMatrixLayoutSetAttribute(Matrix* matrix, int attribute, const void* value,
                                     size_t bytes) {
  return status_of([&] {
    if (attribute == batch_stride_attribute) return read(matrix->batch_stride, value, bytes);
    need(attribute == batch_count_attribute, not_supported);
    int32_t count = 0;
    read(count, value, bytes);
    need(count > 0, invalid_value);
    matrix->batch = count;
  });
}

int cublasLtMatmulPreferenceCreate(Preference** made) {
  *made = new Preference();
  return 0;
}

int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  delete preference;
  return 0;
}

int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* value,
                                         size_t bytes) {
  return status_of([&] {
    if (attribute == workspace_attribute) return read(preference->workspace_bytes, value, bytes);
    if (attribute == join_attribute) return read(preference->joins, value, bytes);
    const int which = attribute - first_alignment_attribute;
    need(which >= 0 && which < 4, not_supported);
    uint32_t alignment = 0;
    read(alignment, value, bytes);
    need(std::has_single_bit(alignment), invalid_value);
    preference->alignments[which] = alignment;
  });
}

int cublasLtMatmulAlgoGetHeuristic(void* handle, const Operation* operation, const Matrix* left,
                                   const Matrix* right, const Matrix* addend, const Matrix* out,
                                   const Preference* preference, int most, Found* found,
                                   int* count) {
  return status_of([&] {
    need(handle != nullptr, not_initialized);
    *count = find_algorithms(make_job(*operation, *left, *right, *addend, *out), *preference, most,
                             found);
    need(*count > 0, not_supported);
  });
}

int cublasLtMatmul(void* handle, const Operation* operation, const void* alpha, const void* left,
                   const Matrix* left_layout, const void* right, const Matrix* right_layout,
                   const void* beta, const void* addend, const Matrix* addend_layout, void* out,
                   const Matrix* out_layout, const Choice* choice, void* workspace,
                   size_t workspace_bytes, Stream* stream) {
  return status_of([&] {
    need(handle != nullptr && choice != nullptr, not_initialized);
    Job job = make_job(*operation, *left_layout, *right_layout, *addend_layout, *out_layout);
    choose(job, *choice);
    job.alpha = scale_at(alpha, job.out.type);
    job.beta = scale_at(beta, job.out.type);
    job.a = left;
    job.b = right;
    job.addend = addend;
    job.result = out;
    job.workspace = workspace;
    check_addresses(job, *choice);
    check_workspace(job, workspace_bytes);
    need(!overlap(out, job.out, left, job.left) && !overlap(out, job.out, right, job.right),
         invalid_value);
    enqueue_product(job, stream);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace keratin::simulator

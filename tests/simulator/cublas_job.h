#pragma once

#include <algorithm>
#include <bit>
#include <iterator>

#include "cublas_matmul.h"
#include "machine.h"
#include "refused.h"

// What callers of cuBLASLt describe, and whether it is something that Keratin is known to ask for.
namespace keratin::simulator {

// The library's numbers.
inline constexpr int not_initialized = 1, invalid_value = 7, execution_failed = 13,
                     not_supported = 15;
inline constexpr int compute_f32 = 68, compute_f64 = 70, compute_tf32 = 77;
inline constexpr int scale_f32 = 0, scale_f64 = 1;
inline constexpr int plain_epilogue = 1, relu_epilogue = 2, bias_epilogue = 4,
                     relu_grad_epilogue = 136, sum_relu_grad_epilogue = 152,
                     sum_left_epilogue = 256, sum_right_epilogue = 512;
inline constexpr uint64_t vector_bytes = 16;  // the most that kernels read at once
inline constexpr uint64_t workspace_alignment = 256;
inline constexpr int64_t bits_alignment = 128;

struct Operation {
  int compute = compute_f32;
  int turn_left = 0, turn_right = 0;
  int epilogue = plain_epilogue;
  void* bias = nullptr;
  const uint8_t* bits = nullptr;
  int64_t bits_stride = 0;
};

struct Preference {
  uint64_t workspace_bytes = 0;
  uint32_t joins = 7;  // whichever
  uint32_t alignments[4] = {256, 256, 256, 256};
};

// What callers keep of an algorithm, even in files.
struct Choice {
  static constexpr uint64_t right_mark = 0x6b657261746c7431;
  uint64_t mark, number;
  uint32_t alignments[4];
  uint64_t rest[4];
};
static_assert(sizeof(Choice) == 64);

inline Number number_of(int type) {
  switch (type) {
    case 0:
      return Number::f32;
    case 1:
      return Number::f64;
    case 2:
      return Number::f16;
    case 14:
      return Number::bf16;
    default:
      throw Refused{not_supported};
  }
}

inline Epilogue epilogue_of(int kind) {
  switch (kind) {
    case plain_epilogue:
      return {};
    case relu_epilogue:
      return {.relu = true};
    case bias_epilogue:
      return {.bias = true};
    case bias_epilogue | relu_epilogue:
      return {.bias = true, .relu = true};
    case relu_grad_epilogue:
      return {.relu_grad = true};
    case sum_relu_grad_epilogue:
      return {.relu_grad = true, .sums = Sums::of_result};
    case sum_left_epilogue:
      return {.sums = Sums::of_left};
    case sum_right_epilogue:
      return {.sums = Sums::of_right};
    default:
      throw Refused{not_supported};
  }
}

inline bool is_same(const Matrix& a, const Matrix& b) {
  return a.type == b.type && a.rows == b.rows && a.columns == b.columns && a.stride == b.stride &&
         a.batch == b.batch && a.batch_stride == b.batch_stride;
}

inline void check_sizes(const Job& job) {
  const auto rows = [](const Matrix& m, bool turn) { return turn ? m.columns : m.rows; };
  const auto columns = [](const Matrix& m, bool turn) { return turn ? m.rows : m.columns; };
  need(rows(job.left, job.turn_left) == job.rows() &&
           columns(job.right, job.turn_right) == job.columns() &&
           rows(job.right, job.turn_right) == job.depth(),
       invalid_value);
  need(job.left.batch == job.out.batch && job.right.batch == job.out.batch, invalid_value);
  need(job.out.batch == 1 || job.out.batch_stride >= job.out.stride * job.columns(), invalid_value);
}

inline void check_types(const Job& job, int compute) {
  const Number type = job.out.type;
  need(job.left.type == type && job.right.type == type, not_supported);
  need((compute == compute_f64) == (type == Number::f64), not_supported);
  need(compute != compute_tf32 || type == Number::f32, not_supported);
}

inline void check_epilogue(const Job& job) {
  const Epilogue& e = job.epilogue;
  const bool sums = e.sums != Sums::none, plain = !e.bias && !e.relu && !e.relu_grad && !sums;
  need(plain || job.out.type != Number::f64, not_supported);
  need((!e.relu_grad && !sums) || job.out.batch == 1, not_supported);
  if (e.bias || sums) need(job.bias != nullptr, invalid_value);
  if (!e.relu_grad) return;
  need(job.bits != nullptr && job.bits_stride >= job.rows(), invalid_value);
  need(job.bits_stride % bits_alignment == 0, invalid_value);
}

// Without addresses and algorithm.
inline Job make_job(const Operation& operation, const Matrix& left, const Matrix& right,
                    const Matrix& addend, const Matrix& out) {
  need(is_same(addend, out), not_supported);
  const Job job{.left = left,
                .right = right,
                .out = out,
                .turn_left = operation.turn_left != 0,
                .turn_right = operation.turn_right != 0,
                .tf32 = operation.compute == compute_tf32,
                .epilogue = epilogue_of(operation.epilogue),
                .bias = operation.bias,
                .bits = operation.bits,
                .bits_stride = operation.bits_stride};
  check_sizes(job);
  check_types(job, operation.compute);
  check_epilogue(job);
  return job;
}

// True if addresses are aligned as the search for an algorithm assumed.
inline void check_addresses(const Job& job, const Choice& choice) {
  const void* const all[] = {job.a, job.b, job.addend, job.result};
  for (size_t i = 0; i < std::size(all); ++i)
    need(all[i] != nullptr &&
             is_aligned(all[i], std::min<uint64_t>(choice.alignments[i], vector_bytes)),
         invalid_value);
  need(is_aligned(job.bias, vector_bytes) && is_aligned(job.bits, vector_bytes), invalid_value);
}

inline void check_workspace(const Job& job, size_t bytes) {
  if (job.workspace_bytes() == 0) return;
  need(job.workspace != nullptr && is_aligned(job.workspace, workspace_alignment), invalid_value);
  need(bytes >= job.workspace_bytes(), invalid_value);
}

// From the first element to behind the last.
inline size_t bytes_of(const Matrix& m) {
  const int64_t elements = (m.batch - 1) * m.batch_stride + (m.columns - 1) * m.stride + m.rows;
  return static_cast<size_t>(elements) * size_of(m.type);
}

inline bool overlap(const void* a, const Matrix& of_a, const void* b, const Matrix& of_b) {
  const auto end = [](const void* at, const Matrix& m) {
    return static_cast<const std::byte*>(at) + bytes_of(m);
  };
  return a < end(b, of_b) && b < end(a, of_a);
}

inline void report_all(const Job& job) {
  report(job.a, bytes_of(job.left), false);
  report(job.b, bytes_of(job.right), false);
  if (job.beta != 0) report(job.addend, bytes_of(job.out), false);
  report(job.result, bytes_of(job.out), true);
  report(job.workspace, job.workspace_bytes(), true);
  const Sums sums = job.epilogue.sums;
  if (job.epilogue.bias || sums != Sums::none)
    report(job.bias,
           static_cast<size_t>(sums == Sums::of_right ? job.columns() : job.rows()) *
               size_of(job.out.type),
           sums != Sums::none);
  if (job.epilogue.relu_grad)
    report(job.bits, static_cast<size_t>(job.bits_stride * job.columns() / 8), false);
}

}  // namespace keratin::simulator

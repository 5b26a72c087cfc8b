#pragma once

#include <type_traits>

#include "numbers.h"
#include "tiles.h"

// One matmul of cuBLASLt, with its epilogue, and how algorithms differ.
namespace keratin::simulator {

// Column-major, with the steps from one column, and one matrix, to the next.
struct Matrix {
  Number type = Number::f32;
  int64_t rows = 0, columns = 0, stride = 0;
  int64_t batch = 1, batch_stride = 0;
};

// How the sums of a split depth are joined, by the library's numbers: added to the result as they
// come, or in order from the workspace, where they are as computed or rounded as the result is.
enum class Join : uint32_t { none = 0, in_place = 1, as_computed = 2, as_given = 4 };

struct Algorithm {
  Join join = Join::none;
  bool loses_nan = false;    // in relu
  bool sums_twice = false;   // the last element of a sum
  bool rounds_sums = false;  // to TF32, as the factors are
  bool unsteady = false;     // other last bits in every other run
};

enum class Sums { none, of_left, of_right, of_result };

struct Epilogue {
  bool bias = false, relu = false, relu_grad = false;
  Sums sums = Sums::none;
};

// Everything about a matmul, because it runs long after the call. Addresses are read then.
struct Job {
  Matrix left, right, out;
  bool turn_left = false, turn_right = false, tf32 = false;
  Epilogue epilogue = {};
  double alpha = 1, beta = 0;
  const void *a = nullptr, *b = nullptr, *addend = nullptr;
  void* result = nullptr;
  void* bias = nullptr;  // or the sums
  const uint8_t* bits = nullptr;
  int64_t bits_stride = 0;
  Algorithm algorithm = {};
  void* workspace = nullptr;

  int64_t rows() const { return out.rows; }
  int64_t columns() const { return out.columns; }
  int64_t depth() const { return turn_left ? left.rows : left.columns; }
  int64_t parts() const { return algorithm.join == Join::none ? 1 : 4; }
  size_t workspace_bytes() const {
    if (algorithm.join != Join::as_computed && algorithm.join != Join::as_given) return 0;
    const bool narrow = algorithm.join == Join::as_given || out.type == Number::f64;
    return static_cast<size_t>(parts() * rows() * columns()) *
           (narrow ? size_of(out.type) : sizeof(float));
  }
};

// Of elements of one type.
template <class T>
class Matmul {
 public:
  Matmul(const Job& job, bool changed)
      : job_(job),
        rows_(job.rows()),
        columns_(job.columns()),
        depth_(job.depth()),
        values_(static_cast<size_t>(rows_ * columns_)),
        changed_(changed) {}

  void make() {
    for (int64_t batch = 0; batch < job_.out.batch; ++batch) {
      a_ = static_cast<const T*>(job_.a) + batch * job_.left.batch_stride;
      b_ = static_cast<const T*>(job_.b) + batch * job_.right.batch_stride;
      multiply();
      finish(batch * job_.out.batch_stride);
    }
  }

 private:
  using Sum = decltype(widen(T()));

  T left(int64_t row, int64_t k) const {
    return job_.turn_left ? a_[row * job_.left.stride + k] : a_[k * job_.left.stride + row];
  }
  T right(int64_t k, int64_t column) const {
    return job_.turn_right ? b_[k * job_.right.stride + column]
                           : b_[column * job_.right.stride + k];
  }
  Sum factor(T number) const {
    if constexpr (std::is_same_v<T, float>)
      return job_.tf32 ? std::bit_cast<float>(to_tf32(number)) : number;
    else
      return widen(number);
  }

  void multiply() {
    const Strips<Sum> strips(depth_, rows_,
                             [&](int64_t k, int64_t row) { return factor(left(row, k)); });
    std::vector<Sum> turned(static_cast<size_t>(columns_ * depth_));
    Sum* to = turned.data();
    for (int64_t column = 0; column < columns_; ++column)
      for (int64_t k = 0; k < depth_; ++k) *to++ = factor(right(k, column));
    const auto add_part = [&](Range part) {
      add_product<Sum>({turned.data(), columns_, depth_}, strips, part,
                       {values_.data(), columns_, rows_});
    };
    std::fill(values_.begin(), values_.end(), Sum(0));
    if (job_.workspace_bytes() == 0)
      add_part({0, depth_});
    else if (job_.algorithm.join == Join::as_given)
      join_parts(static_cast<T*>(job_.workspace), add_part);
    else
      join_parts(static_cast<Sum*>(job_.workspace), add_part);
  }

  template <class Part, class AddPart>
  void join_parts(Part* workspace, const AddPart& add_part) {
    const size_t count = values_.size();
    for (int64_t part = 0; part < job_.parts(); ++part) {
      std::fill(values_.begin(), values_.end(), Sum(0));
      add_part(part_of(depth_, part, job_.parts()));
      Part* const to = workspace + static_cast<size_t>(part) * count;
      for (size_t i = 0; i < count; ++i) narrow(values_[i], to[i]);
    }
    std::fill(values_.begin(), values_.end(), Sum(0));
    for (int64_t part = 0; part < job_.parts(); ++part)
      for (size_t i = 0; i < count; ++i)
        values_[i] += widen(workspace[static_cast<size_t>(part) * count + i]);
  }

  void finish(int64_t offset) {
    const T* const addend = static_cast<const T*>(job_.addend) + offset;
    T* const result = static_cast<T*>(job_.result) + offset;
    Sum* value = values_.data();
    for (int64_t column = 0; column < columns_; ++column)
      for (int64_t row = 0; row < rows_; ++row, ++value) {
        *value *= static_cast<Sum>(job_.alpha);
        if (job_.beta != 0)
          *value += static_cast<Sum>(job_.beta) * widen(addend[column * job_.out.stride + row]);
        T& to = result[column * job_.out.stride + row];
        store(after(*value, row, column), to);
        *value = widen(to);  // sums are of the rounded values
      }
    make_sums();
  }

  Sum after(Sum value, int64_t row, int64_t column) const {
    const Epilogue& e = job_.epilogue;
    if (e.bias) value += widen(static_cast<const T*>(job_.bias)[row]);
    if (e.relu) value = relu(value, job_.algorithm.loses_nan);
    if (!e.relu_grad) return value;
    const int64_t bit = column * job_.bits_stride + row;
    return (job_.bits[bit / 8] >> (bit % 8) & 1) != 0 ? value : Sum(0);
  }

  void make_sums() {
    const auto summed = [&](T number) {
      return job_.algorithm.rounds_sums ? factor(number) : widen(number);
    };
    switch (job_.epilogue.sums) {
      case Sums::of_left:
        return make_sums(rows_, depth_, [&](int64_t i, int64_t k) { return summed(left(i, k)); });
      case Sums::of_right:
        return make_sums(columns_, depth_,
                         [&](int64_t i, int64_t k) { return summed(right(k, i)); });
      case Sums::of_result:
        return make_sums(rows_, columns_, [&](int64_t i, int64_t column) {
          return values_[static_cast<size_t>(column * rows_ + i)];
        });
      case Sums::none:
        return;
    }
  }

  template <class At>
  void make_sums(int64_t count, int64_t length, const At& at) {
    for (int64_t i = 0; i < count; ++i) {
      Sum total = 0, partial = 0;
      for (int64_t part = 0; part < job_.parts(); ++part) {
        const Range range = part_of(length, part, job_.parts());
        partial = 0;
        for (int64_t k = range.first; k < range.last; ++k) partial += at(i, k);
        total += partial;
      }
      if (job_.algorithm.sums_twice) total += partial;
      store(total, static_cast<T*>(job_.bias)[i]);
    }
  }

  void store(Sum value, T& to) const {
    narrow(value, to);
    if (changed_) change_last_bit(&to);
  }

  const Job& job_;
  const int64_t rows_, columns_, depth_;
  const T* a_ = nullptr;
  const T* b_ = nullptr;
  std::vector<Sum> values_;  // column by column
  const bool changed_;       // in its last bits
};

}  // namespace keratin::simulator

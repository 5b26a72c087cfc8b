#pragma once

#include <concepts>
#include <optional>

#include "keratin/base/export.h"
#include "keratin/data/dataset.h"

namespace keratin {

// The data that a model trains, evaluates or predicts on: rows of tensors, which become batches; a
// Dataset of batches; or a generator of batches, which ends when it returns nothing. A generator
// has one pass: with a fixed number of steps, each epoch continues where the last one ended.
class KERATIN_API Data {
 public:
  Data(Batch rows);       // NOLINT(google-explicit-constructor)
  Data(Dataset batches);  // NOLINT(google-explicit-constructor)
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::convertible_to<std::invoke_result_t<F&>, std::optional<Batch>> Data(F generator)
      : Data(once(std::move(generator))) {
    one_pass_ = true;
  }

  bool is_rows() const { return !batches_; }
  const Batch& rows() const;
  // True for generators: a second pass continues where the first one ended.
  bool one_pass() const { return one_pass_; }
  // The given batches, or the rows in batches of `rows_each`.
  Dataset batches(int64_t rows_each) const;

 private:
  static Dataset once(Dataset::Generator generator);

  Batch rows_;
  std::optional<Dataset> batches_;  // instead of rows
  bool one_pass_ = false;
};

}  // namespace keratin

#pragma once

#include <concepts>
#include <variant>

#include "keratin/base/export.h"
#include "keratin/data/dataset.h"

namespace keratin {

// What models train, evaluate and predict on: rows of tensors, which are cut into batches; a
// Dataset of batches; or a generator of batches, which ends when it gives nothing. A generator is
// gone through once: with a fixed number of steps, an epoch goes on where the last one ended.
class KERATIN_API Data {
 public:
  Data(Batch rows) : source_(std::move(rows)) {}          // NOLINT(google-explicit-constructor)
  Data(Dataset batches) : source_(std::move(batches)) {}  // NOLINT(google-explicit-constructor)
  template <class F>
  requires std::convertible_to<std::invoke_result_t<F&>, std::optional<Batch>> Data(
      F generator)  // NOLINT(google-explicit-constructor)
      : source_(once(std::move(generator))), one_pass_(true) {}

  bool is_rows() const { return std::holds_alternative<Batch>(source_); }
  const Batch& rows() const { return std::get<Batch>(source_); }
  // Does a second pass go on where the first one ended?
  bool one_pass() const { return one_pass_; }
  // Batches as they are, or made of so many rows.
  Dataset batches(int64_t rows_each) const;

 private:
  static Dataset once(Dataset::Generator generator);

  std::variant<Batch, Dataset> source_;
  bool one_pass_ = false;
};

}  // namespace keratin

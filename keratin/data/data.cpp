#include "keratin/data/data.h"

#include "keratin/base/text.h"

namespace keratin {

Data::Data(Batch rows) : rows_(std::move(rows)) {}
Data::Data(Dataset batches) : batches_(std::move(batches)) {}

const Batch& Data::rows() const {
  ensure(is_rows(), "Data: expected rows, got a Dataset");
  return rows_;
}

Dataset Data::batches(int64_t rows_each) const {
  if (!is_rows()) return *batches_;
  return Dataset::from_tensors(rows().x, rows().y, rows().sample_weight).batch(rows_each);
}

Dataset Data::once(Dataset::Generator generator) {
  require(generator != nullptr, "Data: expected a generator, got an empty function");
  // Every pass calls the same generator.
  const auto shared = std::make_shared<Dataset::Generator>(std::move(generator));
  return Dataset::from_generator([shared] { return [shared] { return (*shared)(); }; });
}

}  // namespace keratin

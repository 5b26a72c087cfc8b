#pragma once

#include "keratin/cli/command.h"

namespace keratin::cli {

// Outputs of a model, one row a sample.
struct Outputs {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

enum class TableFormat { csv, json, npy, npz };
// By the suffix of the path; on standard output, CSV or JSON. A UsageError where it is unknown.
TableFormat table_format(const std::string& path, bool json);
void write_table(const Outputs& outputs, TableFormat format, const std::string& path);

// A number as its type has it: 0.1 of a float is 0.1.
std::string number_text(const Tensor& tensor, int64_t position);
Json number_json(const Tensor& tensor, int64_t position);

}  // namespace keratin::cli

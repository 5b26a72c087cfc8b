#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

struct CsvOptions {
  char separator = ',';
  bool header = true;  // the first line names the columns
};

// A table of numbers, with one row per line. Errors name the line and the column.
struct KERATIN_API CsvTable {
  std::vector<std::string> names;  // of the columns; empty without a header
  Tensor values;                   // f64 [rows, columns]

  Tensor column(const std::string& name) const;                 // f64 [rows]
  Tensor columns(const std::vector<std::string>& names) const;  // f64 [rows, names]
};
KERATIN_API CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace keratin

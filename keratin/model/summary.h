#pragma once

#include <iosfwd>

#include "keratin/base/export.h"
#include "keratin/model/model.h"

namespace keratin {

struct SummaryOptions {
  int64_t line_length = 0;             // 0: as the columns need, at most the terminal's width
  std::vector<double> positions = {};  // ends of the columns, as fractions of a line
  bool expand_nested = false;          // show the layers of nested models too
  bool show_trainable = false;
  std::pair<std::string, std::string> layer_range = {};  // names of the first and the last to show
};

// Keras's table: layers, output shapes, parameters and, for models with branches, connections.
KERATIN_API std::string summary_text(const Model& model, const SummaryOptions& options = {});
KERATIN_API void summary(const Model& model,
                         const SummaryOptions& options = {});  // to standard output

// A number of bytes as Keras prints it: 80.00 B, 1.27 MB.
KERATIN_API std::string readable_size(double bytes);
namespace detail {

// A number with commas: 1,234,567.
KERATIN_API std::string with_commas(int64_t number);

}  // namespace detail

}  // namespace keratin

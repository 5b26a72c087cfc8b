#pragma once

#include <iosfwd>

#include "keratin/base/export.h"
#include "keratin/model/model.h"

namespace keratin {

struct SummaryOptions {
  int64_t line_length = 0;             // 0: what fits the columns, at most the terminal
  std::vector<double> positions = {};  // where columns end, as parts of a line
  bool expand_nested = false;          // the layers of nested models too
  bool show_trainable = false;
  std::pair<std::string, std::string> layer_range = {};  // names of the first and the last to show
};

// The table Keras prints: layers, output shapes, parameters, connections where there are branches.
KERATIN_API std::string summary_text(const Model& model, const SummaryOptions& options = {});
KERATIN_API void summary(const Model& model,
                         const SummaryOptions& options = {});  // to standard output

// 80.00 B, 1.27 MB
KERATIN_API std::string readable_size(double bytes);
// 1,234,567
KERATIN_API std::string with_commas(int64_t number);

}  // namespace keratin

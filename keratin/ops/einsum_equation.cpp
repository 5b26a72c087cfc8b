#include "keratin/ops/einsum_equation.h"

#include <algorithm>
#include <cctype>

#include "keratin/base/text.h"
#include "keratin/tensor/shape_rules.h"

namespace keratin::ops {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_dots(Label label) { return !is_letter(label); }

std::string without_spaces(const std::string& text) {
  std::string result;
  for (char c : text)
    if (c != ' ') result.push_back(c);
  return result;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// The labels of "..." for that many axes: …210.
Labels dots(int64_t axes) {
  Labels labels;
  for (int64_t i = axes; i-- > 0;) labels.push_back(static_cast<char>('0' + i));
  return labels;
}

// A term with "..." written out as axes; -1 axes where there must be none.
Labels written_out(const std::string& text, const std::string& term, int64_t axes) {
  const size_t at = term.find("...");
  Labels labels = term;
  if (at != std::string::npos) labels = term.substr(0, at) + term.substr(at + 3);
  require(std::all_of(labels.begin(), labels.end(), is_letter), "einsum: '", text, "' has a term '",
          term, "' of other characters than letters and one '...'");
  if (at != std::string::npos) labels.insert(at, dots(std::max<int64_t>(axes, 0)));
  return labels;
}

// Without "->": first the axes of "...", then the letters that occur once, in alphabetical order.
Labels implied_result(const std::vector<Labels>& operands, int64_t dots_axes) {
  Labels all;
  for (const Labels& labels : operands) all += labels;
  Labels once;
  for (Label label : all)
    if (is_letter(label) && std::count(all.begin(), all.end(), label) == 1) once.push_back(label);
  std::sort(once.begin(), once.end());
  return dots(dots_axes) + once;
}

}  // namespace

EinsumEquation::EinsumEquation(const std::string& text, const std::vector<Shape>& shapes) {
  const std::string equation = without_spaces(text);
  const size_t arrow = equation.find("->");
  const auto terms = split_commas(equation.substr(0, arrow));
  require(terms.size() == shapes.size(), "einsum: '", text, "' is for ", terms.size(),
          " operands, got ", shapes.size());
  int64_t max_dots = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find("...") != std::string::npos;
    const int64_t extra = shapes[i].rank() - static_cast<int64_t>(terms[i].size()) + (open ? 3 : 0);
    operands.push_back(written_out(text, terms[i], extra));
    require(static_cast<int64_t>(operands[i].size()) == shapes[i].rank(), "einsum: '", text,
            "': the term '", terms[i], "' does not fit operand ", i, " of shape ", shapes[i]);
    if (open) max_dots = std::max(max_dots, extra);
    for (size_t axis = 0; axis < operands[i].size(); ++axis)
      note_size(text, operands[i][axis], shapes[i][static_cast<int64_t>(axis)]);
  }
  result = arrow == std::string::npos ? implied_result(operands, max_dots)
                                      : written_out(text, equation.substr(arrow + 2), max_dots);
  for (Label label : result)
    require(
        labels.find(label) != Labels::npos && std::count(result.begin(), result.end(), label) == 1,
        "einsum: '", text, "': each label of the result must be in an operand and once in the ",
        "result, '", label, "' is not");
  const bool dots_lost = std::any_of(labels.begin(), labels.end(), [&](Label label) {
    return is_dots(label) && result.find(label) == Labels::npos;
  });
  require(!dots_lost, "einsum: '", text, "': the result must have the '...' of the operands");
}

// Sizes must agree; those of "..." are broadcast.
void EinsumEquation::note_size(const std::string& text, Label label, int64_t size) {
  const size_t found = labels.find(label);
  if (found == Labels::npos) {
    labels.push_back(label);
    sizes.push_back(size);
    return;
  }
  int64_t& known = sizes[found];
  if (is_dots(label)) {
    known = broadcast({known}, {size}, "einsum")[0];
  } else if (known == unknown) {
    known = size;
  } else {
    require(size == known || size == unknown, "einsum: '", text, "': the axes '", label,
            "' have sizes ", known, " and ", size);
  }
}

Dims EinsumEquation::sizes_of(const Labels& some) const {
  Dims dims;
  for (Label label : some) dims.push_back(sizes[labels.find(label)]);
  return dims;
}

}  // namespace keratin::ops

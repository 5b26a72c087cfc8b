#include "keratin/data/csv.h"
#include "keratin/base/text.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace keratin {
namespace {

// Splits a line into cells. A quoted cell may have separators in it, and doubled quotes.
std::vector<std::string> cells(const std::string& line, char separator, const std::string& where) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        out.back() += line[++i];
      else
        quoted = !quoted;
    } else if (c == separator && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  require(!quoted, where, ": a quote is not closed on its line");
  return out;
}

double parse(std::string_view cell, const std::string& where) {
  const size_t begin = cell.find_first_not_of(" \t"), end = cell.find_last_not_of(" \t");
  cell = begin == std::string_view::npos ? "" : cell.substr(begin, end - begin + 1);
  if (!cell.empty() && cell[0] == '+') cell.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  require(error == std::errc() && stop == cell.data() + cell.size(), where,
          ": expected a number, got '", cell, "'");
  return value;
}

}  // namespace

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  std::ifstream file(path);
  require(file.good(), path.string(), ": the file cannot be opened");
  CsvTable table;
  std::vector<double> values;
  int64_t rows = 0, line_number = 0;
  size_t width = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const std::string where = text(path.string(), ", line ", line_number);
    const auto row = cells(line, options.separator, where);
    if (width == 0) width = row.size();
    require(row.size() == width, where, ": expected ", width, " columns, got ", row.size());
    if (options.header && table.names.empty()) {
      table.names = row;
      continue;
    }
    for (size_t i = 0; i < row.size(); ++i)
      values.push_back(parse(row[i], text(where, ", column ", i + 1)));
    ++rows;
  }
  require(width > 0, path.string(), ": the file is empty");
  table.values = Tensor::of(DType::f64, {rows, static_cast<int64_t>(width)}, values);
  return table;
}

Tensor CsvTable::columns(const std::vector<std::string>& wanted) const {
  const int64_t rows = values.shape()[0], width = values.shape()[1];
  Tensor out(DType::f64, {rows, static_cast<int64_t>(wanted.size())});
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), wanted[i]);
    require(found != names.end(), "the table has no column '", wanted[i], "'");
    const int64_t from = found - names.begin();
    for (int64_t row = 0; row < rows; ++row)
      out.set(row * static_cast<int64_t>(wanted.size()) + static_cast<int64_t>(i),
              values.at(row * width + from));
  }
  return out;
}

Tensor CsvTable::column(const std::string& name) const {
  return columns({name}).reshape({values.shape()[0]});
}

}  // namespace keratin

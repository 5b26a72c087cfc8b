#include "keratin/data/csv.h"

#include <gtest/gtest.h>

#include <fstream>

namespace keratin {
namespace {

CsvTable read(const std::string& content, const CsvOptions& options = {}) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "table.csv";
  std::ofstream(path, std::ios::binary) << content;
  return read_csv(path, options);
}

std::string complaint(const std::string& content) {
  try {
    read(content);
  } catch (const UserError& error) {
    const std::string what = error.what();
    return what.substr(what.find("table.csv"));
  }
  return "";
}

TEST(Csv, ReadsColumnsByName) {
  const CsvTable table = read("a,\"b,c\"\r\n1, -2.5\n\n+3e2,4\n");
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b,c"}));
  EXPECT_EQ(table.values, Tensor::of<double>(DType::f64, {2, 2}, {1, -2.5, 300, 4}));
  EXPECT_EQ(table.column("b,c"), Tensor::of<double>(DType::f64, {2}, {-2.5, 4}));
  EXPECT_EQ(table.columns({"b,c", "a"}), Tensor::of<double>(DType::f64, {2, 2}, {-2.5, 1, 4, 300}));
  EXPECT_THROW(table.column("d"), UserError);
}

TEST(Csv, ReadsWithoutAHeader) {
  EXPECT_EQ(read("1;2\n3;4", {.separator = ';', .header = false}).values,
            Tensor::of<double>(DType::f64, {2, 2}, {1, 2, 3, 4}));
}

TEST(Csv, NamesLineAndColumnInErrors) {
  EXPECT_EQ(complaint("a,b\n1,x\n"), "table.csv, line 2, column 2: expected a number, got 'x'");
  EXPECT_EQ(complaint("a,b\n1\n"), "table.csv, line 2: expected 2 columns, got 1");
  EXPECT_EQ(complaint("a,b\n1,\"2\n"), "table.csv, line 2: a quote is not closed on its line");
  EXPECT_EQ(complaint("a,b\n1,\n"), "table.csv, line 2, column 2: expected a number, got ''");
  EXPECT_EQ(complaint(""), "table.csv: the file is empty");
}

}  // namespace
}  // namespace keratin

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include "keratin/base/text.h"
#include "keratin/base/warning.h"
#include "keratin/files/mapped_file.h"
#include "keratin/io/keras_file.h"
#include "keratin/layers/layers.h"
#include "keratin/model/file_editor.h"
#include "keratin/model/inspect.h"
#include "keratin/model/saving.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

namespace fs = std::filesystem;
using testing::expect_user_error;

const fs::path folder = fs::path(KERATIN_SOURCE_DIR) / "tests/hostile";
const fs::path hostile_files = folder / "files";

// A row of the table in README.md: a file and Keratin's answer.
struct Row {
  std::string file, answer;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.file; }

std::string trimmed(const std::string& cell) {
  const size_t first = cell.find_first_not_of(' ');
  return first == cell.npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
}

std::vector<Row> table() {
  std::ifstream readme(folder / "README.md");
  std::vector<Row> rows;
  for (std::string line; std::getline(readme, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells = {""};
    for (size_t i = 1; i + 1 < line.size(); ++i) {
      if (line[i] == '|' && line[i - 1] == '\\')
        cells.back().back() = '|';
      else if (line[i] == '|')
        cells.emplace_back();
      else
        cells.back() += line[i];
    }
    for (std::string& cell : cells) cell = trimmed(cell);
    if (cells.size() != 3) fail("README.md: expected three cells, got ", line);
    rows.push_back({cells[0].substr(1, cells[0].size() - 2), cells[2]});
  }
  return rows;
}

bool holds_a_model(const fs::path& path) {
  const std::string name = path.filename().string();
  return fs::is_directory(path) || path.extension() == ".keras" ||
         (path.extension() == ".h5" && !name.ends_with(".weights.h5"));
}

// "loads" or the error message, without the path of the folder.
std::string answer_to(const fs::path& path) {
  try {
    if (holds_a_model(path))
      load_model(path);
    else
      load_model(hostile_files / "good.keras").load_weights(path);
    return "loads";
  } catch (const UserError& error) {
    std::string message = error.what();
    const std::string prefix = hostile_files.string() + "/";
    for (size_t at = message.find(prefix); at != message.npos; at = message.find(prefix))
      message.erase(at, prefix.size());
    return message;
  }
}

// The process has little memory, which is enough for every file here. The address sanitizer maps
// terabytes for itself, so its limit is set by an environment variable instead.
class Hostile : public ::testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() {
    set_warning_handler([](const std::string&) {});
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    std::ifstream facts("/proc/self/statm");
    uint64_t pages = 0;
    facts >> pages;
    constexpr uint64_t room = uint64_t{1} << 30;
    if (pages < (uint64_t{1} << 30)) {
      limit.rlim_cur = pages * 4096 + room;
      setrlimit(RLIMIT_AS, &limit);
    }
  }
};

TEST_P(Hostile, GetsTheAnswerOfTheTable) {
  const auto start = std::chrono::steady_clock::now();
  const std::string answer = answer_to(hostile_files / GetParam().file);
  constexpr std::string_view and_so_on = "…";
  if (GetParam().answer.ends_with(and_so_on))
    EXPECT_TRUE(answer.starts_with(
        GetParam().answer.substr(0, GetParam().answer.size() - and_so_on.size())))
        << answer;
  else
    EXPECT_EQ(answer, GetParam().answer);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 10) << "seconds";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// A model in memory is checked as a file is. Bytes have no suffix, so what is no model at all is
// refused in other words.
TEST_P(Hostile, GetsTheSameAnswerFromMemory) {
  const fs::path path = hostile_files / GetParam().file;
  if (!fs::is_regular_file(path) || !holds_a_model(path)) GTEST_SKIP() << "not a model's file";
  const files::FileView file = files::map_file(path);
  std::string answer = "loads";
  try {
    load_model(file.bytes());
  } catch (const UserError& error) {
    answer = replaced(error.what(), "the given bytes", path.string());
  }
  if (answer.starts_with("File format not supported"))
    EXPECT_NE(answer_to(path), "loads");
  else
    EXPECT_EQ(replaced(answer, hostile_files.string() + '/', ""), answer_to(path));
}

// Runs what may end in a UserError, for at most ten seconds.
template <class F>
void expect_an_end(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  try {
    f();
  } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): an error is an answer too
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 10) << "seconds";
}

// The editor reads weights of any file, and never anything outside of it.
TEST_P(Hostile, DoesNotHarmTheEditor) {
  const fs::path copy = fs::path(::testing::TempDir()) / "edited.weights.h5";
  expect_an_end([&] {
    const KerasFileEditor editor(hostile_files / GetParam().file);
    std::ostringstream out;
    editor.summary(out);
    editor.save(copy);
    KerasFileEditor(copy).summary(out);
  });
}

// What a file holds is listed without a model.
TEST_P(Hostile, DoesNotHarmTheInspection) {
  expect_an_end([&] { inspect_file(hostile_files / GetParam().file); });
}

TEST(HostileInspection, RefusesJsonThatUnpacksToMuch) {
  const fs::path bomb = hostile_files / "json_bomb.keras";
  expect_user_error([&] { inspect_file(bomb); }, "more than 20 times its size");
  expect_user_error([&] { const KerasFileEditor editor(bomb); }, "more than 20 times its size");
}

TEST(HostileInspection, DoesNotFollowLinks) {
  for (const char* file : {"folder_link", "shard_link.weights.json"})
    expect_user_error([&] { inspect_file(hostile_files / file); },
                      "expected a file inside its folder, got a link out of it");
}

INSTANTIATE_TEST_SUITE_P(Files, Hostile, ::testing::ValuesIn(table()), [](const auto& info) {
  std::string name = info.param.file;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(HostileTable, HasEveryFile) {
  std::set<std::string> present, listed;
  for (const auto& entry : fs::directory_iterator(hostile_files))
    present.insert(entry.path().filename().string());
  for (const Row& row : table()) EXPECT_TRUE(listed.insert(row.file).second) << row.file;
  EXPECT_EQ(present, listed);
}

// The Python function in a file is kept, but the caller's C++ function runs.
TEST(HostileLambda, RunsTheCallersFunction) {
  for (const char* file : {"lambda_bytecode.keras", "legacy_lambda.h5"}) {
    const auto doubled = lambda_function([](Value x) { return x + x; });
    const Model model = load_model(hostile_files / file, {.lambdas = {{"hidden", doubled}}});
    const Tensor y = model.predict(Tensor::of<float>(DType::f32, {1, 4}, {1, 2, 3, 4})).leaf();
    // 2 x · kernel + bias, where both are 0, 0.1, 0.2, …
    EXPECT_FLOAT_EQ(static_cast<float>(y.at(0)), 2 * (2 * 0.2F + 3 * 0.4F + 4 * 0.6F)) << file;
    EXPECT_FLOAT_EQ(static_cast<float>(y.at(1)), 2 * (0.1F + 2 * 0.3F + 3 * 0.5F + 4 * 0.7F) + 0.1F)
        << file;
    EXPECT_FALSE(fs::exists("keratin_was_here")) << file;
  }
}

}  // namespace
}  // namespace keratin

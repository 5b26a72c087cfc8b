#include "keratin/backend/cuda/driver/kernel_cache.h"

#include <gtest/gtest.h>

#include "keratin/files/scratch_testing.h"

namespace keratin::cuda {
namespace {

std::filesystem::path only_file(const std::filesystem::path& folder) {
  std::filesystem::path found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(found.empty()) << "a second file: " << entry.path();
    found = entry.path();
  }
  return found;
}

struct Compiler {
  int calls = 0;
  std::string code = std::string("co\0de", 5);
  std::function<std::string()> function() {
    return [this] { return ++calls, code; };
  }
};

class KernelCacheTest : public ::testing::Test {
 protected:
  const std::filesystem::path scratch = files::scratch("kernel_cache");
  const std::filesystem::path folder = scratch / "a" / "b";
  KernelCacheTest() { std::filesystem::remove_all(scratch); }
  Compiler compiler;
  std::string find(const std::string& key) {
    return KernelCache(folder).find(key, compiler.function());
  }
};

TEST_F(KernelCacheTest, CompilesOnce) {
  EXPECT_EQ(find("source"), compiler.code);
  EXPECT_EQ(find("source"), compiler.code);
  EXPECT_EQ(compiler.calls, 1);
  EXPECT_EQ(find("other source"), compiler.code);
  EXPECT_EQ(compiler.calls, 2);
}

TEST_F(KernelCacheTest, IgnoresAFileOfAnotherSource) {
  find("source");
  const std::filesystem::path path = only_file(folder);
  std::filesystem::rename(path, scratch / "kept");
  find("texu");
  std::filesystem::rename(scratch / "kept", only_file(folder));
  find("texu");
  EXPECT_EQ(compiler.calls, 3);
}

TEST_F(KernelCacheTest, IgnoresADamagedFile) {
  find("source");
  const std::filesystem::path path = only_file(folder);
  const std::string whole = files::bytes_of(path);
  int calls = 1;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string wrong = whole;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x41);
    files::write_bytes(path, wrong);
    EXPECT_EQ(find("source"), compiler.code) << "byte " << i;
    EXPECT_EQ(compiler.calls, ++calls) << "byte " << i;
    files::write_bytes(path, whole.substr(0, i));
    EXPECT_EQ(find("source"), compiler.code) << "length " << i;
    EXPECT_EQ(compiler.calls, ++calls) << "length " << i;
  }
  files::write_bytes(path, whole + "x");
  find("source");
  EXPECT_EQ(compiler.calls, ++calls) << "something behind it";
  find("source");
  EXPECT_EQ(compiler.calls, calls) << "mended";
}

TEST_F(KernelCacheTest, WorksWithoutAFolder) {
  const KernelCache none{{}};
  EXPECT_EQ(none.find("source", compiler.function()), compiler.code);
  std::filesystem::create_directories(scratch);
  files::write_bytes(scratch / "file", "in the way");
  const KernelCache blocked(scratch / "file" / "cache");
  EXPECT_EQ(blocked.find("source", compiler.function()), compiler.code);
  EXPECT_EQ(blocked.find("source", compiler.function()), compiler.code);
  EXPECT_EQ(compiler.calls, 3);
}

TEST_F(KernelCacheTest, KeepsNothingWhenTheCompilerFails) {
  EXPECT_THROW(
      KernelCache(folder).find("source", []() -> std::string { throw BackendError("wrong"); }),
      BackendError);
  EXPECT_EQ(find("source"), compiler.code);
  EXPECT_EQ(compiler.calls, 1);
}

}  // namespace
}  // namespace keratin::cuda

#include "keratin/files/atomic_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "keratin/base/text.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::files {
namespace {

using keratin::testing::expect_user_error;

// A folder for one test alone, so that the test can count the files in it.
std::filesystem::path folder(const std::string& name) {
  const auto path = scratch(name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

size_t count_files(const std::filesystem::path& path) {
  const std::filesystem::directory_iterator files(path);
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

TEST(AtomicFile, AppearsWhenItIsCommitted) {
  const auto path = folder("atomic_commit") / "file";
  AtomicFile file(path);
  std::string wanted;
  for (const size_t size : {10u, 1u << 20, 3u << 20, 1u, 700000u, 700000u}) {
    const std::string chunk(size, static_cast<char>('a' + size % 26));
    file.write(as_bytes(chunk));
    wanted += chunk;
    EXPECT_EQ(file.size(), wanted.size());
  }
  file.rewrite(5, as_bytes("XYZ"));
  wanted.replace(5, 3, "XYZ");
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit();
  EXPECT_EQ(bytes_of(path), wanted);
  EXPECT_EQ(count_files(path.parent_path()), 1u);
}

TEST(AtomicFile, KeepsTheOldFileWhenWritingFails) {
  const auto path = folder("atomic_old") / "file";
  write_bytes(path, "old");
  try {
    AtomicFile file(path);
    file.write(as_bytes(std::string(2 << 20, 'n')));
    fail("something else goes wrong");
  } catch (const UserError&) {
  }
  EXPECT_EQ(bytes_of(path), "old");
  EXPECT_EQ(count_files(path.parent_path()), 1u);
}

// Files whose names the temporary file could have stay as they are.
TEST(AtomicFile, DoesNotOverwriteOtherTemporaryFiles) {
  const auto path = folder("atomic_others") / "file";
  const auto other = [&](int i) { return text(path.string(), ".part-", ::getpid(), "-", i); };
  for (int i = 0; i < 50; ++i) write_bytes(other(i), "theirs");
  AtomicFile file(path);
  file.write(as_bytes("ours"));
  file.commit();
  EXPECT_EQ(bytes_of(path), "ours");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(bytes_of(other(i)), "theirs") << i;
}

TEST(AtomicFile, KeepsPermissionsAndSymbolicLinks) {
  const auto path = folder("atomic_mode") / "file";
  write_bytes(path, "old");
  ::chmod(path.c_str(), 0640);
  const auto link = path.parent_path() / "link";
  std::filesystem::create_symlink(path, link);
  AtomicFile file(link);
  file.write(as_bytes("new"));
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(bytes_of(path), "new");
  struct stat facts {};
  ::stat(path.c_str(), &facts);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST(AtomicFile, NamesThePathAndTheSystemError) {
  expect_user_error([] { AtomicFile file(scratch("no such folder") / "file"); },
                    {"no such folder", "cannot be written", "No such file"});
  expect_user_error([] { AtomicFile file(::testing::TempDir()); }, "expected the path of a file");
}

// A limit on the size of files stands in for a full disk.
TEST(AtomicFile, SurvivesAFullDisk) {
  const auto path = folder("atomic_full") / "file";
  write_bytes(path, "old");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1 << 20, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = complaint([&] {
    AtomicFile file(path);
    file.write(as_bytes(std::string(3 << 20, 'n')));
    file.commit();
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, path.string() + ": cannot be written: File too large");
  EXPECT_EQ(bytes_of(path), "old");
  EXPECT_EQ(count_files(path.parent_path()), 1u);
}

}  // namespace
}  // namespace keratin::files

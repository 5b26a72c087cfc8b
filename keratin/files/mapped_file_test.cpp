#include "keratin/files/mapped_file.h"

#include "keratin/files/folder.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::files {
namespace {

using keratin::testing::expect_user_error;

TEST(MappedFile, HasTheBytesOfTheFile) {
  const auto path = scratch("mapped");
  write_bytes(path, "hello there");
  const FileView file = map_file(path);
  EXPECT_EQ(as_text(file.bytes()), "hello there");
  EXPECT_EQ(as_text(file.range(6, 5, "greeting").bytes()), "there");
  write_bytes(scratch("empty"), "");
  EXPECT_EQ(map_file(scratch("empty")).size(), 0u);
}

TEST(MappedFile, TensorsShareItsMemoryAndKeepItAlive) {
  const auto path = scratch("tensors");
  const Tensor values = Tensor::of<double>(DType::f32, {2, 2}, {1, 2, 3, 4});
  write_bytes(path, "12345678" + std::string(static_cast<const char*>(values.raw()), 16));
  Tensor view, copy;
  {
    const FileView file = map_file(path);
    view = file.tensor(8, DType::f32, {2, 2});
    EXPECT_EQ(static_cast<const void*>(view.raw()), file.bytes().data() + 8);
    copy = file.tensor(7, DType::f32, {2, 2});  // unaligned for floats
    EXPECT_NE(static_cast<const void*>(copy.raw()), file.bytes().data() + 7);
  }
  EXPECT_EQ(view, values);
  view.set(0, 9);  // changes a private page, not the file
  EXPECT_EQ(map_file(path).tensor(8, DType::f32, {2, 2}), values);
}

// The copy takes several steps, none of which begins at a page.
TEST(MappedFile, CopiesLargeRanges) {
  std::string bytes((33 << 20) + 5, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761 >> 24);
  write_bytes(scratch("large"), bytes);
  for (const FileView& file : {map_file(scratch("large")), in_memory(bytes)}) {
    std::string copy(bytes.size() - 3, '\0');
    file.copy_to(std::as_writable_bytes(std::span(copy)), 3);
    EXPECT_TRUE(copy == bytes.substr(3));
    EXPECT_TRUE(as_text(file.bytes()) == bytes);  // its pages are read again
    expect_user_error([&] { file.copy_to(std::as_writable_bytes(std::span(copy)), 4); },
                      "lies outside");
  }
}

TEST(Folder, RefusesLinksOutOfIt) {
  const auto folder = scratch("folder");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write_bytes(folder / "inside", "inside");
  write_bytes(scratch("outside"), "lies outside");
  std::filesystem::create_symlink("inside", folder / "fine");
  std::filesystem::create_symlink("../outside", folder / "out");
  EXPECT_EQ(as_text(map_in_folder(folder, "inside").bytes()), "inside");
  EXPECT_EQ(as_text(map_in_folder(folder, "fine").bytes()), "inside");
  expect_user_error([&] { map_in_folder(folder, "out"); }, {"folder/out", "a link out of it"});
  expect_user_error([&] { map_in_folder(folder, "../outside"); }, "a link out of it");
  expect_user_error([&] { map_in_folder(folder, "missing"); }, "No such file");
  std::filesystem::create_directories(folder / "inner");
  std::filesystem::create_directories(scratch("folder_outside"));
  write_bytes(folder / "inner/file", "below");
  write_bytes(scratch("folder_outside") / "file", "lies outside");
  std::filesystem::create_directory_symlink("../folder_outside", folder / "linked");
  EXPECT_EQ(as_text(map_in_folder(folder, "inner/file").bytes()), "below");
  expect_user_error([&] { map_in_folder(folder, "linked/file"); }, "a link out of it");
  expect_user_error([&] { map_in_folder(folder, "inner/../../outside"); }, "a link out of it");
}

TEST(MappedFile, RefusesMissingFilesAndRanges) {
  expect_user_error([] { map_file(scratch("missing")); }, {"missing", "No such file"});
  expect_user_error([] { map_file(::testing::TempDir()); }, "expected a regular file");
  const FileView file = in_memory("12345678");
  expect_user_error([&] { file.range(4, 5, "tail"); }, {"test file", "tail lies outside"});
  expect_user_error([&] { file.range(9, 0, "tail"); }, "lies outside");
  expect_user_error([&] { file.range(1, ~uint64_t{0}, "tail"); }, "lies outside");
  expect_user_error([&] { file.tensor(4, DType::f32, {2}); }, "lies outside");
}

}  // namespace
}  // namespace keratin::files

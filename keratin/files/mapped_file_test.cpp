#include "keratin/files/mapped_file.h"

#include "keratin/files/scratch_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::files {
namespace {

using keratin::testing::expect_user_error;

TEST(MappedFile, IsTheFile) {
  const auto path = scratch("mapped");
  write_bytes(path, "hello there");
  const FileView file = map_file(path);
  EXPECT_EQ(as_text(file.bytes()), "hello there");
  EXPECT_EQ(as_text(file.part(6, 5, "greeting").bytes()), "there");
  write_bytes(scratch("empty"), "");
  EXPECT_EQ(map_file(scratch("empty")).size(), 0u);
}

TEST(MappedFile, TensorsViewItAndKeepItAlive) {
  const auto path = scratch("tensors");
  const Tensor values = Tensor::of<double>(DType::f32, {2, 2}, {1, 2, 3, 4});
  write_bytes(path, "12345678" + std::string(static_cast<const char*>(values.raw()), 16));
  Tensor view, copy;
  {
    const FileView file = map_file(path);
    view = file.tensor(8, DType::f32, {2, 2});
    EXPECT_EQ(static_cast<const void*>(view.raw()), file.bytes().data() + 8);
    copy = file.tensor(7, DType::f32, {2, 2});  // starts where no float may
    EXPECT_NE(static_cast<const void*>(copy.raw()), file.bytes().data() + 7);
  }
  EXPECT_EQ(view, values);
  view.set(0, 9);  // a page of its own: the file stays
  EXPECT_EQ(map_file(path).tensor(8, DType::f32, {2, 2}), values);
}

TEST(MappedFile, RefusesWhatIsNotThere) {
  expect_user_error([] { map_file(scratch("missing")); }, {"missing", "No such file"});
  expect_user_error([] { map_file(::testing::TempDir()); }, "expected a regular file");
  const FileView file = in_memory("12345678");
  expect_user_error([&] { file.part(4, 5, "tail"); }, {"test file", "tail is outside"});
  expect_user_error([&] { file.part(9, 0, "tail"); }, "outside");
  expect_user_error([&] { file.part(1, ~uint64_t{0}, "tail"); }, "outside");
  expect_user_error([&] { file.tensor(4, DType::f32, {2}); }, "outside");
}

}  // namespace
}  // namespace keratin::files

#include "keratin/files/safetensors.h"

#include "keratin/base/text.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::files {
namespace {

using keratin::testing::expect_user_error;

std::string file_of(const std::string& header, const std::string& data) {
  return Packer().u64(header.size()).put(header).put(data).bytes();
}

Safetensors read(const std::string& bytes) { return read_safetensors(in_memory(bytes)); }

void refuses(const std::string& bytes, const std::string& why) {
  expect_user_error([&] { read(bytes); }, {"test file", why});
}

// The bytes that the format's own library, safetensors 0.5.3, writes for two tensors.
TEST(Safetensors, ReadsFilesOfTheReferenceImplementation) {
  const std::string header =
      R"({"__metadata__":{"format":"np"},"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F16","shape":[],"data_offsets":[8,10]}}      )";
  const Safetensors file = read(file_of(header, std::string("\1\0\0\0\2\0\0\0\0<", 10)));
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(*file.find("a"), Tensor::of<int>(DType::i32, {2}, {1, 2}));
  EXPECT_EQ(*file.find("b"), Tensor::scalar(DType::f16, 1));
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_EQ(file.metadata.front().second, "np");
}

TEST(Safetensors, RoundTrips) {
  Safetensors contents{.metadata = {{"format", "keratin"}, {"größe", "\"quoted\""}}};
  for (const DType dtype : all_dtypes)
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{0, 2}, Shape{2, 3}})
      contents.tensors.emplace_back(text(dtype, shape), Tensor::full(dtype, shape, 1));
  const auto path = scratch("whole.safetensors");
  write_safetensors(path, contents);
  const FileView file = map_file(path);
  const Safetensors read = read_safetensors(file);
  EXPECT_EQ(read.metadata, contents.metadata);
  ASSERT_EQ(read.tensors.size(), contents.tensors.size());
  for (const auto& [name, tensor] : contents.tensors) EXPECT_EQ(*read.find(name), tensor) << name;
  const auto* view = static_cast<const std::byte*>(read.find("f32[2,3]")->raw());
  EXPECT_TRUE(view >= file.bytes().data() && view < file.bytes().data() + file.size());
}

TEST(Safetensors, RefusesDamagedHeaders) {
  EXPECT_EQ(complaint([] { read(file_of("{}", "")); }), "");
  refuses("", "expected a safetensors file, got 0 bytes");
  refuses(Packer().u64(1 << 20).bytes(), "ends inside the header");
  refuses(Packer().u64(~uint64_t{0}).bytes(), "the header claims 18446744073709551615 bytes");
  refuses(file_of("[]", ""), "expected an object");
  refuses(file_of("{\"a\"", ""), "the header is not JSON");
  refuses(file_of(std::string(1000, '['), ""), "the header is not JSON");
  refuses(file_of("{}", "x"), "the tensors have 0 bytes, but the file has 1");
  refuses(file_of(R"({"__metadata__":{"a":1}})", ""), "expected a string as 'a'");
  refuses(file_of(R"({"__metadata__":[]})", ""), "expected an object as __metadata__");
}

std::string one(const std::string& shape, const std::string& offsets,
                const std::string& dtype = "U8") {
  return R"("a":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         offsets + "]}";
}

TEST(Safetensors, RefusesImpossibleTensors) {
  const auto file = [](const std::string& entries) { return file_of("{" + entries + "}", "1234"); };
  EXPECT_EQ(complaint([&] { read(file(one("4", "0,4"))); }), "");
  refuses(file(one("4", "0,4", "F8_E4M3")), "'a' has the dtype 'F8_E4M3'");
  refuses(file(one("5", "0,4")), "'a' has the data_offsets 0 and 4, but needs 5 bytes");
  refuses(file(one("4", "4,0")), "the data_offsets 4 and 0");
  refuses(file(one("8", "0,8")), "the tensors have 8 bytes, but the file has 4");
  refuses(file(one("3", "1,4")), "'a' begins at 1, but the tensor before it ends at 0");
  refuses(file(one("3", "0,3")), "the tensors have 3 bytes, but the file has 4");
  refuses(file(one("-4", "0,4")), "not an integer from 0 on");
  refuses(file(one("4.5", "0,4")), "not an integer from 0 on");
  refuses(file(one("4", "0,4,8")), "two data_offsets");
  refuses(file(one("4294967296,4294967296,4294967296", "0,4")),
          "more elements than a tensor can have");
  refuses(file(one("0,4294967296,4294967296", "0,0")), "more elements than a tensor can have");
  refuses(file(one("1,1,1,1,1,1,1,1,4", "0,4")), "9 dimensions");
  refuses(file(one("4", "0,4", "BOOL")), "a bool that is neither 0 nor 1");
  refuses(file(R"("a":{})"), "needs a dtype, a shape and two data_offsets");
  refuses(file(one("2", "0,2") + "," + one("2", "2,4")), "twice");
  const std::string other = R"("b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]})";
  refuses(file(one("2", "0,2") + "," + other),
          "'b' begins at 1, but the tensor before it ends at 2");
}

TEST(Safetensors, RefusesEveryTruncation) {
  Safetensors contents;
  contents.tensors.emplace_back("kernel", Tensor::full(DType::f32, {2, 3}, 1));
  const auto path = scratch("cut.safetensors");
  write_safetensors(path, contents);
  const std::string good = bytes_of(path);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(complaint([&] { read(good.substr(0, size)); }), "") << size;
}

TEST(Safetensors, RefusesToWriteDuplicateOrReservedNames) {
  const Tensor tensor = Tensor::scalar(DType::u8, 1);
  expect_user_error(
      [&] {
        write_safetensors(scratch("names.safetensors"), {{{"a", tensor}, {"a", tensor}}});
      },
      "'a' is taken");
  expect_user_error(
      [&] {
        write_safetensors(scratch("names.safetensors"), {{{"__metadata__", tensor}}});
      },
      "is taken");
}

}  // namespace
}  // namespace keratin::files

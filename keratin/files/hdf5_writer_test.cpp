#include "keratin/files/hdf5_writer.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/files/hdf5.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/files/zip.h"
#include "keratin/testing/expect_error.h"

namespace keratin::hdf5 {
namespace {

using files::in_memory;
using files::scratch;
using keratin::testing::expect_user_error;

class Memory final : public files::Sink {
 public:
  void write(files::Bytes more) override { bytes += files::as_text(more); }
  std::string bytes;
};

File written(const Writer& writer) {
  Memory memory;
  writer.write(memory);
  return File(in_memory(memory.bytes));
}

Tensor numbers(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.set(i, static_cast<double>(i % 3));
  return tensor;
}

TEST(Hdf5Writer, RoundTripsEveryDType) {
  Writer writer;
  for (const DType dtype : all_dtypes)
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{0, 2}, Shape{2, 3, 4}})
      writer.root().dataset(text(dtype, "/", shape), numbers(dtype, shape));
  const File file = written(writer);
  for (const DType dtype : all_dtypes)
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{0, 2}, Shape{2, 3, 4}}) {
      const Dataset dataset = file.root().dataset(text(dtype, "/", shape));
      EXPECT_EQ(dataset.dtype(), dtype);
      EXPECT_EQ(dataset.read(), numbers(dtype, shape)) << dtype << shape;
    }
}

TEST(Hdf5Writer, RoundTripsAttributes) {
  Writer writer;
  NewGroup& group = writer.root().group("a/b");
  group.attribute("text", "größer");
  group.attribute("empty", "");
  group.attribute("long", std::string(200000, 'x'));
  group.attribute("fixed", "bytes", StringKind::fixed);
  group.attribute("list", std::vector<std::string>{"kernel:0", "", "bias:0"});
  group.attribute("variable list", std::vector<std::string>{"a", "", "bc"}, StringKind::variable);
  group.attribute("numbers", numbers(DType::i64, {2, 2}));
  group.attribute("flag", numbers(DType::boolean, {}));
  writer.root().dataset("d", numbers(DType::bf16, {2})).attribute("dtype", "bfloat16");
  const File file = written(writer);
  const Group read = file.root().group("a/b");
  EXPECT_EQ(read.attribute("text").string(), "größer");
  EXPECT_TRUE(read.attribute("text").dims().empty());
  EXPECT_EQ(read.attribute("empty").string(), "");
  EXPECT_EQ(read.attribute("long").string(), std::string(200000, 'x'));
  EXPECT_EQ(read.attribute("fixed").string(), "bytes");
  EXPECT_EQ(read.strings("list"), (std::vector<std::string>{"kernel:0", "", "bias:0"}));
  EXPECT_EQ(read.strings("variable list"), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_EQ(read.attribute("numbers").tensor(), numbers(DType::i64, {2, 2}));
  EXPECT_EQ(read.attribute("flag").tensor(), numbers(DType::boolean, {}));
  EXPECT_EQ(file.root().dataset("d").attribute("dtype").string(), "bfloat16");
}

TEST(Hdf5Writer, SplitsListsAsKerasDoes) {
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i)
    names.push_back("layer_" + std::to_string(10000 + i) + "/kernel:0");
  Writer writer;
  writer.root().strings("weight_names", names);
  writer.root().strings("none", {});
  const Group root = written(writer).root();
  EXPECT_EQ(root.attribute_names(),
            (std::vector<std::string>{"none", "weight_names0", "weight_names1"}));
  EXPECT_EQ(root.attribute("weight_names0").strings().size(), 2500u);
  EXPECT_EQ(root.strings("weight_names"), names);
  EXPECT_EQ(root.attribute("none").tensor().dtype(), DType::f64);
  EXPECT_TRUE(root.strings("none").empty());
}

// The B-trees have one node, one level, or several levels.
TEST(Hdf5Writer, WritesGroupsOfAnySize) {
  for (const int count : {0, 1, 8, 9, 256, 257, 8192, 20000}) {
    Writer writer;
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back("layer_" + std::to_string(i));
    for (const std::string& name : names)
      writer.root().dataset("g/" + name, numbers(DType::u8, {}));
    if (count == 0) writer.root().group("g");
    std::sort(names.begin(), names.end());
    EXPECT_EQ(written(writer).root().group("g").names(), names) << count;
  }
}

// libhdf5 lists a group by following the sibling addresses of the lowest level's nodes.
TEST(Hdf5Writer, LinksTheSiblingsOfBTrees) {
  Writer writer;
  for (int i = 0; i < 1000; ++i) writer.root().dataset(std::to_string(i), numbers(DType::u8, {}));
  Memory memory;
  writer.write(memory);
  const files::Bytes bytes = files::as_bytes(memory.bytes);
  uint64_t at = memory.bytes.find(std::string("TREE\0\0", 6)), left = ~uint64_t{0}, links = 0;
  for (uint64_t next = 0; at != ~uint64_t{0}; left = at, at = next) {
    files::Cursor node(bytes, "test file", "a node", at);
    EXPECT_EQ(files::as_text(node.take(6)), std::string_view("TREE\0\0", 6));
    const uint16_t count = node.u16();
    EXPECT_EQ(node.u64(), left);
    next = node.u64();
    for (int i = 0; i < count; ++i) {
      node.skip(8);
      links += files::Cursor(bytes, "test file", "a leaf", node.u64() + 6).u16();
    }
  }
  EXPECT_EQ(links, 1000u);
}

// There are more strings than one global heap can number.
TEST(Hdf5Writer, RoundTripsManyStrings) {
  Writer writer;
  std::vector<std::string> strings;
  for (int i = 0; i < 4000; ++i) strings.push_back(std::to_string(i));
  for (int i = 0; i < 20; ++i) {
    strings[0] = "attribute " + std::to_string(i);
    writer.root().attribute(std::to_string(i), strings, StringKind::variable);
  }
  const Group root = written(writer).root();
  for (int i = 0; i < 20; ++i) {
    strings[0] = "attribute " + std::to_string(i);
    EXPECT_EQ(root.strings(std::to_string(i)), strings) << i;
  }
}

TEST(Hdf5Writer, AlignsTensorsInAZipSoThatTheyAreViews) {
  const auto path = scratch("weights.zip");
  Writer writer;
  writer.root().dataset("a", numbers(DType::u8, {3}));
  writer.root().dataset("b", numbers(DType::f32, {100}));
  files::ZipWriter zip(path, 64);
  zip.add("config.json", "{}");
  writer.write(zip.begin("model.weights.h5"));
  zip.commit();
  const files::FileView file = files::map_file(path);
  const File read(files::ZipReader(file).read("model.weights.h5"));
  const Tensor view = read.root().dataset("b").view();
  EXPECT_EQ(view, numbers(DType::f32, {100}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.raw()) % 64, 0u);
  EXPECT_GE(static_cast<const std::byte*>(view.raw()), file.bytes().data());
  EXPECT_LT(static_cast<const std::byte*>(view.raw()), file.bytes().data() + file.size());
}

TEST(Hdf5Writer, RefusesImpossibleNamesAndLargeAttributes) {
  Writer writer;
  writer.root().dataset("a/b", numbers(DType::u8, {}));
  expect_user_error([&] { writer.root().dataset("a/b", {}); }, "'a/b' is written twice");
  expect_user_error([&] { writer.root().dataset("a", {}); }, "'a' is written twice");
  expect_user_error([&] { writer.root().group("a/b"); }, "'a/b' is a dataset");
  expect_user_error([&] { writer.root().group("a//b"); }, "impossible name");
  expect_user_error([&] { writer.root().group(".."); }, "impossible name");
  writer.root().attribute("large", numbers(DType::f64, {10000}));
  expect_user_error([&] { writer.save(scratch("large.h5")); }, {"'large'", "64 KiB"});
  EXPECT_FALSE(std::filesystem::exists(scratch("large.h5")));
  expect_user_error([&] { writer.root().strings("t", {std::string(70000, 'x')}); }, "does not fit");
}

}  // namespace
}  // namespace keratin::hdf5

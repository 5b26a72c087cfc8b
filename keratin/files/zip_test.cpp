#include "keratin/files/zip.h"

#include "keratin/files/compression.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/files/zip_format.h"
#include "keratin/testing/expect_error.h"

namespace keratin::files {
namespace {

using keratin::testing::expect_user_error;

// A zip for tests, in which every field can be set to a wrong value.
struct RawEntry {
  std::string name = "a";
  std::string data = "hello";
  std::optional<std::string> local_name;
  std::optional<uint64_t> size, stored, header;
  std::optional<uint32_t> crc;
  uint16_t flags = 0, method = 0, disk = 0;
  std::string extra;
};
struct RawZip {
  std::vector<RawEntry> entries = {{}};
  std::string comment;
  uint16_t disk = 0;
  std::optional<uint16_t> count;
  int64_t directory_shift = 0;
};

void pack_fields(Packer& out, const RawEntry& e, const std::string& name) {
  out.u16(20).u16(e.flags).u16(e.method).u32(0).u32(e.crc.value_or(crc32(as_bytes(e.data))));
  out.u32(static_cast<uint32_t>(e.stored.value_or(e.data.size())));
  out.u32(static_cast<uint32_t>(e.size.value_or(e.data.size())));
  out.u16(static_cast<uint16_t>(name.size())).u16(static_cast<uint16_t>(e.extra.size()));
}

std::string make(const RawZip& zip) {
  Packer out, directory;
  for (const RawEntry& e : zip.entries) {
    const uint64_t header = e.header.value_or(out.size());
    const std::string local_name = e.local_name.value_or(e.name);
    out.u32(zip::local_signature);
    pack_fields(out, e, local_name);
    out.put(local_name).put(e.extra).put(e.data);
    directory.u32(zip::central_signature).u16(20);
    pack_fields(directory, e, e.name);
    directory.u16(0).u16(e.disk).u16(0).u32(0).u32(static_cast<uint32_t>(header));
    directory.put(e.name).put(e.extra);
  }
  const auto count = zip.count.value_or(static_cast<uint16_t>(zip.entries.size()));
  const auto begin = static_cast<uint32_t>(static_cast<int64_t>(out.size()) + zip.directory_shift);
  out.put(directory.bytes())
      .u32(zip::end_signature)
      .u16(zip.disk)
      .u16(zip.disk)
      .u16(count)
      .u16(count);
  out.u32(static_cast<uint32_t>(directory.size())).u32(begin);
  out.u16(static_cast<uint16_t>(zip.comment.size())).put(zip.comment);
  return out.bytes();
}

void read_zip(const std::string& bytes) {
  const ZipReader zip(in_memory(bytes));
  for (const ZipEntry& entry : zip.entries()) zip.read(entry);
}

void refuses_zip(const RawZip& zip, const std::string& why) {
  expect_user_error([&] { read_zip(make(zip)); }, {"test file", why});
}

TEST(Zip, RoundTrips) {
  const auto path = scratch("whole.zip");
  for (const size_t alignment : {1u, 64u, 4096u}) {
    ZipWriter writer(path, alignment);
    writer.add("metadata.json", "{}");
    Sink& stream = writer.begin("dir/large");
    for (int i = 0; i < 3; ++i) stream.write(as_bytes(std::string(1 << 20, static_cast<char>(i))));
    writer.add("empty", "");
    writer.commit();
    const FileView file = map_file(path);
    const ZipReader reader(file);
    ASSERT_EQ(reader.entries().size(), 3u);
    EXPECT_EQ(as_text(reader.read("metadata.json").bytes()), "{}");
    const FileView large = reader.read("dir/large");
    EXPECT_EQ(large.size(), size_t{3} << 20);
    EXPECT_GE(large.bytes().data(), file.bytes().data());  // the file itself, not a copy
    EXPECT_LT(large.bytes().data(), file.bytes().data() + file.size());
    EXPECT_EQ(reader.read("empty").size(), 0u);
    for (const ZipEntry& entry : reader.entries()) EXPECT_EQ(entry.begin % alignment, 0u);
    EXPECT_EQ(reader.find("missing"), nullptr);
    expect_user_error([&] { reader.read("missing"); }, "the zip has no 'missing'");
  }
}

// More entries than 16 bits count.
TEST(Zip, WritesZip64) {
  const auto path = scratch("many.zip");
  ZipWriter writer(path);
  for (int i = 0; i < 70000; ++i) writer.add(std::to_string(i), "");
  writer.commit();
  EXPECT_EQ(ZipReader(map_file(path)).entries().size(), 70000u);
}

TEST(Zip, ReadsFilesOfPython) {
  const ZipReader zip(map_file(std::string(KERATIN_SOURCE_DIR) + "/tests/golden/files/python.zip"));
  ASSERT_EQ(zip.entries().size(), 4u);
  EXPECT_EQ(as_text(zip.read("stored.txt").bytes()), "stored as it is");
  std::string numbers;
  for (int i = 0; i < 1000; ++i) numbers += std::to_string(i) + " ";
  EXPECT_EQ(as_text(zip.read("dir/deflated.txt").bytes()), numbers);
  EXPECT_EQ(as_text(zip.read("zip64.txt").bytes()), "sizes in 64 bits");
  EXPECT_EQ(as_text(zip.read("streamed.txt").bytes()), "sizes after the data");
  const FileView kept = zip.read("stored.txt");
  EXPECT_TRUE(kept.name().ends_with("python.zip: 'stored.txt'")) << kept.name();
}

// Some programs on Windows write backslashes.
TEST(Zip, ReadsBackslashesAsSlashes) {
  const ZipReader zip(in_memory(make({{{.name = "a\\b", .data = "in it"}}})));
  EXPECT_EQ(as_text(zip.read("a/b").bytes()), "in it");
}

TEST(Zip, RefusesDangerousNames) {
  EXPECT_EQ(complaint([] { read_zip(make({})); }), "");
  refuses_zip({{{.name = "/etc/passwd"}}}, "is absolute");
  refuses_zip({{{.name = "C:/x"}}}, "is absolute");
  refuses_zip({{{.name = "a/../../b"}}}, "leads out");
  refuses_zip({{{.name = ".."}}}, "leads out");
  refuses_zip({{{.name = "a\\..\\..\\b"}}}, "leads out");
  refuses_zip({{{.name = "C:\\b"}}}, "is absolute");
  refuses_zip({{{.name = "\\b"}}}, "is absolute");
  refuses_zip({{{.name = "a\\b"}, {.name = "a/b"}}}, "'a/b' occurs twice");
  refuses_zip({{{.name = std::string("a\0b", 3)}}}, "NUL");
  refuses_zip({{{.name = ""}}}, "is empty");
  refuses_zip({{{.name = "a"}, {.name = "b"}, {.name = "a"}}}, "'a' occurs twice");
  refuses_zip({{{.name = "a", .local_name = "b"}}}, "another name in its local header");
}

TEST(Zip, RefusesDamagedStructures) {
  refuses_zip({{{.flags = 1}}}, "encrypted");
  refuses_zip({{{.method = 12}}}, "method 12");
  refuses_zip({{{.disk = 1}}}, "another disk");
  refuses_zip({.disk = 1}, "several disks");
  refuses_zip({.count = 2}, "too few for 2 entries");
  refuses_zip({.count = 0}, "longer than its entries");
  refuses_zip({.directory_shift = 1}, "does not end where");
  refuses_zip({.directory_shift = -1}, "does not end where");
  refuses_zip({{{.name = "a"}, {.name = "b", .header = 0}}}, "another name in its local header");
  refuses_zip({{{.name = "a", .header = 1u << 30}}}, "ends inside an entry");
  refuses_zip({{{.name = "a", .header = 1}}}, "does not begin where");
  // The second entry lies inside the data of the first.
  const std::string inner = make({{{.name = "b"}}}).substr(0, 36);
  const std::string outer = make({{{.name = "a", .data = inner}, {.name = "b", .header = 31}}});
  expect_user_error([&] { read_zip(outer); }, "'a' overlaps");
  EXPECT_EQ(complaint([] { read_zip(make({.comment = "a comment"})); }), "");
}

TEST(Zip, RefusesImpossibleSizes) {
  refuses_zip({{{.size = 6}}}, "is stored, but in 5 bytes, not in 6");
  refuses_zip({{{.size = 1000, .stored = 1000}}}, "longer than the file");
  refuses_zip({{{.crc = 1}}}, "checksum differs");
  refuses_zip({{{.size = 0xffffffff}}}, "lacks its zip64 field");
  refuses_zip({{{.size = 0xfffffffe, .method = 8}}}, "more than 5 can unpack to");
  refuses_zip({{{.method = 8}}}, "does not unpack to 5 bytes");
  Packer huge;  // 2^63 bytes, by a zip64 field
  huge.u16(zip::zip64_field).u16(8).u64(uint64_t{1} << 63);
  refuses_zip({{{.size = 0xffffffff, .method = 8, .extra = huge.bytes()}}}, "can unpack to");
  refuses_zip({{{.stored = 0xffffffff, .extra = huge.bytes()}}}, "longer than the file");
  EXPECT_EQ(complaint([] { ZipReader(in_memory(make({}), "x"), {.entries = 0}); }),
            "x: has 1 entries, at most 0 are read");
}

// The file holds deflated zeros, which unpack to many times their size.
TEST(Zip, RefusesBombs) {
  const FileView file = map_file(std::string(KERATIN_SOURCE_DIR) + "/tests/golden/files/zeros.zip");
  EXPECT_EQ(ZipReader(file).read("zeros").size(), 1u << 20);
  expect_user_error([&] { ZipReader(file, {.unpacked = 1 << 19}); },
                    {"zeros.zip", "'zeros' unpacks to 1048576 bytes, more than 100 times"});
}

TEST(Zip, RefusesEveryTruncationAndSurvivesEveryFlip) {
  const std::string good =
      bytes_of(std::string(KERATIN_SOURCE_DIR) + "/tests/golden/files/python.zip");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(complaint([&] { read_zip(good.substr(0, size)); }), "") << size;
  for (size_t at = 0; at < good.size(); ++at)
    for (const int bit : {1, 16, 128}) {
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ bit);
      complaint([&] { read_zip(flipped); });
    }
}

TEST(Zip, RefusesToWriteDangerousNames) {
  ZipWriter writer(scratch("names.zip"));
  writer.add("a", "");
  expect_user_error([&] { writer.add("a", ""); }, "'a' is written twice");
  expect_user_error([&] { writer.add("../a", ""); }, "leads out");
}

}  // namespace
}  // namespace keratin::files

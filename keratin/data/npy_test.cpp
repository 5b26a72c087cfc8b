#include "keratin/data/npy.h"

#include <gtest/gtest.h>

#include <fstream>

namespace keratin {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / name;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Npy, RoundTrips) {
  const auto path = scratch("whole.npy");
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::i8, DType::u8, DType::i32,
                            DType::i64, DType::boolean})
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{3}, Shape{2, 0}, Shape{2, 3}, Shape{2, 1, 4}}) {
      Tensor tensor(dtype, shape);
      for (int64_t i = 0; i < tensor.count(); ++i) tensor.set(i, static_cast<double>(i % 2));
      write_npy(path, tensor);
      EXPECT_EQ(read_npy(path), tensor) << dtype << shape;
      EXPECT_EQ(bytes_of(path).size() % 64, tensor.bytes() % 64);
    }
}

// The bytes that NumPy 1.26 writes for numpy.array([[1, 2], [3, 4]], dtype, order).
std::string numpy_file(const std::string& descr, const std::string& fortran,
                       const std::string& data) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': (2, 2), }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + data;
}

TEST(Npy, ReadsOtherByteAndAxisOrders) {
  const auto path = scratch("orders.npy");
  const Tensor wanted = Tensor::of<double>(DType::i32, {2, 2}, {1, 2, 3, 4});
  const auto little = [](std::initializer_list<int> values) {
    std::string out;
    for (const int v : values) out += std::string{static_cast<char>(v), 0, 0, 0};
    return out;
  };
  write_bytes(path, numpy_file("<i4", "False", little({1, 2, 3, 4})));
  EXPECT_EQ(read_npy(path), wanted);
  write_bytes(path, numpy_file("<i4", "True", little({1, 3, 2, 4})));
  EXPECT_EQ(read_npy(path), wanted);
  write_bytes(path,
              numpy_file(">i4", "False", std::string("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4", 16)));
  EXPECT_EQ(read_npy(path), wanted);
  write_bytes(path, numpy_file("|b1", "False", std::string("\0\1\2\x80", 4)));
  EXPECT_EQ(read_npy(path), Tensor::of<double>(DType::boolean, {2, 2}, {0, 1, 1, 1}));
}

TEST(Npy, HoldsStrings) {
  const auto path = scratch("strings.npy");
  const Tensor strings({{"a", "\xc3\xa9"}, {"", "bcd"}});
  write_npy(path, strings);
  EXPECT_EQ(read_npy(path), strings);
  const std::string wide("a\0\0\0\xe9\0\0\0\0\0\0\0\x22\x6f\0\0", 16);
  write_bytes(path, numpy_file("<U1", "False", wide));
  EXPECT_EQ(read_npy(path), Tensor({{"a", "\xc3\xa9"}, {"", "\xe6\xbc\xa2"}}));
  write_bytes(path, numpy_file("|S2", "True", std::string("a\0bbc\0d\0", 8)));
  EXPECT_EQ(read_npy(path), Tensor({{"a", "c"}, {"bb", "d"}}));
  const Tensor none(DType::string, {0, 2});
  write_npy(path, none);
  EXPECT_EQ(read_npy(path), none);
  for (const char* damaged : {"|S0", "|S", "<U9999999999", "|S-1", "<U5"}) {
    write_bytes(path, numpy_file(damaged, "False", wide));
    EXPECT_THROW(read_npy(path), UserError) << damaged;
  }
  write_bytes(path, numpy_file("<U1", "False", std::string(16, '\xff')));
  EXPECT_THROW(read_npy(path), UserError);
  EXPECT_THROW(write_npy(path, Tensor(std::vector<std::string>{std::string("a\0", 2)})), UserError);
}

TEST(Npy, RefusesDamagedAndHostileFiles) {
  const auto path = scratch("bad.npy");
  const auto complaint = [&](const std::string& bytes) -> std::string {
    write_bytes(path, bytes);
    try {
      read_npy(path);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const std::string good = numpy_file("<i4", "False", std::string(16, '\1'));
  EXPECT_EQ(complaint(good), "");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(complaint(good.substr(0, size)), "") << size;
  EXPECT_NE(complaint(numpy_file("|O", "False", std::string(64, '\1'))).find("dtype '|O'"),
            std::string::npos);
  std::string huge = good;
  huge.replace(huge.find("(2, 2)"), 26, "(99999999999, 99999999999)");
  EXPECT_NE(complaint(huge), "");
  std::string negative = good;
  negative.replace(negative.find("(2, 2)"), 7, "(-2, 2)");
  EXPECT_NE(complaint(negative).find("shape is damaged"), std::string::npos);
  EXPECT_THROW(read_npy(scratch("no such file.npy")), UserError);
}

TEST(Npz, RoundTrips) {
  const auto path = scratch("whole.npz");
  const std::map<std::string, Tensor> tensors = {
      {"dense/kernel", Tensor::full(DType::f32, {2, 3}, 0.5)},
      {"step", Tensor::scalar(DType::i64, 7)}};
  write_npz(path, tensors);
  EXPECT_EQ(read_npz(path), tensors);
  for (const auto& file : std::filesystem::directory_iterator(path.parent_path()))
    EXPECT_EQ(file.path().string().find("whole.npz.part"), std::string::npos) << file.path();
}

// The file was written by numpy.savez_compressed(path, kernel=…, step=…); maker/files.py has the
// values.
TEST(Npz, ReadsCompressedFiles) {
  const auto arrays =
      read_npz(std::string(KERATIN_SOURCE_DIR) + "/tests/golden/files/compressed.npz");
  EXPECT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays.at("kernel"), Tensor::of<double>(DType::f32, {2, 3}, {-5, 2, 9, 16, 0, 7}));
  EXPECT_EQ(arrays.at("step"), Tensor::scalar(DType::i64, 7));
}

TEST(Npz, RefusesDamagedFiles) {
  const auto path = scratch("damaged.npz");
  const Tensor zeros = Tensor::zeros(DType::f32, {2});
  write_npz(path, {{"a", zeros}});
  const std::string good = bytes_of(path);
  for (size_t size = 0; size < good.size(); size += 3) {
    write_bytes(path, good.substr(0, size));
    EXPECT_THROW(read_npz(path), UserError) << size;
  }
  // A flipped bit is detected, or is in a field that is not used.
  for (size_t at = 0; at < good.size(); ++at) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 16);
    write_bytes(path, flipped);
    try {
      for (const auto& item : read_npz(path)) EXPECT_EQ(item.second, zeros) << at;
    } catch (const UserError&) {
    }
  }
}

}  // namespace
}  // namespace keratin

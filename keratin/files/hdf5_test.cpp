#include "keratin/files/hdf5.h"

#include "keratin/base/json.h"
#include "keratin/files/scratch_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::hdf5 {
namespace {

using files::bytes_of;
using files::complaint;
using files::in_memory;
using keratin::testing::expect_user_error;

const std::string golden = std::string(KERATIN_SOURCE_DIR) + "/tests/golden/files/";

std::string hexadecimal(const Tensor& tensor) {
  std::string out;
  for (size_t i = 0; i < tensor.bytes(); ++i)
    for (const int shift : {4, 0})
      out += "0123456789abcdef"[std::to_integer<int>(tensor.buffer().data()[i]) >> shift & 15];
  return out;
}

std::string keras_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i8:
      return "int8";
    case DType::u8:
      return "uint8";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::boolean:
    case DType::string:
      break;
  }
  return "bool";
}

// The bytes of h5py's integers, after widening them to a dtype that tensors have.
template <class Stored>
std::string widened(const std::string& hex, DType to) {
  std::vector<Stored> values;
  for (size_t i = 0; i < hex.size(); i += 2 * sizeof(Stored)) {
    uint64_t value = 0;
    for (size_t b = 0; b < sizeof(Stored); ++b)
      value |= std::stoull(hex.substr(i + 2 * b, 2), nullptr, 16) << (8 * b);
    values.push_back(static_cast<Stored>(value));
  }
  return hexadecimal(Tensor::of<Stored>(to, {static_cast<int64_t>(values.size())}, values));
}

std::string widened_data(const std::string& dtype, const std::string& data) {
  if (dtype == "int16") return widened<int16_t>(data, DType::i32);
  if (dtype == "uint16") return widened<uint16_t>(data, DType::i32);
  if (dtype == "uint32") return widened<uint32_t>(data, DType::i64);
  return data;
}

void expect_value(const Value& value, const Json& wanted, const std::string& where) {
  Dims dims;
  for (const Json& dim : wanted.at("shape").as_array()) dims.push_back(dim.as_int());
  EXPECT_EQ(value.dims(), dims) << where;
  if (const Json* texts = wanted.find("texts")) {
    ASSERT_TRUE(value.is_string()) << where;
    Json got = Json::array();
    for (const std::string& text : value.strings()) got.push_back(text);
    EXPECT_EQ(got, *texts) << where;
    return;
  }
  ASSERT_FALSE(value.is_string()) << where;
  const std::string dtype = wanted.at("dtype").as_string(), data = wanted.at("data").as_string();
  EXPECT_EQ(hexadecimal(value.tensor()), widened_data(dtype, data)) << where;
  if (!dtype.ends_with("int16") && !dtype.starts_with("uint32") && dtype != "uint64") {
    EXPECT_EQ(keras_name(value.tensor().dtype()), dtype) << where;
  }
}

void expect_object(const Group& root, const Json& wanted, const std::string& file) {
  const std::string path = wanted.at("path").as_string().substr(1), where = file + ": " + path;
  const auto check = [&](const Object& object) {
    EXPECT_EQ(object.attribute_names().size(), wanted.at("attributes").as_object().size());
    for (const auto& [name, value] : wanted.at("attributes").as_object())
      expect_value(object.attribute(name), value, where + "@" + name);
  };
  if (const Json* value = wanted.find("value")) {
    const Dataset dataset = root.dataset(path);
    check(dataset);
    expect_value(dataset.value(), *value, where);
    return;
  }
  const Group group = root.group(path);
  check(group);
  Json names = Json::array();
  for (const std::string& name : group.names()) names.push_back(name);
  EXPECT_EQ(names, wanted.at("names")) << where;
}

class Golden : public ::testing::TestWithParam<const char*> {};

// Compares every object, attribute and byte with what h5py read.
TEST_P(Golden, GivesTheValuesThatH5pyReads) {
  const std::string name = GetParam();
  const File file(golden + name + ".h5");
  const Json walk = Json::parse(bytes_of(golden + name + ".json"));
  for (const Json& object : walk.as_array()) expect_object(file.root(), object, name);
}
INSTANTIATE_TEST_SUITE_P(Hdf5, Golden,
                         ::testing::Values("earliest", "latest", "many_earliest", "many_latest",
                                           "keras3", "keras3.weights", "keras2",
                                           "bfloat16.weights"));

}  // namespace
}  // namespace keratin::hdf5

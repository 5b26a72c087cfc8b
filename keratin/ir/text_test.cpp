#include <gtest/gtest.h>

#include <cmath>

#include "keratin/base/text.h"
#include "keratin/ir/sample_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::EveryAttrs;
using testing::expect_user_error;
using testing::parse_sample;

void check_round_trip(const Module& module) {
  const std::string printed = text(module);
  const Module parsed = parse_sample(printed);
  EXPECT_NO_THROW(verify(parsed));
  EXPECT_EQ(text(parsed), printed);
  EXPECT_EQ(text(module.clone()), printed);
}

Module with_attrs(const EveryAttrs& attrs) {
  Module module;
  const Value x = module.input({DType::f32, {2}}, "x");
  module.output(module.block().append(testing::every_op, {x}, attrs).out());
  return module;
}

TEST(Text, PrintsAModule) {
  Module module;
  const Value x = module.input({DType::f32, {unknown, 3}}, "x");
  const Value s = module.state({DType::f32, {unknown, 3}, {Device::Kind::gpu, 1}}, "s");
  Node& node = module.block().append(testing::every_op, {x}, EveryAttrs{.whole = 4, .real = -1});
  module.block().append(testing::sink_op, {x, s});
  module.output(node.out());
  module.output(x);
  module.update(s, node.out());
  EXPECT_EQ(text(module), R"(module(%x: f32[?,3], state %s: f32[?,3]@gpu:1) {
  %0 = every(%x) {whole = 4, real = -1} : f32[?,3]
  sink(%x, %s)
  update %s = %0
  return %0, %x
}
)");
  check_round_trip(module);
}

TEST(Text, RoundTripsEveryKindOfAttribute) {
  const EveryAttrs attrs{
      .flag = true,
      .whole = std::numeric_limits<int64_t>::min(),
      .real = 0.1,
      .words = "a \"quoted\" \\ word, // no comment,\n a second line } )",
      .dtype = DType::bf16,
      .device = {Device::Kind::gpu, 3},
      .tensor = Tensor::of<double>(DType::f16, {2, 1}, {0.5, -INFINITY}),
      .sizes = {-1, 0, 7},
      .reals = {INFINITY, -0.0, 1e-300},
      .lines = {"", "b"},
      .flags = {true, false},
      .dtypes = {DType::boolean, DType::i64},
  };
  const Module module = with_attrs(attrs);
  check_round_trip(module);
  const Module parsed = parse_sample(text(module));
  EXPECT_EQ(parsed.block().nodes()[0]->attrs(), Attrs(attrs));
}

TEST(Text, RoundTripsNumbersBitForBit) {
  for (double real :
       {0.0, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Module parsed = parse_sample(text(with_attrs({.real = real})));
    const double back = parsed.block().nodes()[0]->attr<EveryAttrs>().real;
    EXPECT_EQ(std::bit_cast<uint64_t>(back), std::bit_cast<uint64_t>(real)) << real;
  }
}

TEST(Text, RoundTripsTensorsBitForBit) {
  std::vector<Tensor> tensors = {
      Tensor::of<double>(DType::f64, {3}, {NAN, -0.0, 5e-324}),
      Tensor::of<double>(DType::f32, {4}, {1e-45, 3.4028234663852886e38, 0.1, 16777217}),
      Tensor::of<double>(DType::bf16, {2}, {1e38, NAN}),
      Tensor::of<int64_t>(DType::i64, {2}, {INT64_MIN, INT64_MAX}),
      Tensor::of<int64_t>(DType::i32, {2}, {INT32_MIN, INT32_MAX}),
      Tensor::of<int64_t>(DType::i8, {2}, {-128, 127}),
      Tensor::of<int64_t>(DType::u8, {2}, {0, 255}),
      Tensor::of<int64_t>(DType::boolean, {1, 2}, {1, 0}),
      Tensor::zeros(DType::f32, {0, 3}),
      Tensor::scalar(DType::f32, 2),
  };
  Tensor halves(DType::f16, {65536 - 2 * 1023});  // all but the NaNs
  int64_t next = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits)
    if ((bits & 0x7c00) != 0x7c00 || (bits & 0x3ff) == 0)
      static_cast<uint16_t*>(halves.raw())[next++] = static_cast<uint16_t>(bits);
  tensors.push_back(halves);
  for (const Tensor& tensor : tensors) {
    const Module parsed = parse_sample(text(with_attrs({.tensor = tensor})));
    EXPECT_EQ(parsed.block().nodes()[0]->attr<EveryAttrs>().tensor, tensor);
  }
}

TEST(Text, RoundTripsAnyNameOfAParameter) {
  for (const std::string name :
       {"x", "dense/kernel", "a b", "0", "12", "x.1", "", "\"", "\\", "naïve", "%x", "a:b"}) {
    Module module;
    module.output(module.input({DType::f32, {}}, name));
    check_round_trip(module);
    const Module parsed = parse_sample(text(module));
    EXPECT_EQ(parsed.block().parameters()[0]->attr<ParameterAttrs>().name, name);
  }
}

TEST(Text, ScopesNamesToBlocks) {
  check_round_trip(parse_sample(R"(module(%x: f32[2], %y: f32[2]) {
    %a = body(%x) do(%x: f32[2]) {
      %b = body(%x) do(%y: f32[2]) { yield %y }
      yield %b
    }
    %b, %c = body(%x, %y) do(%x: f32[2], %b: i8[]@gpu:0) { yield %x, %b }
    return %c, %a, %b
  })"));
  const Module module = parse_sample(R"(module(%x: f32[2]) {
    %a = body(%x) do(%x: f32[2]) { yield %x }
    return %a
  })");
  EXPECT_EQ(module.block().nodes()[0]->region().parameters()[0]->attr<ParameterAttrs>().name, "x");
}

TEST(Text, NumbersTheSecondParameterOfTheSameName) {
  Module module;
  module.input({DType::f32, {}}, "x");
  module.output(module.input({DType::i8, {}}, "x"));
  EXPECT_EQ(text(module), "module(%x: f32[], %0: i8[]) {\n  return %0\n}\n");
  check_round_trip(module);
}

TEST(Text, RoundTripsDevices) {
  check_round_trip(parse_sample(R"(module(%x: f32[2]@cpu:3) {
    %a = every(%x) : f32[2]@gpu:0
    %b = far() : f32[2]@gpu:1
    %c, %d = pair(%x, %x) : f32[2]@gpu:2, f32[2]@gpu:2
    return %a, %b, %c, %d
  })"));
}

TEST(Text, CommentsAndSpaceDoNotMatter) {
  EXPECT_EQ(text(parse_sample("module(%x:f32[ 2 , ? ]){// nothing\nreturn%x}//")),
            "module(%x: f32[2,?]) {\n  return %x\n}\n");
}

struct Bad {
  std::string_view text;
  std::initializer_list<std::string> parts;
};

TEST(Text, BadTextIsAUserErrorWithItsLine) {
  const std::string deep = [] {
    std::string text = "module(%x: f32[]) {\n";
    for (int i = 0; i < 100000; ++i) text += "%a = body(%x) do(%x: f32[]) {\n";
    return text;
  }();
  const Bad cases[] = {
      {"", {"line 1", "'module'", "the end"}},
      {"modul(", {"line 1", "'module'"}},
      {"module(%x f32[]) { return }", {"line 1", "':'", "f32"}},
      {"module(%x: f31[]) { return }", {"line 1", "a dtype", "f31"}},
      {"module(%x: f32) { return }", {"line 1", "'['"}},
      {"module(%x: f32[2) { return }", {"line 1", "']'"}},
      {"module(%x: f32[-2]) { return }", {"line 1", "not negative"}},
      {"module(%x: f32[two]) { return }", {"line 1", "an integer", "two"}},
      {"module(%x: f32[99999999999999999999]) { return }", {"line 1", "an integer"}},
      {"module(%x: f32[1,1,1,1,1,1,1,1,1]) { return }", {"line 1", "at most 8"}},
      {"module(%x: f32[99999999,99999999]) { return }", {"line 1", "too many elements"}},
      {"module(%x: f32[1]@tpu:0) { return }", {"line 1", "a device"}},
      {"module(%x: f32[1]@gpu:70000) { return }", {"line 1", "a device"}},
      {"module(%x: f32[], %x: f32[]) { return }", {"line 1", "'%x' is taken"}},
      {"module(%x: f32[]) {\n  return %y\n}", {"line 2", "'%y' is not"}},
      {"module(%x: f32[]) {\n  return %x", {"'}'", "the end"}},
      {"module(%x: f32[]) { return %x } more", {"nothing after", "more"}},
      {"module(%x: f32[]) { return , }", {"line 1"}},
      {"module(%x: f32[]) {\n\n  %a = nonsense(%x)\n return }", {"line 3", "'nonsense' is none"}},
      {"module(%x: f32[]) {\n  %a = every(%x) {size = 2}\n return }", {"line 2", "'size' is none"}},
      {"module(%x: f32[]) {\n %a = every(%x) {whole = 1, whole = 2}\n return }",
       {"line 2", "'whole'", "twice"}},
      {"module(%x: f32[]) { %a = every(%x) {whole = 1.5} return }", {"an integer", "1.5"}},
      {"module(%x: f32[]) { %a = every(%x) {real = x} return }", {"a number", "x"}},
      {"module(%x: f32[]) { %a = every(%x) {real = 1e999} return }", {"a number", "1e999"}},
      {"module(%x: f32[]) { %a = every(%x) {flag = 1} return }", {"true or false"}},
      {"module(%x: f32[]) { %a = every(%x) {words = open} return }", {"'\"'"}},
      {"module(%x: f32[]) { %a = every(%x) {words = \"open} return }", {"closing"}},
      {"module(%x: f32[]) { %a = every(%x) {words = \"\\", {"closing"}},
      {"module(%x: f32[]) { %a = every(%x) {dtype = f33} return }", {"a dtype"}},
      {"module(%x: f32[]) { %a = every(%x) {sizes = [1, ]} return }", {"an integer"}},
      {"module(%x: f32[]) { %a = every(%x) {sizes = [1 2]} return }", {"']'"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = f32[?] {1}} return }", {"known shape"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = f32[2] {1}} return }", {"','"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = f32[2] {1, 2, 3}} return }", {"'}'"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = f32[99999999] {1}} return }",
       {"as many elements"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = f32[9999999,9999999,9999999] {1}} return }",
       {"line 1", "too many elements"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = i8[1] {128}} return }", {"fits i8", "128"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = u8[1] {-1}} return }", {"fits u8", "-1"}},
      {"module(%x: f32[]) { %a = every(%x) {tensor = f32[1] {1e40}} return }", {"a number"}},
      {"module(%x: f32[]) {\n  %a = every(%x, %x)\n return }", {"line 2", "every", "1", "2"}},
      {"module(%x: f32[]) {\n  %a = pair(%x, %x)\n return }", {"line 2", "2 outputs"}},
      {"module(%x: f32[]) {\n  every(%x)\n return }", {"line 2", "1 outputs"}},
      {"module(%x: f32[]) {\n  %a, %a = pair(%x, %x)\n return }", {"line 2", "'%a' is taken"}},
      {"module(%x: f32[], %y: i8[]) {\n\n  %a, %b = pair(%x, %y)\n return }",
       {"line 3", "pair", "f32[]", "i8[]"}},
      {"module(%x: f32[]) {\n  %a = every(%x) : f32[1]\n return }", {"line 2", "f32[]", "f32[1]"}},
      {"module(%x: f32[]) {\n  %a = every(%x) : i8[]\n return }", {"line 2", "f32[]", "i8[]"}},
      {"module() {\n  %a = far() : f32[2]\n return }", {"line 2", "gpu:1"}},
      {"module(%x: f32[]) {\n  update %x = %x\n return }", {"line 2", "only state"}},
      {"module(state %x: f32[], %y: i8[]) {\n  update %x = %y\n return }", {"line 2", "i8[]"}},
      {"module(state %x: f32[]) {\n  update %x = %x\n  update %x = %x\n return }",
       {"line 3", "'x'", "twice"}},
      {"module(%x: f32[]) {\n  %a = body(%x)\n return }", {"line 2", "body", "1 regions"}},
      {"module(%x: f32[]) {\n %a = body() do(%b: f32[]) {\n yield %x }\n return }",
       {"line 3", "'%x' is not"}},
      {deep, {"nested at most 32"}},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.text.substr(0, 100));
    expect_user_error([&] { parse_sample(bad.text); }, bad.parts);
  }
}

TEST(Text, TruncatedTextIsAUserError) {
  const std::string whole =
      text(with_attrs({.words = "a\\b", .tensor = Tensor::zeros(DType::i8, {3}), .sizes = {1, 2}}));
  for (size_t length = 0; length + 2 < whole.size(); ++length)
    EXPECT_THROW(parse_sample(std::string_view(whole).substr(0, length)), UserError) << length;
}

TEST(Text, PrintsInvalidModules) {
  Module module;
  const Value x = module.input({DType::f32, {}}, "x");
  Module other;
  const Value y = other.input({DType::f32, {}}, "y");
  module.block().append_typed(testing::every_op, {Value()}, EveryAttrs{}, {x.type()});
  module.block().append_typed(testing::every_op, {y}, EveryAttrs{}, {x.type()});
  module.block().append_typed(testing::every_op, {Value(&x.node(), 7)}, EveryAttrs{}, {x.type()});
  EXPECT_NE(text(module).find("%undefined"), std::string::npos);
}

}  // namespace
}  // namespace keratin

#include "keratin/backend/cuda/matmul/fused_matmul.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/ops/registry.h"

namespace keratin::cuda {
namespace {

using Reader = std::optional<MatmulJob> (*)(const Node&);

// What a fused node of these inputs is read as, in short: "1x4x8x3 a0 b1 bias2 relu".
std::string read(const std::vector<std::string>& types, const std::string& body,
                 const std::string& kind = "epilogue", Reader reader = read_epilogue) {
  std::string given, names, taken;
  for (size_t i = 0; i < types.size(); ++i) {
    const char* comma = i == 0 ? "" : ", ";
    given += text(comma, "%p", i, ": ", types[i]);
    names += text(comma, "%p", i);
    taken += text(comma, "%", i, ": ", types[i]);
  }
  const bool summed = kind == "summed";
  const Module m =
      ops::parse(text("module(", given, ") {\n%y", summed ? ", %s" : "", " = fused(", names,
                      ") {kind = \"", kind, "\"} do(", taken, ") {\n", body, "\n}\nreturn %y\n}"));
  const Node& node = *m.block().nodes().back();
  const auto job = summed ? read_summed(node) : reader(node);
  if (!job) return "nothing";
  const MatmulShape& s = job->shape;
  return text(s.batch, "x", s.rows, "x", s.depth, "x", s.columns, " a", job->a, " b", job->b,
              job->bias ? text(" bias", *job->bias) : "",
              job->addend ? text(" addend", *job->addend) : "", s.relu ? " relu" : "",
              job->gate ? text(" gate", *job->gate) : "", job->needs_loop ? " …" : "",
              std::vector{"", " sums a", " sums b", " sums"}[static_cast<size_t>(s.sum)]);
}

TEST(ReadEpilogue, BiasAddendAndRelu) {
  EXPECT_EQ(read({"f32[4,8]", "f32[8,4]", "f32[4]"},
                 "%3 = matmul(%0, %1) {} %4 = add(%3, %2) %5 = relu(%4) yield %5"),
            "1x4x8x4 a0 b1 bias2 relu");
  EXPECT_EQ(read({"f32[4,3]", "f32[1,3]", "f32[8,4]", "f32[8,3]"},
                 "%4 = matmul(%2, %3) {transpose_a = true} %5 = add(%0, %4) yield %5"),
            "1x4x8x3 a2 b3 addend0");
  EXPECT_EQ(read({"bf16[4,8]", "bf16[8,8]", "bf16[8]", "bf16[4,8]"},
                 "%4 = matmul(%0, %1) {} %5 = add(%2, %4) %6 = add(%5, %3) yield %6"),
            "1x4x8x8 a0 b1 bias2 addend3");
}

TEST(ReadEpilogue, GradientsOfRelu) {
  const std::vector<std::string> types = {"f32[4,8]", "f32[3,8]", "f32[4,3]"};
  const std::string zero = "%9 = constant() {value = f32[] {0}} ",
                    one = "%9 = constant() {value = f32[] {1}} ",
                    matmul = "%3 = matmul(%0, %1) {transpose_b = true} ";
  EXPECT_EQ(read(types, zero + matmul + "%4 = greater(%2, %9) %5 = select(%4, %3, %9) yield %5"),
            "1x4x8x3 a0 b1 gate2");
  EXPECT_EQ(read(types, zero + "%4 = greater(%2, %9) " + matmul +
                            "%5 = select(%4, %3, %9) "
                            "yield %5"),
            "1x4x8x3 a0 b1 gate2");
  for (const std::string& body :
       {one + matmul + "%4 = greater(%2, %9) %5 = select(%4, %3, %9) yield %5",
        zero + matmul + "%4 = greater(%2, %9) %5 = select(%4, %9, %3) yield %5",
        zero + matmul + "%4 = greater(%3, %9) %5 = select(%4, %3, %9) yield %5",
        zero + matmul + "%4 = greater(%2, %9) %5 = select(%4, %3, %9) %6 = relu(%5) yield %6"})
    EXPECT_EQ(read(types, body), "nothing") << body;
}

TEST(ReadEpilogue, ManyMatricesByOneAreOneWithManyRows) {
  EXPECT_EQ(read({"f32[5,4,8]", "f32[8,4]", "f32[4]"},
                 "%3 = matmul(%0, %1) {} %4 = add(%3, %2) yield %4"),
            "1x20x8x4 a0 b1 bias2");
  EXPECT_EQ(read({"f32[5,4,8]", "f32[5,8,4]", "f32[4]"},
                 "%3 = matmul(%0, %1) {} %4 = add(%3, %2) yield %4"),
            "5x4x8x4 a0 b1 bias2");
}

TEST(ReadEpilogue, RefusesOtherRegions) {
  const std::vector<std::string> types = {"f32[4,8]", "f32[8,4]", "f32[4]"};
  for (const char* body : {
           "%3 = matmul(%0, %1) {} %4 = tanh(%3) yield %4",
           "%3 = matmul(%0, %1) {} %4 = relu(%3) %5 = add(%4, %2) yield %5",
           "%3 = matmul(%0, %1) {} %4 = add(%3, %3) yield %4",
           "%3 = matmul(%0, %1) {} %4 = add(%3, %2) %5 = add(%4, %2) yield %5",
           "%3 = transpose(%0) {permutation = [1,0]} "  // NOLINT(bugprone-suspicious-missing-comma)
           "%4 = matmul(%3, %3) {transpose_a = true} %5 = add(%4, %2) yield %5",
       })
    EXPECT_EQ(read(types, body), "nothing") << body;
  EXPECT_EQ(
      read({"f64[4,8]", "f64[8,4]", "f64[4]"}, "%3 = matmul(%0, %1) {} %4 = add(%3, %2) yield %4"),
      "nothing");
  // A row that might not be aligned.
  EXPECT_EQ(
      read({"f32[4,8]", "f32[8,3]", "f32[3]"}, "%3 = matmul(%0, %1) {} %4 = add(%3, %2) yield %4"),
      "nothing");
}

// Whatever follows, as long as it is pointwise.
TEST(ReadEpilogue, ReadsTheMatmulOfAnyEpilogue) {
  const auto any = [](const std::vector<std::string>& types, const std::string& body) {
    return read(types, body, "epilogue", read_any_epilogue);
  };
  EXPECT_EQ(any({"f32[4]", "f32[2,4,8]", "f32[8,4]"},
                "%3 = matmul(%1, %2) {} %4 = add(%3, %0) %5 = erf(%4) %6 = mul(%5, %4) yield %6"),
            "1x8x8x4 a1 b2 …");
  EXPECT_EQ(any({"f32[4,8]", "f32[8,4]"}, "%2 = matmul(%0, %1) {} %3 = relu(%2) yield %3"),
            "1x4x8x4 a0 b1 …");
  for (const char* body :
       {"%2 = transpose(%0) {permutation = [1,0]} %3 = matmul(%2, %0) {} %4 = tanh(%3) yield %4",
        "%2 = matmul(%0, %0) {} %3 = matmul(%0, %0) {} %4 = add(%2, %3) yield %4",
        "%2 = matmul(%0, %0) {} %3 = transpose(%2) {permutation = [1,0]} yield %3",
        "%2 = tanh(%0) %3 = matmul(%2, %0) {} yield %3", "%2 = tanh(%0) yield %2"})
    EXPECT_EQ(any({"f32[8,8]"}, body), "nothing") << body;
}

TEST(ReadSummed, SumsOfFactors) {
  const auto summed = [](const std::vector<std::string>& types, const std::string& body) {
    return read(types, body, "summed");
  };
  EXPECT_EQ(summed({"f32[8,4]", "f32[8,3]"},
                   "%2 = matmul(%0, %1) {transpose_a = true} %3 = sum(%1) {axes = [0]} "
                   "yield %2, %3"),
            "1x4x8x3 a0 b1 sums b");
  EXPECT_EQ(summed({"bf16[8,4]", "bf16[8,3]"},
                   "%2 = matmul(%0, %1) {transpose_a = true} %3 = sum(%0) {axes = [0]} "
                   "yield %2, %3"),
            "1x4x8x3 a0 b1 sums a");
  EXPECT_EQ(summed({"f32[4,3]", "f32[8,4]", "f32[8,3]"},
                   "%3 = matmul(%1, %2) {transpose_a = true} %4 = add(%3, %0) "
                   "%5 = sum(%2) {axes = [0]} yield %4, %5"),
            "1x4x8x3 a1 b2 addend0 sums b");
}

TEST(ReadSummed, SumsOfGradientsOfRelu) {
  EXPECT_EQ(read({"f32[2,4,8]", "f32[3,8]", "f32[2,4,3]"},
                 "%9 = constant() {value = f32[] {0}} %3 = matmul(%0, %1) {transpose_b = true} "
                 "%4 = greater(%2, %9) %5 = select(%4, %3, %9) %6 = sum(%5) {axes = [0, 1]} "
                 "yield %5, %6",
                 "summed"),
            "1x8x8x3 a0 b1 gate2 sums");
}

TEST(ReadSummed, OthersAreRefused) {
  const std::vector<std::string> types = {"f32[8,8]", "f32[8,8]", "f32[8]", "f32[8,8]"};
  const std::string matmul = "%4 = matmul(%0, %1) {transpose_a = true} ";
  for (const std::string& body :
       {matmul + "%5 = sum(%1) {axes = [1]} yield %4, %5",
        matmul + "%5 = sum(%1) {axes = [0, 1]} yield %4, %5", matmul + "%5 = sum(%1) yield %4, %5",
        matmul + "%5 = sum(%3) {axes = [0]} yield %4, %5",
        matmul + "%5 = sum(%4) {axes = [0]} yield %4, %5",
        matmul + "%5 = sum(%1) {axes = [0]} yield %5, %4",
        matmul + "%5 = max(%1) {axes = [0]} yield %4, %5",
        matmul + "%6 = add(%4, %2) %5 = sum(%1) {axes = [0]} yield %6, %5",
        matmul + "%6 = relu(%4) %5 = sum(%1) {axes = [0]} yield %6, %5",
        matmul + "%6 = tanh(%4) %5 = sum(%1) {axes = [0]} yield %6, %5",
        std::string("%4 = matmul(%0, %1) {transpose_b = true} %5 = sum(%1) {axes = [0]} "
                    "yield %4, %5"),
        std::string("%4 = matmul(%0, %1) {} %5 = sum(%0) {axes = [0]} yield %4, %5")})
    EXPECT_EQ(read(types, body, "summed"), "nothing") << body;
  // One sum for all of a batch.
  EXPECT_EQ(read({"f32[2,8,4]", "f32[2,8,3]"},
                 "%2 = matmul(%0, %1) {transpose_a = true} %3 = sum(%1) {axes = [0, 1]} "
                 "yield %2, %3",
                 "summed"),
            "nothing");
  EXPECT_EQ(read({"f64[8,4]", "f64[8,3]"},
                 "%2 = matmul(%0, %1) {transpose_a = true} %3 = sum(%1) {axes = [0]} yield %2, %3",
                 "summed"),
            "nothing");
}

}  // namespace
}  // namespace keratin::cuda

#include "keratin/ops/lookup.h"

#include <gtest/gtest.h>

#include "keratin/ir/node.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fingerprint.h"
#include "keratin/ops/indexing.h"
#include "keratin/ops/joining.h"
#include "keratin/ops/movement.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/registry.h"
#include "keratin/ops/slicing.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/expect_values.h"

namespace keratin {
namespace {

using testing::expect_user_error;
using testing::expect_values;

Tensor whole(const std::vector<int64_t>& values) {
  return Tensor(values, {static_cast<int64_t>(values.size())});
}

// tf.strings.to_hash_bucket_fast and to_hash_bucket_strong of as many x, modulo 2^62.
TEST(Fingerprint, IsThatOfTensorFlow) {
  constexpr std::pair<size_t, uint64_t> known[] = {
      {0, 1936946117179621455},   {1, 107802420385376258},    {3, 3091163115821544028},
      {4, 1720235418723337390},   {7, 1227340135899025967},   {8, 416454844068956798},
      {15, 1773838639343418510},  {16, 3320895591121647644},  {17, 2082709914559524773},
      {31, 653807226908884511},   {32, 3678204687145032709},  {33, 3046993373088323127},
      {64, 2304502108871267256},  {65, 323337772074164025},   {127, 2902271982432757928},
      {128, 1256696753479420951}, {129, 3958089325734133430}, {200, 103930210689786815}};
  for (const auto& [size, hash] : known)
    EXPECT_EQ(ops::fingerprint64(std::string(size, 'x')) % (1ULL << 62), hash) << size;
}

TEST(SipHash, IsThatOfTensorFlow) {
  constexpr std::pair<size_t, uint64_t> known[] = {
      {0, 2761738916592258332}, {1, 2636188586370790469}, {7, 843507694833525032},
      {8, 2571862603715363220}, {9, 212907175382604427},  {31, 322570525125145096}};
  for (const auto& [size, hash] : known)
    EXPECT_EQ(ops::siphash({133, static_cast<uint64_t>(-7)}, std::string(size, 'x')) % (1ULL << 62),
              hash)
        << size;
}

// tf.strings.unicode_split of the same bytes.
TEST(Tokenizer, ReplacesWhatIsNotUtf8) {
  ops::Tokenizer tokenizer({.split = "character"});
  const auto count = [&](std::string_view text) { return tokenizer.tokens({&text, 1}).size(); };
  EXPECT_EQ(count("\xff\xfe"
                  "a\xc3"),
            4U);
  EXPECT_EQ(count("\xe2\x82"
                  "a"),
            2U);
  EXPECT_EQ(count("\xf0\x9f\x98"), 1U);
  EXPECT_EQ(count("\xed\xa0\x80x"), 4U);
  EXPECT_EQ(count("\xc0\xafz"), 3U);
  EXPECT_EQ(count("\xf4\x90\x80\x80"), 4U);
}

TEST(Tokenizer, RefusesNgramsThatFillTheMemory) {
  ops::Tokenizer tokenizer({.split = "whitespace", .ngrams = Dims(20, 1000)});
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "a ";
  const std::string_view row = text;
  expect_user_error(
      [&] {
        tokenizer.tokens({&row, 1});
      },
      "expected ngrams of at most 268435456 bytes for one text, got more");
}

TEST(Lookup, FindsStringsAndIntegers) {
  expect_values([](const Values& x) { return Values{ops::lookup(x[0], x[1])}; },
                {Tensor({"b", "z", "a", ""}), Tensor({"a", "b", "c"})}, {whole({1, -1, 0, -1})});
  expect_values([](const Values& x) { return Values{ops::lookup(x[0], x[1])}; },
                {whole({5, 4, -9}), whole({-9, 5})}, {whole({1, -1, 0})});
}

TEST(Lookup, RefusesWhatMustBeThere) {
  expect_user_error(
      [] {
        testing::evaluate(
            [](const Values& x) {
              return Values{ops::lookup(x[0], x[1], {.must_be_there = true})};
            },
            {Tensor({"b"}), Tensor({"a"})}, "cpu");
      },
      "found OOV values b");
}

TEST(StringOps, MoveAsOtherElements) {
  expect_values(
      [](const Values& x) {
        return Values{ops::reshape(x[0], {3, 2}), ops::transpose(x[0], {1, 0}),
                      ops::slice_axis(x[0], 1, 1, 3), ops::take(x[0], x[1], 1),
                      ops::concatenate({x[0], x[0]}, 0)};
      },
      {Tensor({{"a", "b", "c"}, {"d", "e", "f"}}), whole({2, 0})},
      {Tensor({{"a", "b"}, {"c", "d"}, {"e", "f"}}), Tensor({{"a", "d"}, {"b", "e"}, {"c", "f"}}),
       Tensor({{"b", "c"}, {"e", "f"}}), Tensor({{"c", "a"}, {"f", "d"}}),
       Tensor({{"a", "b", "c"}, {"d", "e", "f"}, {"a", "b", "c"}, {"d", "e", "f"}})});
}

TEST(StringOps, RefuseArithmetic) {
  Module module;
  const Value x = module.input({DType::string, {2}});
  expect_user_error([&] { (void)(x + x); }, "add: expected numbers, got string[2]");
  expect_user_error([&] { ops::sum(x, {0}); }, "expected numbers, got string[2]");
  expect_user_error([&] { ops::cast(x, DType::f32); }, "expected numbers, got string[2]");
  const Value number = module.input({DType::f32, {2}});
  expect_user_error([&] { ops::cast(number, DType::string); }, "cannot become strings");
}

TEST(StringOps, AreThereInTheTextOfPrograms) {
  Module module;
  const Value x = module.input({DType::string, {2}});
  module.output(ops::lookup(x, ops::constant(module.block(), Tensor({"a", "b\"\\\n"}))));
  EXPECT_EQ(text(parse_module(text(module), ops::find_op)), text(module));
}

}  // namespace
}  // namespace keratin

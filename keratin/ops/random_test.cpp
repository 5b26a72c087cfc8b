#include "keratin/ops/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "keratin/base/text.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/values_testing.h"
#include "keratin/testing/expect_error.h"

namespace keratin::ops {
namespace {

using testing::check_op;
using testing::evaluate;
using testing::expect_user_error;

using enum DType;
constexpr int64_t seed = 0x123456789abcdef;

Tensor key_of(int64_t seed, int64_t offset) {
  return Tensor::of<int64_t>(i64, {2}, {seed, offset});
}

using Draw = std::function<Value(Value key)>;

std::vector<double> draw(const Tensor& key, const Draw& build) {
  return evaluate([&](const Values& in) { return Values{build(in[0])}; }, {key})[0].to_vector();
}

// Draws from word 6 of the stream must be the numbers of another implementation.
void expect_draw(const Draw& build, const std::vector<double>& expected, double tolerance = 0) {
  const auto actual = draw(key_of(seed, 6), build);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

TEST(Random, GivesTheBitsOfPhilox) {
  EXPECT_EQ(draw(key_of(0, 0),
                 [](Value key) {
                   return random_bits(key, {2, 3});
                 }),
            (std::vector<double>{1713891541, -513161843, -1135104948, -1694442536, -119223132,
                                 1555169499}));
  expect_draw([](Value key) { return random_bits(key, {5}); },
              {1698698277, -1298539969, -137483873, -2109945024, 1341121484});
  EXPECT_EQ(
      draw(key_of(-1, (int64_t{1} << 40) + 1), [](Value key) { return random_bits(key, {3}); }),
      (std::vector<double>{1828931761, -1604000316, 662404568}));
}

TEST(Random, GivesTheNumbersOfTheFormulas) {
  expect_draw([](Value key) { return random_uniform(key, f32, {5}); },
              {0.3955090045928955, 0.6976600885391235, 0.9679895043373108, 0.5087401270866394,
               0.3122541308403015});
  expect_draw([](Value key) { return random_uniform(key, bf16, {5}); },
              {0.39453125, 0.6953125, 0.96484375, 0.5078125, 0.30859375});
  expect_draw([](Value key) { return random_uniform(key, f64, {5}); },
              {0.39550901228459567, 0.69766010338429663, 0.96798953880104244, 0.50874014810253043,
               0.31225418071838529});
  expect_draw([](Value key) { return random_normal(key, f32, {5}); },
              {-0.26498875, 0.51768265, 1.8520336, 0.021910003, -0.48947103}, 1e-6);
  expect_draw([](Value key) { return truncated_normal(key, f32, {5}); },
              {-0.25266531, 0.49207421, 1.6136273, 0.020912943, -0.46547235}, 1e-6);
  expect_draw([](Value key) { return randint(key, i32, {5}, -3, 7); }, {0, 3, 6, 2, 0});
  expect_draw([](Value key) { return bernoulli(key, {5}, 0.5); }, {1, 0, 0, 0, 1});
}

TEST(Random, BehavesAsOps) {
  const std::pair<const char*, Draw> cases[] = {
      {"bits",
       [](Value key) {
         return random_bits(key, {3, 7});
       }},
      {"no bits",
       [](Value key) {
         return random_bits(key, {0, 7});
       }},
      {"uniform",
       [](Value key) {
         return random_uniform(key, f32, {4, 5}, -1, 2);
       }},
      {"uniform f64",
       [](Value key) {
         return random_uniform(key, f64, {4, 5}, 1, 2);
       }},
      {"normal",
       [](Value key) {
         return random_normal(key, f32, {4, 5}, 1, 3);
       }},
      {"normal f64", [](Value key) { return random_normal(key, f64, {7}); }},
      {"truncated f16", [](Value key) { return truncated_normal(key, f16, {7}); }},
      {"bernoulli", [](Value key) { return bernoulli(key, {70}, 0.3); }},
      {"randint", [](Value key) { return randint(key, i64, {70}, 5, 9); }},
      {"advance", [](Value key) { return random_bits(advance(key, 5), {9}); }},
  };
  for (const auto& [name, build] : cases)
    check_op({.name = name,
              .inputs = {{i64, {2}}},
              .build = [build = build](const Values& in) { return Values{build(in[0])}; },
              .data = {key_of(seed, 3)}});
}

// How far the empirical distribution is from the true one, times √n: beyond 1.95 in one of a
// thousand streams.
double kolmogorov(std::vector<double> sample, double (*distribution)(double)) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double worst = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    const double p = distribution(sample[i]), rank = static_cast<double>(i);
    worst = std::max({worst, p - rank / n, (rank + 1) / n - p});
  }
  return worst * std::sqrt(n);
}

struct Moments {
  double mean, variance;
};
Moments moments(const std::vector<double>& sample) {
  double sum = 0, squares = 0;
  for (double x : sample) sum += x;
  const double mean = sum / static_cast<double>(sample.size());
  for (double x : sample) squares += (x - mean) * (x - mean);
  return {mean, squares / static_cast<double>(sample.size())};
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

constexpr int64_t many = 200000;
const double five_sigma = 5 / std::sqrt(static_cast<double>(many));

TEST(Random, UniformIsUniform) {
  for (DType dtype : {f32, f64}) {
    const auto x =
        draw(key_of(7, 0), [&](Value key) { return random_uniform(key, dtype, {many}, -1, 3); });
    EXPECT_LT(kolmogorov(x, [](double v) { return (v + 1) / 4; }), 1.95);
    EXPECT_NEAR(moments(x).mean, 1, five_sigma * 4 / std::sqrt(12));
    EXPECT_NEAR(moments(x).variance, 16.0 / 12, five_sigma * 16 / std::sqrt(180));
    EXPECT_GE(*std::min_element(x.begin(), x.end()), -1);
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 3);
  }
}

TEST(Random, NormalIsNormal) {
  for (DType dtype : {f32, f64}) {
    const auto x = draw(key_of(8, 0), [&](Value key) { return random_normal(key, dtype, {many}); });
    EXPECT_LT(kolmogorov(x, normal_cdf), 1.95);
    EXPECT_NEAR(moments(x).mean, 0, five_sigma);
    EXPECT_NEAR(moments(x).variance, 1, five_sigma * std::sqrt(2));
  }
}

TEST(Random, TruncatedNormalIsTruncated) {
  const auto x = draw(key_of(9, 0), [](Value key) { return truncated_normal(key, f32, {many}); });
  const auto cdf = [](double v) {
    return (normal_cdf(v) - normal_cdf(-2)) / (normal_cdf(2) - normal_cdf(-2));
  };
  EXPECT_LT(kolmogorov(x, cdf), 1.95);
  EXPECT_NEAR(moments(x).variance, 0.7737413, five_sigma);
  EXPECT_GE(*std::min_element(x.begin(), x.end()), -2);
  EXPECT_LE(*std::max_element(x.begin(), x.end()), 2);
}

TEST(Random, IntegersAndEventsAreUniform) {
  const auto x = draw(key_of(10, 0), [](Value key) { return randint(key, u8, {many}, 3, 10); });
  std::vector<double> counts(10);
  for (double v : x) counts.at(static_cast<size_t>(v)) += 1;
  double chi = 0;
  const double expected = static_cast<double>(many) / 7;
  for (size_t i = 3; i < 10; ++i) chi += (counts[i] - expected) * (counts[i] - expected) / expected;
  EXPECT_LT(chi, 22.5);  // 6 degrees of freedom: one of a thousand streams is beyond
  const auto p = draw(key_of(11, 0), [](Value key) { return bernoulli(key, {many}, 0.3); });
  EXPECT_NEAR(moments(p).mean, 0.3, five_sigma * std::sqrt(0.21));
}

TEST(Random, NeverReachesTheUpperEnd) {
  for (DType dtype : {f16, bf16, f32, f64})
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{
             {0, 1}, {100, 101}, {-1, 0}, {-3, -2.9}, {0, 0.1}}) {
      const auto x = draw(key_of(12, 0), [&, low = low, high = high](Value key) {
        return random_uniform(key, dtype, {5000}, low, high);
      });
      EXPECT_LT(*std::max_element(x.begin(), x.end()), high) << text(dtype, ' ', low, ' ', high);
    }
}

TEST(Random, StreamsDoNotOverlapAfterAdvance) {
  EXPECT_EQ(random_words(f32, {5}), 8);
  EXPECT_EQ(random_words(f64, {5}), 16);
  EXPECT_EQ(draw(key_of(seed, 3), [](Value key) { return advance(key, 5); }),
            (std::vector<double>{static_cast<double>(seed), 11}));
  EXPECT_EQ(draw(key_of(seed, 3), [](Value key) { return advance(key, 0); })[1], 3);
}

TEST(Random, PermutationHasEachIndexOnce) {
  // The five words of this key, above, in rising order.
  expect_draw([](Value key) { return permutation(key, 5); }, {3, 1, 2, 4, 0});
  auto order = draw(key_of(14, 0), [](Value key) { return permutation(key, 1000); });
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<double>(i));
  EXPECT_TRUE(draw(key_of(14, 0), [](Value key) { return permutation(key, 0); }).empty());
}

TEST(Random, PermutationIsAnOp) {
  for (int64_t n : {0, 1, 2, 37, 1000})
    check_op({.name = text("permutation ", n),
              .inputs = {{i64, {2}}},
              .build = [n](const Values& in) { return Values{permutation(in[0], n)}; },
              .data = {key_of(seed, 8)},
              .gradient = false});
}

TEST(Random, ShuffleMovesWholeSlices) {
  check_op({.name = "shuffle",
            .inputs = {{f32, {2, 5}}, {i64, {2}}},
            .build = [](const Values& in) { return Values{shuffle(in[0], in[1], 1)}; },
            .data = {testing::counted({2, 5}, 1, 10, 0), key_of(seed, 6)},
            .unknown_sizes = false});
  testing::expect_values({testing::counted({2, 5}, 1, 10, 0), key_of(seed, 6)},
                         [](const Values& in) { return shuffle(in[0], in[1], 1); }, {2, 5},
                         {3, 1, 2, 4, 0, 8, 6, 7, 9, 5});
}

TEST(Dropout, BehavesAsAnOp) {
  for (double rate : {0.0, 0.3, 1.0})
    check_op({.name = text("rate ", rate),
              .inputs = {{f32, {6, 7}}, {i64, {2}}},
              .build = [=](const Values& in) { return Values{dropout(in[0], in[1], rate)}; },
              .data = {testing::random_tensor({f32, {6, 7}}, -2, 2, 1), key_of(3, 0)},
              .second_order = true});
  for (DType dtype : {f64, f16, bf16})
    check_op({.name = text(dtype),
              .inputs = {{dtype, {50}}, {i64, {2}}},
              .build = [=](const Values& in) { return Values{dropout(in[0], in[1], 0.5)}; },
              .data = {testing::random_tensor({dtype, {50}}, -2, 2, 1), key_of(3, 0)}});
}

TEST(Dropout, KeepsTheMean) {
  const auto x = evaluate([](const Values& in) { return Values{dropout(in[0], in[1], 0.2)}; },
                          {Tensor::full(f32, {many}, 1), key_of(13, 0)})[0];
  EXPECT_NEAR(moments(x.to_vector()).mean, 1, five_sigma * 0.5);
  for (double v : x.to_vector()) ASSERT_TRUE(v == 0 || v == 1.25) << v;
}

TEST(Random, RefusesWhatDoesNotFit) {
  Module m;
  const Value key = m.input({i64, {2}}), x = m.input({f32, {3}});
  expect_user_error([&] { random_bits(x, {3}); }, {"random_bits", "i64[2]", "f32[3]"});
  expect_user_error([&] { random_bits(key, {int64_t{1} << 40, 1 << 20}); }, {"too many elements"});
  expect_user_error([&] { random_uniform(key, i32, {3}); }, {"random_uniform", "float", "i32"});
  expect_user_error([&] { random_uniform(key, f32, {3}, 1, 1); }, {"low < high"});
  expect_user_error([&] { random_normal(key, i32, {3}); }, {"random_normal", "float"});
  expect_user_error([&] { bernoulli(key, {3}, 1.5); }, {"bernoulli", "[0, 1]", "1.5"});
  expect_user_error([&] { randint(key, f32, {3}, 0, 2); }, {"randint", "integer", "f32"});
  expect_user_error([&] { randint(key, i32, {3}, 2, 2); }, {"randint", "low < high"});
  expect_user_error([&] { randint(key, i64, {3}, 0, int64_t{1} << 32); }, {"randint", "2^31"});
  expect_user_error([&] { randint(key, u8, {3}, 0, 257); }, {"randint", "257", "u8"});
  expect_user_error([&] { dropout(x, key, 1.1); }, {"dropout", "rate", "1.1"});
  expect_user_error([&] { dropout(x, x, 0.1); }, {"dropout", "key", "f32[3]"});
  expect_user_error([&] { dropout(key, key, 0.1); }, {"dropout", "float", "i64[2]"});
  expect_user_error([&] { permutation(key, -1); }, {"permutation", "-1"});
  expect_user_error([&] { shuffle(m.input({f32, {unknown}}), key); }, {"shuffle", "known"});
  expect_user_error([&] { advance(key, -1); }, {"advance", "-1"});
}

}  // namespace
}  // namespace keratin::ops

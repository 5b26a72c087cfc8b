#include "keratin/backend/cpu/tile/conv.h"

#include <algorithm>
#include <numeric>

#include "keratin/backend/cpu/tile/conv_testing.h"

namespace keratin::cpu {
namespace {

template <class T>
class ConvTest : public FloatRoutines<T> {};
TYPED_TEST_SUITE(ConvTest, FloatStorage);

TYPED_TEST(ConvTest, MatchesTheDefinitionOfAPlainConvolution) {
  check_conv<TypeParam>(
      {.batch = 2, .channels = 3, .filters = 5, .input = {1, 6, 7}, .kernel = {1, 3, 3}});
  check_conv<TypeParam>(
      {.batch = 1, .channels = 1, .filters = 32, .input = {1, 9, 20}, .kernel = {1, 3, 3}});
  check_conv<TypeParam>(
      {.batch = 3, .channels = 20, .filters = 35, .input = {1, 5, 6}, .kernel = {1, 1, 1}});
}

TYPED_TEST(ConvTest, CombinesStrideDilationGroupsAndPadding) {
  check_conv<TypeParam>({.batch = 2,
                         .channels = 6,
                         .filters = 8,
                         .groups = 2,
                         .input = {1, 9, 11},
                         .kernel = {1, 3, 2},
                         .stride = {1, 2, 3},
                         .dilation = {1, 2, 1},
                         .pad = {0, 1, 2},
                         .pad_end = {0, 2, 0},
                         .post = {TilePost::bias, TilePost::addend, TilePost::relu}});
}

const ConvCase cases[] = {
    // 1 and 3 dims
    {.batch = 2,
     .channels = 4,
     .filters = 6,
     .input = {1, 1, 17},
     .kernel = {1, 1, 5},
     .pad = {0, 0, 4}},
    {.batch = 2,
     .channels = 3,
     .filters = 4,
     .input = {5, 4, 6},
     .kernel = {2, 3, 2},
     .pad = {1, 1, 0},
     .pad_end = {0, 1, 1}},
    {.batch = 1,
     .channels = 2,
     .filters = 3,
     .input = {7, 5, 5},
     .kernel = {3, 1, 2},
     .stride = {2, 1, 2},
     .dilation = {2, 1, 1},
     .pad = {2, 0, 1}},
    // same padding, stride, dilation
    {.batch = 2,
     .channels = 16,
     .filters = 33,
     .input = {1, 8, 8},
     .kernel = {1, 3, 3},
     .pad = {0, 1, 1},
     .pad_end = {0, 1, 1}},
    {.batch = 1,
     .channels = 5,
     .filters = 17,
     .input = {1, 11, 9},
     .kernel = {1, 3, 3},
     .stride = {1, 2, 2},
     .pad = {0, 1, 1},
     .pad_end = {0, 1, 1}},
    {.batch = 2,
     .channels = 4,
     .filters = 7,
     .input = {1, 10, 10},
     .kernel = {1, 3, 3},
     .dilation = {1, 2, 3},
     .pad = {0, 2, 3},
     .pad_end = {0, 2, 3}},
    {.batch = 1,
     .channels = 3,
     .filters = 16,
     .input = {1, 23, 23},
     .kernel = {1, 7, 7},
     .stride = {1, 2, 2},
     .pad = {0, 3, 3},
     .pad_end = {0, 3, 3}},
    // a stride larger than the filter leaves gaps; more padding than filter; cropping
    {.batch = 2,
     .channels = 3,
     .filters = 4,
     .input = {1, 9, 10},
     .kernel = {1, 2, 1},
     .stride = {1, 3, 3}},
    {.batch = 1,
     .channels = 4,
     .filters = 4,
     .input = {1, 4, 4},
     .kernel = {1, 2, 2},
     .pad = {0, 3, 2},
     .pad_end = {0, 3, 4}},
    {.batch = 1,
     .channels = 4,
     .filters = 5,
     .input = {1, 9, 9},
     .kernel = {1, 3, 3},
     .pad = {0, -1, -2},
     .pad_end = {0, 1, -1}},
    // a filter larger than the input
    {.batch = 2,
     .channels = 3,
     .filters = 4,
     .input = {1, 2, 3},
     .kernel = {1, 5, 5},
     .pad = {0, 2, 2},
     .pad_end = {0, 2, 2}},
    // groups, one output pixel, many filters, long rows
    {.batch = 2,
     .channels = 12,
     .filters = 24,
     .groups = 3,
     .input = {1, 6, 6},
     .kernel = {1, 3, 3},
     .pad = {0, 1, 1},
     .pad_end = {0, 1, 1}},
    {.batch = 1,
     .channels = 8,
     .filters = 16,
     .groups = 8,
     .input = {1, 5, 7},
     .kernel = {1, 3, 3}},
    {.batch = 4, .channels = 7, .filters = 70, .input = {1, 3, 3}, .kernel = {1, 3, 3}},
    {.batch = 1, .channels = 2, .filters = 130, .input = {1, 4, 45}, .kernel = {1, 2, 3}},
    {.batch = 1,
     .channels = 40,
     .filters = 3,
     .input = {1, 7, 7},
     .kernel = {1, 3, 3},
     .pad = {0, 1, 1},
     .pad_end = {0, 1, 1}},
    // 1x1 that is no matmul
    {.batch = 2,
     .channels = 9,
     .filters = 20,
     .input = {1, 7, 8},
     .kernel = {1, 1, 1},
     .stride = {1, 2, 2}},
    {.batch = 2, .channels = 8, .filters = 6, .groups = 2, .input = {1, 3, 4}, .kernel = {1, 1, 1}},
    // nothing to do
    {.batch = 0, .channels = 3, .filters = 4, .input = {1, 5, 5}, .kernel = {1, 3, 3}},
    {.batch = 2, .channels = 3, .filters = 0, .input = {1, 5, 5}, .kernel = {1, 3, 3}},
    {.batch = 2, .channels = 0, .filters = 3, .input = {1, 5, 5}, .kernel = {1, 3, 3}},
    {.batch = 2, .channels = 3, .filters = 4, .input = {1, 2, 2}, .kernel = {1, 3, 3}},
    {.batch = 2, .channels = 3, .filters = 4, .input = {1, 0, 5}, .kernel = {1, 1, 2}},
};

TEST(Conv, MatchesTheDefinition) {
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(::testing::Message() << "case " << i);
    check_conv<float>(cases[i]);
    check_conv<double>(cases[i]);
  }
}

// ConvSizes that use several bands, blocks of images and strips.
TEST(Conv, WorksInBlocks) {
  check_conv<float>(
      {.batch = 9, .channels = 32, .filters = 64, .input = {1, 13, 13}, .kernel = {1, 3, 3}});
  check_conv<float>({.batch = 1,
                     .channels = 64,
                     .filters = 40,
                     .input = {1, 30, 60},
                     .kernel = {1, 3, 3},
                     .pad = {0, 1, 1},
                     .pad_end = {0, 1, 1}});
}

// Only remainders that a pixel has are planned, so a huge stride takes no longer.
TEST(Conv, TakesStridesFarBeyondTheInput) {
  for (const int64_t groups : {1, 4})
    check_conv<float>({.batch = 2,
                       .channels = 4,
                       .filters = 4,
                       .groups = groups,
                       .input = {1, 5, 3},
                       .kernel = {1, 3, 2},
                       .stride = {1, 1'000'000'000, 1'000'000'000},
                       .pad = {0, 1, 1},
                       .pad_end = {0, 1, 0}});
}

TEST(Conv, AppliesEpilogues) {
  const std::vector<TilePost> chains[] = {{TilePost::bias},
                                          {TilePost::relu},
                                          {TilePost::bias, TilePost::relu, TilePost::addend},
                                          {TilePost::bias, TilePost::relu, TilePost::cap}};
  for (const auto& post : chains) {
    check_conv<float>({.batch = 2,
                       .channels = 3,
                       .filters = 20,
                       .input = {1, 6, 6},
                       .kernel = {1, 3, 3},
                       .post = post});
    check_conv<BFloat16>({.batch = 2,
                          .channels = 20,
                          .filters = 20,
                          .input = {1, 6, 6},
                          .kernel = {1, 1, 1},
                          .post = post});
  }
}

TYPED_TEST(ConvTest, MatchesTheDefinitionOfADepthwiseConvolution) {
  check_conv<TypeParam>(
      {.batch = 2,
       .channels = 21,
       .filters = 21,
       .groups = 21,
       .input = {1, 7, 10},
       .kernel = {1, 3, 3},
       .pad = {0, 1, 1},
       .pad_end = {0, 1, 1},
       .post = {TilePost::bias, TilePost::addend, TilePost::relu, TilePost::cap}});
  check_conv<TypeParam>({.batch = 3,
                         .channels = 37,
                         .filters = 37,
                         .groups = 37,
                         .input = {1, 9, 8},
                         .kernel = {1, 4, 3},
                         .stride = {1, 2, 2},
                         .dilation = {1, 1, 2},
                         .pad = {0, 2, 1}});
  check_conv<TypeParam>({.batch = 1,
                         .channels = 5,
                         .filters = 5,
                         .groups = 5,
                         .input = {4, 3, 20},
                         .kernel = {2, 2, 5},
                         .pad = {1, 0, 2},
                         .pad_end = {0, 0, 2}});
  check_conv<TypeParam>({.batch = 0,
                         .channels = 5,
                         .filters = 5,
                         .groups = 5,
                         .input = {1, 3, 9},
                         .kernel = {1, 2, 2}});
}

TEST(Conv, CallsTheHookOnceForEveryElement) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    ConvDesc desc = describe({.batch = 2,
                              .channels = 3,
                              .filters = 40,
                              .input = {1, 9, 5},
                              .kernel = {1, 3, 3},
                              .pad = {0, 1, 1}},
                             dtype);
    desc.hook = true;
    const auto conv = make_conv(desc, ConvDirection::forward, {});
    const std::vector<float> x(1000), w(2000);
    std::vector<float> y(static_cast<size_t>(desc.batch * desc.output_size() * desc.filters));
    std::vector<int> seen(y.size());
    const Buffer scratch = Buffer::allocate(conv->scratch_bytes());
    ConvArgs args{.x = x.data(), .filter = w.data(), .result = y.data(), .scratch = scratch.data()};
    args.hook.context = &seen;
    args.hook.run = [](const void* context, int64_t row, int64_t rows, int64_t column,
                       int64_t columns) {
      auto& counts = *static_cast<std::vector<int>*>(const_cast<void*>(context));
      for (int64_t i = row; i < row + rows; ++i) {
        for (int64_t j = column; j < column + columns; ++j) ++counts.at(size_t(i * 40 + j));
      }
    };
    conv->run(args);
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), int(y.size()));
    EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 1);
  }
}

TEST(Conv, RefusesIntegers) {
  ConvDesc desc =
      describe({.batch = 1, .channels = 1, .filters = 1, .input = {1, 3, 3}, .kernel = {1, 1, 1}},
               DType::i32);
  EXPECT_NE(refuse_conv(desc).find("i32"), std::string::npos);
}

}  // namespace
}  // namespace keratin::cpu

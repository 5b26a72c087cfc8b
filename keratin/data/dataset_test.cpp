#include "keratin/data/dataset.h"
#include "keratin/base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace keratin {
namespace {

Tensor count_to(int64_t rows) {
  Tensor x(DType::f32, {rows, 2});
  for (int64_t row = 0; row < rows; ++row) x(row, 0) = x(row, 1) = static_cast<double>(row);
  return x;
}

// The first column of each batch of a pass.
std::vector<std::vector<double>> pass(const Dataset& data, int64_t number = 0) {
  std::vector<std::vector<double>> out;
  const auto stream = data.stream(number);
  for (Batch batch; stream->next(batch);) {
    const Tensor x = batch.x;
    std::vector<double> first;
    for (int64_t i = 0; i < x.count(); i += 2) first.push_back(x.at(i));
    out.push_back(first);
  }
  return out;
}

std::vector<double> flat(const std::vector<std::vector<double>>& batches) {
  std::vector<double> out;
  for (const auto& b : batches) out.insert(out.end(), b.begin(), b.end());
  return out;
}

using Batches = std::vector<std::vector<double>>;

TEST(Dataset, BatchesRows) {
  const Dataset rows = Dataset::from_tensors(count_to(5));
  EXPECT_EQ(rows.size(), 5);
  EXPECT_EQ(pass(rows), (Batches{{0}, {1}, {2}, {3}, {4}}));
  EXPECT_EQ(pass(rows.batch(2)), (Batches{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(pass(rows.batch(2, true)), (Batches{{0, 1}, {2, 3}}));
  EXPECT_EQ(rows.batch(2).size(), 3);
  EXPECT_EQ(rows.batch(2, true).size(), 2);
}

TEST(Dataset, ShufflesAllTensorsAlike) {
  const Tensor x = count_to(6);
  Tensor y(DType::i64, {6});
  for (int64_t i = 0; i < 6; ++i) y.set(i, static_cast<double>(10 * i));
  const auto stream = Dataset::from_tensors(x, y).shuffle({}, 3).batch(4).stream();
  for (Batch b; stream->next(b);) {
    const Tensor xs = b.x, ys = b.y;
    for (int64_t i = 0; i < b.size(); ++i) EXPECT_EQ(ys.at(i), 10 * xs.at(2 * i));
  }
}

TEST(Dataset, ShufflesBySeedAndPass) {
  const Dataset data = Dataset::from_tensors(count_to(50)).shuffle({}, 7).batch(8);
  const auto first = flat(pass(data, 0)), again = flat(pass(data, 0)), second = flat(pass(data, 1));
  EXPECT_EQ(first, again);
  EXPECT_NE(first, second);
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> all(50);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_NE(first, all);
}

TEST(Dataset, ShufflesThroughABuffer) {
  const Dataset data = Dataset::from_tensors(count_to(20)).shuffle(4, 1);
  const auto order = flat(pass(data));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, flat(pass(Dataset::from_tensors(count_to(20)))));
  EXPECT_NE(order, sorted);
  // An element can come early by at most the size of the buffer.
  for (size_t i = 0; i < order.size(); ++i) EXPECT_LT(order[i], static_cast<double>(i) + 4);
}

TEST(Dataset, MapsRepeatsTakesAndSkips) {
  const Dataset rows = Dataset::from_tensors(count_to(4));
  EXPECT_EQ(flat(pass(rows.repeat(2))), (std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(rows.repeat(2).size(), 8);
  EXPECT_EQ(rows.repeat().size(), std::nullopt);
  EXPECT_EQ(flat(pass(rows.repeat().take(6))), (std::vector<double>{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(flat(pass(rows.skip(3))), (std::vector<double>{3}));
  EXPECT_EQ(flat(pass(rows.batch(2).skip(1))), (std::vector<double>{2, 3}));
  EXPECT_EQ(rows.take(9).size(), 4);
  const Dataset mapped = rows.batch(2).map([](Batch b) {
    return b.map([](const Tensor& t) { return Tensor::full(t.dtype(), t.shape(), t.at(0) + 1); });
  });
  EXPECT_EQ(pass(mapped), (Batches{{1, 1}, {3, 3}}));
  EXPECT_EQ(flat(pass(Dataset::from_tensors(count_to(0)).repeat(3))), std::vector<double>{});
}

TEST(Dataset, GivesTheElementsOfAGenerator) {
  const Dataset data = Dataset::from_generator([] {
    return [i = 0]() mutable -> std::optional<Batch> {
      if (i == 3) return std::nullopt;
      return Batch{Tensor::full(DType::f32, {2}, i++)};
    };
  });
  EXPECT_EQ(data.size(), std::nullopt);
  EXPECT_EQ(pass(data.batch(2)), (Batches{{0, 1}, {2}}));
  EXPECT_EQ(pass(data.batch(2)), (Batches{{0, 1}, {2}}));
}

TEST(Dataset, PrefetchingKeepsElementsAndOrder) {
  const Dataset data = Dataset::from_tensors(count_to(30)).shuffle({}, 2).batch(4);
  for (const int64_t ahead : {1, 2, 50}) EXPECT_EQ(pass(data.prefetch(ahead), 5), pass(data, 5));
  // A stream that is destroyed early does not wait for the other elements.
  Batch batch;
  EXPECT_TRUE(data.repeat().prefetch(3).stream()->next(batch));
}

TEST(Dataset, RethrowsErrorsOfItsThread) {
  const Dataset bad =
      Dataset::from_tensors(count_to(4)).map([](Batch) -> Batch { fail("no luck"); });
  const auto stream = bad.prefetch().stream();
  Batch batch;
  EXPECT_THROW(stream->next(batch), UserError);
}

TEST(Dataset, RefusesDifferentNumbersOfSamples) {
  try {
    Dataset::from_tensors(count_to(4), count_to(5));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "Data cardinality is ambiguous. Make sure all arrays contain the same number of "
                 "samples. 'x' sizes: 4 'y' sizes: 5");
  }
  EXPECT_THROW(Dataset::from_tensors(Tensor::scalar(DType::f32, 1)), UserError);
  EXPECT_THROW(Dataset::from_tensors(Tree<Tensor>()), UserError);
  EXPECT_THROW(Dataset::from_tensors(count_to(4)).batch(0), UserError);
  int made = 0;
  const Dataset uneven = Dataset::from_generator([&made] {
    return [&made]() -> std::optional<Batch> { return Batch{Tensor(DType::f32, {++made})}; };
  });
  Batch batch;
  EXPECT_THROW(uneven.batch(2).stream()->next(batch), UserError);
}

}  // namespace
}  // namespace keratin

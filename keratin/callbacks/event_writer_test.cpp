#include "keratin/callbacks/event_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "keratin/base/text.h"

namespace keratin {
namespace {

TEST(MaskedCrc32c, HasTheKnownCheckValues) {
  // CRC-32C's check value and two from RFC 3720, B.4.
  const auto masked = [](uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; };
  EXPECT_EQ(masked_crc32c("123456789"), masked(0xe3069283u));
  EXPECT_EQ(masked_crc32c(std::string(32, '\0')), masked(0x8a9136aau));
  EXPECT_EQ(masked_crc32c(std::string(32, '\xff')), masked(0x62a8ab43u));
}

TEST(HistogramBuckets, CountEveryFiniteValueOnce) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor buckets =
      histogram_buckets(Tensor::of<double>(DType::f32, {7}, {0, 3, 0.05, 1.55, 3, NAN, inf}));
  EXPECT_EQ(buckets.at(0), 0);
  EXPECT_EQ(buckets.at(3 * 29 + 1), 3);
  EXPECT_EQ(buckets.at(2), 2);           // 0 and 0.05 in [0, 0.1)
  EXPECT_EQ(buckets.at(3 * 15 + 2), 1);  // 1.55
  EXPECT_EQ(buckets.at(3 * 29 + 2), 2);  // 3, twice: the last bucket is closed
}

TEST(HistogramBuckets, CountASingleValueOrNone) {
  const Tensor one = histogram_buckets(Tensor::full(DType::f32, {5}, 2.5));
  for (int64_t i = 0; i < 30; ++i) {
    EXPECT_EQ(one.at(3 * i), 2.5);
    EXPECT_EQ(one.at(3 * i + 1), 2.5);
    EXPECT_EQ(one.at(3 * i + 2), i == 29 ? 5 : 0);
  }
  EXPECT_EQ(histogram_buckets(Tensor(DType::f32, {0})), Tensor::zeros(DType::f64, {30, 3}));
}

TEST(EventWriter, NamesAFolderThatCannotBeWritten) {
  try {
    const EventWriter writer("/dev/null/logs");
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/null/logs"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace keratin

#include <gtest/gtest.h>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/testing/backends.h"

namespace keratin::cuda {
namespace {

// So much that no driver hides it in the command itself.
constexpr int64_t many = int64_t{1} << 18;

TEST(QueueOnGpu, WhatIsUploadedMayBeChangedAtOnce) {
  keratin::testing::need_for_gpu(device_count() > 0, why_no_device());
  if (device_count() == 0) GTEST_SKIP() << why_no_device();
  Queue queue({Device::Kind::gpu, 0});
  Tensor sent = Tensor::full(DType::f32, {many}, 1), back(DType::f32, {many});
  std::byte* const there = queue.allocate(sent.bytes());
  queue.upload(there, sent.raw(), sent.bytes());
  for (int64_t i = 0; i < many; ++i) sent.set(i, 2);
  queue.download(back.raw(), there, back.bytes());
  queue.finish();
  EXPECT_EQ(back, Tensor::full(DType::f32, {many}, 1));
}

}  // namespace
}  // namespace keratin::cuda

// The memory of a program that predicts for days must not grow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "keratin/keratin.h"

namespace keratin {
namespace {

int64_t resident_bytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Makes 100,000 calls of one sample. Memory may still grow during the first tenth of them.
template <class Call>
void expect_flat_memory(const Call& call) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps freed memory for a while";
#endif
  for (int i = 0; i < 10'000; ++i) call();
  const int64_t before = resident_bytes();
  for (int i = 0; i < 90'000; ++i) call();
  EXPECT_LE(resident_bytes() - before, 256 << 10) << "bytes were added by 90,000 calls";
}

TEST(Memory, PredictDoesNotGrow) {
  const auto in = Input({16});
  const Model model({.inputs = in, .outputs = Dense({.units = 16, .activation = "relu"})(in)});
  const Tensor x = Tensor::full(DType::f32, {1, 16}, 0.5);
  expect_flat_memory([&] { model.predict(x); });
  expect_flat_memory([&] { model.predict_on_batch(x); });
}

TEST(Memory, PredictOfMaskedSequencesDoesNotGrow) {
  const Sequential model(
      {Embedding({.input_dim = 9, .output_dim = 4, .mask_zero = true}), LSTM({.units = 4})});
  const Tensor x = Tensor::of<int32_t>(DType::i32, {1, 5}, {3, 1, 8, 0, 0});
  expect_flat_memory([&] { model.predict(x); });
}

}  // namespace
}  // namespace keratin

#include "keratin/layers/embedding.h"

#include "keratin/graph/input.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// Finite differences make no sense here: a float index slightly changed may be another index, and
// the update of LoRA is float32 in any layer.
TEST(Embedding, BehavesAsInKeras) {
  check_layer("Embedding", {.no_gradient = {"float ids", "lora", "lora, mixed_bfloat16"}});
}

TEST(Embedding, RefusesBadSizes) {
  expect_user_error([] { Embedding({.input_dim = 0, .output_dim = 2}); }, {"input_dim", "0"});
  expect_user_error([] { Embedding({.input_dim = 3, .output_dim = -2}); }, {"output_dim", "-2"});
}

TEST(Embedding, RefusesAnIndexOutsideTheTable) {
  const auto layer = Embedding({.input_dim = 3, .output_dim = 2});
  expect_user_error(
      [&] {
        run_layer(*layer, {{MaskedTensor{Tensor::of<int>(DType::i32, {1, 2}, {1, 3})}}, {}});
      },
      "3");
}

TEST(Embedding, MasksOnlyWithMaskZero) {
  const auto ids = Input({.shape = {4}, .dtype = DType::i32});
  EXPECT_FALSE(Embedding({.input_dim = 3, .output_dim = 2})(ids).leaf().has_mask());
  EXPECT_TRUE(
      Embedding({.input_dim = 3, .output_dim = 2, .mask_zero = true})(ids).leaf().has_mask());
}

}  // namespace
}  // namespace keratin

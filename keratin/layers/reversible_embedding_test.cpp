#include "keratin/graph/input.h"
#include "keratin/layers/embedding.h"
#include "keratin/testing/check_layer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

using testing::check_layer;
using testing::expect_user_error;

// The update of LoRA is float32 in any layer, too coarse for finite differences in double.
TEST(ReversibleEmbedding, BehavesAsInKeras) {
  check_layer("ReversibleEmbedding", {.no_gradient = {"lora, reverse"}});
}

TEST(ReversibleEmbedding, ProjectsBackToLogits) {
  const ReversibleEmbedding table({.input_dim = 7, .output_dim = 3, .mask_zero = true});
  const SymbolicTensor words = table(Input({.shape = {4}, .dtype = DType::i32}));
  EXPECT_TRUE(words.has_mask());
  const SymbolicTensor logits = table(words, {{"reverse", true}});
  EXPECT_EQ(logits.shape(), Shape({unknown, 4, 7}));
  EXPECT_FALSE(logits.has_mask());
  EXPECT_EQ(table->weights().size(), 1U);
}

TEST(ReversibleEmbedding, RefusesBadSizes) {
  expect_user_error([] { ReversibleEmbedding({.input_dim = 0, .output_dim = 2}); },
                    {"input_dim", "0"});
}

}  // namespace
}  // namespace keratin

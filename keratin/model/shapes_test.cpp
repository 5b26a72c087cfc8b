// Models with open axes, whose programs share code and memory from size to size.
#include <gtest/gtest.h>

#include "keratin/keratin.h"
#include "keratin/model/program.h"
#include "keratin/testing/check_op.h"

namespace keratin {
namespace {

using Sizes = std::vector<int64_t>;

// A model for open sizes (`unknown`) or for fixed ones, and data of these sizes.
struct Case {
  const char* name;
  Model (*make)(const Sizes& sizes);
  Tree<Tensor> (*data)(const Sizes& sizes);
  size_t open_sizes = 1;
};

Tensor noise(const Shape& shape) { return testing::random_tensor({DType::f32, shape}, -1, 1, 5); }

// Words, of which the last third is padding.
Tensor words(int64_t rows, int64_t length) {
  Tensor t = Tensor::zeros(DType::i32, {rows, length});
  for (int64_t i = 0; i < t.count(); ++i)
    if (3 * (i % length) < 2 * length) t.set(i, static_cast<double>(1 + i * 7 % 19));
  return t;
}

Model tagger(const Sizes& n) {
  const auto in = Input({.shape = {n[0]}, .dtype = DType::i32});
  Symbols x = Embedding({.input_dim = 20, .output_dim = 12, .mask_zero = true})(in);
  x = Bidirectional({.layer = LSTM({.units = 9, .return_sequences = true})})(x);
  x = GRU({.units = 7, .return_sequences = true, .go_backwards = true})(x);
  return Model({.inputs = in, .outputs = Dense({.units = 3, .activation = "softmax"})(x)});
}

Model encoder(const Sizes& n) {
  const auto in = Input({.shape = {n[0]}, .dtype = DType::i32});
  Symbols x = Embedding({.input_dim = 20, .output_dim = 16, .mask_zero = true})(in);
  const Symbols h = MultiHeadAttention({.num_heads = 2, .key_dim = 8})(x, x);
  x = LayerNormalization()(Add()({x, h}));
  x = Dense({.units = 16, .activation = "gelu"})(x);
  return Model({.inputs = in, .outputs = GlobalAveragePooling1D()(x)});
}

// Two inputs, each with a length of its own.
Model reader(const Sizes& n) {
  const auto question = Input({n[0], 6}), text = Input({n[1], 6});
  const Symbols h = Attention()({question, text});
  const Symbols x = Concatenate()({GlobalMaxPooling1D()(h), GlobalAveragePooling1D()(text)});
  return Model({.inputs = Symbols{question, text}, .outputs = Dense({.units = 4})(x)});
}

Model convnet(const Sizes& n) {
  const auto in = Input({n[0], n[1], 3});
  Symbols x = Conv2D({.filters = 8, .kernel_size = {3, 3}, .padding = "same"})(in);
  x = ReLU()(BatchNormalization()(x));
  x = MaxPooling2D({.pool_size = {2, 2}, .padding = "same"})(x);
  x = DepthwiseConv2D({.kernel_size = {3, 3}, .padding = "same", .activation = "swish"})(x);
  x = UpSampling2D({.size = {2, 2}})(x);
  return Model({.inputs = in, .outputs = Conv2D({.filters = 2, .kernel_size = {1, 1}})(x)});
}

const Case cases[] = {
    {"tagger", tagger, [](const Sizes& n) -> Tree<Tensor> { return words(2, n[0]); }},
    {"encoder", encoder, [](const Sizes& n) -> Tree<Tensor> { return words(2, n[0]); }},
    {"reader", reader,
     [](const Sizes& n) -> Tree<Tensor> {
       return std::vector<Tree<Tensor>>{noise({2, n[0], 6}), noise({2, n[1], 6})};
     },
     2},
    {"convnet", convnet,
     [](const Sizes& n) -> Tree<Tensor> {
       return noise({1, n[0], n[1], 3});
     },
     2},
};

class ChangingShapes : public ::testing::TestWithParam<Case> {
 protected:
  Sizes sizes(int64_t n) const {
    return GetParam().open_sizes == 1 ? Sizes{n} : Sizes{n, (n * 37) % 64 + 1};
  }
};

// Every size is computed as by a model that has this size alone, and as the reference does.
TEST_P(ChangingShapes, GiveWhatFixedShapesGive) {
  const Case& c = GetParam();
  const Model open = c.make({unknown, unknown});
  for (int64_t n = 64; n > 0; --n) {
    const Tree<Tensor> x = c.data(sizes(n));
    const Tensor y = open.predict(x).leaf();
    Model fixed = c.make(sizes(n));
    fixed.set_weights(open.get_weights());
    ASSERT_EQ(fixed.predict(x).leaf(), y) << n;
    const Tensor expected = fixed.predict(x, {.engine = {.backend = "reference"}}).leaf();
    testing::expect_close(y, expected, 1e-5, detail::text(c.name, " of size ", n));
  }
  EXPECT_EQ(open.program_cache().misses, 64u);
}

TEST_P(ChangingShapes, KeepOneArenaPerProcessor) {
  const Case& c = GetParam();
  const Model open = c.make({unknown, unknown});
  size_t programs = 0, largest = 0;
  for (int64_t n = 1; n <= 40; ++n) {
    const Tree<Tensor> x = c.data(sizes(n));
    open.predict(x);
    const Executable& executable = open.program(x)->executable();
    programs += executable.memory_bytes();
    largest = std::max(largest, executable.arena_bytes());
  }
  EXPECT_EQ(open.program_cache().entries, 40u);
  EXPECT_EQ(open.program_cache().bytes, programs + largest);
}

INSTANTIATE_TEST_SUITE_P(Model, ChangingShapes, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace keratin

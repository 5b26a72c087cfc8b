#include "keratin/ops/shards.h"
#include "keratin/graph/layer.h"

#include <gtest/gtest.h>

#include <limits>

#include "keratin/autodiff/gradients.h"
#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/engine/devices.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/transfer.h"
#include "keratin/testing/expect_error.h"
#include "keratin/testing/waves.h"

namespace keratin::ops {
namespace {

constexpr Device second_cpu{Device::Kind::cpu, 1};

// x in two shards, the first of size `first`, the second on another device.
Value shard(Value x, int64_t axis, int64_t first) {
  const int64_t size = x.shape()[axis];
  return concatenate(
      {slice_axis(x, axis, 0, first), transfer(slice_axis(x, axis, first, size), second_cpu)},
      axis);
}

struct Case {
  std::string name;
  std::vector<Shape> shapes;
  std::vector<int64_t> axes;  // along which inputs are sharded; -1: not at all
  std::function<Value(const Values&)> build;
  enum { sharded, summed, whole } result = sharded;
  std::vector<double> indices = {};  // in place of the last input, if any
};

// The result, then the gradients of Σ sin(3 i) · result[i] by the floats among the inputs.
std::vector<Tensor> run(const Case& c, const std::vector<Tensor>& data, bool shards) {
  Module module;
  Values inputs, given, wrt;
  for (const Tensor& t : data) inputs.push_back(module.input({t.dtype(), t.shape()}));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t axis = c.axes[i];
    given.push_back(shards && axis >= 0 ? shard(inputs[i], axis, inputs[i].shape()[axis] / 2)
                                        : inputs[i]);
    if (is_float(inputs[i].dtype())) wrt.push_back(inputs[i]);
  }
  const Value y = c.build(given);
  if (shards) {
    EXPECT_EQ(is_sharded(y), c.result == Case::sharded);
    bool on_both = false;  // does the second device compute anything?
    for (const auto& node : module.block().nodes())
      on_both = on_both || (node->device() == second_cpu && node->name() != "transfer");
    EXPECT_EQ(on_both, c.result != Case::whole);
  }
  module.output(y);
  const Value dy = constant(module.block(), testing::waves(y.shape(), 0.3, 3));
  for (const Value& g : detail::pull_back(module.block(), {y}, {dy}, wrt)) module.output(g);
  return compile(std::move(module))(data);
}

class ShardsTest : public ::testing::Test {
 protected:
  ShardsTest() { set_logical_devices("cpu", 2); }
  ~ShardsTest() override { set_logical_devices("cpu", 1); }
};

TEST_F(ShardsTest, ComputeTheSameAsTheWhole) {
  const auto matmul_of = [](bool ta, bool tb) {
    return [=](const Values& in) { return matmul(in[0], in[1], {ta, tb}); };
  };
  const std::vector<Case> cases = {
      {"columns of a matmul", {{3, 4}, {4, 6}}, {-1, 1}, matmul_of(false, false)},
      {"columns, transposed", {{4, 3}, {6, 4}}, {-1, 0}, matmul_of(true, true)},
      {"rows of a matmul", {{4, 3}, {3, 6}}, {0, -1}, matmul_of(false, false)},
      {"depth", {{3, 4}, {4, 6}}, {-1, 0}, matmul_of(false, false), Case::summed},
      {"depth of both", {{3, 4}, {4, 6}}, {1, 0}, matmul_of(false, false), Case::summed},
      {"depth of the first alone", {{3, 4}, {4, 6}}, {1, -1}, matmul_of(false, false), Case::whole},
      {"depth against columns", {{3, 4}, {4, 6}}, {1, 1}, matmul_of(false, false)},
      {"many rows", {{2, 3, 4}, {4, 6}}, {-1, 1}, matmul_of(false, false)},
      {"batches", {{4, 3, 2}, {4, 2, 5}}, {0, 0}, matmul_of(false, false)},
      {"batches of one", {{4, 3, 2}, {1, 2, 5}}, {0, -1}, matmul_of(false, false)},
      {"einsum, heads",
       {{2, 3, 4}, {4, 2, 5}},
       {-1, 1},
       [](const Values& in) { return einsum("abc,cde->abde", in); }},
      {"einsum, sum",
       {{2, 3, 4, 5}, {4, 5, 6}},
       {2, 0},
       [](const Values& in) { return einsum("abcd,cde->abe", in); },
       Case::summed},
      {"einsum, ellipsis",
       {{2, 3, 4}, {4, 6}},
       {-1, 1},
       [](const Values& in) { return einsum("...x,xy->...y", in); }},
      {"filters",
       {{2, 5, 5, 3}, {2, 2, 3, 4}},
       {-1, 3},
       [](const Values& in) { return conv(in[0], in[1]); }},
      {"channels",
       {{2, 5, 5, 4}, {2, 2, 4, 3}},
       {3, 2},
       [](const Values& in) { return conv(in[0], in[1]); },
       Case::summed},
      {"grouped filters",
       {{2, 5, 4}, {2, 2, 4}},
       {-1, 2},
       [](const Values& in) { return conv(in[0], in[1], {.groups = 2}); },
       Case::whole},
      {"bias", {{2, 3, 4}, {4}}, {2, 0}, [](const Values& in) { return in[0] + in[1]; }},
      {"bias, whole", {{2, 3, 4}, {4}}, {2, -1}, [](const Values& in) { return in[0] * in[1]; }},
      {"sharded along different axes",
       {{4, 4}, {4, 4}},
       {0, 1},
       [](const Values& in) { return in[0] * in[1]; }},
      {"a number", {{4, 3}}, {0}, [](const Values& in) { return 1.0 - tanh(in[0] * 2.0); }},
      {"repeated", {{4, 1}, {1, 6}}, {0, -1}, [](const Values& in) { return in[0] * in[1]; }},
      {"transposed",
       {{2, 4, 3}},
       {1},
       [](const Values& in) {
         return transpose(in[0], {2, 1, 0});
       }},
      {"merged axes",
       {{3, 4, 5}},
       {1},
       [](const Values& in) {
         return reshape(in[0], {3, 20});
       }},
      {"split axes",
       {{3, 8}},
       {1},
       [](const Values& in) {
         return reshape(in[0], {3, 4, 2});
       }},
      {"an axis of 1",
       {{3, 8}},
       {1},
       [](const Values& in) { return squeeze(expand_dims(in[0], 1), 1); }},
      {"mixed axes",
       {{3, 4}},
       {1},
       [](const Values& in) { return reshape(in[0], {12}); },
       Case::whole},
      {"broadcast",
       {{4, 1}},
       {0},
       [](const Values& in) {
         return broadcast_to(in[0], {2, 4, 3});
       }},
      {"sum over the sharded axis",
       {{3, 4}},
       {1},
       [](const Values& in) { return sum(in[0], {1}, true); },
       Case::summed},
      {"sum over another axis", {{3, 4}}, {1}, [](const Values& in) { return sum(in[0], {0}); }},
      {"mean over the sharded axis",
       {{3, 4}},
       {1},
       [](const Values& in) { return mean(in[0], {1}); },
       Case::whole},
      {"mean over another axis",
       {{3, 4}},
       {1},
       [](const Values& in) { return mean(in[0], {0}, true); }},
      {"softmax over another axis", {{4, 3}}, {0}, [](const Values& in) { return softmax(in[0]); }},
      {"softmax over the sharded axis",
       {{3, 4}},
       {1},
       [](const Values& in) { return softmax(in[0]); },
       Case::whole},
      {"slice with all of the sharded axis",
       {{6, 4}},
       {1},
       [](const Values& in) {
         return slice(in[0], {1, 0}, {6, 4}, {2, 1});
       }},
      {"slice across two shards",
       {{6}},
       {0},
       [](const Values& in) { return slice_axis(in[0], 0, 1, 5); },
       Case::whole},
      {"attention of heads",
       {{2, 3, 4, 5}, {2, 6, 4, 5}, {2, 6, 4, 5}},
       {2, 2, 2},
       [](const Values& in) { return scaled_dot_product_attention(in[0], in[1], in[2]); }},
      {"an op without a rule",
       {{4, 6}},
       {0},
       [](const Values& in) { return cumsum(in[0], {.axis = 0}); },
       Case::whole},
      {"take, columns",
       {{5, 4}, {2, 3}},
       {1, -1},
       [](const Values& in) { return take(in[0], in[1], 0); },
       Case::sharded,
       {0, 4, -1, 2, 2, -5}},
      {"take, rows",
       {{6, 4}, {2, 3}},
       {0, -1},
       [](const Values& in) { return take(in[0], in[1], 0); },
       Case::summed,
       {0, 5, -1, 2, 3, -6}},
      {"take from a middle axis",
       {{2, 6, 4}, {3}},
       {1, -1},
       [](const Values& in) { return take(in[0], in[1], 1); },
       Case::summed,
       {0, 5, 3}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Tensor> data;
    for (size_t i = 0; i < c.shapes.size(); ++i)
      data.push_back(!c.indices.empty() && i + 1 == c.shapes.size()
                         ? Tensor::of(DType::i32, c.shapes[i], c.indices)
                         : testing::waves(c.shapes[i], static_cast<double>(i)));
    const auto got = run(c, data, true), expected = run(c, data, false);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(got[k].shape(), expected[k].shape());
      for (int64_t i = 0; i < got[k].count(); ++i)
        ASSERT_NEAR(got[k].at(i), expected[k].at(i), 1e-5) << "result " << k << ", element " << i;
    }
  }
}

TEST_F(ShardsTest, SliceOfAShardIsTheShard) {
  Module module;
  const Value a = module.input({DType::f32, {2, 3}}),
              b = module.input({DType::f32, {4, 3}, second_cpu});
  const Value whole = concatenate({a, b}, 0);
  ASSERT_TRUE(is_sharded(whole));
  EXPECT_EQ(slice_axis(whole, 0, 0, 2), a);
  EXPECT_EQ(slice_axis(whole, 0, 2, 6), b);
  EXPECT_FALSE(is_sharded(transfer(whole, second_cpu)));
  EXPECT_EQ(transfer(whole, second_cpu).type().device, second_cpu);
  EXPECT_FALSE(is_sharded(concatenate({a, a}, 0)));
}

// A row that no index names is not read, even if it is the first of a shard.
TEST_F(ShardsTest, TakeReadsOnlyTheRowsOfItsIndices) {
  Module module;
  const Value table = shard(module.input({DType::f32, {4, 1}}), 0, 2);
  const Value indices = module.input({DType::i32, {3}});
  module.output(take(table, indices, 0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor got =
      compile(std::move(module))({Tensor::of(DType::f32, {4, 1}, std::vector{nan, 1.0, nan, 3.0}),
                                  Tensor::of(DType::i32, {3}, std::vector{1, 3, -1})})[0];
  EXPECT_EQ(got.to_vector(), (std::vector{1.0, 3.0, 3.0}));
}

// A CPU reads the slice from the other's memory; a GPU is sent the slice.
TEST_F(ShardsTest, SliceOnSendsOnlyTheSlice) {
  Module module;
  const Value x = module.input({DType::f32, {4, 6}});
  const Value here = slice_on(x, 0, 1, 3, second_cpu);
  EXPECT_EQ(here.node().name(), "slice");
  EXPECT_EQ(here.type().device, second_cpu);
  const Value sent = slice_on(x, 0, 1, 3, Device("gpu:0"));
  EXPECT_EQ(sent.node().name(), "transfer");
  EXPECT_EQ(sent.shape(), (Shape{2, 6}));
  EXPECT_EQ(sent.node().in().node().name(), "slice");
  EXPECT_EQ(slice_on(shard(x, 0, 1), 0, 1, 4, second_cpu).node().name(),
            "transfer");  // the second shard itself
}

// An unknown size may be 1 or that of the sharded axis, so such an op is not sharded.
TEST_F(ShardsTest, UnknownSizesAreNotSharded) {
  Module module;
  const Value sharded = shard(module.input({DType::f32, {4, 6}}), 0, 2);
  EXPECT_FALSE(is_sharded(sharded * module.input({DType::f32, {unknown, 6}})));
  EXPECT_TRUE(is_sharded(sharded * module.input({DType::f32, {1, unknown}})));
}

// Shards that are sharded themselves: each piece is computed with on its own device.
TEST_F(ShardsTest, MayBeShardedThemselves) {
  set_logical_devices("cpu", 4);
  Module module;
  Values rows;
  std::vector<Tensor> data{testing::waves({3, 4})};
  const Value x = module.input({DType::f32, {3, 4}});
  for (int16_t i = 0; i < 2; ++i) {
    Values columns;
    for (int16_t j = 0; j < 2; ++j) {
      columns.push_back(
          module.input({DType::f32, {2, 3}, {Device::Kind::cpu, int16_t(2 * i + j)}}));
      data.push_back(testing::waves({2, 3}, 2 * i + j));
    }
    rows.push_back(concatenate(columns, 1));
  }
  const Value y = matmul(x, concatenate(rows, 0));
  module.output(y);
  int matmuls = 0;
  for (const auto& node : module.block().nodes()) matmuls += node->name() == "matmul" ? 1 : 0;
  EXPECT_EQ(matmuls, 4);
  const Tensor got = compile(std::move(module))(data)[0];
  for (int64_t m = 0; m < 3; ++m)
    for (int64_t n = 0; n < 6; ++n) {
      double expected = 0;
      for (int64_t k = 0; k < 4; ++k)
        expected += data[0].at(m * 4 + k) *
                    data[static_cast<size_t>(1 + k / 2 * 2 + n / 3)].at(k % 2 * 3 + n % 3);
      EXPECT_NEAR(got.at(m * 6 + n), expected, 1e-5);
    }
}

TEST_F(ShardsTest, RejectInputsThatTheWholeOpRejects) {
  Module module;
  const Value x = module.input({DType::f32, {2, 3}});
  const Value sharded = shard(module.input({DType::f32, {4, 6}}), 1, 3);
  testing::expect_user_error([&] { matmul(x, sharded); }, "matmul: the inner sizes of");
  testing::expect_user_error([&] { sharded + x; }, "add: ");

  const Value table = shard(module.input({DType::f32, {6, 2}}), 0, 3);
  module.output(take(table, module.input({DType::i32, {1}}), 0));
  const auto program = compile(std::move(module));
  for (const double stray : {6.0, -7.0, 100.0})
    testing::expect_user_error(
        [&] {
          program({testing::waves({2, 3}), testing::waves({4, 6}), testing::waves({6, 2}),
                   Tensor::of(DType::i32, {1}, std::vector{stray})});
        },
        text("index ", stray, " is outside axis 0"));
}

// Each row has a loss of its own, so rows may be sharded; classes may not.
TEST_F(ShardsTest, CrossEntropyOfShardedRows) {
  for (const int64_t axis : {0, 1}) {
    Module module;
    const Value logits = module.input({DType::f32, {4, 6}}),
                labels = module.input({DType::i32, {4}});
    const Value loss = sparse_softmax_cross_entropy(shard(logits, axis, 2), labels);
    EXPECT_EQ(is_sharded(loss), axis == 0);
    EXPECT_EQ(loss.shape(), (Shape{4}));
    const Value whole = sparse_softmax_cross_entropy(logits, labels);
    module.output(loss);
    module.output(whole);
    for (const Value& y : {loss, whole})
      module.output(gradients(sum(y * constant(module.block(), testing::waves({4}))), {logits})[0]);
    const auto out = compile(std::move(module))(
        {testing::waves({4, 6}),
         Tensor::of(DType::i32, Shape{4}, std::vector<double>{0, 5, 2, 3})});
    for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(out[0].at(i), out[1].at(i), 1e-6) << axis;
    for (int64_t i = 0; i < 24; ++i) EXPECT_NEAR(out[2].at(i), out[3].at(i), 1e-6) << axis;
  }
}

}  // namespace
}  // namespace keratin::ops

#include "keratin/graph/replication.h"

#include <gtest/gtest.h>

#include "keratin/base/text.h"
#include "keratin/engine/compile.h"
#include "keratin/engine/devices.h"
#include "keratin/layers/layers.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/shards.h"
#include "keratin/ops/transfer.h"
#include "keratin/testing/expect_error.h"

namespace keratin {
namespace {

const Device second{Device::Kind::cpu, 1};

// A batch of three samples, of which the first replica has one.
const std::vector<Replica> one_and_two = {{Device{}, 0, 1, 3}, {second, 1, 3, 3}};

class ReplicationTest : public ::testing::Test {
 protected:
  ReplicationTest() { set_logical_devices("cpu", 2); }
  ~ReplicationTest() override { set_logical_devices("cpu", 1); }

  Value rows(const Replica& replica) const {
    return ops::slice_on(x_, 0, replica.begin, replica.end, replica.device);
  }
  // Runs what was written on x = 1, 2, 4 and the states.
  std::vector<Tensor> run(std::vector<Tensor> states = {}) {
    tracer_.finish();
    states.insert(states.begin(), Tensor::of<float>(DType::f32, {3}, {1, 2, 4}));
    return compile(std::move(module_))(states);
  }

  Module module_;
  Tracer tracer_{module_, /*training=*/true};
  Value x_ = module_.input({DType::f32, {3}}, "x");
};

TEST_F(ReplicationTest, WeighsMeanLossesByTheirSamplesAndJoinsLossesOfSamples) {
  Replication(tracer_, one_and_two).write([&](const Replica& replica) {
    tracer_.add_loss(ops::mean(rows(replica)));
    tracer_.add_loss(rows(replica) * 2.0);
  });
  ASSERT_EQ(tracer_.losses().size(), 2U);
  for (const Value loss : tracer_.losses()) module_.output(loss);
  const std::vector<Tensor> losses = run();
  EXPECT_NEAR(losses[0].at(0), 7.0 / 3, 1e-6);
  EXPECT_EQ(losses[1].to_vector(), (std::vector<double>{2, 4, 8}));
}

TEST_F(ReplicationTest, EachReplicaReadsAndUpdatesItsRows) {
  const Variable state({.name = "state", .shape = {3}, .per_sample = true});
  Replication(tracer_, one_and_two).write([&](const Replica& replica) {
    EXPECT_EQ(tracer_.read(state).shape(), (Shape{replica.end - replica.begin}));
    tracer_.update(state, tracer_.read(state) + rows(replica));
  });
  EXPECT_EQ(tracer_.read(state).shape(), (Shape{3}));
  const Tensor value = Tensor::of<float>(DType::f32, {3}, {10, 20, 30});
  run({value});
  EXPECT_EQ(value.to_vector(), (std::vector<double>{11, 22, 34}));
}

TEST_F(ReplicationTest, EveryReplicaGetsTheSumOverAll) {
  Replication(tracer_, one_and_two).write([&](const Replica& replica) {
    const Value sum = tracer_.replication()->sum(ops::sum(rows(replica)));
    module_.output(ops::transfer(sum + 1.0, Device{}));
  });
  for (const Tensor& sum : run()) EXPECT_EQ(sum.at(0), 8);
}

TEST_F(ReplicationTest, ErrorsNameTheDeviceAndTheLayer) {
  const auto throwing = Lambda(lambda_function([](Value x) -> Value {
                                 if (x.type().device == second) throw UserError("no more");
                                 return x;
                               }),
                               "trouble");
  testing::expect_user_error(
      [&] {
        Replication(tracer_, one_and_two).write([&](const Replica& replica) {
          tracer_.invoke(*throwing, {{Traced{rows(replica)}}, {}});
        });
      },
      "cpu:1, layer 'trouble': no more");
}

TEST_F(ReplicationTest, RefusesReplicasWithinReplicas) {
  Replication outer(tracer_, one_and_two);
  testing::expect_user_error([&] { Replication inner(tracer_, one_and_two); },
                             "cannot be a part of another");
}

TEST_F(ReplicationTest, RefusesReplicasWithDifferentLosses) {
  EXPECT_THROW(Replication(tracer_, one_and_two).write([&](const Replica& replica) {
    if (replica.is_first()) tracer_.add_loss(ops::mean(rows(replica)));
  }),
               InternalError);
}

}  // namespace
}  // namespace keratin

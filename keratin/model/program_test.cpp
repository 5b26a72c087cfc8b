#include "keratin/model/program.h"
#include "keratin/graph/input.h"

#include <gtest/gtest.h>

#include <sstream>

#include "keratin/layers/layers.h"
#include "keratin/model/model.h"
#include "keratin/testing/check_op.h"
#include "keratin/train/callback.h"

namespace keratin {
namespace {

using testing::expect_close;
using testing::random_tensor;

Tensor data(const Dims& dims) { return random_tensor({DType::f32, dims}, -1, 1, 7); }

Model sequence_model() {
  const auto x = Input({unknown, 3});
  return Model({.inputs = x, .outputs = GRU({.units = 4, .return_sequences = true})(x)});
}

TEST(ProgramCache, CompilesOncePerShape) {
  const Model model = sequence_model();
  for (int round = 0; round < 3; ++round)
    for (const int64_t length : {2, 5}) model.predict(data({1, length, 3}));
  EXPECT_EQ(model.program_cache().misses, 2u);
  EXPECT_EQ(model.program_cache().hits, 4u);
  EXPECT_EQ(model.program_cache().entries, 2u);
  EXPECT_GT(model.program_cache().bytes, 0u);
}

TEST(ProgramCache, EveryCompileOptionAsksForAProgramOfItsOwn) {
  const Model model = sequence_model();
  const Tensor x = data({1, 2, 3});
  const EngineOptions all[] = {{},
                               {.backend = "reference"},
                               {.threads = 1},
                               {.deterministic = true},
                               {.tf32 = false},
                               {.decompose_all = true}};
  uint64_t programs = 0;
  for (const EngineOptions& options : all) {
    model.predict(x, {.engine = options});
    EXPECT_EQ(model.program_cache().misses, ++programs);
    model.predict(x, {.engine = options});
    EXPECT_EQ(model.program_cache().misses, programs);
  }
  model.predict(x, {.training = true});
  EXPECT_EQ(model.program_cache().misses, programs + 1);
  const auto steps = [&](const EngineOptions& options) {
    return model.program(x, {.engine = options})->executable().describe();
  };
  EXPECT_NE(steps({.threads = 1}), steps({.threads = 1, .decompose_all = true}));
}

TEST(ProgramCache, EveryDumpShowsThePasses) {
  const Model model = sequence_model();
  const Tensor x = data({1, 2, 3});
  std::ostringstream first, second;
  model.predict(x);
  model.predict(x, {.engine = {.dump = &first}});
  model.predict(x, {.engine = {.dump = &second}});
  EXPECT_NE(first.str().find("fuse_pointwise"), std::string::npos);
  EXPECT_NE(second.str().find("fuse_pointwise"), std::string::npos);
  EXPECT_EQ(model.program_cache().entries, 1u);
}

TEST(ProgramCache, KeepsToItsLimits) {
  Model model = sequence_model();
  model.set_program_limits({.entries = 3, .bytes = size_t{1} << 30});
  std::vector<Tensor> before;
  for (int64_t length = 1; length <= 8; ++length)
    before.push_back(model.predict(data({1, length, 3})));
  EXPECT_EQ(model.program_cache().entries, 3u);
  // Evicted programs are compiled again, and give the same.
  for (int64_t length = 1; length <= 8; ++length)
    EXPECT_EQ(before[static_cast<size_t>(length - 1)], model.predict(data({1, length, 3})).leaf());
  EXPECT_EQ(model.program_cache().misses, 16u);

  model.set_program_limits({.entries = 100, .bytes = 1, .always = 2});
  EXPECT_EQ(model.program_cache().entries, 2u);
}

TEST(ProgramCache, AnEvictedProgramCanStillRun) {
  Model model = sequence_model();
  model.set_program_limits({.entries = 1});
  const Tensor x = data({1, 2, 3});
  const auto held = model.program(x);
  const Tensor y = model.predict(x);
  model.predict(data({1, 3, 3}));
  Arguments<MaskedTensor> arguments;
  arguments.positional = {MaskedTensor{x}};
  EXPECT_EQ(held->run(arguments).outputs.leaf(), y);
  EXPECT_EQ(held->start(arguments).get().leaf(), y);
}

TEST(ProgramCache, FollowsLayersThatAreAddedAndRemoved) {
  Sequential model({Dense({.units = 4})});
  const Tensor x = data({2, 3});
  EXPECT_EQ(model.predict(x).leaf().shape(), Shape({2, 4}));
  model.add(Dense({.units = 2}));
  EXPECT_EQ(model.predict(x).leaf().shape(), Shape({2, 2}));
  model.pop();
  EXPECT_EQ(model.predict(x).leaf().shape(), Shape({2, 4}));
}

TEST(ProgramCache, FollowsLayersThatAreFrozen) {
  const auto x = Input({3});
  const auto normalize = BatchNormalization();
  const Model inner({.inputs = x, .outputs = normalize(x)});
  const auto z = Input({3});
  const Model model({.inputs = z, .outputs = inner(z)});
  const Tensor batch = data({6, 3});
  const PredictOptions training{.training = true};
  const Tensor by_moments = model.predict(batch, training);
  normalize->set_trainable(false);  // from now on it normalises as in inference
  const Tensor frozen = model.predict(batch, training);
  EXPECT_NE(frozen, by_moments);
  expect_close(frozen, model.predict(batch), 1e-6, "frozen");
  normalize->set_trainable(true);
  expect_close(model.predict(batch, training), by_moments, 1e-6, "thawed");
  EXPECT_EQ(model.program_cache().misses, 3u);  // the first program was found again
}

TEST(ProgramCache, AFailedCompileLeavesNothing) {
  const Model model = sequence_model();
  EXPECT_THROW(model.predict(data({1, 2, 5})), UserError);
  EXPECT_EQ(model.program_cache().entries, 0u);
  EXPECT_EQ(model.predict(data({1, 2, 3})).leaf().shape(), Shape({1, 2, 4}));
}

TEST(ProgramCache, TrainingKeepsToItsLimitsAndLearnsTheSame) {
  const auto trained = [](CacheLimits limits) {
    set_random_seed(3);
    Model model = sequence_model();
    model.set_program_limits(limits);
    model.compile({.optimizer = "adam", .loss = "mse"});
    for (int round = 0; round < 2; ++round)
      for (const int64_t length : {2, 3, 4})
        model.train_on_batch(data({2, length, 3}), data({2, length, 4}));
    return model.get_weights();
  };
  EXPECT_EQ(trained({.entries = 1}), trained({.entries = 100}));
}

}  // namespace
}  // namespace keratin

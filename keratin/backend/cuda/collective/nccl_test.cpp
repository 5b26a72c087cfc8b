#include "keratin/backend/cuda/collective/nccl.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "keratin/backend/cuda/driver/library.h"
#include "keratin/base/text.h"

namespace keratin::cuda {
namespace {

// A library that sums memory of the host, and checks how it is called.
struct StandIn {
  struct Call {
    const float* from;
    float* to;
    size_t count, gpu;
    StreamHandle stream;
  };
  static inline std::vector<int> connected;
  static inline std::vector<Call> calls;  // of the group that is open
  static inline std::vector<int> types;
  static inline int groups_open, refuse_call;

  static CommunicatorHandle communicator(size_t gpu) {
    return reinterpret_cast<CommunicatorHandle>(0x100 + gpu);
  }
  static StreamHandle stream(size_t gpu) { return reinterpret_cast<StreamHandle>(0x200 + gpu); }

  // The k-th call of each GPU belongs to the k-th tensor.
  static void finish() {
    const size_t gpus = connected.size();
    std::vector<std::vector<Call>> by_gpu(gpus);
    for (const Call& call : calls) by_gpu[call.gpu].push_back(call);
    for (size_t k = 0; k < by_gpu[0].size(); ++k) {
      std::vector<float> sums(by_gpu[0][k].count, 0);
      for (size_t gpu = 0; gpu < gpus; ++gpu) {
        const Call& call = by_gpu[gpu].at(k);
        EXPECT_EQ(call.count, sums.size());
        EXPECT_EQ(call.stream, stream(gpu));
        for (size_t i = 0; i < call.count; ++i) sums[i] += call.from[i];
      }
      for (size_t gpu = 0; gpu < gpus; ++gpu)
        std::copy(sums.begin(), sums.end(), by_gpu[gpu][k].to);
    }
  }

  static Nccl functions() {
    connected.clear();
    calls.clear();
    types.clear();
    groups_open = 0;
    refuse_call = -1;
    return {.init_all =
                [](CommunicatorHandle* made, int count, const int* devices) {
                  connected.assign(devices, devices + count);
                  for (size_t i = 0; i < connected.size(); ++i) made[i] = communicator(i);
                  return count > 3 ? 5 : 0;
                },
            .all_reduce =
                [](const void* from, void* to, size_t count, int type, int operation,
                   CommunicatorHandle which, StreamHandle on) {
                  EXPECT_EQ(groups_open, 1) << "one GPU alone would wait for ever";
                  EXPECT_EQ(operation, 0);
                  types.push_back(type);
                  if (static_cast<int>(calls.size()) == refuse_call) return 4;
                  calls.push_back({static_cast<const float*>(from), static_cast<float*>(to), count,
                                   reinterpret_cast<size_t>(which) - 0x100, on});
                  return 0;
                },
            .group_start = [] { return ++groups_open, 0; },
            .group_end =
                [] {
                  if (--groups_open == 0 && refuse_call < 0) finish();
                  return 0;
                },
            .error_string =
                [](int status) { return status == 4 ? "invalid argument" : "invalid usage"; }};
  }
};

const std::vector<StreamHandle> streams{StandIn::stream(0), StandIn::stream(1)};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BackendError& error) {
    return error.what();
  }
  return "none";
}

TEST(NcclClique, SumsTensorsOverGpus) {
  const Nccl library = StandIn::functions();
  const Clique clique(library, {3, 1});
  EXPECT_EQ(StandIn::connected, (std::vector{3, 1}));
  float a0[] = {1, 2}, a1[] = {10, 20}, b0[] = {5}, b1[] = {7}, sums[6] = {};
  using Addend = Clique::Addend;
  const std::vector<Addend> addends{
      Addend{a0, sums, 2}, {a1, sums + 2, 2}, {b0, sums + 4, 1}, {b1, sums + 5, 1}};
  clique.all_reduce(addends, streams);
  EXPECT_EQ(std::vector<float>(sums, sums + 6), (std::vector<float>{11, 22, 11, 22, 12, 12}));
  EXPECT_EQ(StandIn::groups_open, 0);
}

TEST(NcclClique, HasItsNumbersForTypes) {
  const Nccl library = StandIn::functions();
  const Clique clique(library, {0, 1});
  float x[2] = {};
  std::vector<Clique::Addend> addends;
  for (const DType dtype : {DType::f16, DType::f32, DType::f64, DType::bf16}) {
    EXPECT_TRUE(Clique::sums(dtype));
    for (int gpu = 0; gpu < 2; ++gpu) addends.push_back({x, x, 0, dtype});
  }
  clique.all_reduce(addends, streams);
  EXPECT_EQ(StandIn::types, (std::vector{6, 6, 7, 7, 8, 8, 9, 9}));
  EXPECT_FALSE(Clique::sums(DType::boolean));
  EXPECT_FALSE(Clique::sums(DType::i32));
}

TEST(NcclClique, ErrorsAreInItsWordsAndTheGroupIsClosed) {
  const Nccl library = StandIn::functions();
  EXPECT_EQ(error_of([&] {
              Clique(library, {0, 0, 0, 0});
            }),
            "cuda: NCCL: ncclCommInitAll: invalid usage (5)");
  const Clique clique(library, {0, 1});
  float x[2] = {};
  StandIn::refuse_call = 1;
  EXPECT_EQ(error_of([&] {
              clique.all_reduce(std::vector<Clique::Addend>{{x, x, 1}, {x, x, 1}}, streams);
            }),
            "cuda: NCCL: ncclAllReduce: invalid argument (4)");
  EXPECT_EQ(StandIn::groups_open, 0);
}

// Where there is a real one, it has the functions that we use, GPU or not.
TEST(NcclClique, TheLibraryHasWhatIsCalled) {
  if (error_of([] { const Library library({"libnccl.so.2"}); }) != "none")
    GTEST_SKIP() << "there is no NCCL";
  ASSERT_NE(nccl(), nullptr);
  EXPECT_EQ(std::string(nccl()->error_string(5)).find("invalid usage"), 0U);
}

}  // namespace
}  // namespace keratin::cuda

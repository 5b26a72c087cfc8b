#include "simulator_testing.h"

#include <set>

#include "keratin/base/text.h"

// The simulated GPU is there to find faults, so it must not forgive any.
namespace keratin::cuda {
namespace {

constexpr const char* reverse = R"(
  __shared__ float kept[64];
  kept[threadIdx.x] = threadIdx.x;
  BARRIER
  out[threadIdx.x] = kept[63 - threadIdx.x];)";

std::string with(std::string text, const std::string& name, const std::string& value) {
  return text.replace(text.find(name), name.size(), value);
}

TEST_F(SimulatedGpu, RunsThreadsThatMeet) {
  const FunctionHandle kernel = function(with(reverse, "BARRIER", "__syncthreads();"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(results(kernel), counted(63, -1));
}

TEST_F(SimulatedGpu, SeesWhenABarrierIsMissing) {
  EXPECT_NE(results(function(with(reverse, "BARRIER", ""))), counted(63, -1));
}

TEST_F(SimulatedGpu, SeesWhatIsReadBeforeItIsWritten) {
  const auto found = results(function(R"(
    __shared__ float kept[64];
    if (threadIdx.x != 7) kept[threadIdx.x] = 1;
    out[threadIdx.x] = kept[threadIdx.x];)"));
  EXPECT_TRUE(found[7] != found[7]);
  EXPECT_EQ(found[8], 1);
}

TEST_F(SimulatedGpu, SeesThreadsThatWaitForever) {
  const FunctionHandle kernel =
      function("if (threadIdx.x % 32 < 16) __syncthreads(); else __syncwarp();");
  EXPECT_EQ(launch(kernel), 0);
  EXPECT_NE(d.synchronize(stream), 0);
  EXPECT_EQ(d.synchronize(stream), 0) << "heard once";
}

TEST_F(SimulatedGpu, SeesWarpsOfTwoMinds) {
  const FunctionHandle kernel = function(
      "out[threadIdx.x] = threadIdx.x % 2 ? __shfl_xor_sync(~0u, 1.f, 1) : __shfl_sync(~0u, 1.f, "
      "0);");
  EXPECT_EQ(launch(kernel), 0);
  EXPECT_NE(d.synchronize(stream), 0);
}

TEST_F(SimulatedGpu, SeesLanesThatHaveLeft) {
  for (const char* who : {"0", "13", "31"}) {
    const FunctionHandle kernel =
        function(text("if (threadIdx.x == ", who, ") return;\n__syncwarp();"));
    EXPECT_EQ(launch(kernel), 0);
    EXPECT_NE(d.synchronize(stream), 0) << who;
  }
}

constexpr const char* fetched = R"(
  float* kept = reinterpret_cast<float*>(memory);
  matmul::fetch(kept + 4 * threadIdx.x, from + 4 * threadIdx.x, true);
  matmul::end_of_fetches();
  WAIT
  out[threadIdx.x] = kept[4 * threadIdx.x];
  matmul::wait_for_fetches<0>();)";
constexpr const char* before_fetched = R"(
#include "keratin/backend/cuda/kernels/matmul.cu"
extern __shared__ float4 memory[];
alignas(16) const float from[256] = {8, 8, 8, 8, 9, 9, 9, 9};
)";

TEST_F(SimulatedGpu, FetchesWhenItIsWaitedFor) {
  const auto found = results(
      function(with(fetched, "WAIT", "matmul::wait_for_fetches<0>();"), before_fetched), 1024);
  EXPECT_EQ(found[0], 8);
  EXPECT_EQ(found[1], 9);
}

TEST_F(SimulatedGpu, FetchesNothingBefore) {
  const auto found = results(function(with(fetched, "WAIT", ""), before_fetched), 1024);
  EXPECT_TRUE(found[0] != found[0]);
}

TEST_F(SimulatedGpu, DoesWorkWhenItIsWaitedFor) {
  const FunctionHandle kernel = function("out[threadIdx.x] = 5;");
  EXPECT_EQ(launch(kernel), 0);
  EXPECT_EQ(numbers[0], 0);
  EXPECT_EQ(d.synchronize(stream), 0);
  EXPECT_EQ(numbers[0], 5);
}

TEST_F(SimulatedGpu, StreamsWaitForEvents) {
  StreamHandle other = nullptr;
  EventHandle event = nullptr;
  ASSERT_EQ(d.create_stream(&other, 0), 0);
  ASSERT_EQ(d.create_event(&event, 0), 0);
  EXPECT_EQ(launch(function("out[threadIdx.x] = 5;")), 0);
  EXPECT_EQ(d.synchronize(other), 0);
  EXPECT_EQ(numbers[0], 0) << "nothing orders these two";
  EXPECT_EQ(d.record_event(event, stream, 0), 0);
  EXPECT_EQ(d.wait_event(other, event, 0), 0);
  EXPECT_EQ(d.synchronize(other), 0);
  EXPECT_EQ(numbers[0], 5);
  EXPECT_EQ(d.destroy_event(event), 0);
  EXPECT_EQ(d.destroy_stream(other), 0);
}

TEST_F(SimulatedGpu, OrdersNodesOfGraphsByTheirEdgesOnly) {
  const FunctionHandle first = function("out[threadIdx.x] = 1;"),
                       second = function("out[threadIdx.x] += 1;");
  for (const bool says_so : {true, false}) {
    EXPECT_EQ(d.begin_capture(stream, Driver::capture_thread_local), 0);
    EXPECT_EQ(launch(first), 0);
    if (!says_so) d.update_capture(stream, nullptr, 0, Driver::set_dependencies);
    EXPECT_EQ(launch(second), 0);
    GraphHandle graph = nullptr;
    GraphExecHandle made = nullptr;
    ASSERT_EQ(d.end_capture(stream, &graph), 0);
    ASSERT_EQ(d.instantiate(&made, graph, 0), 0);
    EXPECT_EQ(numbers[0], 0) << "captured only";
    std::set<float> found;
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(d.launch_graph(made, stream), 0);
      EXPECT_EQ(d.synchronize(stream), 0);
      found.insert(numbers[0]);
    }
    EXPECT_EQ(found, says_so ? std::set<float>{2} : (std::set<float>{1, 2}));
    numbers[0] = 0;
    EXPECT_EQ(d.destroy_graph_exec(made), 0);
    EXPECT_EQ(d.destroy_graph(graph), 0);
  }
}

TEST_F(SimulatedGpu, RefusesWhatACaptureMayNotDo) {
  EXPECT_EQ(d.begin_capture(stream, Driver::capture_thread_local), 0);
  DeviceAddress address = 0;
  EXPECT_NE(d.allocate(&address, 64), 0);
  EXPECT_NE(d.synchronize(stream), 0);
  GraphHandle graph = nullptr;
  EXPECT_NE(d.end_capture(stream, &graph), 0);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(d.allocate(&address, 64), 0);
  EXPECT_EQ(d.free(address), 0);
}

TEST_F(SimulatedGpu, RefusesLaunchesThatDoNotFit) {
  const FunctionHandle kernel = function("");
  EXPECT_EQ(launch(kernel, 1024), 0);
  EXPECT_NE(launch(kernel, 1025), 0);
  EXPECT_NE(launch(kernel, 0), 0);
  EXPECT_NE(launch(kernel, 64, 50000), 0) << "so much memory was not requested";
  EXPECT_EQ(d.set_function_attribute(kernel, Driver::max_dynamic_shared_bytes, 50000), 0);
  EXPECT_EQ(launch(kernel, 64, 50000), 0);
}

TEST_F(SimulatedGpu, RefusesCopiesBeyondTheEnd) {
  DeviceAddress address = 0;
  ASSERT_EQ(d.allocate(&address, 64), 0);
  std::vector<char> bytes(65);
  EXPECT_EQ(d.copy_async(address, cuda::address(bytes.data()), 64, stream), 0);
  EXPECT_NE(d.copy_async(address, cuda::address(bytes.data()), 65, stream), 0);
  EXPECT_NE(d.copy_async(cuda::address(bytes.data()), address + 1, 64, stream), 0);
  EXPECT_EQ(d.free(address), 0);
  EXPECT_NE(d.free(address), 0);
}

TEST_F(SimulatedGpu, CopiesWhenItIsWaitedFor) {
  std::vector<float> own = {3, 0};
  EXPECT_EQ(d.copy_async(address(numbers), address(own.data()), sizeof(float), stream), 0);
  EXPECT_EQ(d.copy_async(address(own.data() + 1), address(numbers), sizeof(float), stream), 0);
  own[0] = 4;
  EXPECT_EQ(own[1], 0);
  EXPECT_EQ(d.synchronize(stream), 0);
  EXPECT_EQ(own[1], 4);
}

TEST_F(SimulatedGpu, RefusesWhatItDoesNotSimulate) {
  try {
    function("asm(\"fma.rn.f32 %0, %1, %1, %1;\" : \"=f\"(out[0]) : \"f\"(out[1]));");
    FAIL() << "expected a BackendError";
  } catch (const BackendError& error) {
    EXPECT_NE(std::string(error.what()).find("has no such instruction"), std::string::npos);
  }
}

}  // namespace
}  // namespace keratin::cuda

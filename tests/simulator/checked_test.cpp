#include "simulator_testing.h"

#include <functional>
#include <memory>

#include "keratin/base/text.h"

// Run with KERATIN_SIMULATOR=checked: what kernels do to memory is looked at. Each of these may
// well give the right numbers on a GPU, most of the time.
namespace keratin::cuda {
namespace {

class CheckedGpu : public SimulatedGpu {
 protected:
  struct Text {
    std::string body, before = "", traits = "";
    unsigned blocks = 1, shared_bytes = 0;
  };
  // What the GPU complains of, if it does.
  std::string complaint(const Text& text) {
    ::testing::internal::CaptureStderr();
    const FunctionHandle kernel = function(text.body, text.before, text.traits);
    EXPECT_EQ(launch(kernel, 64, text.shared_bytes, text.blocks), 0);
    const Result result = d.synchronize(stream);
    const std::string words = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(result == 0, words.empty()) << words;
    return words;
  }
  void expect_complaint(const std::string& what, const Text& text) {
    const std::string words = complaint(text);
    EXPECT_NE(words.find(what), std::string::npos) << text.body << "\nsays: " << words;
  }
};

const std::string declare = "__shared__ float kept[64]; const int i = threadIdx.x; ";
const std::string fill = declare + "kept[i] = i; __syncthreads(); ";
const std::string race = "no barrier is between them";

TEST_F(CheckedGpu, LetsThroughWhatIsInOrder) {
  EXPECT_EQ(complaint({fill + "out[i] = kept[63 - i];"}), "");
  EXPECT_EQ(complaint({fill + "kept[i] += 1; __syncwarp(); out[i] = kept[i ^ 1];"}), "");
  EXPECT_EQ(complaint({fill + "out[i] = kept[i ^ 1]; __syncwarp(); kept[i] = out[i];"}), "");
  EXPECT_EQ(complaint({"out[threadIdx.x] = out[threadIdx.x] + 1;"}), "");
  numbers[0] = 0;
  EXPECT_EQ(complaint({.body = "atomicAdd(out, 1.f);", .blocks = 3}), "");
  EXPECT_EQ(numbers[0], 3 * 64);
}

TEST_F(CheckedGpu, SeesRacesInABlock) {
  expect_complaint(race, {fill + "kept[i ^ 1] += 1; out[i] = kept[i];"});
  expect_complaint("writes what thread", {"out[0] = threadIdx.x;"});
  // What is read may have been overwritten before.
  expect_complaint(race, {fill + "out[i] = kept[i ^ 1]; kept[i] = out[i];"});
  expect_complaint("reads, and " + race,
                   {fill + "if (i < 32) out[i] = kept[32]; if (i == 40) kept[i - 8] = 1;"
                           "if (i < 32) out[i] = kept[32];"});
  // Lanes that give each other values say nothing of memory, and warps nothing of other warps'.
  expect_complaint(race, {fill + "kept[i] += 1; const float x = __shfl_xor_sync(~0u, 1.f, 1);"
                                 "out[i] = kept[i ^ 1] + x;"});
  expect_complaint(race, {fill + "kept[i] += 1; __syncwarp(); out[i] = kept[i ^ 32];"});
}

TEST_F(CheckedGpu, SeesRacesBetweenBlocks) {
  const std::string mine = "const int i = threadIdx.x, b = blockIdx.x; ";
  expect_complaint(race, {.body = mine + "out[i] = b;", .blocks = 2});
  expect_complaint(race, {.body = mine + "if (b == 1) out[i] = 1; else out[i] += 0;", .blocks = 2});
  expect_complaint(
      race, {.body = mine + "if (b == 1) out[i] = 1; else atomicAdd(out + i, 1.f);", .blocks = 2});
  EXPECT_EQ(complaint({.body = mine + "if (i < 32) out[i + 32 * b] = 1;", .blocks = 2}), "");
}

TEST_F(CheckedGpu, SeesAccessesToWhatIsNotThere) {
  const std::string outside = "not all memory of the GPU's";
  expect_complaint(outside, {"out[threadIdx.x + 1] = 1;"});
  expect_complaint(outside, {"const float x = out[int(threadIdx.x) - 1]; out[threadIdx.x] = x;"});
  expect_complaint(outside, {"static_cast<float4*>(static_cast<void*>(out + 61))->w = 1;"});
  expect_complaint(outside, {"*reinterpret_cast<float**>(8) = out;"});
}

TEST_F(CheckedGpu, SeesSharedMemoryThatNobodyWrote) {
  const std::string unwritten = "shared memory is read that nobody wrote";
  expect_complaint(unwritten, {declare + "if (i != 7) kept[i] = 1; out[i] = kept[i];"});
  // Not even by the block before.
  expect_complaint(
      unwritten,
      {.body = declare + "if (blockIdx.x == 0) kept[i] = 1; else out[i] = kept[i];", .blocks = 2});
}

class CheckedCluster : public CheckedGpu {
 protected:
  static Text of_two(const std::string& body) {
    return {.body =
                "auto* kept = reinterpret_cast<float*>(memory); const int i = threadIdx.x;"
                "kept[i] = i; const int other = 1 - int(blockIdx.x);" +
                body,
            .before =
                "#include \"keratin/backend/cuda/kernels/matmul.cu\"\n"
                "extern __shared__ float4 memory[];\n",
            .traits = "__cluster_dims__(2) ",
            .blocks = 2,
            .shared_bytes = 256};
  }
};

const std::string meet = "matmul::meet<2>(); ", leave = "matmul::meet_again(); ",
                  read = "const float x = matmul::there<2>(kept + 63 - i, other); ",
                  store = "if (blockIdx.x == 0) out[i] = x; ";

TEST_F(CheckedCluster, LetsThroughWhatIsInOrder) {
  EXPECT_EQ(complaint(of_two(meet + read + store + leave)), "");
  EXPECT_EQ(complaint(of_two(meet + read + store + meet + "kept[i] = 2;")), "");
  EXPECT_EQ(std::vector<float>(numbers, numbers + 64), counted(63, -1));
}

TEST_F(CheckedCluster, SeesRaces) {
  expect_complaint(race, of_two(leave + read + store + leave));
  expect_complaint(race, of_two(meet + read + store + "__syncthreads(); kept[i] = x;" + leave));
}

TEST_F(CheckedCluster, SeesBlocksThatMayHaveEnded) {
  const std::string ended = "a block may have ended when another reads its shared memory";
  expect_complaint(ended, of_two(meet + read + store));
  expect_complaint(ended, of_two(meet + "if (blockIdx.x == 0) { " + read + store + "}"));
}

class CheckedOrder : public CheckedGpu {
 protected:
  void SetUp() override {
    CheckedGpu::SetUp();
    ASSERT_EQ(d.create_stream(&other, Driver::stream_non_blocking), 0);
    ASSERT_EQ(d.create_event(&event, Driver::event_without_time), 0);
    write = function("out[threadIdx.x] = 1;");
    read = function("float x = out[threadIdx.x]; if (x == 7) out[threadIdx.x] = 8;");
  }
  void TearDown() override {
    EXPECT_EQ(d.destroy_event(event), 0);
    EXPECT_EQ(d.destroy_stream(other), 0);
    CheckedGpu::TearDown();
  }

  void launch_into(StreamHandle where, FunctionHandle kernel) {
    std::swap(stream, where);
    EXPECT_EQ(launch(kernel), 0);
    std::swap(stream, where);
  }
  // What the GPU says to it when all is done.
  std::string words_of(const std::function<void()>& orders) {
    ::testing::internal::CaptureStderr();
    orders();
    const bool fine = (d.synchronize(stream) == 0) & (d.synchronize(other) == 0);
    const std::string words = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(fine, words.empty()) << words;
    return words;
  }
  void expect_disorder(const std::function<void()>& orders) {
    EXPECT_NE(words_of(orders).find("nothing puts them in order"), std::string::npos);
  }
  // Launches two kernels as a graph, one after the other or not.
  void launch_graph(bool in_order) {
    GraphHandle graph = nullptr;
    GraphExecHandle made = nullptr;
    ASSERT_EQ(d.begin_capture(stream, Driver::capture_thread_local), 0);
    launch_into(stream, write);
    EXPECT_EQ(d.record_event(event, stream, Driver::record_for_other_streams), 0);
    if (!in_order) d.update_capture(stream, nullptr, 0, Driver::set_dependencies);
    launch_into(stream, read);
    ASSERT_EQ(d.end_capture(stream, &graph), 0);
    ASSERT_EQ(d.instantiate(&made, graph, 0), 0);
    EXPECT_EQ(d.launch_graph(made, stream), 0);
    EXPECT_EQ(d.destroy_graph(graph), 0);
    graphs.emplace_back(made, [this](GraphExecHandle exec) { d.destroy_graph_exec(exec); });
  }

  StreamHandle other = nullptr;
  EventHandle event = nullptr;
  FunctionHandle write = nullptr, read = nullptr;
  std::vector<std::shared_ptr<GraphExec_>> graphs;
};

TEST_F(CheckedOrder, IsThatOfStreamsEventsAndTheHost) {
  const auto write_here = [&] { launch_into(stream, write); };
  const auto read_there = [&] { launch_into(other, read); };
  expect_disorder([&] { write_here(), read_there(); });
  expect_disorder([&] { read_there(), write_here(); });
  EXPECT_EQ(words_of([&] { write_here(), launch_into(stream, read); }), "");
  EXPECT_EQ(words_of([&] { launch_into(stream, read), read_there(); }), "");
  const auto mark = [&] { EXPECT_EQ(d.record_event(event, stream, 0), 0); };
  const auto wait = [&] { EXPECT_EQ(d.wait_event(other, event, 0), 0); };
  EXPECT_EQ(words_of([&] { write_here(), mark(), wait(), read_there(); }), "");
  expect_disorder([&] { mark(), write_here(), wait(), read_there(); });
  EXPECT_EQ(words_of([&] {
              write_here();
              EXPECT_EQ(d.synchronize(stream), 0);
              read_there();
            }),
            "");
  EXPECT_EQ(words_of([&] {
              write_here(), mark();
              EXPECT_EQ(d.synchronize_event(event), 0);
              read_there();
            }),
            "");
}

TEST_F(CheckedOrder, IsThatOfCopiesToo) {
  std::vector<float> back(64);
  expect_disorder([&] {
    launch_into(stream, write);
    EXPECT_EQ(d.copy_async(address(back.data()), address(numbers), 256, other), 0);
  });
  expect_disorder([&] {
    launch_into(stream, read);
    EXPECT_EQ(d.copy_async(address(numbers), address(back.data()), 4, other), 0);
  });
}

TEST_F(CheckedOrder, IsThatOfGraphs) {
  EXPECT_EQ(words_of([&] { launch_graph(true); }), "");
  expect_disorder([&] { launch_graph(false); });
  // Who waits for an event within a graph waits for what is before it, and no more.
  const auto wait = [&] { EXPECT_EQ(d.wait_event(other, event, 0), 0); };
  EXPECT_EQ(words_of([&] { launch_graph(true), wait(), launch_into(other, read); }), "");
  expect_disorder([&] { launch_graph(true), wait(), launch_into(other, write); });
}

}  // namespace
}  // namespace keratin::cuda

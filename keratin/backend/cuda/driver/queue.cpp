#include <algorithm>

#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/driver/graph.h"
#include "keratin/base/text.h"
#include "keratin/ops/indexing.h"

namespace keratin::cuda {

namespace {

thread_local Queue* current = nullptr;

}  // namespace

Queue& current_queue() {
  ensure(current != nullptr, "cuda: no queue was entered");
  return *current;
}

Queue::Queue(Device device) : device_(device), gpu_(gpu(device)) {
  const Driver& d = driver();
  gpu_.enter();
  for (StreamHandle* stream : {&stream_, &staging_stream_})
    check(d.create_stream(stream, Driver::stream_non_blocking), "cuStreamCreate");
  for (EventHandle* event : {&arrived_, &taken_})
    check(d.create_event(event, Driver::event_without_time), "cuEventCreate");
  fault_ = reinterpret_cast<long long*>(allocate_host(3 * sizeof(long long)));
  std::fill_n(fault_, 3, 0);
}

// At the end of a program the driver may be gone, and all its objects with it. Freed memory may be
// reused at once, so all work is waited for first.
Queue::~Queue() {
  if (current == this) current = nullptr;
  if (!gpu_.try_to_enter()) return;
  const Driver& d = driver();
  for (StreamHandle stream : {stream_, staging_stream_}) d.synchronize(stream);
  if (graph_ != nullptr) d.destroy_graph_exec(graph_);
  for (EventHandle event : {arrived_, taken_}) d.destroy_event(event);
  for (StreamHandle stream : {stream_, staging_stream_}) d.destroy_stream(stream);
}

std::byte* Queue::own(std::shared_ptr<void> memory) {
  memory_.push_back(std::move(memory));
  return static_cast<std::byte*>(memory_.back().get());
}

std::byte* Queue::allocate(size_t bytes) { return own(cuda::allocate(device_, bytes)); }

std::byte* Queue::allocate_host(size_t bytes) {
  gpu_.enter();
  std::shared_ptr<void> memory = gpu_.host_memory().take(bytes);
  if (memory == nullptr)
    throw BackendError(
        text(device_, ": out of memory, ", bytes, " bytes of pinned host memory were requested"));
  return own(std::move(memory));
}

void Queue::enter() {
  gpu_.enter();
  current = this;
}

// The driver may or may not have read the host's memory when it returns.
void Queue::upload(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  gpu_.enter();
  check(driver().copy_async(address(to), address(from), bytes, stream_), "upload");
  wait();
}

void Queue::download(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  gpu_.enter();
  check(driver().copy_async(address(to), address(from), bytes, stream_), "download");
}

void Queue::send_staged(void* to, const void* from, size_t bytes, const WaitForBytes& wait) {
  const Driver& d = driver();
  gpu_.enter();
  if (staged_ == nullptr) staged_ = allocate(bytes);
  staged_for_ = to;
  staged_bytes_ = bytes;
  check(d.wait_event(staging_stream_, taken_, 0), "staging");
  for (size_t sent = 0; sent < bytes;) {
    const size_t there = wait(sent);
    check(
        d.copy_async(address(staged_ + sent), address(from) + sent, there - sent, staging_stream_),
        "staging");
    sent = there;
  }
  check(d.record_event(arrived_, staging_stream_, 0), "staging");
  check(d.wait_event(stream_, arrived_, 0), "staging");
}

void Queue::receive_staged() {
  if (staged_bytes_ == 0) return;
  gpu_.enter();
  check(driver().copy_async(address(staged_for_), address(staged_), staged_bytes_, stream_),
        "staging");
  check(driver().record_event(taken_, stream_, 0), "staging");
}

void Queue::wait_sent() {
  gpu_.enter();
  check(driver().synchronize_event(arrived_), "staging");
}

void Queue::wait() {
  gpu_.enter();
  check(driver().synchronize(stream_), "a kernel failed");
}

void Queue::throw_errors() {
  const volatile long long* fault = fault_;
  if (fault[0] == 0) return;
  wait();  // until the whole report is written
  const auto* node = reinterpret_cast<const Node*>(fault[0]);
  const int64_t index = fault[1], size = fault[2];
  std::fill_n(fault_, 3, 0);
  ops::checked_index(*node, index, size);
}

bool Queue::record(std::span<const Launch> steps, const Dependencies& after) {
  const Driver& d = driver();
  wait();  // the old one may be at work
  if (graph_ != nullptr) d.destroy_graph_exec(graph_);
  graph_ = nullptr;
  try {
    graph_ = record_graph(stream_, [&] { capture(steps, after); });
  } catch (const BackendError&) {
    // A step waits for the device, because the host decides what follows.
  }
  return graph_ != nullptr;
}

// A captured launch depends on the launch before it, unless other dependencies are set. The
// launches of one step follow each other.
void Queue::capture(std::span<const Launch> steps, const Dependencies& after) {
  const Driver& d = driver();
  using Nodes = std::vector<GraphNodeHandle>;
  const auto last_nodes = [&] {
    int status = 0;
    uint64_t id = 0;
    GraphHandle graph = nullptr;
    const GraphNodeHandle* nodes = nullptr;
    size_t count = 0;
    check(d.capture_info(stream_, &status, &id, &graph, &nodes, &count), "cuStreamGetCaptureInfo");
    return Nodes(nodes, nodes + count);
  };
  Nodes taken;
  if (staged_bytes_ > 0) {
    check(d.copy_async(address(staged_for_), address(staged_), staged_bytes_, stream_), "staging");
    taken = last_nodes();
    check(d.record_event(taken_, stream_, Driver::record_for_other_streams), "staging");
  }
  std::vector<Nodes> ends(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    Nodes before = after[i].empty() ? taken : Nodes();
    for (const size_t step : after[i])
      before.insert(before.end(), ends[step].begin(), ends[step].end());
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    check(d.update_capture(stream_, before.data(), before.size(), Driver::set_dependencies),
          "cuStreamUpdateCaptureDependencies");
    steps[i]();
    ends[i] = last_nodes();
  }
}

void Queue::replay() { check(driver().launch_graph(graph_, stream_), "cuGraphLaunch"); }

}  // namespace keratin::cuda

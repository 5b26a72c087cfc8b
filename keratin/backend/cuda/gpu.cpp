#include "keratin/backend/cuda/gpu.h"

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/kernel_cache.h"
#include "keratin/backend/cuda/nvrtc.h"
#include "keratin/ops/indexing.h"
#include "keratin/tensor/memory.h"

namespace keratin::cuda {

namespace {

thread_local Queue* current = nullptr;

struct Found {
  std::vector<std::unique_ptr<Gpu>> gpus;
  std::string reason;
};

// All GPUs that can be used. A machine without one is no error.
Found find_gpus() {
  Found found;
  try {
    const Driver& d = driver();
    check(d.init(0), "cuInit");
    int count = 0;
    check(d.device_count(&count), "cuDeviceGetCount");
    if (count == 0) found.reason = "the driver knows none";
    if (!can_compile(&found.reason)) return found;
    for (int i = 0; i < count; ++i) found.gpus.push_back(std::make_unique<Gpu>(i));
  } catch (const BackendError& error) {
    found.gpus.clear();
    found.reason = error.what();
  }
  return found;
}

const Found& found() {
  // Never destroyed: the driver may be gone by then.
  static const Found* all = new Found(find_gpus());
  return *all;
}

}  // namespace

int device_count() { return static_cast<int>(found().gpus.size()); }
const std::string& why_no_device() { return found().reason; }

Gpu& gpu(Device device) {
  const auto& gpus = found().gpus;
  ensure(!gpus.empty(), "cuda: there is no GPU");
  return *gpus[static_cast<size_t>(device.index) % gpus.size()];
}

Gpu::Gpu(int ordinal) {
  const Driver& d = driver();
  int device = 0, major = 0, minor = 0;
  check(d.device(&device, ordinal), "cuDeviceGet");
  check(d.attribute(&major, Driver::capability_major, device), "cuDeviceGetAttribute");
  check(d.attribute(&minor, Driver::capability_minor, device), "cuDeviceGetAttribute");
  chip_ = text("sm_", major, minor);
  check(d.retain_context(&context_, device), "cuDevicePrimaryCtxRetain");
}

// The driver's own copy may return while the bytes are on their way to the device, where they would
// race with kernels of other streams.
void copy_now(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  check(driver().copy_async(address(to), address(from), bytes, nullptr), "copy");
  check(driver().synchronize(nullptr), "copy");
}

std::vector<FunctionHandle> Gpu::functions(const Source& source) {
  if (source.passes.empty()) return {};
  enter();
  const std::lock_guard guard(lock_);
  ModuleHandle& module = modules_[source.text];
  if (module == nullptr) {
    const std::string code = KernelCache::of_user().find(
        compiler_input(source.text, chip_), [&] { return compile(source.text, chip_); });
    check(driver().load_module(&module, code.data()), "cuModuleLoadData");
  }
  std::vector<FunctionHandle> all;
  for (const Source::Pass& pass : source.passes) {
    all.emplace_back();
    check(driver().module_function(&all.back(), module, pass.function.c_str()),
          "cuModuleGetFunction");
    constexpr unsigned granted = 48 << 10;  // without asking
    if (pass.shared_bytes > granted)
      check(driver().set_function_attribute(all.back(), Driver::most_dynamic_shared_bytes,
                                            static_cast<int>(pass.shared_bytes)),
            "cuFuncSetAttribute");
  }
  return all;
}

std::shared_ptr<void> allocate(Device device, size_t bytes) {
  Gpu& owner = gpu(device);
  owner.enter();
  charge_memory(device, bytes);
  DeviceAddress memory = 0;
  const Result result = driver().allocate(&memory, std::max<size_t>(bytes, 1));
  if (result != 0) release_memory(device, bytes);
  if (result == Driver::out_of_memory)
    throw BackendError(text(device, ": out of memory, ", bytes, " bytes were asked for; ",
                            memory_use(device).used, " are in use"));
  check(result, "cuMemAlloc");
  return {reinterpret_cast<void*>(memory), [&owner, device, bytes](void* given) {
            if (owner.try_to_enter()) driver().free(address(given));
            release_memory(device, bytes);
          }};
}

Queue::Queue(Device device) : device_(device), gpu_(gpu(device)) {
  gpu_.enter();
  check(driver().create_stream(&stream_, Driver::stream_non_blocking), "cuStreamCreate");
  void* memory = nullptr;
  check(driver().allocate_host(&memory, 3 * sizeof(long long), Driver::host_portable_and_mapped),
        "cuMemHostAlloc");
  fault_ = static_cast<long long*>(memory);
  std::fill_n(fault_, 3, 0);
}

// At the end of a program the driver may be gone, and with it all that is to be given back.
Queue::~Queue() {
  if (current == this) current = nullptr;
  if (!gpu_.try_to_enter()) return;
  driver().synchronize(stream_);
  if (graph_ != nullptr) driver().destroy_graph_exec(graph_);
  driver().destroy_stream(stream_);
  driver().free_host(fault_);
  for (const auto& [place, memory] : pinned_) driver().free_host(memory);
}

std::byte* Queue::allocate(size_t bytes) {
  memory_.push_back(cuda::allocate(device_, bytes));
  return static_cast<std::byte*>(memory_.back().get());
}

void Queue::enter() {
  gpu_.enter();
  current = this;
}

std::byte* Queue::pinned(const void* place, size_t bytes) {
  constexpr size_t most = size_t{16} << 20;
  if (bytes > most) return nullptr;
  std::byte*& memory = pinned_[place];
  if (memory == nullptr) {
    void* made = nullptr;
    check(driver().allocate_host(&made, bytes, Driver::host_portable_and_mapped), "cuMemHostAlloc");
    memory = static_cast<std::byte*>(made);
  }
  return memory;
}

void Queue::upload(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  gpu_.enter();
  if (std::byte* through = pinned(to, bytes)) {
    std::memcpy(through, from, bytes);
    from = through;
  }
  check(driver().copy_async(address(to), address(from), bytes, stream_), "upload");
}

void Queue::download(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  gpu_.enter();
  if (std::byte* through = pinned(from, bytes)) {
    returns_.push_back({to, through, bytes});
    to = through;
  }
  check(driver().copy_async(address(to), address(from), bytes, stream_), "download");
}

void Queue::finish() {
  gpu_.enter();
  check(driver().synchronize(stream_), "a kernel failed");
  for (const Return& r : returns_) std::memcpy(r.to, r.from, r.bytes);
  returns_.clear();
  const volatile long long* fault = fault_;
  if (fault[0] == 0) return;
  const auto* node = reinterpret_cast<const Node*>(fault[0]);
  const int64_t index = fault[1], size = fault[2];
  std::fill_n(fault_, 3, 0);
  ops::checked_index(*node, index, size);
}

bool Queue::record(const std::function<void()>& steps) {
  const Driver& d = driver();
  if (graph_ != nullptr) d.destroy_graph_exec(graph_);
  graph_ = nullptr;
  check(d.begin_capture(stream_, Driver::capture_thread_local), "cuStreamBeginCapture");
  bool complete = true;
  try {
    steps();
  } catch (const BackendError&) {
    complete = false;  // a step that waits for the device, for a decision of the host
  }
  GraphHandle graph = nullptr;
  complete = d.end_capture(stream_, &graph) == 0 && complete;
  if (complete) check(d.instantiate(&graph_, graph, 0), "cuGraphInstantiate");
  if (graph != nullptr) d.destroy_graph(graph);
  return complete;
}

void Queue::replay() { check(driver().launch_graph(graph_, stream_), "cuGraphLaunch"); }

Queue& current_queue() {
  ensure(current != nullptr, "cuda: no queue was entered");
  return *current;
}

}  // namespace keratin::cuda

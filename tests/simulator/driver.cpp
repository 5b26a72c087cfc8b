// The functions of CUDA's driver that Keratin uses, on a GPU that is simulated by the processor.
// See README.md.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

#include "image.h"
#include "launch.h"
#include "memory.h"
#include "streams.h"

#pragma GCC visibility push(default)

namespace {

using namespace keratin::simulator;

constexpr int max_shared_bytes = 232448, shared_bytes_unasked = 49152;
constexpr unsigned max_threads = 1024;

struct Gpu {
  Stream default_stream;
};

struct Module {
  ModuleInfo info;
};
struct Function {
  const Module* module = nullptr;
  const KernelInfo* info = nullptr;
  int max_dynamic_shared = shared_bytes_unasked;
};

// KERATIN_SIMULATED_GPUS of them, one unless set.
std::vector<std::unique_ptr<Gpu>>& gpus() {
  static auto* all = [] {
    const char* wanted = std::getenv("KERATIN_SIMULATED_GPUS");
    auto* made = new std::vector<std::unique_ptr<Gpu>>();
    for (int i = 0; i < (wanted != nullptr ? std::atoi(wanted) : 1); ++i) {
      made->push_back(std::make_unique<Gpu>());
      machine().streams.insert(&made->back()->default_stream);
    }
    return made;
  }();
  return *all;
}

thread_local Gpu* current = nullptr;
// Streams that this thread captures: until they end it may not ask for memory.
thread_local int captures = 0;

Stream& stream_of(void* handle) {
  return handle != nullptr ? *static_cast<Stream*>(handle) : current->default_stream;
}

auto locked() { return std::lock_guard(machine().lock); }

// A kernel's arguments, as they are when it is launched.
class Arguments {
 public:
  Arguments(const KernelInfo& kernel, void** values) {
    size_t bytes = 0;
    for (unsigned i = 0; i < kernel.arguments; ++i) bytes += round_up(kernel.sizes[i]);
    bytes_.resize(bytes);
    size_t at = 0;
    for (unsigned i = 0; i < kernel.arguments; ++i) {
      std::memcpy(bytes_.data() + at, values[i], kernel.sizes[i]);
      offsets_.push_back(at);
      at += round_up(kernel.sizes[i]);
    }
  }

  std::vector<void*> pointers() const {
    std::vector<void*> all;
    for (size_t offset : offsets_) all.push_back(const_cast<char*>(bytes_.data()) + offset);
    return all;
  }

 private:
  static size_t round_up(size_t bytes) { return (bytes + 15) / 16 * 16; }
  std::vector<char> bytes_;
  std::vector<size_t> offsets_;
};

// As cuLaunchKernelEx has it.
struct LaunchConfig {
  Index3 blocks, threads;
  unsigned shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

// What a GPU would refuse.
bool fits(const Function& function, const LaunchConfig& c) {
  const KernelInfo& kernel = *function.info;
  const uint64_t threads = uint64_t{c.threads.x} * c.threads.y * c.threads.z;
  const ModuleInfo& module = function.module->info;
  return threads > 0 && threads <= max_threads && c.threads.z <= 64 &&
         (kernel.max_threads == 0 || threads <= kernel.max_threads) && c.blocks.x > 0 &&
         c.blocks.y > 0 && c.blocks.z > 0 && c.blocks.y < 65536 && c.blocks.z < 65536 &&
         c.blocks.x % kernel.cluster == 0 &&
         // What sources declare exists once, for the block that runs.
         (kernel.cluster == 1 || module.shared_begin == module.shared_end) &&
         c.shared_bytes <= static_cast<unsigned>(function.max_dynamic_shared);
}

// Everything is over then.
int free_now(void* address) {
  machine().hear_everything();
  const size_t bytes = memory().size_of(address);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  machine().history.forget(begin, begin + bytes);
  return memory().free(address) ? success : invalid_value;
}

// By a name that was never used before: the loader knows libraries by their names.
void* open_image(const char* code, size_t bytes) {
  std::string name = std::filesystem::temp_directory_path() / "keratin-module-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return nullptr;
  void* opened = nullptr;
  if (write(file, code, bytes) == static_cast<ssize_t>(bytes))
    opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) std::cerr << "simulated GPU: " << dlerror() << '\n';
  close(file);
  unlink(name.c_str());
  return opened;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return success; }

int cuGetErrorString(int result, const char** words) {
  static const std::map<int, const char*> known = {
      {invalid_value, "invalid argument"},
      {out_of_memory, "out of memory"},
      {invalid_device, "invalid device ordinal"},
      {invalid_image, "device kernel image is invalid"},
      {not_found, "named symbol not found"},
      {launch_failed, "unspecified launch failure"},
      {capture_unsupported, "operation not permitted when stream is capturing"},
      {capture_invalidated, "operation failed due to a previous error during capture"},
      {capture_isolated, "dependency created on uncaptured work in another stream"}};
  const auto found = known.find(result);
  *words = found != known.end() ? found->second : nullptr;
  return found != known.end() ? success : invalid_value;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(gpus().size());
  return success;
}

int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(gpus().size())) return invalid_device;
  *device = ordinal;
  return success;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> known = {
      {16, 132}, {75, 9}, {76, 0}, {97, max_shared_bytes}};  // as an H200's
  const auto found = known.find(attribute);
  if (found == known.end()) return invalid_value;
  *value = found->second;
  return success;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = gpus()[static_cast<size_t>(device)].get();
  return success;
}
int cuCtxSetCurrent(void* context) {
  current = static_cast<Gpu*>(context);
  return success;
}
int cuCtxGetCurrent(void** context) {
  *context = current;
  return success;
}
int cuDeviceCanAccessPeer(int* possible, int device, int peer) {
  *possible = device != peer ? 1 : 0;
  return success;
}
int cuCtxEnablePeerAccess(void*, unsigned) { return success; }

int cuModuleLoadData(void** module, const void* image) {
  const auto guard = locked();
  ImageHeader header;
  std::memcpy(&header, image, sizeof header);
  if (header.magic != ImageHeader().magic) return invalid_image;
  void* opened = open_image(static_cast<const char*>(image) + sizeof header, header.bytes);
  if (opened == nullptr) return invalid_image;
  const auto* info = static_cast<const ModuleInfo*>(dlsym(opened, "keratin_module"));
  if (info == nullptr) return invalid_image;
  *info->runtime = &runtime();
  *module = new Module{*info};
  return success;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  const ModuleInfo& info = static_cast<Module*>(module)->info;
  for (unsigned i = 0; i < info.count; ++i)
    if (std::strcmp(info.kernels[i].name, name) == 0) {
      *function = new Function{static_cast<Module*>(module), &info.kernels[i]};
      return success;
    }
  return not_found;
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
  constexpr int max_dynamic_shared_bytes = 8;
  if (attribute != max_dynamic_shared_bytes || value < 0 || value > max_shared_bytes)
    return invalid_value;
  static_cast<Function*>(function)->max_dynamic_shared = value;
  return success;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  const auto guard = locked();
  if (captures > 0) return capture_unsupported;
  void* made = memory().allocate(bytes, false);
  if (made == nullptr) return bytes == 0 ? invalid_value : out_of_memory;
  *address = reinterpret_cast<uint64_t>(made);
  return success;
}
int cuMemFree_v2(uint64_t address) {
  const auto guard = locked();
  if (captures > 0) return capture_unsupported;
  machine().finish_everything();
  return free_now(reinterpret_cast<void*>(address));
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  const auto guard = locked();
  if (captures > 0) return capture_unsupported;
  *address = memory().allocate(bytes, true);
  return *address != nullptr ? success : out_of_memory;
}
int cuMemFreeHost(void* address) {
  const auto guard = locked();
  machine().finish_everything();
  return free_now(address);
}

// Whether a copy from or to memory of the host's own is done when the call returns is left open.
int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void* handle) {
  const auto guard = locked();
  void* target = reinterpret_cast<void*>(to);
  const void* source = reinterpret_cast<const void*>(from);
  for (const void* pointer : {static_cast<const void*>(target), source})
    if (memory().find(pointer, bytes) == Memory::Found::crosses_end) return invalid_value;
  const auto copy = [=] {
    machine().working.name = "a copy";
    report(source, bytes, false);
    report(target, bytes, true);
    std::memmove(target, source, bytes);
  };
  return machine().order(stream_of(handle), {.work = copy});
}

int cuStreamCreate(void** stream, unsigned) {
  const auto guard = locked();
  auto* made = new Stream();
  machine().streams.insert(made);
  *stream = made;
  return success;
}
int cuStreamDestroy_v2(void* handle) {
  const auto guard = locked();
  auto* stream = static_cast<Stream*>(handle);
  machine().synchronize(*stream);
  machine().streams.erase(stream);
  delete stream;
  return success;
}
int cuStreamSynchronize(void* handle) {
  const auto guard = locked();
  return machine().synchronize(stream_of(handle));
}
int cuStreamWaitEvent(void* handle, void* event, unsigned) {
  const auto guard = locked();
  const auto& mark = static_cast<Event*>(event)->mark;
  if (mark == nullptr) return success;
  return machine().order(stream_of(handle), {.work = {}, .waits_for = mark});
}

int cuEventCreate(void** event, unsigned) {
  *event = new Event();
  return success;
}
int cuEventDestroy_v2(void* event) {
  const auto guard = locked();
  machine().finish_everything();
  delete static_cast<Event*>(event);
  return success;
}
int cuEventRecordWithFlags(void* event, void* handle, unsigned flags) {
  const auto guard = locked();
  constexpr unsigned for_other_streams = 1;
  return machine().record(*static_cast<Event*>(event), stream_of(handle),
                          flags == for_other_streams);
}
int cuEventSynchronize(void* event) {
  const auto guard = locked();
  return machine().synchronize(static_cast<Event*>(event)->mark);
}

int cuLaunchKernelEx(const LaunchConfig* config, void* handle, void** values, void**) {
  const auto guard = locked();
  const auto& function = *static_cast<Function*>(handle);
  if (!fits(function, *config)) return invalid_value;
  const Grid grid{config->blocks, config->threads, config->shared_bytes};
  const auto work = [&function, grid, arguments = Arguments(*function.info, values)] {
    std::vector<void*> pointers = arguments.pointers();
    const std::string problem = run(function.module->info, *function.info, grid, pointers.data());
    if (!problem.empty()) machine().complain(problem);
    machine().working.name = std::string("kernel ") + function.info->name;
    if (machine().checked)
      each_touched(
          [](uintptr_t begin, uintptr_t end, Touch how) { machine().report(begin, end, how); });
  };
  return machine().order(stream_of(config->stream), {.work = work});
}

int cuStreamBeginCapture_v2(void* handle, int) {
  const auto guard = locked();
  Stream& stream = stream_of(handle);
  if (handle == nullptr || stream.capture != nullptr) return capture_unsupported;
  stream.capture = std::make_unique<Graph>();
  stream.capture_after.clear();
  stream.capture_is_broken = false;
  ++captures;
  return success;
}
int cuStreamGetCaptureInfo_v2(void* handle, int* status, uint64_t* id, void** graph,
                              void*** dependencies, size_t* count) {
  const auto guard = locked();
  Stream& stream = stream_of(handle);
  constexpr int active = 1, broken = 2;
  *status = stream.capture == nullptr ? 0 : stream.capture_is_broken ? broken : active;
  *id = 1;
  *graph = stream.capture.get();
  *dependencies = reinterpret_cast<void**>(stream.capture_after.data());
  *count = stream.capture_after.size();
  return success;
}
int cuStreamUpdateCaptureDependencies(void* handle, void** nodes, size_t count, unsigned flags) {
  const auto guard = locked();
  constexpr unsigned set = 1;
  Stream& stream = stream_of(handle);
  if (stream.capture == nullptr || flags != set) return invalid_value;
  auto** first = reinterpret_cast<GraphNode**>(nodes);
  stream.capture_after.assign(first, first + count);
  return success;
}
int cuStreamEndCapture(void* handle, void** graph) {
  const auto guard = locked();
  Stream& stream = stream_of(handle);
  if (stream.capture == nullptr) return invalid_value;
  --captures;
  const std::unique_ptr<Graph> made = std::move(stream.capture);
  *graph = nullptr;
  if (stream.capture_is_broken) return capture_invalidated;
  *graph = new Graph(std::move(*made));
  return success;
}

int cuGraphInstantiateWithFlags(void** exec, void* handle, unsigned long long) {
  const auto guard = locked();
  const Graph& graph = *static_cast<Graph*>(handle);
  std::map<const GraphNode*, size_t> numbers;
  auto made = std::make_unique<GraphExec>();
  for (const auto& node : graph.nodes) {
    GraphExec::Node copy{node->work, {}, nullptr, node->records};
    std::vector<bool> all_before(graph.nodes.size());
    for (const GraphNode* before : node->after) {
      const size_t number = numbers.at(before);
      copy.after.push_back(number);
      all_before[number] = true;
      for (size_t i = 0; i < number; ++i)
        if ((*made->nodes[number].all_before)[i]) all_before[i] = true;
    }
    copy.all_before = std::make_shared<std::vector<bool>>(std::move(all_before));
    numbers[node.get()] = made->nodes.size();
    made->nodes.push_back(std::move(copy));
  }
  *exec = made.release();
  return success;
}
int cuGraphLaunch(void* exec, void* handle) {
  const auto guard = locked();
  return machine().launch_graph(*static_cast<GraphExec*>(exec), stream_of(handle));
}
int cuGraphDestroy(void* graph) {
  const auto guard = locked();
  delete static_cast<Graph*>(graph);
  return success;
}
int cuGraphExecDestroy(void* exec) {
  const auto guard = locked();
  machine().finish_everything();
  delete static_cast<GraphExec*>(exec);
  return success;
}

}  // extern "C"
#pragma GCC visibility pop

#include "keratin/backend/cuda/driver/gpu.h"

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/kernel_cache.h"
#include "keratin/backend/cuda/driver/nvrtc.h"
#include "keratin/base/text.h"
#include "keratin/tensor/memory.h"

namespace keratin::cuda {

namespace {

// Limits on unused memory that is kept: small, because other programs share the GPU, and because
// pinned memory of a host is scarce.
constexpr size_t max_kept = size_t{1} << 30, max_kept_of_host = size_t{256} << 20;

void* unless_out_of_memory(Result result, void* memory, const char* what) {
  if (result == Driver::out_of_memory) return nullptr;
  check(result, what);
  return memory;
}

Pool::Source memory_of(const Gpu& gpu) {
  return {.allocate =
              [](size_t bytes) {
                DeviceAddress made = 0;
                const Result result = driver().allocate(&made, bytes);
                return unless_out_of_memory(result, reinterpret_cast<void*>(made), "cuMemAlloc");
              },
          .free =
              [&gpu](void* memory) {
                if (gpu.try_to_enter()) driver().free(address(memory));
              }};
}

Pool::Source host_memory_of(const Gpu& gpu) {
  return {.allocate =
              [](size_t bytes) {
                void* made = nullptr;
                const Result result =
                    driver().allocate_host(&made, bytes, Driver::host_portable_and_mapped);
                return unless_out_of_memory(result, made, "cuMemHostAlloc");
              },
          .free =
              [&gpu](void* memory) {
                if (gpu.try_to_enter()) driver().free_host(memory);
              }};
}

struct Found {
  std::vector<std::unique_ptr<Gpu>> gpus;
  std::string reason;
};

// All GPUs that can be used; none is not an error.
Found find_gpus() {
  Found found;
  try {
    const Driver& d = driver();
    check(d.init(0), "cuInit");
    int count = 0;
    check(d.device_count(&count), "cuDeviceGetCount");
    if (count == 0) found.reason = "the driver knows none";
    if (!can_compile(&found.reason)) return found;
    std::vector<Peer> peers;
    for (int i = 0; i < count; ++i) {
      found.gpus.push_back(std::make_unique<Gpu>(i));
      peers.push_back(found.gpus.back()->peer());
    }
    connect(d, peers);
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

Gpu::Gpu(int ordinal)
    : ordinal_(ordinal),
      memory_(memory_of(*this), max_kept),
      host_memory_(host_memory_of(*this), max_kept_of_host) {
  const Driver& d = driver();
  int minor = 0, shared = 0;
  check(d.device(&device_, ordinal), "cuDeviceGet");
  check(d.attribute(&major_, Driver::capability_major, device_), "cuDeviceGetAttribute");
  check(d.attribute(&minor, Driver::capability_minor, device_), "cuDeviceGetAttribute");
  check(d.attribute(&shared, Driver::max_shared_bytes, device_), "cuDeviceGetAttribute");
  shared_bytes_ = shared;
  chip_ = text("sm_", major_, minor);
  check(d.retain_context(&context_, device_), "cuDevicePrimaryCtxRetain");
}

// The driver's own copy may return before the bytes are on the device, where they would race with
// kernels of other streams.
void copy_now(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  check(driver().copy_async(address(to), address(from), bytes, nullptr), "copy");
  check(driver().synchronize(nullptr), "copy");
}

std::vector<FunctionHandle> Gpu::functions(const Source& source) {
  if (source.launches.empty()) return {};
  enter();
  const std::lock_guard guard(lock_);
  ModuleHandle& module = modules_[source.code];
  if (module == nullptr) {
    const std::string code = KernelCache::of_user().find(
        compiler_input(source.code, chip_), [&] { return compile(source.code, chip_); });
    check(driver().load_module(&module, code.data()), "cuModuleLoadData");
  }
  std::vector<FunctionHandle> all;
  for (const Source::Launch& pass : source.launches) {
    all.emplace_back();
    check(driver().module_function(&all.back(), module, pass.function.c_str()),
          "cuModuleGetFunction");
    // 48 KiB, with what the code declares, need no request.
    if (pass.shared_bytes > 0)
      check(driver().set_function_attribute(all.back(), Driver::max_dynamic_shared_bytes,
                                            static_cast<int>(pass.shared_bytes)),
            "cuFuncSetAttribute");
  }
  return all;
}

namespace {

// Memory that counts as a device's.
struct Booked {
  Booked(Device on, size_t size) : device(on), bytes(size) { detail::charge_memory(device, bytes); }
  ~Booked() {
    memory = nullptr;
    detail::release_memory(device, bytes);
  }
  Booked(const Booked&) = delete;
  Booked& operator=(const Booked&) = delete;

  const Device device;
  const size_t bytes;
  std::shared_ptr<void> memory;
};

}  // namespace

std::shared_ptr<void> allocate(Device device, size_t bytes) {
  Gpu& owner = gpu(device);
  owner.enter();
  auto booked = std::make_shared<Booked>(device, bytes);
  booked->memory = owner.memory().take(bytes);
  if (booked->memory == nullptr) {
    booked = nullptr;
    throw BackendError(text(device, ": out of memory, ", bytes, " bytes were requested; ",
                            memory_use(device).used, " are in use"));
  }
  return {booked, booked->memory.get()};
}

}  // namespace keratin::cuda

#include "keratin/backend/cuda/gpu.h"

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/kernel_cache.h"
#include "keratin/backend/cuda/nvrtc.h"
#include "keratin/tensor/memory.h"

namespace keratin::cuda {

namespace {

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
  kernels_wait_ = major >= 9;
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

}  // namespace keratin::cuda

#include "keratin/backend/cuda/driver/driver.h"

#include "keratin/backend/cuda/driver/library.h"
#include "keratin/base/text.h"

namespace keratin::cuda {

namespace {

Driver open_driver() {
  const Library library({"libcuda.so.1"});
  Driver d{};
  library.find(d.init, "cuInit");
  library.find(d.error_string, "cuGetErrorString");
  library.find(d.device_count, "cuDeviceGetCount");
  library.find(d.device, "cuDeviceGet");
  library.find(d.attribute, "cuDeviceGetAttribute");
  library.find(d.retain_context, "cuDevicePrimaryCtxRetain");
  library.find(d.set_context, "cuCtxSetCurrent");
  library.find(d.current_context, "cuCtxGetCurrent");
  library.find(d.can_access_peer, "cuDeviceCanAccessPeer");
  library.find(d.enable_peer_access, "cuCtxEnablePeerAccess");
  library.find(d.load_module, "cuModuleLoadData");
  library.find(d.module_function, "cuModuleGetFunction");
  library.find(d.set_function_attribute, "cuFuncSetAttribute");
  library.find(d.allocate, "cuMemAlloc_v2");
  library.find(d.free, "cuMemFree_v2");
  library.find(d.allocate_host, "cuMemHostAlloc");
  library.find(d.free_host, "cuMemFreeHost");
  library.find(d.copy_async, "cuMemcpyAsync");
  library.find(d.create_stream, "cuStreamCreate");
  library.find(d.destroy_stream, "cuStreamDestroy_v2");
  library.find(d.synchronize, "cuStreamSynchronize");
  library.find(d.wait_event, "cuStreamWaitEvent");
  library.find(d.create_event, "cuEventCreate");
  library.find(d.destroy_event, "cuEventDestroy_v2");
  library.find(d.record_event, "cuEventRecordWithFlags");
  library.find(d.synchronize_event, "cuEventSynchronize");
  library.find(d.launch, "cuLaunchKernelEx");
  library.find(d.begin_capture, "cuStreamBeginCapture_v2");
  library.find(d.capture_info, "cuStreamGetCaptureInfo_v2");
  library.find(d.update_capture, "cuStreamUpdateCaptureDependencies");
  library.find(d.end_capture, "cuStreamEndCapture");
  library.find(d.instantiate, "cuGraphInstantiateWithFlags");
  library.find(d.launch_graph, "cuGraphLaunch");
  library.find(d.destroy_graph, "cuGraphDestroy");
  library.find(d.destroy_graph_exec, "cuGraphExecDestroy");
  return d;
}

}  // namespace

const Driver& driver() {
  static const Driver table = open_driver();
  return table;
}

void check(Result result, const char* what) {
  if (result == 0) return;
  const char* words = nullptr;
  driver().error_string(result, &words);
  throw BackendError(
      text("cuda: ", what, ": ", words != nullptr ? words : "unknown error", " (", result, ")"));
}

}  // namespace keratin::cuda

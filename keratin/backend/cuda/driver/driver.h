#pragma once

#include <cstddef>
#include <cstdint>

// The functions of CUDA's driver that are used, declared here so that a build needs no header of
// CUDA. Names and numbers are the driver's.
namespace keratin::cuda {

using Result = int;  // 0 is success
using DeviceAddress = uint64_t;
struct Context_;
struct Module_;
struct Function_;
struct Stream_;
struct Event_;
struct Graph_;
struct GraphNode_;
struct GraphExec_;
using ContextHandle = Context_*;
using ModuleHandle = Module_*;
using FunctionHandle = Function_*;
using StreamHandle = Stream_*;
using EventHandle = Event_*;
using GraphHandle = Graph_*;
using GraphNodeHandle = GraphNode_*;
using GraphExecHandle = GraphExec_*;

struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  int value = 0;
  int rest[15] = {};
};
struct LaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

struct Driver {
  static constexpr Result out_of_memory = 2;
  static constexpr int multiprocessor_count = 16;
  static constexpr int capability_major = 75, capability_minor = 76;
  static constexpr int max_shared_bytes = 97;  // the largest that a block may request
  static constexpr unsigned stream_non_blocking = 1;
  static constexpr unsigned event_without_time = 2;
  static constexpr unsigned record_for_other_streams = 1;  // not as part of a captured stream
  static constexpr int capture_thread_local = 1;
  static constexpr int max_dynamic_shared_bytes = 8;
  static constexpr unsigned set_dependencies = 1;
  // A kernel may start before those that it follows have ended; it waits for them itself.
  static constexpr int early_launch_attribute = 6;
  static constexpr unsigned host_portable_and_mapped = 3;

  Result (*init)(unsigned flags);
  Result (*error_string)(Result, const char**);
  Result (*device_count)(int*);
  Result (*device)(int*, int ordinal);
  Result (*attribute)(int*, int attribute, int device);
  Result (*retain_context)(ContextHandle*, int device);
  Result (*set_context)(ContextHandle);
  Result (*current_context)(ContextHandle*);
  Result (*can_access_peer)(int* possible, int device, int peer);
  Result (*enable_peer_access)(ContextHandle peer, unsigned flags);  // for the current context
  Result (*load_module)(ModuleHandle*, const void* image);
  Result (*module_function)(FunctionHandle*, ModuleHandle, const char* name);
  Result (*set_function_attribute)(FunctionHandle, int attribute, int value);
  Result (*allocate)(DeviceAddress*, size_t bytes);
  Result (*free)(DeviceAddress);
  Result (*allocate_host)(void**, size_t bytes, unsigned flags);
  Result (*free_host)(void*);
  Result (*copy_async)(DeviceAddress to, DeviceAddress from, size_t bytes, StreamHandle);
  Result (*create_stream)(StreamHandle*, unsigned flags);
  Result (*destroy_stream)(StreamHandle);
  Result (*synchronize)(StreamHandle);
  Result (*wait_event)(StreamHandle, EventHandle, unsigned flags);
  Result (*create_event)(EventHandle*, unsigned flags);
  Result (*destroy_event)(EventHandle);
  Result (*record_event)(EventHandle, StreamHandle, unsigned flags);
  Result (*synchronize_event)(EventHandle);
  Result (*launch)(const LaunchConfig*, FunctionHandle, void** arguments, void** extra);
  Result (*begin_capture)(StreamHandle, int mode);
  // The dependencies of the next launch into a captured stream.
  Result (*capture_info)(StreamHandle, int* status, uint64_t* id, GraphHandle*,
                         const GraphNodeHandle** dependencies, size_t* count);
  Result (*update_capture)(StreamHandle, GraphNodeHandle* dependencies, size_t count,
                           unsigned flags);
  Result (*end_capture)(StreamHandle, GraphHandle*);
  Result (*instantiate)(GraphExecHandle*, GraphHandle, unsigned long long flags);
  Result (*launch_graph)(GraphExecHandle, StreamHandle);
  Result (*destroy_graph)(GraphHandle);
  Result (*destroy_graph_exec)(GraphExecHandle);
};

// Opens the driver; BackendError where there is none.
const Driver& driver();

// Throws BackendError with the driver's message unless the result is success.
void check(Result result, const char* what);

inline DeviceAddress address(const void* pointer) {
  return reinterpret_cast<DeviceAddress>(pointer);
}

}  // namespace keratin::cuda

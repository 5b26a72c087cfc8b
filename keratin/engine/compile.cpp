#include "keratin/engine/compile.h"

#include <algorithm>
#include <cstdlib>

#include "keratin/backend/cpu/cpu.h"
#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/reference/reference.h"
#include "keratin/base/processors.h"
#include "keratin/base/text.h"
#include "keratin/engine/devices.h"
#include "keratin/engine/pipeline.h"
#include "keratin/ops/constant.h"
#include "keratin/passes/canonicalize.h"
#include "keratin/passes/decompose_unclaimed.h"
#include "keratin/passes/eliminate_common.h"
#include "keratin/passes/eliminate_dead.h"
#include "keratin/passes/fold_constants.h"
#include "keratin/passes/fold_norms.h"
#include "keratin/passes/fold_padding.h"
#include "keratin/passes/fuse_epilogue.h"
#include "keratin/passes/fuse_pointwise.h"
#include "keratin/passes/fuse_sums.h"
#include "keratin/passes/insert_transfers.h"
#include "keratin/passes/merge_scans.h"
#include "keratin/passes/overlap_devices.h"
#include "keratin/passes/place_devices.h"
#include "keratin/passes/prune_loops.h"
#include "keratin/passes/rematerialize.h"
#include "keratin/passes/schedule_updates.h"
#include "keratin/passes/simplify.h"
#include "keratin/passes/sink_casts.h"
#include "keratin/passes/sink_views.h"
#include "keratin/passes/sparse_updates.h"
#include "keratin/plan/plan.h"
#include "keratin/tensor/known_devices.h"

namespace keratin {

namespace {

// Best first. The reference backend is the last of every list: it runs all primitives.
std::vector<const Backend*> backends_of(const EngineOptions& options) {
  if (options.backend == "reference") return {&reference_backend()};
  if (options.backend == "cpu" || options.backend == "cuda")
    return {&cpu_backend(), &reference_backend()};
  fail("compile: the backend must be 'cpu', 'cuda' or 'reference', got '", options.backend, "'");
}

PlanOptions plan_options(const EngineOptions& options) {
  require(options.threads >= 0, "compile: threads must not be negative, got ", options.threads);
  PlanOptions plan;
  plan.pool = options.pool;
  plan.threads = options.threads > 0 ? options.threads
                 : options.pool      ? options.pool->threads()
                                     : available_processors();
  plan.concurrent_queues = plan.threads > 1;
  plan.deterministic = options.deterministic;
  const char* tf32 = std::getenv("KERATIN_TF32");
  plan.tf32 = options.tf32 && (tf32 == nullptr || std::string_view(tf32) != "0");
  plan.backends = backends_of(options);
  return plan;
}

// Runs one node on constants, as a program of its own on the reference backend.
std::vector<Tensor> run_on_constants(const Node& node) {
  Module module;
  std::vector<Tensor> inputs;
  for (const Value& input : node.inputs()) {
    inputs.push_back(*ops::constant_value(input));
    module.input({input.dtype(), input.shape()});
  }
  Node& copy = module.block().append(node.op(), module.block().parameter_values(), node.attrs());
  for (const Value& output : copy.outputs()) module.output(output);
  return compile(std::move(module), {.backend = "reference"})(inputs);
}

// All nodes follow the parameters.
Module move_to_gpu(Module module) {
  if (cuda::device_count() == 0)
    throw BackendError(text("compile: the backend 'cuda' finds no GPU: ", cuda::why_no_device()));
  for (const auto& parameter : module.block().parameters())
    parameter->place({Device::Kind::gpu, 0});
  return module;
}

bool runs_on_gpu(const Module& module) {
  const auto is_there = [](const auto& node) { return node->device().kind == Device::Kind::gpu; };
  const auto& nodes = module.block().nodes();
  const auto& parameters = module.block().parameters();
  return std::any_of(nodes.begin(), nodes.end(), is_there) ||
         std::any_of(parameters.begin(), parameters.end(), is_there);
}

// KERATIN_BACKEND=cuda moves programs that name no device from the CPU to the first GPU.
bool goes_to_gpu(const Module& module, const EngineOptions& options) {
  if (options.backend != "cpu") return options.backend == "cuda";
  const char* wanted = std::getenv("KERATIN_BACKEND");
  if (wanted == nullptr || std::string_view(wanted) != "cuda") return false;
  const auto is_default = [](const auto& node) { return node->device() == Device{}; };
  const auto& nodes = module.block().nodes();
  const auto& parameters = module.block().parameters();
  return std::all_of(nodes.begin(), nodes.end(), is_default) &&
         std::all_of(parameters.begin(), parameters.end(), is_default);
}

// Whether what follows from weights is kept on the host: it is where the program runs, and all
// state belongs to variables, which know when they are written.
bool keeps_values(const Module& module) {
  const auto is_default = [](const auto& node) { return node->device() == Device{}; };
  const auto& nodes = module.block().nodes();
  const auto& parameters = module.block().parameters();
  return std::all_of(nodes.begin(), nodes.end(), is_default) &&
         std::all_of(parameters.begin(), parameters.end(), is_default);
}

// Programs of models fold what follows from their weights; those of single ops run as they are.
bool folds_weights(const EngineOptions& options) {
  return options.backend == "cpu" && options.state_stays && !options.decompose_all;
}

// Only programs that need a GPU start its driver, which takes time and memory.
std::vector<const Backend*> gpu_backends(const Module& module, bool optimize) {
  if (!optimize || !runs_on_gpu(module) || cuda::device_count() == 0) return {};
  return {&cuda_backend()};
}

// The number of devices that a program runs on; all of them must exist.
int count_devices(const Module& module) {
  std::vector<Device> used;
  for (const auto& node : module.block().nodes())
    if (std::find(used.begin(), used.end(), node->device()) == used.end())
      used.push_back(node->device());
  for (const Device device : used) require_device(device, "compile");
  for (const auto& parameter : module.block().parameters())
    require_device(parameter->device(), "compile");
  return static_cast<int>(std::max<size_t>(used.size(), 1));
}

void place(Pipeline& passes) {
  passes.run("place_devices", [](Module m) { return place_devices(std::move(m)); });
  passes.run("insert_transfers", insert_transfers);
}

}  // namespace

// The whole compiler, top to bottom.
Executable compile(Module module, const EngineOptions& options, std::shared_ptr<ArenaPool> arenas) {
  PlanOptions plan = plan_options(options);
  const auto claimed = [&](const Node& node) {
    if (options.decompose_all) return false;
    for (const Backend* backend : plan.of(node.device()))
      if (backend->claims(node)) return true;
    return false;
  };
  const auto decompose = [&](Module m) { return decompose_unclaimed(std::move(m), claimed); };
  // The reference backend runs programs as they were written: optimised ones are tested against it.
  const bool optimize = options.backend != "reference";
  const auto fold = [](Module m) { return fold_constants(std::move(m), run_on_constants); };
  const auto clean_up = [&](Pipeline& p) {
    p.run("canonicalize", canonicalize)
        .run("fold_constants", fold)
        .run("simplify", simplify)
        .run("eliminate_common", eliminate_common)
        .run("merge_scans", merge_scans)
        .run("eliminate_dead", eliminate_dead)
        .run("prune_loops", prune_loops);
  };

  Pipeline passes(std::move(module), options.dump);
  if (goes_to_gpu(passes.module(), options)) passes.run("move_to_gpu", move_to_gpu);
  if (optimize) clean_up(passes);
  plan.gpu_backends = gpu_backends(passes.module(), optimize);
  // Before values are copied to devices, so that replicas fold as one device does.
  const bool folds = plan.gpu_backends.empty() && folds_weights(options);
  if (folds) passes.run("fold_padding", fold_padding).run("fold_norms", fold_norms);
  place(passes);
  plan.keeps_values = folds && keeps_values(passes.module());
  passes.run("decompose_unclaimed", decompose);
  if (optimize) {
    // Common nodes must have the same device, and decompositions have no devices yet.
    if (!plan.gpu_backends.empty()) place(passes);
    passes.run("sparse_updates", sparse_updates);
    clean_up(passes);
    passes.run("sink_views", sink_views).run("eliminate_dead", eliminate_dead);
    place(passes);  // the nodes of decompositions
    passes.run("fuse_epilogue",
               [&](Module m) { return fuse_epilogue(std::move(m), plan.concurrent_queues); });
    passes.run("decompose_unclaimed", decompose);
    // An epilogue that was decomposed again left constants without a device.
    if (!plan.gpu_backends.empty()) place(passes);
    passes.run("sink_casts", sink_casts).run("eliminate_dead", eliminate_dead);
    passes.run("fuse_pointwise", fuse_pointwise);
    if (!plan.gpu_backends.empty()) passes.run("rematerialize", rematerialize);
    passes.run("decompose_unclaimed", decompose);
  }
  passes.run("eliminate_dead", eliminate_dead);
  if (!plan.gpu_backends.empty())
    passes.run("fuse_sums", [&](Module m) { return fuse_sums(std::move(m), claimed); });
  passes.run("schedule_updates", schedule_updates).run("overlap_devices", overlap_devices);
  Module lowered = passes.take();
  plan.threads = std::max(1, plan.threads / count_devices(lowered));
  return Executable(make_plan(std::move(lowered), plan), options.backend == "cpu",
                    options.state_stays, std::move(arenas));
}

}  // namespace keratin

#include "keratin/backend/cuda/conv/conv.h"

#include "keratin/backend/cuda/conv/cudnn.h"
#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/ops/records.h"

namespace keratin::cuda {

namespace {

// A smaller convolution takes no longer than its launch, whichever candidate runs it.
constexpr double min_work_to_compare = 1e6;

// Where the input is the matrix, a matmul needs no gathering; a gradient of a filter that is summed
// over many positions gains more by a split matmul than the gathering of a small matrix costs.
bool multiplies_well(const ConvJob& job) {
  constexpr int64_t small = int64_t{1} << 23;  // elements
  const ops::ConvGeometry g = ops::conv_geometry(job.conv);
  return reads_input_in_order(g) ||
         (job.kind == ConvKind::grad_filter && !refuses_im2col(g) &&
          g.batch * outputs_of(g.axes) * window_of(g.axes) * g.channels <= small);
}

bool has_empty_operand(const Node& node) {
  bool empty = node.type().shape.count() == 0;
  for (const Value& input : node.inputs()) empty = empty || input.shape().count() == 0;
  return empty;
}

std::optional<std::string> refuses_library_conv(const Node& node) {
  if (has_empty_operand(node)) return "an operand is empty";
  return std::nullopt;
}

std::optional<std::string> refuses_conv_epilogue(const Node& node) {
  const auto job = conv_job(node);
  if (!job || !job->epilogue) return "not a convolution with scale, shift, addend and relu";
  if (!cudnn::available()) return "cuDNN is not installed";
  if (has_empty_operand(node)) return "an operand is empty";
  if (job->dtype() == DType::f64) return "f64";
  // One candidate must be left where cuDNN has none.
  return refuses_im2col(ops::conv_geometry(job->conv));
}

// The fastest of cuDNN, cuBLASLt and a kernel of our own.
Offer make_library_conv(const Node& node, const KernelOptions& options) {
  const auto job = conv_job(node);
  auto [key, candidates] = cudnn_candidates(*job, options);
  const bool compare = !options.deterministic && !candidates.empty() &&
                       job->conv.op().flops(job->conv) >= min_work_to_compare;
  const auto by_matmul = [&] { return make_im2col(*job, options); };
  if (compare && multiplies_well(*job)) candidates.push_back({"cublasLt", by_matmul});
  if (compare && fits_direct(*job))
    candidates.push_back({"direct", [&] { return compile_kernel(node, write_direct_conv(*job)); }});
  auto kernel = compare ? fastest(node, key, candidates) : first_possible(candidates);
  // cuDNN may list engines of which none can be made.
  if (kernel == nullptr) kernel = by_matmul();
  if (kernel != nullptr) return {.kernel = std::move(kernel)};
  return refuse(cudnn::available() ? "cuDNN has no engine for it" : "cuDNN is not installed",
                "; by matmul: ", *refuses_im2col(ops::conv_geometry(job->conv)));
}

}  // namespace

extern const CudaKernel library_conv_kernel{
    {.name = "convolution by cuDNN or cuBLASLt",
     .ops = {&ops::conv_op, &ops::conv_grad_input_op, &ops::conv_grad_filter_op},
     .refuses = refuses_library_conv,
     .make = make_library_conv}};
extern const CudaKernel conv_epilogue_kernel{{.name = "convolution with its epilogue",
                                              .ops = {&ops::fused_op},
                                              .refuses = refuses_conv_epilogue,
                                              .make = make_library_conv}};

}  // namespace keratin::cuda

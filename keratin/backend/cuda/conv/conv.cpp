#include "keratin/backend/cuda/conv/conv.h"

#include "keratin/backend/cuda/conv/cudnn.h"
#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/conv/window_source.h"
#include "keratin/backend/cuda/step.h"

namespace keratin::cuda {

namespace {

// Below it a convolution takes no longer than its launch, whichever way it is done.
constexpr double least_work_to_compare = 1e6;

// Where the input is the matrix, a product needs no help; a gradient of a filter that is summed
// over many places gains by parts of a product what a small matrix costs.
bool multiplies_well(const ConvJob& job) {
  constexpr int64_t small = int64_t{1} << 23;  // elements
  const ops::ConvGeometry g = ops::conv_geometry(job.conv);
  return reads_input_in_order(g) ||
         (job.kind == ConvKind::grad_filter && fits_windows(g) &&
          g.batch * outputs_of(g.axes) * window_of(g.axes) * g.channels <= small);
}

}  // namespace

bool claims_conv_epilogue(const Node& node) {
  const auto job = conv_job(node);
  if (!job || !job->epilogue || !cudnn::available()) return false;
  // Whatever cuDNN says to it later, one way must be left.
  return node.type().shape.count() > 0 && job->dtype() != DType::f64 &&
         fits_windows(ops::conv_geometry(job->conv));
}

std::unique_ptr<Kernel> make_conv_step(const Node& node, const KernelOptions& options) {
  const auto job = conv_job(node);
  if (!job) return nullptr;
  for (const Value& input : node.inputs())
    if (input.shape().count() == 0) return nullptr;
  if (node.type().shape.count() == 0) return nullptr;
  auto [key, ways] = cudnn_ways(*job, options);
  const bool compare = !options.deterministic && !ways.empty() &&
                       job->conv.op().flops(job->conv) >= least_work_to_compare;
  const auto by_product = [&] { return make_conv_of_windows(*job, options); };
  if (compare && multiplies_well(*job)) ways.push_back({"cublasLt", by_product});
  if (compare && fits_direct(*job))
    ways.push_back({"direct", [&] { return make_step(node, make_conv_direct(*job)); }});
  auto kernel = compare ? fastest(node, key, ways) : first_possible(ways);
  // cuDNN may list ways of which none can be made.
  return kernel != nullptr ? std::move(kernel) : by_product();
}

}  // namespace keratin::cuda

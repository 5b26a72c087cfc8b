#include "keratin/backend/cuda/conv.h"

#include "keratin/backend/cuda/conv_cudnn.h"
#include "keratin/backend/cuda/cudnn.h"

namespace keratin::cuda {

namespace {

// Below it a convolution takes no longer than its launch, whichever way it is done.
constexpr double least_work_to_compare = 1e6;

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
  // Where the input is the matrix, a product needs no help.
  if (compare && reads_input_in_order(ops::conv_geometry(job->conv)))
    ways.push_back({"cublasLt", by_product});
  auto kernel = compare ? fastest(node, key, ways) : first_possible(ways);
  // cuDNN may list ways of which none can be made.
  return kernel != nullptr ? std::move(kernel) : by_product();
}

}  // namespace keratin::cuda

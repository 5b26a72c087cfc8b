#pragma once

#include <array>
#include <optional>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/driver/autotune.h"
#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// The engines of cuDNN for a convolution or its gradient, in its order; none without cuDNN.
struct CudnnCandidates {
  std::string key;  // everything that their times depend on
  std::vector<Candidate> candidates;
};
CudnnCandidates cudnn_candidates(const ConvJob& job, const KernelOptions& options);

// An input element under a window, and an output element of that window, as positions in their
// tensors; nothing where windows cover padding alone.
struct SeenInput {
  int64_t input = 0, output = 0;
  bool operator==(const SeenInput&) const = default;
};
std::optional<SeenInput> first_seen(const ops::ConvGeometry& g);

// The convolution that cuDNN computes instead of one that it cannot do, or does slowly.
struct CudnnShape {
  // Padding is the same at both ends; zeros may have been added to the input for that.
  ops::ConvGeometry g;
  // Along each axis, this many neighbours of one channel become channels of one position: for
  // images of few channels, where strides skip positions.
  std::array<int64_t, 3> fold = {1, 1, 1};
};
enum class Channels { as_they_are, more, folded };  // `more`: padded with zeros
// Nothing if it is the same as with the channels as they are.
std::optional<CudnnShape> cudnn_shape(const ops::ConvGeometry& g, DType dtype, Channels channels);

// The sources of the kernels around cuDNN's. cuDNN takes filters with their outputs first:
// `prepare` transposes a filter into scratch memory of its own, followed by the shift of an
// epilogue; `after` transposes the gradient of a filter back. `before` pads an input, `after` crops
// its gradient. The scale of an epilogue is multiplied into the filter; cuDNN computes the rest if
// that is `fused`.
struct ConvSources {
  Source prepare, before, after;
  size_t prepared_filter = 0, shift = 0;  // bytes of the prepared memory, in this order
  size_t filter_grad = 0, image = 0;      // of scratch memory, in this order
};
ConvSources conv_sources(const ConvJob& job, const CudnnShape& shape, bool fused);
// Adds the epilogue of a job as a loop over the result of the convolution.
void add_epilogue(Source& source, const ConvJob& job, bool with_scale);

}  // namespace keratin::cuda

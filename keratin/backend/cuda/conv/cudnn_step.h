#pragma once

#include <array>
#include <optional>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/driver/autotune.h"
#include "keratin/backend/cuda/source.h"

namespace keratin::cuda {

// The ways in which cuDNN can do a convolution or its gradient, in its order; none without it.
struct CudnnCandidates {
  std::string key;  // what decides about their times
  std::vector<Candidate> candidates;
};
CudnnCandidates cudnn_candidates(const ConvJob& job, const KernelOptions& options);

// An input that is under a window, and an output of that window, as places in their tensors;
// nothing where windows see padding alone.
struct SeenInput {
  int64_t input = 0, output = 0;
  bool operator==(const SeenInput&) const = default;
};
std::optional<SeenInput> first_seen(const ops::ConvGeometry& g);

// What cuDNN is asked for instead of a convolution that it does not do, or does badly.
struct CudnnShape {
  // Padding is the same at both ends, which may mean zeros of our own.
  ops::ConvGeometry g;
  // Along each axis so many neighbours of one channel have become channels of one place: of an
  // image of few channels, where strides skip places.
  std::array<int64_t, 3> fold = {1, 1, 1};
};
enum class Channels { as_they_are, more, folded };  // `more` are zeros
// Nothing where it would be the same as with the channels as they are.
std::optional<CudnnShape> cudnn_shape(const ops::ConvGeometry& g, DType dtype, Channels channels);

// The text around cuDNN's part. It wants filters with their outputs first: `prepare` turns them
// into scratch memory of its own, and puts the shift of an epilogue behind them; a gradient is
// turned from scratch memory after. So is an input with zeros around it, before or after. The scale
// of an epilogue goes into the filter, the rest into cuDNN's part where that is `fused`.
struct ConvSources {
  Source prepare, before, after;
  size_t prepared_filter = 0, shift = 0;  // bytes of what is prepared, in this order
  size_t filter_grad = 0, image = 0;      // of scratch memory, in this order
};
ConvSources conv_sources(const ConvJob& job, const CudnnShape& shape, bool fused);
// The epilogue of a job as a loop of its own over what the convolution gave.
void add_epilogue(Source& source, const ConvJob& job, bool with_scale);

}  // namespace keratin::cuda

#pragma once

#include <optional>

#include "keratin/backend/cuda/conv/conv.h"
#include "keratin/backend/cuda/conv/cudnn.h"
#include "keratin/ops/conv.h"

namespace keratin::cuda {

// A convolution as cuDNN takes it: x and y are [batch, spatial…, channels], the filter is
// [outputs, spatial…, channels / groups].
struct ConvProblem {
  ConvKind kind = ConvKind::forward;
  DType dtype = DType::f32;
  bool tf32 = true;
  ops::ConvGeometry g;
  int64_t alignment_x = 16, alignment_y = 16;
  // y = relu(conv + added + shift), with a shift (f32) for each output channel.
  struct Epilogue {
    bool there = false, added = false, relu = false;
  } epilogue = {};
};

// Everything that the speed of an engine depends on, in one line.
std::string text_of(const ConvProblem& problem);

// A convolution by one engine of cuDNN.
class CudnnConv {
 public:
  size_t workspace_bytes() const { return workspace_bytes_; }
  struct Addresses {
    void *x, *w, *y, *shift, *added, *workspace;
  };
  // Launches into the current queue; one of x, w and y is the result. Throws BackendError if the
  // library fails.
  void run(const Addresses& at) const;

 private:
  friend class CudnnEngines;
  CudnnConv(cudnn::Descriptor plan, const ConvProblem::Epilogue& epilogue, size_t workspace_bytes)
      : plan_(std::move(plan)), epilogue_(epilogue), workspace_bytes_(workspace_bytes) {}

  cudnn::Descriptor plan_;
  ConvProblem::Epilogue epilogue_;
  size_t workspace_bytes_;
};

// The engines for a convolution, in cuDNN's order: only those whose results are the same from run
// to run and as exact as `tf32` requires.
class CudnnEngines {
 public:
  explicit CudnnEngines(const ConvProblem& problem);

  size_t count() const { return configs_.size(); }
  // True if the engine generates and compiles its kernel when it is made.
  bool compiles(size_t engine) const;
  // Nothing if the engine refuses, or needs too much memory.
  std::optional<CudnnConv> make(size_t engine) const;

 private:
  ConvProblem::Epilogue epilogue_;
  std::vector<cudnn::Descriptor> configs_;
};

}  // namespace keratin::cuda

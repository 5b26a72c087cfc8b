#pragma once

#include "keratin/graph/layer.h"

namespace keratin::io {

// Who wrote the weights of a legacy file.
struct Origin {
  bool keras1 = false;
  bool theano = false;  // whose convolutions turn their kernels around
};

// The weights of a layer as older versions of Keras kept them, in today's layout: the kernels of
// Keras 1 and of Theano, its LSTM and GRU with an array per gate, and the CuDNN layers of Keras 2.
// What is not known comes back as it was.
std::vector<Tensor> converted_weights(const Layer& layer, std::vector<Tensor> weights,
                                      const Origin& origin);

}  // namespace keratin::io

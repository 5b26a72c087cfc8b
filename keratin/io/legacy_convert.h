#pragma once

#include "keratin/graph/layer.h"
#include "keratin/ir/node.h"

namespace keratin::io {

// The version and backend of Keras that wrote the weights of a legacy file.
struct Origin {
  bool keras1 = false;
  bool theano = false;  // its convolutions flip their kernels
};

// Converts the weights of a layer from older layouts to today's: kernels of Keras 1 and of Theano,
// LSTM and GRU with an array per gate, and the CuDNN layers of Keras 2. Other weights are returned
// unchanged.
std::vector<Tensor> converted_weights(const Layer& layer, std::vector<Tensor> weights,
                                      const Origin& origin);

// A layer and the names of its weights in a file.
struct LayerInFile {
  LayerPtr layer;
  std::vector<std::string> names = {};
};
// Converts one kind of an optimizer's slots, of which each trainable weight has one. Until
// Keras 2.0.5 they were sorted by the weights' names.
size_t stored_slots(const std::vector<LayerInFile>& layers);
std::vector<Tensor> converted_slots(const std::vector<LayerInFile>& layers, bool sorted_by_name,
                                    const std::vector<Tensor>& slots, const Origin& origin);

}  // namespace keratin::io

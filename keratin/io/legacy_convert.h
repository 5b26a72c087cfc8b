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

// The same for what an optimizer keeps of each weight that trains, one kind of it. Until
// Keras 2.0.5 these were sorted by the weights' names.
struct LayerInFile {
  LayerPtr layer;
  std::vector<std::string> names = {};  // of all its weights in the file
};
size_t stored_slots(const std::vector<LayerInFile>& layers);
std::vector<Tensor> converted_slots(const std::vector<LayerInFile>& layers, bool sorted_by_name,
                                    const std::vector<Tensor>& slots, const Origin& origin);

}  // namespace keratin::io

#include "keratin/io/legacy_convert.h"

#include <algorithm>
#include <cstring>

#include "keratin/base/text.h"
#include "keratin/graph/functional.h"
#include "keratin/layers/wrappers.h"

namespace keratin::io {
namespace {

using Tensors = std::vector<Tensor>;
constexpr size_t lstm_gates = 4, gru_gates = 3;

// out[i] = in[source(i)], where both are flat indices.
template <class Source>
Tensor moved(const Tensor& in, const Shape& shape, const Source& source) {
  Tensor out(in.dtype(), shape);
  const size_t size = size_of(in.dtype());
  const auto* from = static_cast<const char*>(in.raw());
  auto* to = static_cast<char*>(out.raw());
  for (int64_t i = 0; i < out.count(); ++i)
    std::memcpy(to + static_cast<size_t>(i) * size, from + static_cast<size_t>(source(i)) * size,
                size);
  return out;
}

Tensor transposed(const Tensor& in, const Dims& permutation) {
  const auto rank = static_cast<int64_t>(permutation.size());
  require(in.shape().rank() == rank, "expected a kernel of ", rank, " axes, got ", in.shape());
  Dims strides(permutation.size(), 1), shape;
  for (size_t i = permutation.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * in.shape()[static_cast<int64_t>(i) + 1];
  for (const int64_t axis : permutation) shape.push_back(in.shape()[axis]);
  return moved(in, Shape(shape), [&](int64_t i) {
    int64_t at = 0;
    for (size_t axis = shape.size(); axis-- > 0; i /= shape[axis])
      at += i % shape[axis] * strides[static_cast<size_t>(permutation[axis])];
    return at;
  });
}

// Reverses the spatial axes, which are all but the last two.
Tensor flipped(const Tensor& kernel) {
  require(kernel.shape().rank() > 2, "expected the kernel of a convolution, got ", kernel.shape());
  const int64_t rank = kernel.shape().rank();
  const int64_t channels = kernel.shape()[rank - 1] * kernel.shape()[rank - 2];
  const int64_t positions = channels == 0 ? 0 : kernel.count() / channels;
  return moved(kernel, kernel.shape(),
               [&](int64_t i) { return (positions - 1 - i / channels) * channels + i % channels; });
}

// Concatenates the weights of gates along the last axis.
Tensor joined(const Tensors& gates) {
  Dims dims = gates[0].shape().dims();
  require(!dims.empty(), "expected the weights of a gate, got a scalar");
  const int64_t width = dims.back();
  for (const Tensor& gate : gates)
    require(gate.shape() == gates[0].shape() && gate.dtype() == gates[0].dtype(),
            "expected weights of one shape for all gates, got ", gates[0].shape(), " and ",
            gate.shape());
  dims.back() = width * static_cast<int64_t>(gates.size());
  Tensor out(gates[0].dtype(), Shape(dims));
  const size_t bytes = static_cast<size_t>(width) * size_of(out.dtype());
  const size_t rows = bytes == 0 ? 0 : gates[0].bytes() / bytes;
  auto* to = static_cast<char*>(out.raw());
  for (size_t row = 0; row < rows; ++row)
    for (const Tensor& gate : gates) {
      std::memcpy(to, static_cast<const char*>(gate.raw()) + row * bytes, bytes);
      to += bytes;
    }
  return out;
}

// Joins the weights of Keras 1, which stored kernel, recurrent kernel and bias of each gate in
// turn.
Tensors by_gate(const Tensors& weights, const std::vector<size_t>& order) {
  Tensors out;
  for (size_t kind = 0; kind < 3; ++kind) {
    Tensors gates;
    for (const size_t gate : order) gates.push_back(weights[3 * gate + kind]);
    out.push_back(joined(gates));
  }
  return out;
}

void convert_keras1_kernel(const Layer& layer, Tensor& kernel) {
  const std::string_view kind = layer.class_name();
  const Json config = layer.get_config();
  const Json* format = config.find("data_format");
  const bool first = format != nullptr && *format == Json("channels_first");
  if (kind == "Conv1D") {
    const int64_t filters = config.at("filters").as_int();
    require(kernel.shape().rank() == 4, "expected a kernel of 4 axes, got ", kernel.shape());
    // Keras 1.1 wrote (filters, channels, length, 1), later versions (length, 1, channels,
    // filters).
    if (kernel.shape()[1] != 1 || kernel.shape()[3] != filters)
      kernel = transposed(kernel, {2, 3, 1, 0});
    require(kernel.shape()[1] == 1, "expected a kernel over one axis, got ", kernel.shape());
    kernel = kernel.reshape({kernel.shape()[0], kernel.shape()[2], kernel.shape()[3]});
  } else if (kind == "Conv2D" && first) {
    kernel = transposed(kernel, {2, 3, 1, 0});
  } else if (kind == "Conv2DTranspose") {
    kernel = transposed(kernel, first ? Dims{2, 3, 0, 1} : Dims{0, 1, 3, 2});
  } else if (kind == "Conv3D" && first) {
    kernel = transposed(kernel, {2, 3, 4, 1, 0});
  }
}

bool is_convolution(std::string_view kind) {
  return kind == "Conv1D" || kind == "Conv2D" || kind == "Conv3D" || kind == "Conv2DTranspose" ||
         kind == "ConvLSTM2D";
}

// True for an LSTM, over vectors or images.
bool is_lstm(std::string_view kind) { return kind == "LSTM" || kind == "ConvLSTM2D"; }

// Converts the weights of Keras 1's LSTM. It orders the gates i, c, f, o; today the order is i, f,
// c, o.
Tensors lstm_of_keras1(const Layer& layer, Tensors weights) {
  const Json config = layer.get_config();
  const Json* format = config.find("data_format");
  if (format != nullptr && *format == Json("channels_first"))
    for (Tensor& weight : weights)
      if (weight.shape().rank() == 4) weight = transposed(weight, {2, 3, 1, 0});
  return by_gate(weights, {0, 2, 1, 3});
}

// Converts a kernel [rows, gates · units] from CuDNN's layout, gate by gate.
Tensor from_cudnn_layout(const Tensor& in, size_t gates, bool recurrent) {
  require(in.shape().rank() == 2 && in.shape()[1] % static_cast<int64_t>(gates) == 0,
          "expected the kernel of ", gates, " gates, got ", in.shape());
  const int64_t rows = in.shape()[0], width = in.shape()[1];
  const int64_t units = width / static_cast<int64_t>(gates);
  require(!recurrent || rows == units, "expected a square recurrent kernel per gate, got ",
          in.shape());
  return moved(in, in.shape(), [&](int64_t i) {
    const int64_t row = i / width, gate = i % width / units, column = i % units;
    // CuDNN has kernels column by column, and recurrent kernels transposed.
    const int64_t flat = recurrent ? column * units + row : column * rows + row;
    return flat / units * width + gate * units + flat % units;
  });
}

Tensor sum_of_halves(const Tensor& bias) {
  const Tensor in = bias.cast(DType::f64);
  const int64_t half = in.count() / 2;
  Tensor out(DType::f64, {half});
  const auto from = in.data<double>();
  const auto to = out.data<double>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] + from[i + to.size()];
  return out.cast(bias.dtype());
}

// Converts the weights of CuDNNLSTM and CuDNNGRU, which are recognised by their doubled bias.
void convert_cudnn(const Layer& layer, Tensors& weights) {
  const bool lstm = layer.class_name() == "LSTM", gru = layer.class_name() == "GRU";
  if ((!lstm && !gru) || weights.size() != 3) return;
  const size_t gates = lstm ? lstm_gates : gru_gates;
  const Shape &recurrent = weights[1].shape(), &bias = weights[2].shape();
  if (recurrent.rank() != 2 || bias.rank() != 1 ||
      bias[0] != 2 * recurrent[0] * static_cast<int64_t>(gates))
    return;
  weights[0] = from_cudnn_layout(weights[0], gates, /*recurrent=*/false);
  weights[1] = from_cudnn_layout(weights[1], gates, /*recurrent=*/true);
  weights[2] = lstm ? sum_of_halves(weights[2]) : weights[2].reshape({2, bias[0] / 2});
}

struct Counts {
  size_t trained = 0, others = 0;
};

Counts stored_counts(const Layer& layer, bool gates_apart);

Counts counts_within(const Layer& layer, bool gates_apart) {
  Counts all;
  for (const Layer::Sublayer& sub : layer.sublayers()) {
    const Counts counts = stored_counts(*sub.layer, gates_apart);
    all.trained += counts.trained;
    all.others += counts.others;
  }
  return all;
}

// The number of arrays that a file has for a layer. With `gates_apart`, as in Keras 1, each gate
// has its own.
Counts stored_counts(const Layer& layer, bool gates_apart) {
  const Counts counts{layer.trainable_weights().size(), layer.non_trainable_weights().size()};
  if (!gates_apart) return counts;
  if (is_lstm(layer.class_name()) || layer.class_name() == "GRU") {
    const size_t gates = is_lstm(layer.class_name()) ? lstm_gates : gru_gates;
    return {counts.trained * gates, counts.others * gates};
  }
  if (layer.weights().empty() || layer.sublayers().empty()) return counts;
  return counts_within(layer, true);
}

// Converts the weights of a model: the trainable weights of all its layers, then the others.
Tensors convert_nested(const Layer& model, const Tensors& weights, const Origin& origin) {
  Counts all = counts_within(model, origin.keras1);
  const bool gates_apart = origin.keras1 && all.trained + all.others == weights.size();
  if (!gates_apart) all = counts_within(model, false);
  // Layers that share weights have fewer arrays in the file; these are not converted.
  if (all.trained + all.others != weights.size()) return weights;
  size_t next = 0, next_other = all.trained;
  Tensors trained, others;
  for (const Layer::Sublayer& sub : model.sublayers()) {
    const Counts counts = stored_counts(*sub.layer, gates_apart);
    Tensors own;
    for (size_t i = 0; i < counts.trained; ++i) own.push_back(weights[next++]);
    for (size_t i = 0; i < counts.others; ++i) own.push_back(weights[next_other++]);
    own = converted_weights(*sub.layer, std::move(own), origin);
    const size_t training = sub.layer->trainable_weights().size();
    for (size_t i = 0; i < own.size(); ++i) (i < training ? trained : others).push_back(own[i]);
  }
  for (Tensor& other : others) trained.push_back(std::move(other));
  return trained;
}

}  // namespace

std::vector<Tensor> converted_weights(const Layer& layer, std::vector<Tensor> weights,
                                      const Origin& origin) {
  const std::string_view kind = layer.class_name();
  if (const auto* both = dynamic_cast<const BidirectionalLayer*>(&layer)) {
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>(weights.size() / 2);
    Tensors out = converted_weights(*both->forward_layer(), {weights.begin(), middle}, origin);
    for (Tensor& w : converted_weights(*both->backward_layer(), {middle, weights.end()}, origin))
      out.push_back(std::move(w));
    return out;
  }
  if (dynamic_cast<const TimeDistributedLayer*>(&layer) != nullptr)
    return converted_weights(*layer.sublayers()[0].layer, std::move(weights), origin);
  if (dynamic_cast<const ModelLayer*>(&layer) != nullptr)
    return convert_nested(layer, weights, origin);
  if (weights.empty()) return weights;
  if (origin.keras1) {
    convert_keras1_kernel(layer, weights[0]);
    if (is_lstm(kind) && weights.size() == 3 * lstm_gates)
      weights = lstm_of_keras1(layer, std::move(weights));
    if (kind == "GRU" && weights.size() == 3 * gru_gates) weights = by_gate(weights, {0, 1, 2});
  }
  if (is_convolution(kind) && origin.theano) weights[0] = flipped(weights[0]);
  if (kind == "ConvLSTM2D" && origin.theano && weights.size() > 1) weights[1] = flipped(weights[1]);
  convert_cudnn(layer, weights);
  return weights;
}

namespace {

// The number of a layer's trainable weights in the file. They come before the others.
size_t trained_in(const LayerInFile& in_file) {
  const size_t others = in_file.layer->non_trainable_weights().size();
  if (in_file.layer->trainable_weights().empty()) return 0;
  return in_file.names.size() - std::min(in_file.names.size(), others);
}

}  // namespace

size_t stored_slots(const std::vector<LayerInFile>& layers) {
  size_t count = 0;
  for (const LayerInFile& layer : layers) count += trained_in(layer);
  return count;
}

std::vector<Tensor> converted_slots(const std::vector<LayerInFile>& layers, bool sorted_by_name,
                                    const std::vector<Tensor>& slots, const Origin& origin) {
  struct Slot {
    std::string name;
    size_t layer, index;
  };
  std::vector<Slot> order;
  for (size_t i = 0; i < layers.size(); ++i)
    for (size_t k = 0; k < trained_in(layers[i]); ++k) order.push_back({layers[i].names[k], i, k});
  if (sorted_by_name)
    std::stable_sort(order.begin(), order.end(),
                     [](const Slot& a, const Slot& b) { return a.name < b.name; });
  require(order.size() == slots.size(), "expected the state of ", order.size(), " weights, got ",
          slots.size());
  std::vector<Tensors> by_layer;
  for (const LayerInFile& layer : layers) by_layer.emplace_back(trained_in(layer));
  for (size_t i = 0; i < order.size(); ++i) by_layer[order[i].layer][order[i].index] = slots[i];
  Tensors out;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = *layers[i].layer;
    const size_t training = layer.trainable_weights().size();
    if (training == 0) continue;
    Tensors own = std::move(by_layer[i]);
    // The layout is recognised from all weights of a layer, so the others are appended.
    for (const Variable& other : layer.non_trainable_weights()) own.push_back(other.value());
    own = converted_weights(layer, std::move(own), origin);
    require(own.size() >= training, "expected state for ", training, " weights of the layer '",
            layer.name(), "', got ", own.size());
    own.resize(training);
    for (Tensor& one : own) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace keratin::io

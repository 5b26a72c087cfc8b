#include "workload.h"

namespace keratin::bench {

using namespace layers;

namespace {

struct Builder {
  LayerOptions by;

  SymbolicTensor conv(const SymbolicTensor& x, int64_t filters, int64_t window, int64_t stride,
                      const char* padding) const {
    const SymbolicTensor y = Conv2D({.filters = filters,
                                     .kernel_size = {window, window},
                                     .strides = {stride, stride},
                                     .padding = padding},
                                    by)(x);
    return BatchNormalization({.epsilon = 1.001e-5}, by)(y);
  }
  SymbolicTensor relu(const SymbolicTensor& x) const { return ReLU({}, by)(x); }

  SymbolicTensor block(const SymbolicTensor& x, int64_t filters, int64_t stride,
                       bool widens) const {
    const SymbolicTensor past = widens ? conv(x, 4 * filters, 1, stride, "valid") : x;
    SymbolicTensor y = relu(conv(x, filters, 1, stride, "valid"));
    y = relu(conv(y, filters, 3, 1, "same"));
    return relu(Add({}, by)({past, conv(y, 4 * filters, 1, 1, "valid")}));
  }
};

}  // namespace

// ResNet-50 as Keras's applications have it (v1: biases, strides in the first convolution of a
// block), up to the logits; 224 x 224, batch 128.
Workload resnet50(const DTypePolicy& policy) {
  const Builder b{{.dtype = policy}};
  const auto image = Input({224, 224, 3});
  SymbolicTensor x = ZeroPadding2D({.padding = {3, 3}}, b.by)(image);
  x = b.relu(b.conv(x, 64, 7, 2, "valid"));
  x = ZeroPadding2D({.padding = {1, 1}}, b.by)(x);
  x = MaxPooling2D({.pool_size = {3, 3}, .strides = {{2, 2}}}, b.by)(x);
  const std::pair<int64_t, int64_t> stages[] = {{64, 3}, {128, 4}, {256, 6}, {512, 3}};
  for (const auto& [filters, blocks] : stages)
    for (int64_t i = 0; i < blocks; ++i)
      x = b.block(x, filters, i == 0 && filters > 64 ? 2 : 1, i == 0);
  x = GlobalAveragePooling2D({}, b.by)(x);
  return {"resnet50",
          Model({.inputs = image, .outputs = Dense({.units = 1000}, b.by)(x)}),
          classes_of_logits(),
          random(DType::f32, {128, 224, 224, 3}),
          random(DType::i32, {128}, 1000),
          random(DType::f32, {1, 224, 224, 3}),
          50};
}

}  // namespace keratin::bench

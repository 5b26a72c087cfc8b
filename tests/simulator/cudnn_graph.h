#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <variant>

#include "cudnn_conv.h"
#include "refused.h"

// Descriptors of cuDNN's graph interface: attributes while they are filled in, and what they mean
// once they are finished. A meaning holds all it needs, so that descriptors may go.
namespace keratin::simulator {

struct Stream;

namespace cudnn {

// The library's numbers.
inline constexpr int bad_parameter = 2000, misaligned_pointer = 2003, not_finished = 2004,
                     not_supported = 3000, execution_failed = 5000;

enum class Kind {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engine_config = 3,
  engine_heuristic = 4,
  execution_plan = 5,
  convolution_forward = 10,
  convolution_grad_filter = 11,
  convolution_grad_input = 12,
  pointwise_operation = 13,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
};

struct Handle {
  Stream* stream = nullptr;
};

// [first, channels, positions…], with the channels innermost in memory. What is inside a graph has
// no address.
struct Tensor {
  int64_t id = 0, alignment = 1;
  Number type = Number::f32;
  bool inside = false;
  std::vector<int64_t> sizes;
};

// How windows go along axes.
struct Window {
  std::vector<int64_t> strides, dilations, paddings;
};

struct Pointwise {
  bool is_relu = false;  // or else a sum
};

struct ConvOperation {
  Convolution convolution;
  Tensor x, w, y;
};

struct PointwiseOperation {
  bool is_relu = false;
  Tensor x, y;
  std::optional<Tensor> other;
};

struct Graph {
  Program program;
  std::vector<Tensor> tensors;  // those with addresses
  Handle* handle = nullptr;
};

struct EngineConfig {
  std::shared_ptr<const Graph> graph;
  Engine engine;
};

struct EngineConfigs {
  std::vector<EngineConfig> all;
};

struct Plan {
  EngineConfig config;
  int64_t workspace_bytes = 0;
};

struct VariantPack {
  std::map<int64_t, void*> addresses;
  void* workspace = nullptr;
};

using Meaning = std::variant<std::monostate, Tensor, Window, Pointwise, ConvOperation,
                             PointwiseOperation, std::shared_ptr<const Graph>, EngineConfigs,
                             EngineConfig, Engine, Plan, VariantPack>;

struct Descriptor {
  Kind kind;
  std::map<int, std::vector<std::byte>> attributes = {};
  Meaning meaning = {};

  bool is_finished() const { return meaning.index() != 0; }

  template <class T>
  const T& means() const {
    need(is_finished(), not_finished);
    need(std::holds_alternative<T>(meaning), bad_parameter);
    return std::get<T>(meaning);
  }

  bool has(int attribute) const { return attributes.contains(attribute); }

  template <class T>
  std::vector<T> all(int attribute) const {
    need(has(attribute), bad_parameter);
    const std::vector<std::byte>& bytes = attributes.at(attribute);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  template <class T>
  T one(int attribute) const {
    return all<T>(attribute).at(0);
  }

  // What another descriptor means that this one was given.
  template <class T>
  const T& given(int attribute) const {
    return one<const Descriptor*>(attribute)->means<T>();
  }
};

// What a descriptor means that has all its attributes; refused where it is nothing that Keratin is
// known to ask for.
Meaning meaning_of(const Descriptor& descriptor);

// cudnn_engines.cpp: those that the library has for a graph, best first by its own account.
EngineConfigs find_engines(const std::shared_ptr<const Graph>& graph, int mode);

}  // namespace cudnn

}  // namespace keratin::simulator

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/graph/tree.h"
#include "keratin/ir/type.h"

namespace keratin {

// Python's indices: x[:, 0] is x[{Slice{}, 0}], x[..., None] is x[{ellipsis, new_axis}].

// start:stop:step
struct Slice {
  std::optional<int64_t> start = {}, stop = {}, step = {};
};
struct Ellipsis {};
struct NewAxis {};
inline constexpr Ellipsis ellipsis;
inline constexpr NewAxis new_axis;

// One item of an index: a position, a Slice, `ellipsis` or `new_axis`.
class KERATIN_API Index {
 public:
  Index(int position) : json_(position) {}      // NOLINT(google-explicit-constructor)
  Index(int64_t position) : json_(position) {}  // NOLINT(google-explicit-constructor)
  Index(const Slice& slice);                    // NOLINT(google-explicit-constructor)
  Index(Ellipsis);                              // NOLINT(google-explicit-constructor)
  Index(NewAxis) {}                             // NOLINT(google-explicit-constructor)
  const Json& json() const { return json_; }

 private:
  Json json_;
};

// The rules of masks differ between generations of Keras; a model follows one.
enum class Dialect : uint8_t { keras3, keras2 };

class Layer;
class CallNode;
using LayerPtr = std::shared_ptr<Layer>;
using NodePtr = std::shared_ptr<const CallNode>;

// Keras computes masks with ops, which count as steps between layers when it orders them. For a
// mask that is no argument of its own: the node where those ops begin, and how many follow one
// another.
struct MaskSource {
  NodePtr node;
  int64_t hops = 1;
};

// The type, name and mask of one output of a call, known before anything runs.
struct OutputSpec {
  Type type;
  std::string name;
  std::optional<Type> mask = std::nullopt;
  std::vector<MaskSource> mask_sources = {};
};

// One output of a call of a layer. Models are made of these. Copies are the same tensor; it keeps
// the calls that it depends on alive.
class KERATIN_API SymbolicTensor {
 public:
  SymbolicTensor() = default;
  static SymbolicTensor output(NodePtr node, size_t index) {
    SymbolicTensor tensor;
    tensor.node_ = std::move(node);
    tensor.index_ = index;
    return tensor;
  }

  bool defined() const { return node_ != nullptr; }
  const CallNode& node() const { return *node_; }
  const NodePtr& node_ptr() const { return node_; }
  size_t index() const { return index_; }
  const OutputSpec& spec() const;
  const Type& type() const { return spec().type; }
  const Shape& shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  int64_t rank() const { return shape().rank(); }
  const std::string& name() const { return spec().name; }
  bool has_mask() const { return spec().mask.has_value(); }
  const LayerPtr& layer() const;  // the layer that was called

  // A slice, as in Python: x[0], x[{Slice{}, Slice{.start = 1, .stop = 3}, -1}].
  SymbolicTensor operator[](const Index& index) const;
  SymbolicTensor operator[](std::initializer_list<Index> index) const;

  bool operator==(const SymbolicTensor& other) const = default;
  size_t hash() const { return std::hash<const void*>{}(node_.get()) * 31 + index_; }

 private:
  NodePtr node_;
  size_t index_ = 0;
};

struct SymbolicHash {
  size_t operator()(const SymbolicTensor& t) const { return t.hash(); }
};

// <KerasTensor shape=(None, 3), dtype=float32, name=keras_tensor_4>
KERATIN_API std::ostream& operator<<(std::ostream& out, const SymbolicTensor& tensor);

// (None, 3), (5,), ()
KERATIN_API std::string keras_shape(const Shape& shape);

// Arguments and results while a model is built: tensors, lists and dicts of tensors.
using Symbols = Tree<SymbolicTensor>;
extern template class Tree<SymbolicTensor>;
// Arguments passed by name: {{"training", true}, {"initial_state", {h, c}}}.
using Keywords = std::map<std::string, Symbols, std::less<>>;

// One call of a layer: its arguments and its outputs. Immutable.
class KERATIN_API CallNode {
 public:
  CallNode(LayerPtr layer, size_t index, Arguments<SymbolicTensor> arguments,
           std::vector<OutputSpec> outputs);
  ~CallNode();
  CallNode(const CallNode&) = delete;
  CallNode& operator=(const CallNode&) = delete;

  const LayerPtr& layer() const { return layer_; }
  size_t index() const { return index_; }  // among its layer's calls
  const Arguments<SymbolicTensor>& arguments() const { return arguments_; }
  const std::vector<OutputSpec>& outputs() const { return outputs_; }
  // The tensors among the arguments, in order.
  const std::vector<SymbolicTensor>& inputs() const { return inputs_; }
  bool is_input() const { return inputs_.empty(); }

 private:
  LayerPtr layer_;
  size_t index_;
  Arguments<SymbolicTensor> arguments_;
  std::vector<SymbolicTensor> inputs_;
  std::vector<OutputSpec> outputs_;
};

}  // namespace keratin

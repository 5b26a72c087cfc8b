#pragma once

#include <memory>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/short_list.h"
#include "keratin/ir/op.h"
#include "keratin/ir/value.h"

namespace keratin {

// A block's parameters are nodes of the op `parameter`; state is what a program updates in place.
struct KERATIN_API ParameterAttrs {
  std::string name;
  bool state = false;
  static constexpr auto fields =
      field_list(field("name", &ParameterAttrs::name), field("state", &ParameterAttrs::state));
};

// Where a node comes from, for messages: the layer that was being called. While a scope lives,
// nodes that this thread creates get its origin; passes and gradients copy it.
using Origin = std::shared_ptr<const std::string>;
class KERATIN_API OriginScope {
 public:
  explicit OriginScope(Origin origin);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  Origin outer_;
};

// One application of an op: its inputs, attributes, regions and the types of its outputs.
class KERATIN_API Node {
 public:
  // Most nodes have at most two inputs and one output, which are stored in the node itself.
  using Inputs = detail::ShortList<Value, 2>;
  using Outputs = detail::ShortList<Type, 1>;

  Node(Block& block, const OpDef& op, const Values& inputs, Attrs attrs);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const OpDef& op() const { return *op_; }
  std::string_view name() const { return op_->name; }
  Block& block() const { return *block_; }

  size_t input_count() const { return inputs_.size(); }
  Value in(size_t i = 0) const { return inputs_[i]; }
  const Inputs& inputs() const { return inputs_; }

  size_t output_count() const { return types_.size(); }
  // The handle is not const: using the value appends to its block, but does not change this node.
  Value out(size_t i = 0) const { return {const_cast<Node*>(this), i}; }
  Values outputs() const;
  const Type& type(size_t i = 0) const { return types_[i]; }
  const Outputs& types() const { return types_; }
  Device device() const { return types_.empty() ? Device{} : types_[0].device; }
  // Sets the device of the node and its regions; `place_devices` chooses it.
  void place(Device device);
  const Origin& origin() const { return origin_; }  // may be empty
  // Replaces an input by a value of the same type. If that value comes after the node, call
  // `Block::sort` afterwards.
  void set_input(size_t i, Value value);

  const Attrs& attrs() const { return attrs_; }
  template <class T>
  const T& attr() const {
    return attrs_.get<T>();
  }

  const std::vector<std::unique_ptr<Block>>& regions() const { return regions_; }
  Block& region(size_t i = 0) const { return *regions_[i]; }

  // Among the nodes of its block, or among the parameters: see BlockTable.
  size_t position() const { return position_; }
  // The position given by the last Module::number(), which counts regions too.
  size_t id() const { return id_; }

 private:
  friend class Block;
  friend class Module;
  friend class Rewriter;
  friend class Gatherer;
  friend class Parser;
  friend class Verifier;

  Block* block_;
  const OpDef* op_;
  uint32_t position_ = 0;
  uint32_t id_ = 0;
  Inputs inputs_;
  Values replacement_;  // set while a rewrite runs
  Attrs attrs_;
  Outputs types_;
  std::vector<std::unique_ptr<Block>> regions_;
  Origin origin_;
};

// A sequence of nodes with parameters and results. A region's block is closed: it uses only its own
// parameters and nodes, so it can be moved, differentiated and planned separately.
class KERATIN_API Block {
 public:
  explicit Block(size_t depth = 0) : depth_(depth) {}

  Value parameter(Type type, std::string name = "", bool state = false);
  // Appends a node, checked and typed by its op. Regions must be closed and complete.
  Node& append(const OpDef& op, const Values& inputs, Attrs attrs = {},
               std::vector<std::unique_ptr<Block>> regions = {});
  // Appends a node with the given types, without inferring them.
  Node& append_typed(const OpDef& op, const Values& inputs, Attrs attrs, const Types& types,
                     std::vector<std::unique_ptr<Block>> regions = {});

  const std::vector<std::unique_ptr<Node>>& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  Values parameter_values() const;
  Values results;

  // The values of other blocks that the block uses, in the order of their first use.
  Values outside_values() const;
  // Closes the block: each of these values becomes a parameter, after the existing ones.
  void close(const Values& outside);
  // Moves every node after those it uses; a stable sort.
  void sort();

  size_t depth() const { return depth_; }  // 0 for a module's block, one more per region

 private:
  friend class Module;
  friend class Rewriter;
  friend class Gatherer;
  friend class Parser;

  Node& push(std::unique_ptr<Node> node);

  std::vector<std::unique_ptr<Node>> parameters_;
  std::vector<std::unique_ptr<Node>> nodes_;
  size_t depth_;
};

KERATIN_API const OpDef& parameter_op();
inline bool is_parameter(const Node& node) { return &node.op() == &parameter_op(); }

// The types that an op infers from a node's inputs, on the device of its inputs.
KERATIN_API Types infer_types(const Node& node);

// Copies the nodes of `from` into `to` with its parameters replaced by `arguments`; returns the
// copies of its results.
KERATIN_API Values inline_block(const Block& from, Block& to, const Values& arguments);
KERATIN_API std::unique_ptr<Block> clone_block(const Block& block, size_t depth);

}  // namespace keratin

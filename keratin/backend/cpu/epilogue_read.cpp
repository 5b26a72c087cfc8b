#include <algorithm>
#include <unordered_map>

#include "keratin/backend/cpu/epilogue.h"
#include "keratin/backend/cpu/jit/lower.h"
#include "keratin/base/text.h"
#include "keratin/ir/module.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::cpu {
namespace {

class EpilogueReader {
 public:
  explicit EpilogueReader(const Block& region) : region_(region) {}

  std::optional<Epilogue> read(std::string& reason) {
    if (!find_root()) {
      reason = "expected one matmul or convolution of the inputs";
      return std::nullopt;
    }
    take_posts();
    if (!take_transpose() && !read_loop(reason)) return std::nullopt;
    return epilogue_;
  }

 private:
  bool find_root() {
    for (const auto& node : region_.nodes()) {
      if (&node->op() != &ops::matmul_op && &node->op() != &ops::conv_op) continue;
      const auto first = operand(*node, 0), second = operand(*node, 1);
      if (epilogue_.root != nullptr || !first || !second) return false;
      epilogue_.root = node.get();
      epilogue_.first = *first;
      epilogue_.second = *second;
      value_ = node->out();
    }
    return epilogue_.root != nullptr && region_.results.size() == 1;
  }

  // The parameter that the root reads, a matmul also through a transpose.
  std::optional<size_t> operand(const Node& root, size_t input) {
    const Node& source = root.in(input).node();
    if (&root.op() != &ops::matmul_op || &source.op() != &ops::transpose_op)
      return parameter(root.in(input));
    done_.push_back(&source);
    return parameter(source.in());
  }

  // A matmul whose result is transposed and nothing else.
  bool take_transpose() {
    const Node& last = region_.results[0].node();
    const bool bare = value_ == epilogue_.root->out() && &epilogue_.root->op() == &ops::matmul_op;
    if (!bare || &last.op() != &ops::transpose_op || last.in() != value_) return false;
    epilogue_.transpose = &last;
    return true;
  }

  // Follows the result as long as one op alone uses it, and is one that tiles can do.
  void take_posts() {
    done_.push_back(epilogue_.root);
    for (const Node* user = only_user(value_); user != nullptr && take(*user);
         user = only_user(value_)) {
      done_.push_back(user);
      value_ = user->out();
    }
  }

  const Node* only_user(Value value) const {
    const Node* user = nullptr;
    for (const auto& node : region_.nodes()) {
      for (const Value& input : node->inputs()) {
        if (input != value) continue;
        if (user != nullptr) return nullptr;
        user = node.get();
      }
    }
    return user;
  }

  bool take(const Node& node) {
    if (node.op().scalar == ScalarOp::relu) {
      epilogue_.post.push_back(TilePost::relu);
      return true;
    }
    if (take_gate(node) || take_scale(node) || take_cap(node)) return true;
    if (node.op().scalar != ScalarOp::add) return false;
    const Value other = node.in(0) == value_ ? node.in(1) : node.in(0);
    const auto input = parameter(other);
    if (!input) return false;
    const Shape& shape = value_.shape();
    if (other.shape() == shape) return take(*input, epilogue_.addend, TilePost::addend);
    return other.shape().count() == shape.back() && other.rank() > 0 &&
           other.shape().back() == shape.back() && take(*input, epilogue_.bias, TilePost::bias);
  }

  bool take(size_t input, std::optional<size_t>& slot, TilePost post) {
    if (slot) return false;
    slot = input;
    epilogue_.post.push_back(post);
    return true;
  }

  // Only the tiles of a matmul do what follows, and only in the type they compute in.
  bool in_matmul() const {
    const DType dtype = value_.type().dtype;
    return &epilogue_.root->op() == &ops::matmul_op && (dtype == DType::f32 || dtype == DType::f64);
  }

  // select(array > 0, value, 0), which is what a relu does to a gradient.
  bool take_gate(const Node& node) {
    if (node.op().scalar != ScalarOp::select || node.in(1) != value_ || !in_matmul()) return false;
    const Node& open = node.in(0).node();
    if (open.op().scalar != ScalarOp::greater || ops::uniform_value(open.in(1)) != 0.0 ||
        ops::uniform_value(node.in(2)) != 0.0 || open.in(0).type() != value_.type())
      return false;
    const auto input = parameter(open.in(0));
    if (!input || only_user(open.out()) != &node) return false;
    if (!take(*input, epilogue_.gate, TilePost::gate)) return false;
    done_.push_back(&open);
    return true;
  }

  bool has(TilePost post) const {
    return std::find(epilogue_.post.begin(), epilogue_.post.end(), post) != epilogue_.post.end();
  }

  // The scalar that a node of two inputs computes with, beside the result so far.
  std::optional<double> scalar_beside(const Node& node) const {
    const Value other = node.in(0) == value_ ? node.in(1) : node.in(0);
    return other.rank() == 0 ? ops::uniform_value(other) : std::nullopt;
  }

  bool take_scale(const Node& node) {
    if (node.op().scalar != ScalarOp::mul || !in_matmul() || has(TilePost::scale)) return false;
    const auto number = scalar_beside(node);
    if (!number) return false;
    epilogue_.scale = *number;
    epilogue_.post.push_back(TilePost::scale);
    return true;
  }

  // min(value, number), as in relu6.
  bool take_cap(const Node& node) {
    if (node.op().scalar != ScalarOp::minimum || has(TilePost::cap)) return false;
    const auto number = scalar_beside(node);
    if (!number) return false;
    epilogue_.cap = *number;
    epilogue_.post.push_back(TilePost::cap);
    return true;
  }

  // The ops that are left, as a loop of their own.
  bool read_loop(std::string& reason) {
    if (value_ == region_.results[0]) return true;
    Module module;
    auto body = std::make_unique<Block>(1);
    std::unordered_map<const Node*, Value> inside;
    Values inputs{module.input(value_.type())};
    inside[&value_.node()] = body->parameter(value_.type());
    for (const auto& node : region_.nodes()) {
      if (std::find(done_.begin(), done_.end(), node.get()) != done_.end()) continue;
      Values operands;
      for (const Value& input : node->inputs()) {
        Value& known = inside[&input.node()];
        if (!known.defined()) {
          const auto index = parameter(input);
          if (!index) return unreadable(reason, *node);  // a value before the last post
          known = body->parameter(input.type());
          inputs.push_back(module.input(input.type()));
          epilogue_.loop_inputs.push_back(*index);
        }
        operands.push_back(known);
      }
      inside[node.get()] = body->append(node->op(), operands, node->attrs()).out();
    }
    body->results = {inside.at(&region_.results[0].node())};
    const Node& loop = ops::fused(module.block(), inputs, std::move(body), "loop");
    epilogue_.loop = lower_to_loop(loop, reason);
    return epilogue_.loop && flatten(loop, reason);
  }

  static bool unreadable(std::string& reason, const Node& node) {
    reason = text(node.name(), " reads a value that is not kept");
    return false;
  }

  // Rows and columns alone: an input is as large as the result, one row of it, or one value.
  bool flatten(const Node& node, std::string& reason) {
    LoopProgram& loop = *epilogue_.loop;
    const Shape& shape = value_.shape();
    const int64_t columns = shape.back();
    loop.rank = 2;
    loop.dims = {columns == 0 ? 0 : shape.count() / columns, columns};
    for (size_t i = 0; i < loop.inputs.size(); ++i) {
      const Shape& input = node.in(i).shape();
      const bool whole = input == shape, row = input.count() == columns && columns != 1;
      if (!whole && !row && input.count() != 1) {
        reason = text("cannot read ", node.in(i).type(), " along ", shape);
        return false;
      }
      loop.inputs[i].strides = {whole ? columns : 0, whole || row ? 1 : 0};
    }
    return true;
  }

  std::optional<size_t> parameter(Value value) const {
    const auto& parameters = region_.parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].get() == &value.node()) return i;
    }
    return std::nullopt;
  }

  const Block& region_;
  Epilogue epilogue_;
  Value value_;                    // what the posts so far make
  std::vector<const Node*> done_;  // the root and the posts
};

}  // namespace

std::optional<Epilogue> read_epilogue(const Node& fused, std::string& reason) {
  if (fused.attr<ops::FusedAttrs>().kind != "epilogue") {
    reason = "the region is no epilogue";
    return std::nullopt;
  }
  return EpilogueReader(fused.region()).read(reason);
}

}  // namespace keratin::cpu

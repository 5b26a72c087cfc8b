#include "keratin/backend/cuda/loops/loop.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "keratin/backend/cuda/loops/pointwise.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/records.h"
#include "keratin/ops/reduce.h"
#include "keratin/ops/scalar.h"

namespace keratin::cuda {

namespace {

// The functor that joins two elements of a reduction.
std::string_view combine_of(const OpDef& op) {
  const std::pair<const OpDef*, std::string_view> table[] = {
      {&ops::sum_op, "scalar::Add"},     {&ops::prod_op, "scalar::Mul"},
      {&ops::max_op, "scalar::Maximum"}, {&ops::min_op, "scalar::Minimum"},
      {&ops::any_op, "scalar::BitOr"},   {&ops::all_op, "scalar::BitAnd"}};
  for (const auto& [reduction, functor] : table)
    if (reduction == &op) return functor;
  return "";
}

bool is_reduction(const Node& node) { return !combine_of(node.op()).empty(); }

// What a loop is made of: the inside of a `fused` node, or one node alone.
struct Body {
  Values parameters, results;
  std::vector<const Node*> nodes;
  Shape shape;  // of everything but reductions' results

  explicit Body(const Node& node) {
    if (&node.op() == &ops::fused_op) {
      parameters = node.region().parameter_values();
      results = node.region().results;
      for (const auto& inner : node.region().nodes()) nodes.push_back(inner.get());
    } else {
      parameters.assign(node.inputs().begin(), node.inputs().end());
      results = node.outputs();
      nodes = {&node};
    }
    for (const Node* inner : nodes)
      if (&inner->op() != &ops::constant_op) {
        shape = is_reduction(*inner) ? inner->in().shape() : inner->type().shape;
        break;
      }
  }
};

using Key = std::pair<const Node*, size_t>;

class LoopWriter {
 public:
  explicit LoopWriter(const Node& node) : node_(node), body_(node) {
    for (const Node* inner : body_.nodes)
      if (is_reduction(*inner)) reductions_.push_back(inner);
  }

  Source write() {
    source_.in_place.elementwise = body_.shape;
    for (const Node* inner : body_.nodes)
      if (&inner->op() != &ops::constant_op)
        source_.name += text(source_.name.empty() ? "" : " ", inner->name());
    if (!reductions_.empty()) return write_reduction();
    width_ = find_width(body_.shape.count());
    const Statements body = write_statements();
    Source made = element_kernel(node_, body_.shape.count() / width_,
                                 text("    const Index first = i * Index(", width_, ");\n",
                                      body.before, repeat(width_, body.inside), body.after));
    made.name = source_.name;
    made.in_place = source_.in_place;
    return made;
  }

 private:
  static Key key(Value value) { return {&value.node(), value.index()}; }
  size_t outputs() const { return node_.input_count(); }

  // How many neighbours of a run a thread computes at a time: as many as 16 bytes hold, if that
  // leaves work for all threads.
  int64_t find_width(int64_t run) const {
    constexpr int64_t enough = int64_t{1} << 18, max_width = 8;
    size_t smallest = 8;
    const auto see = [&](DType dtype) {
      if (size_of(dtype) > 1) smallest = std::min(smallest, size_of(dtype));
    };
    for (const Value& value : body_.parameters)
      if (value.shape() == body_.shape) see(value.dtype());
    for (const Value& result : body_.results) see(result.dtype());
    const int64_t width = std::min<int64_t>(16 / static_cast<int64_t>(smallest), max_width);
    return body_.shape.count() >= enough && run % width == 0 ? width : 1;
  }

  // How many neighbours of the loop read neighbours of an operand (`step` 1), or all the same (0).
  struct Run {
    int64_t length = 1, step = 0;
  };
  Run find_run(const Value& operand) const {
    const Dims& dims = body_.shape.dims();
    const Dims strides = broadcast_strides(operand.shape(), body_.shape);
    Run run;
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (dims[axis] == 1) continue;
      if (run.length == 1) run.step = strides[axis];
      if (strides[axis] != (run.length == 1 ? run.step : run.step * run.length)) break;
      run.length *= dims[axis];
    }
    return run;
  }

  std::string position_of(const Value& operand, const std::string& index) const {
    return affine(body_.shape.dims(), broadcast_strides(operand.shape(), body_.shape), 0, index);
  }

  // The statements for `width_` neighbours from element `first` on. Neighbours in memory are loaded
  // and stored together; `inside` is repeated for each element e.
  struct Statements {
    std::string before, inside, after;
  };
  Statements write_statements() {
    Statements s;
    const auto pack = [&](DType dtype) {
      return text("Pack<", storage_type(dtype), ", ", width_, ">");
    };
    for (size_t p = 0; p < body_.parameters.size(); ++p) {
      const Value value = body_.parameters[p];
      if (names_.contains(key(value))) continue;
      const Run run = find_run(value);
      const bool fits = run.length % width_ == 0;
      const std::string first = position_of(value, "first");
      std::string element = text("x", p);
      if (fits && run.step == 1) {
        s.before += text("    const auto x", p, " = *reinterpret_cast<const ", pack(value.dtype()),
                         "*>(p", p, " + ", first, ");\n");
        element += ".items[e]";
      } else if (fits) {
        s.before += text("    const auto x", p, " = p", p, "[", first, "];\n");
      } else {
        element = text("p", p, "[", position_of(value, "(first + e)"), "]");
      }
      s.inside += text("    const auto a", p, " = load(", element, ");\n");
      names_[key(value)] = text("a", p);
    }
    for (const Node* inner : body_.nodes) s.inside += write_node(*inner);
    for (size_t r = 0; r < body_.results.size(); ++r) {
      const Value result = body_.results[r];
      if (is_reduction(result.node())) continue;
      s.before += text("    ", pack(result.dtype()), " y", r, ";\n");
      s.inside += text("    y", r, ".items[e] = ", storage_type(result.dtype()), "(",
                       names_.at(key(result)), ");\n");
      s.after += text("    ", guard(r), "*reinterpret_cast<", pack(result.dtype()), "*>(p",
                      outputs() + r, " + first) = y", r, ";\n");
    }
    return s;
  }

  static std::string repeat(int64_t times, const std::string& statements) {
    return text("#pragma unroll\n    for (int e = 0; e < ", times, "; ++e) {\n", statements,
                "    }\n");
  }

  std::string write_node(const Node& inner) {
    const auto in = [&](size_t i) { return names_.at(key(inner.in(i))); };
    std::string& name = names_[key(inner.out())];
    if (&inner.op() == &ops::constant_op) {
      name = literal_of(inner.attr<ops::ConstantAttrs>().value);
      return "";
    }
    if (&inner.op() == &ops::broadcast_to_op || is_reduction(inner)) {
      name = in(0);
      return "";
    }
    name = text("v", counter_++);
    return text("    const ", compute_type(inner.type().dtype), " ", name, " = ",
                expression_of(inner, in), ";\n");
  }

  // A result nobody uses has no memory; it can only be one of several.
  std::string guard(size_t result) const {
    return body_.results.size() > 1 ? text("if (p", outputs() + result, " != nullptr) ") : "";
  }

  // How the threads of a reduction share its sums, see write_reduction.
  struct Sums {
    bool rows;
    int64_t each, o, all;  // sums of one thread, threads that have sums, sums
    std::string lane, other;
  };
  // The accumulators of all reductions: their start, their steps behind those of the body, and what
  // joins those of several threads.
  Statements write_sums(const Sums& s, std::string inside) {
    std::string before, after;
    for (size_t k = 0; k < reductions_.size(); ++k) {
      const Node& node = *reductions_[k];
      const std::string functor(combine_of(node.op())), type(compute_type(node.type().dtype)),
          acc = text("acc", k, s.rows ? "[0]" : "[e]");
      before += text("  ", type, " acc", k, "[", s.each, "];\n  for (auto& acc : acc", k,
                     ") acc = start_of<", type, ">(", functor, "{});\n", "  __shared__ ", type,
                     " shared", k, "[", lanes_ * outputs_per_block_, "];\n");
      inside +=
          text("    ", acc, " = ", functor, "{}(", acc, ", ", names_.at(key(node.in())), ");\n");
      after += text(
          "    ", acc, " = combine<", functor, ", ", lanes_, ", ", s.rows ? 1 : outputs_per_block_,
          ">(", acc, ", shared", k, ", ", s.lane, ", ", s.other, s.rows ? text(" * ", lanes_) : "",
          ");\n    if (o < Index(", s.o, ") && ", s.lane, " == 0) ",
          chunks_ > 1
              ? text(partial(k, s.all), "[blockIdx.y * Index(", s.all, ") + at] = ", acc, ";\n")
              : store(k, "at", acc));
    }
    return {before, inside, after};
  }

  // The reductions of a loop run over the same axes. o counts the kept elements, r the reduced
  // ones; the one whose elements are neighbours counts in steps of `width_`.
  Source write_reduction() {
    const Dims& dims = body_.shape.dims();
    const Dims strides = body_.shape.strides();
    const Dims& axes = reductions_.front()->attr<ops::ReduceAttrs>().axes;
    Dims kept, kept_strides, reduced, reduced_strides;
    bool rows = true;  // neighbours in memory are reduced
    int64_t neighbours = 1;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const bool gone =
          std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
      (gone ? reduced : kept).push_back(dims[axis]);
      (gone ? reduced_strides : kept_strides).push_back(strides[axis]);
      if (dims[axis] == 1) continue;
      rows = gone;
      neighbours = dims[axis];
    }
    width_ = find_width(neighbours);
    const int64_t all = Shape(kept).count(), sums = rows ? 1 : width_;  // of one thread
    const int64_t o = all / sums, r = Shape(reduced).count() / (rows ? width_ : 1);
    layout(rows, o, r);
    const std::string lane = rows ? "threadIdx.x" : "threadIdx.y";
    const std::string other = rows ? "threadIdx.y" : "threadIdx.x";
    const Statements body = write_statements();
    const auto [before, inside, after] = write_sums({rows, sums, o, all, lane, other}, body.inside);
    const auto in_packs = [&](const char* index, bool packed) {
      return packed ? text("(", index, " * Index(", width_, "))") : std::string(index);
    };
    const int64_t chunk = (r + chunks_ - 1) / chunks_;
    source_.code =
        text("using Index = ", index_type(node_, body_.shape.count()), ";\n") +
        function(
            node_, source_, "kernel",
            text("  const Index o = blockIdx.x * Index(", outputs_per_block_, ") + ", other,
                 ";\n  const Index begin = blockIdx.y * Index(", chunk,
                 "), end = min(begin + Index(", chunk, "), Index(", r, "));\n", before,
                 "  if (o < Index(", o, ")) for (Index r = begin + ", lane,
                 "; r < end; r += ", lanes_, ") {\n    const Index first = ",
                 affine(kept, kept_strides, 0, in_packs("o", !rows)), " + ",
                 affine(reduced, reduced_strides, 0, in_packs("r", rows)), ";\n", body.before,
                 repeat(width_, inside), body.after, "  }\n",
                 repeat(sums, text("    const Index at = o * Index(", sums, ") + e;\n", after))));
    const unsigned x = static_cast<unsigned>(rows ? lanes_ : outputs_per_block_);
    const unsigned y = static_cast<unsigned>(rows ? outputs_per_block_ : lanes_);
    if (o > 0)
      source_.launches.push_back(
          {"kernel", static_cast<unsigned>((o + outputs_per_block_ - 1) / outputs_per_block_),
           static_cast<unsigned>(chunks_), x, y});
    if (chunks_ > 1 && o > 0) write_finish(all);
    return std::move(source_);
  }

  // How threads share the work: enough of them, but no more than there are elements.
  void layout(bool rows, int64_t o, int64_t r) {
    const auto power = [](int64_t n) {
      return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
    };
    if (rows) {
      lanes_ = std::min<int64_t>(power(r), block_size);
      outputs_per_block_ = std::min<int64_t>(block_size / lanes_, power(o));
    } else {
      outputs_per_block_ = std::min<int64_t>(32, power(o));
      lanes_ = std::min<int64_t>(block_size / outputs_per_block_, power(r));
    }
    constexpr int64_t max_blocks = 1024;  // they fill a large GPU
    const int64_t blocks = std::max<int64_t>((o + outputs_per_block_ - 1) / outputs_per_block_, 1);
    constexpr int64_t min_turns = 16;  // of a thread: another kernel joins the chunks
    chunks_ =
        std::clamp<int64_t>(std::min(max_blocks / blocks, r / (lanes_ * min_turns)), 1, max_blocks);
  }

  std::string store(size_t k, const std::string& index, const std::string& value) const {
    std::string all;
    for (size_t r = 0; r < body_.results.size(); ++r)
      if (&body_.results[r].node() == reductions_[k])
        all += text("{ ", guard(r), "p", outputs() + r, "[", index,
                    "] = ", storage_type(body_.results[r].dtype()), "(", value, "); }\n");
    return all.empty() ? "{}\n" : all;
  }

  std::string partial(size_t k, int64_t o) {
    while (partial_offsets_.size() <= k) {
      partial_offsets_.push_back(source_.scratch_bytes);
      source_.scratch_bytes += static_cast<size_t>(o * chunks_) * 8;
    }
    return text("reinterpret_cast<", compute_type(reductions_[k]->type().dtype), "*>(p",
                outputs() + node_.output_count(), " + ", partial_offsets_[k], ")");
  }

  // Joins the chunks of each output.
  void write_finish(int64_t o) {
    std::string body = "  const Index o = blockIdx.x;\n";
    for (size_t k = 0; k < reductions_.size(); ++k) {
      const std::string functor(combine_of(reductions_[k]->op())),
          type(compute_type(reductions_[k]->type().dtype));
      body += text(
          "  ", type, " acc", k, " = start_of<", type, ">(", functor, "{});\n", "  __shared__ ",
          type, " shared", k, "[64];\n", "  for (Index c = threadIdx.x; c < ", chunks_,
          "; c += 64) acc", k, " = ", functor, "{}(acc", k, ", ", partial(k, o), "[c * Index(", o,
          ") + o]);\n", "  acc", k, " = combine<", functor, ", 64, 1>(acc", k, ", shared", k,
          ", threadIdx.x, 0);\n", "  if (threadIdx.x == 0) ", store(k, "o", text("acc", k)));
    }
    source_.code += function(node_, source_, "finish", body);
    source_.launches.push_back({"finish", static_cast<unsigned>(o), 1, 64, 1});
  }

  const Node& node_;
  const Body body_;
  std::vector<const Node*> reductions_;
  std::map<Key, std::string> names_;
  int counter_ = 0;
  Source source_;
  int64_t width_ = 1;  // elements a thread does at a time
  int64_t lanes_ = 1, outputs_per_block_ = 1, chunks_ = 1;
  std::vector<size_t> partial_offsets_;
};

bool is_loop_op(const Node& node) {
  return node.op().scalar.has_value() || is_reduction(node) || &node.op() == &ops::broadcast_to_op;
}

std::optional<std::string> refuses_loop(const Node& node) {
  const auto refuses = [](const Node& inner) -> std::optional<std::string> {
    if (is_loop_op(inner)) return std::nullopt;
    return text(inner.name(), " is not pointwise, a broadcast or a reduction");
  };
  if (&node.op() != &ops::fused_op) return refuses(node);
  for (const auto& inner : node.region().nodes())
    if (&inner->op() != &ops::constant_op)
      if (auto reason = refuses(*inner)) return reason;
  return std::nullopt;
}

}  // namespace

Source write_loop(const Node& node) { return LoopWriter(node).write(); }

extern const CudaKernel loop_kernel = source_kernel<write_loop>(
    {.name = "loop", .refuses = refuses_loop}, {"%a: f32[4,6], %b: f32[6]", "%y = add(%a, %b)"});

}  // namespace keratin::cuda

#include <algorithm>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/families.h"
#include "keratin/base/text.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/lstm.h"

// LSTM and GRU: all steps in one kernel, see kernels/recurrent.cu. The products that need no state,
// those of x and of the weights' gradients, are other nodes.
namespace keratin::cuda {

namespace {

constexpr int64_t most_threads = 1024, most_shared = 96 << 10, registers = 65536;

// That a block can have of a chip. Texts are written where there is no GPU, too: for a large one.
int64_t shared_of(Device device) {
  return device_count() > 0 ? gpu(device).shared_bytes() : 2 * most_shared;
}

// Numbers that a kernel is written for; `inputs` of each product that a step makes.
struct Layout {
  DType dtype;
  int64_t batch, time, units, inputs, lanes;
  bool reverse, zero_output, masked;

  int64_t threads() const { return (4 * units + 31) / 32 * 32; }
  int64_t groups() const { return (inputs + 4 * lanes - 1) / (4 * lanes); }
  // A block per sample, unless that is more than a large GPU runs at once.
  int64_t rows() const { return batch <= 132 ? 1 : 2; }
  int64_t in_registers() const {
    const int64_t each = std::min<int64_t>(registers / threads() / 8 * 8, 255);
    const int64_t others = 20 + 12 * rows();  // that a thread needs for all else
    return std::clamp<int64_t>((each - others) / 16, 0, groups());
  }
  int64_t group_bytes() const { return 16 * static_cast<int64_t>(size_of(dtype)) * threads(); }
  // Two states of each sample lie there before any weights.
  int64_t state_bytes() const { return 2 * rows() * groups() * 4 * lanes * 4; }
  int64_t in_shared(int64_t shared) const {
    const int64_t left = std::min(most_shared, shared - state_bytes());
    return std::clamp<int64_t>(left / group_bytes(), 0, groups() - in_registers());
  }
};

// From a sequence with so many numbers per unit.
template <class Attrs>
Layout layout_of(const Node& node, Value sequence, int64_t gates, bool masked) {
  const auto& attrs = node.attr<Attrs>();
  const Shape& s = sequence.shape();
  return {.dtype = sequence.dtype(),
          .batch = s[0],
          .time = s[1],
          .units = s[2] / gates,
          .inputs = 0,
          .lanes = 4,
          .reverse = attrs.reverse,
          .zero_output = attrs.zero_output_for_mask,
          .masked = masked};
}

bool fits(const Layout& layout) {
  return layout.dtype != DType::f64 && layout.batch > 0 && layout.time > 0 && layout.units > 0 &&
         layout.threads() <= most_threads;
}

Layout lstm_layout(const Node& node) {
  Layout layout = layout_of<ops::RecurrentAttrs>(node, node.in(0), 4, node.input_count() > 4);
  layout.inputs = layout.units;
  return layout;
}

Layout lstm_grad_layout(const Node& node) {
  Layout layout = layout_of<ops::RecurrentAttrs>(node, node.in(2), 4, node.input_count() > 7);
  layout.inputs = 4 * layout.units;
  layout.lanes = 16;
  return layout;
}

Layout gru_layout(const Node& node) {
  Layout layout = layout_of<ops::GruAttrs>(node, node.in(0), 3, node.input_count() > 4);
  layout.inputs = layout.units;
  return layout;
}

Layout gru_grad_layout(const Node& node) {
  Layout layout = layout_of<ops::GruAttrs>(node, node.in(1), 4, node.input_count() > 5);
  layout.inputs = 3 * layout.units;
  layout.lanes = 16;
  return layout;
}

// Calls recurrent::<name>_<direction> with the node's pointers: inputs, a mask that may be missing,
// outputs.
Source write(const Node& node, const Layout& l, const std::string& name,
             const std::string& direction) {
  std::string arguments;
  const size_t inputs = node.input_count() - (l.masked ? 1 : 0);
  for (size_t i = 0; i < inputs; ++i) arguments += text("p", i, ", ");
  arguments += l.masked ? text("p", inputs) : std::string("nullptr");
  for (size_t i = 0; i < node.output_count(); ++i) arguments += text(", p", node.input_count() + i);
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  const int64_t in_shared = l.in_shared(shared_of(node.device()));
  Source source;
  source.name = text(node.name(), " ", l.batch, " x ", l.time, " x ", l.units);
  source.text =
      text("#include \"keratin/backend/cuda/kernels/", name, ".cu\"\n",
           "constexpr recurrent::Layout layout = {", l.batch, ", ", l.time, ", ", l.units, ", ",
           l.rows(), ", ", l.threads(), ", ", l.groups(), ", ", l.in_registers(), ", ", in_shared,
           ", ", flag(l.reverse), ", ", flag(l.masked), ", ", flag(l.zero_output), "};\n") +
      function(node, source, "kernel",
               text("  extern __shared__ Pack<", storage_type(l.dtype),
                    ", 4> memory[];\n  recurrent::", name, "_", direction, "<layout>({", arguments,
                    "}, memory);\n"),
               {.most_threads = static_cast<unsigned>(l.threads())});
  source.passes = {{.function = "kernel",
                    .blocks = static_cast<unsigned>((l.batch + l.rows() - 1) / l.rows()),
                    .threads = static_cast<unsigned>(l.threads()),
                    .shared_bytes = static_cast<unsigned>(in_shared * l.group_bytes())}};
  return source;
}

}  // namespace

bool fits_lstm(const Node& node) { return fits(lstm_layout(node)); }
bool fits_lstm_grad(const Node& node) { return fits(lstm_grad_layout(node)); }
bool fits_gru(const Node& node) {
  return node.attr<ops::GruAttrs>().reset_after && fits(gru_layout(node));
}
bool fits_gru_grad(const Node& node) {
  return node.attr<ops::GruAttrs>().reset_after && fits(gru_grad_layout(node));
}

Source make_lstm(const Node& node) { return write(node, lstm_layout(node), "lstm", "forward"); }
Source make_lstm_grad(const Node& node) {
  return write(node, lstm_grad_layout(node), "lstm", "backward");
}
Source make_gru(const Node& node) { return write(node, gru_layout(node), "gru", "forward"); }
Source make_gru_grad(const Node& node) {
  return write(node, gru_grad_layout(node), "gru", "backward");
}

}  // namespace keratin::cuda

#include <algorithm>

#include "keratin/backend/cuda/cuda.h"
#include "keratin/backend/cuda/driver/gpu.h"
#include "keratin/backend/cuda/source_kernel.h"
#include "keratin/base/text.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/records.h"
#include "keratin/ops/recurrent_operands.h"

// LSTM and GRU: all steps in one kernel, see kernels/recurrent.cu. The matmuls that need no state,
// those of x and of the weights' gradients, are other nodes.
namespace keratin::cuda {

namespace {

constexpr int64_t max_threads = 1024, max_shared = 96 << 10, registers = 65536;

// The shared memory that a block can have. Without a GPU, sources are written for a large one.
int64_t shared_of(Device device) {
  return device_count() > 0 ? gpu(device).shared_bytes() : 2 * max_shared;
}

// The numbers that a kernel is written for; `inputs` is the depth of a step's matmul.
struct RecurrentLayout {
  DType dtype;
  int64_t batch, time, units, inputs, lanes;
  bool reverse, zero_output, masked;

  int64_t threads() const { return (4 * units + 31) / 32 * 32; }
  int64_t groups() const { return (inputs + 4 * lanes - 1) / (4 * lanes); }
  // A block per sample, unless that is more than a large GPU runs at once.
  int64_t rows() const { return batch <= 132 ? 1 : 2; }
  int64_t in_registers() const {
    const int64_t each = std::min<int64_t>(registers / threads() / 8 * 8, 255);
    const int64_t others = 20 + 12 * rows();  // registers for everything but weights
    return std::clamp<int64_t>((each - others) / 16, 0, groups());
  }
  int64_t group_bytes() const { return 16 * static_cast<int64_t>(size_of(dtype)) * threads(); }
  // Shared memory begins with two states of each sample; weights follow.
  int64_t state_bytes() const { return 2 * rows() * groups() * 4 * lanes * 4; }
  int64_t in_shared(int64_t shared) const {
    const int64_t left = std::min(max_shared, shared - state_bytes());
    return std::clamp<int64_t>(left / group_bytes(), 0, groups() - in_registers());
  }
};

// From a sequence with so many numbers per unit.
template <class Attrs>
RecurrentLayout layout_of(const Node& node, Value sequence, int64_t gates, bool masked) {
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

std::optional<std::string> refuses(const RecurrentLayout& l) {
  if (l.dtype == DType::f64) return "f64: states are kept in f32";
  if (l.batch == 0 || l.time == 0 || l.units == 0) return "there are no steps";
  if (l.threads() <= max_threads) return std::nullopt;
  return text(l.units, " units need ", l.threads(), " threads, more than ", max_threads);
}

RecurrentLayout layout_of(const Node& node, const ops::LstmOperands<Value>& v) {
  RecurrentLayout layout = layout_of<ops::RecurrentAttrs>(node, v.xw, 4, v.mask.defined());
  layout.inputs = layout.units;
  return layout;
}
RecurrentLayout layout_of(const Node& node, const ops::LstmGradOperands<Value>& v) {
  RecurrentLayout layout = layout_of<ops::RecurrentAttrs>(node, v.gates, 4, v.mask.defined());
  layout.inputs = 4 * layout.units;
  layout.lanes = 16;
  return layout;
}
RecurrentLayout layout_of(const Node& node, const ops::GruOperands<Value>& v) {
  RecurrentLayout layout = layout_of<ops::GruAttrs>(node, v.xw, 3, v.mask.defined());
  layout.inputs = layout.units;
  return layout;
}
RecurrentLayout layout_of(const Node& node, const ops::GruGradOperands<Value>& v) {
  RecurrentLayout layout = layout_of<ops::GruAttrs>(node, v.gates, 4, v.mask.defined());
  layout.inputs = 3 * layout.units;
  layout.lanes = 16;
  return layout;
}

std::string list(std::initializer_list<Argument> arguments) {
  std::string names;
  for (const Argument& argument : arguments) names += text(names.empty() ? "" : ", ", argument);
  return names;
}

// Calls recurrent::<name>_<direction> with the fields of its struct.
Source write(const Node& node, const RecurrentLayout& l, const std::string& name,
             const std::string& direction, const std::string& fields) {
  const auto flag = [](bool on) { return on ? "true" : "false"; };
  const int64_t in_shared = l.in_shared(shared_of(node.device()));
  Source source;
  source.name = text(node.name(), " ", l.batch, " x ", l.time, " x ", l.units);
  source.code =
      text("#include \"keratin/backend/cuda/kernels/", name, ".cu\"\n",
           "constexpr recurrent::Layout layout = {", l.batch, ", ", l.time, ", ", l.units, ", ",
           l.rows(), ", ", l.threads(), ", ", l.groups(), ", ", l.in_registers(), ", ", in_shared,
           ", ", flag(l.reverse), ", ", flag(l.masked), ", ", flag(l.zero_output), "};\n") +
      function(node, source, "kernel",
               text("  extern __shared__ Pack<", storage_type(l.dtype),
                    ", 4> memory[];\n  recurrent::", name, "_", direction, "<layout>({", fields,
                    "}, memory);\n"),
               {.max_threads = static_cast<unsigned>(l.threads())});
  source.launches = {{.function = "kernel",
                      .blocks = static_cast<unsigned>((l.batch + l.rows() - 1) / l.rows()),
                      .threads = static_cast<unsigned>(l.threads()),
                      .shared_bytes = static_cast<unsigned>(in_shared * l.group_bytes())}};
  return source;
}

Source write_lstm(const Node& node) {
  const auto p = arguments<ops::LstmOperands>(node);
  return write(
      node, layout_of(node, operands<ops::LstmOperands>(node)), "lstm", "forward",
      list({p.xw, p.h0, p.c0, p.recurrent, p.mask, p.ys, p.h, p.c, p.gates, p.cells, p.states}));
}
Source write_lstm_grad(const Node& node) {
  const auto p = arguments<ops::LstmGradOperands>(node);
  return write(
      node, layout_of(node, operands<ops::LstmGradOperands>(node)), "lstm", "backward",
      list({p.c0, p.recurrent, p.gates, p.cells, p.dys, p.dh, p.dc, p.mask, p.dxw, p.dh0, p.dc0}));
}
Source write_gru(const Node& node) {
  const auto p = arguments<ops::GruOperands>(node);
  return write(node, layout_of(node, operands<ops::GruOperands>(node)), "gru", "forward",
               list({p.xw, p.h0, p.recurrent, p.bias, p.mask, p.ys, p.h, p.gates, p.states}));
}
Source write_gru_grad(const Node& node) {
  const auto p = arguments<ops::GruGradOperands>(node);
  return write(node, layout_of(node, operands<ops::GruGradOperands>(node)), "gru", "backward",
               list({p.recurrent, p.gates, p.states, p.dys, p.dh, p.mask, p.dxw, p.ds, p.dh0}));
}

template <template <class> class Operands>
std::optional<std::string> refuses_lstm(const Node& node) {
  return refuses(layout_of(node, operands<Operands>(node)));
}
template <template <class> class Operands>
std::optional<std::string> refuses_gru(const Node& node) {
  if (!node.attr<ops::GruAttrs>().reset_after) return "reset_after is false";
  return refuses(layout_of(node, operands<Operands>(node)));
}

}  // namespace

extern const CudaKernel lstm_kernel =
    source_kernel<write_lstm>({.name = "lstm in one kernel",
                               .ops = {&ops::lstm_op},
                               .refuses = refuses_lstm<ops::LstmOperands>},
                              {"%xw: f32[2,5,12], %s: f32[2,3], %r: f32[3,12]",
                               "%y, %h, %c, %gates, %cells, %states = lstm(%xw, %s, %s, %r)"});
extern const CudaKernel lstm_grad_kernel = source_kernel<write_lstm_grad>(
    {.name = "lstm_grad in one kernel",
     .ops = {&ops::lstm_grad_op},
     .refuses = refuses_lstm<ops::LstmGradOperands>},
    {"%s: f32[2,3], %r: f32[3,12], %gates: f32[2,5,12], %cells: f32[2,5,3]",
     "%y, %dh0, %dc0 = lstm_grad(%s, %r, %gates, %cells, %cells, %s, %s)"});
extern const CudaKernel gru_kernel = source_kernel<write_gru>(
    {.name = "gru in one kernel", .ops = {&ops::gru_op}, .refuses = refuses_gru<ops::GruOperands>},
    {"%xw: f32[2,5,9], %s: f32[2,3], %r: f32[3,9], %b: f32[9]",
     "%y, %h, %gates, %states = gru(%xw, %s, %r, %b) {reset_after = true}"});
extern const CudaKernel gru_grad_kernel = source_kernel<write_gru_grad>(
    {.name = "gru_grad in one kernel",
     .ops = {&ops::gru_grad_op},
     .refuses = refuses_gru<ops::GruGradOperands>},
    {"%s: f32[2,3], %r: f32[3,9], %gates: f32[2,5,12], %states: f32[2,5,3]",
     "%y, %ds, %dh0 = gru_grad(%r, %gates, %states, %states, %s) {reset_after = true}"});

}  // namespace keratin::cuda

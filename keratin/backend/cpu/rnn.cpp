#include "keratin/backend/cpu/levels/rnn.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/ops/lstm.h"
#include "keratin/ops/records.h"
#include "keratin/ops/recurrent_operands.h"

namespace keratin::cpu {
namespace {

// The sizes of a layer, from a sequence with `gates` numbers per unit.
template <class Attrs>
RnnShape rnn_shape(const Node& node, Value sequence, int64_t gates) {
  const auto& attrs = node.attr<Attrs>();
  const Shape& s = sequence.shape();
  return {.batch = s[0],
          .time = s[1],
          .hidden = s[2] / gates,
          .reverse = attrs.reverse,
          .zero_masked = attrs.zero_output_for_mask};
}

int64_t rnn_bytes(const Node& node, const RnnShape& s) {
  return rnn_scratch(node.type().dtype, s.batch, s.hidden);
}

// The bytes of an output that the routine must write but nobody uses; 0 for one that is used.
int64_t spare_bytes(Value output) {
  if (is_used(output)) return 0;
  return output.shape().count() * static_cast<int64_t>(size_of(output.dtype()));
}

std::optional<std::string> refuses_dtype(const Node& node) {
  const DType dtype = node.type().dtype;
  if (dtype == DType::f32 || dtype == DType::f64) return std::nullopt;
  return text("expected f32 or f64, got ", dtype);
}

Offer make_lstm(const Node& node, const KernelOptions& options) {
  const RnnShape s = rnn_shape<ops::RecurrentAttrs>(node, operands<ops::LstmOperands>(node).xw, 4);
  return offer_call<ops::LstmOperands>(
      node, text("lstm ", node.type().shape),
      [s, routine = routines<LstmRoutines>().forward[node.type().dtype], threads = options.threads](
          const auto& v, void* scratch) {
        routine({.xw = v.xw.data(),
                 .u = v.recurrent.data(),
                 .h0 = v.h0.data(),
                 .c0 = v.c0.data(),
                 .mask = v.mask.template as<const bool>(),
                 .y = v.ys.data(),
                 .h = v.h.data(),
                 .c = v.c.data(),
                 .gates = v.gates.data(),
                 .cells = v.cells.data(),
                 .states = v.states.data(),
                 .shape = s,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(rnn_bytes(node, s))});
}

Offer make_lstm_grad(const Node& node, const KernelOptions& options) {
  const auto values = operands<ops::LstmGradOperands>(node);
  const RnnShape s = rnn_shape<ops::RecurrentAttrs>(node, values.gates, 4);
  const int64_t bytes = rnn_bytes(node, s);
  return offer_call<ops::LstmGradOperands>(
      node, text("lstm gradient ", values.cells.shape()),
      [s, bytes, routine = routines<LstmRoutines>().grad[node.type().dtype],
       threads = options.threads](const auto& v, void* scratch) {
        auto* const spare = static_cast<std::byte*>(scratch) + bytes;
        routine({.u = v.recurrent.data(),
                 .c0 = v.c0.data(),
                 .mask = v.mask.template as<const bool>(),
                 .gates = v.gates.data(),
                 .cells = v.cells.data(),
                 .dy = v.dys.data(),
                 .dh = v.dh.data(),
                 .dc = v.dc.data(),
                 .dz = v.dxw ? v.dxw.data() : spare,
                 .dh0 = v.dh0.data(),
                 .dc0 = v.dc0.data(),
                 .shape = s,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(bytes + spare_bytes(values.dxw))});
}

Offer make_gru(const Node& node, const KernelOptions& options) {
  const RnnShape s = rnn_shape<ops::GruAttrs>(node, operands<ops::GruOperands>(node).xw, 3);
  return offer_call<ops::GruOperands>(
      node, text("gru ", node.type().shape),
      [s, routine = routines<GruRoutines>().forward[node.type().dtype],
       reset_after = node.attr<ops::GruAttrs>().reset_after,
       threads = options.threads](const auto& v, void* scratch) {
        routine({.xw = v.xw.data(),
                 .u = v.recurrent.data(),
                 .bias = v.bias.data(),
                 .h0 = v.h0.data(),
                 .mask = v.mask.template as<const bool>(),
                 .y = v.ys.data(),
                 .h = v.h.data(),
                 .gates = v.gates.data(),
                 .states = v.states.data(),
                 .reset_after = reset_after,
                 .shape = s,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(rnn_bytes(node, s))});
}

Offer make_gru_grad(const Node& node, const KernelOptions& options) {
  const auto values = operands<ops::GruGradOperands>(node);
  const RnnShape s = rnn_shape<ops::GruAttrs>(node, values.gates, 4);
  const int64_t bytes = rnn_bytes(node, s), dxw_bytes = spare_bytes(values.dxw);
  return offer_call<ops::GruGradOperands>(
      node, text("gru gradient ", values.states.shape()),
      [s, bytes, dxw_bytes, routine = routines<GruRoutines>().grad[node.type().dtype],
       reset_after = node.attr<ops::GruAttrs>().reset_after,
       threads = options.threads](const auto& v, void* scratch) {
        auto* const spare = static_cast<std::byte*>(scratch) + bytes;
        routine({.u = v.recurrent.data(),
                 .mask = v.mask.template as<const bool>(),
                 .gates = v.gates.data(),
                 .states = v.states.data(),
                 .dy = v.dys.data(),
                 .dh = v.dh.data(),
                 .dxw = v.dxw ? v.dxw.data() : spare,
                 .ds = v.ds ? v.ds.data() : spare + dxw_bytes,
                 .dh0 = v.dh0.data(),
                 .reset_after = reset_after,
                 .shape = s,
                 .scratch = scratch,
                 .threads = threads});
      },
      {.scratch_bytes = static_cast<size_t>(bytes + dxw_bytes + spare_bytes(values.ds))});
}

}  // namespace

extern constinit const KernelDef lstm_kernel{
    .name = "lstm",
    .ops = {&ops::lstm_op},
    .refuses = refuses_dtype,
    .make = make_lstm,
};
extern constinit const KernelDef lstm_grad_kernel{
    .name = "lstm gradient",
    .ops = {&ops::lstm_grad_op},
    .refuses = refuses_dtype,
    .make = make_lstm_grad,
};
extern constinit const KernelDef gru_kernel{
    .name = "gru",
    .ops = {&ops::gru_op},
    .refuses = refuses_dtype,
    .make = make_gru,
};
extern constinit const KernelDef gru_grad_kernel{
    .name = "gru gradient",
    .ops = {&ops::gru_grad_op},
    .refuses = refuses_dtype,
    .make = make_gru_grad,
};

}  // namespace keratin::cpu

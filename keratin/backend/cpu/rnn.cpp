#include "keratin/backend/cpu/levels/rnn.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/levels.h"
#include "keratin/backend/cpu/packing.h"
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

// A layer over a sequence: run(operands, scratch, packed weights or nullptr). Stable weights are
// packed by a preparation.
template <template <class> class Operands, class Run>
class RnnKernel final : public PreparedKernel {
 public:
  RnnKernel(const Node& node, std::string what, Run run, size_t scratch_bytes,
            std::function<std::unique_ptr<Preparation>()> prepare)
      : node_(node),
        what_(std::move(what)),
        run_(std::move(run)),
        scratch_bytes_(scratch_bytes),
        prepare_(std::move(prepare)) {}

  std::string describe() const override { return what_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::unique_ptr<Preparation> preparation() const override {
    return prepare_ ? prepare_() : nullptr;
  }
  Launch bind(Pointers pointers) const override {
    return
        [this, views = operands<Operands>(node_, pointers), scratch = scratch_slot(node_, pointers),
         prepared = prepare_ ? prepared_slot(node_, pointers) : nullptr] {
          run_(views, *scratch, prepared != nullptr ? *prepared : nullptr);
        };
  }

 private:
  const Node& node_;
  std::string what_;
  Run run_;
  size_t scratch_bytes_;
  std::function<std::unique_ptr<Preparation>()> prepare_;
};

template <template <class> class Operands, class Run>
Offer offer_rnn(const Node& node, std::string what, Run run, const RnnShape& s,
                std::function<std::unique_ptr<Preparation>()> prepare) {
  return {.kernel = std::make_unique<RnnKernel<Operands, Run>>(
              node, std::move(what), std::move(run), static_cast<size_t>(rnn_bytes(node, s)),
              std::move(prepare))};
}

// Packs the weights of `gates` gates, which are this input of a node, if they are stable.
template <class Args>
std::function<std::unique_ptr<Preparation>()> packing_of(const Node& node, size_t input,
                                                         const KernelOptions& options, Args args,
                                                         int64_t gates, void (*pack)(const Args&)) {
  if (!options.is_stable || !options.is_stable(node.in(input))) return {};
  const DType dtype = node.type().dtype;
  const auto bytes = static_cast<size_t>(rnn_packed_bytes(dtype, args.shape.hidden, gates));
  const std::string what = text("weights of ", node.name(), ' ', dtype, ' ', args.shape.hidden, 'x',
                                gates, ' ', node.attrs());
  return [&node, input, bytes, what, args, pack]() -> std::unique_ptr<Preparation> {
    return std::make_unique<Packing>(node, input, bytes, what,
                                     [args, pack](const void* from, void* to) {
                                       Args all = args;
                                       all.u = from;
                                       all.scratch = all.packed = to;
                                       pack(all);
                                     });
  };
}

Offer make_lstm(const Node& node, const KernelOptions& options) {
  const RnnShape s = rnn_shape<ops::RecurrentAttrs>(node, operands<ops::LstmOperands>(node).xw, 4);
  const auto& all = routines<LstmRoutines>();
  LstmArgs packed{};
  packed.shape = s;
  packed.threads = options.threads;
  return offer_rnn<ops::LstmOperands>(
      node, text("lstm ", node.type().shape),
      [s, routine = all.forward[node.type().dtype], threads = options.threads](
          const auto& v, void* scratch, void* prepared) {
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
                 .threads = threads,
                 .packed = prepared});
      },
      s, packing_of(node, 3, options, packed, 4, all.pack[node.type().dtype]));
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
  const auto& all = routines<GruRoutines>();
  const bool reset_after = node.attr<ops::GruAttrs>().reset_after;
  GruArgs packed{};
  packed.reset_after = reset_after;
  packed.shape = s;
  packed.threads = options.threads;
  return offer_rnn<ops::GruOperands>(
      node, text("gru ", node.type().shape),
      [s, routine = all.forward[node.type().dtype], reset_after, threads = options.threads](
          const auto& v, void* scratch, void* prepared) {
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
                 .threads = threads,
                 .packed = prepared});
      },
      s, packing_of(node, 2, options, packed, 3, all.pack[node.type().dtype]));
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

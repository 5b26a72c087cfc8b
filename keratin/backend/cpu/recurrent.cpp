#include "keratin/backend/cpu/recurrent.h"

#include "keratin/backend/cpu/call_kernel.h"
#include "keratin/backend/cpu/kernel_table.h"
#include "keratin/backend/cpu/kernels.h"
#include "keratin/base/text.h"
#include "keratin/ops/gru.h"
#include "keratin/ops/lstm.h"

namespace keratin::cpu {
namespace {

// From a sequence with so many numbers per unit.
template <class Attrs>
RnnShape shape_of(const Node& node, Value sequence, int64_t gates) {
  const auto& attrs = node.attr<Attrs>();
  const Shape& s = sequence.shape();
  return {s[0], s[1], s[2] / gates, attrs.reverse, attrs.zero_output_for_mask};
}

int64_t rnn_bytes(const Node& node, const RnnShape& s) {
  return rnn_scratch(node.type().dtype, s.batch, s.hidden);
}

// Room for an output that the kernel needs to write but nobody uses.
int64_t spare_bytes(const Node& node, size_t output) {
  if (is_used(node, output)) return 0;
  return node.type(output).shape.count() * static_cast<int64_t>(size_of(node.type(output).dtype));
}

const bool* mask_at(Pointers p, size_t input, size_t inputs) {
  return input < inputs ? static_cast<const bool*>(p[input]) : nullptr;
}

}  // namespace

bool claims_recurrent(const Node& node) {
  return node.type().dtype == DType::f32 || node.type().dtype == DType::f64;
}

// (xw, h0, c0, recurrent[, mask]) to (ys, h, c, gates, cells, states)
Offer make_lstm(const Node& node, const KernelOptions& options) {
  if (!claims_recurrent(node)) return refuse("lstm in ", node.type().dtype);
  const RnnShape s = shape_of<ops::RecurrentAttrs>(node, node.in(0), 4);
  return offer_call(text("lstm ", node.type().shape),
                    [=, kernel = kernels().rnn.lstm[node.type().dtype], n = node.input_count(),
                     threads = options.threads](Pointers p) {
                      kernel({p[0], p[3], p[1], p[2], mask_at(p, 4, n), p[n], p[n + 1], p[n + 2],
                              p[n + 3], p[n + 4], p[n + 5], s, p[n + 6], threads});
                    },
                    {.scratch_bytes = static_cast<size_t>(rnn_bytes(node, s))});
}

// (c0, recurrent, gates, cells, dys, dh, dc[, mask]) to (dxw, dh0, dc0)
Offer make_lstm_grad(const Node& node, const KernelOptions& options) {
  if (!claims_recurrent(node)) return refuse("lstm in ", node.type().dtype);
  const RnnShape s = shape_of<ops::RecurrentAttrs>(node, node.in(2), 4);
  const int64_t bytes = rnn_bytes(node, s);
  return offer_call(text("lstm gradient ", node.in(3).shape()),
                    [=, kernel = kernels().rnn.lstm_grad[node.type().dtype], n = node.input_count(),
                     threads = options.threads](Pointers p) {
                      void* const spare = static_cast<std::byte*>(p[n + 3]) + bytes;
                      kernel({p[1], p[0], mask_at(p, 7, n), p[2], p[3], p[4], p[5], p[6],
                              p[n] ? p[n] : spare, p[n + 1], p[n + 2], s, p[n + 3], threads});
                    },
                    {.scratch_bytes = static_cast<size_t>(bytes + spare_bytes(node, 0))});
}

// (xw, h0, recurrent[, bias][, mask]) to (ys, h, gates, states)
Offer make_gru(const Node& node, const KernelOptions& options) {
  if (!claims_recurrent(node)) return refuse("gru in ", node.type().dtype);
  const RnnShape s = shape_of<ops::GruAttrs>(node, node.in(0), 3);
  return offer_call(
      text("gru ", node.type().shape),
      [=, kernel = kernels().rnn.gru[node.type().dtype], n = node.input_count(),
       after = node.attr<ops::GruAttrs>().reset_after, threads = options.threads](Pointers p) {
        kernel({p[0], p[2], after ? p[3] : nullptr, p[1], mask_at(p, after ? 4 : 3, n), p[n],
                p[n + 1], p[n + 2], p[n + 3], after, s, p[n + 4], threads});
      },
      {.scratch_bytes = static_cast<size_t>(rnn_bytes(node, s))});
}

// (recurrent, gates, states, dys, dh[, mask]) to (dxw, ds, dh0)
Offer make_gru_grad(const Node& node, const KernelOptions& options) {
  if (!claims_recurrent(node)) return refuse("gru in ", node.type().dtype);
  const RnnShape s = shape_of<ops::GruAttrs>(node, node.in(1), 4);
  const int64_t bytes = rnn_bytes(node, s), dxw_bytes = spare_bytes(node, 0);
  return offer_call(
      text("gru gradient ", node.in(2).shape()),
      [=, kernel = kernels().rnn.gru_grad[node.type().dtype], n = node.input_count(),
       after = node.attr<ops::GruAttrs>().reset_after, threads = options.threads](Pointers p) {
        auto* const spare = static_cast<std::byte*>(p[n + 3]) + bytes;
        kernel({p[0], mask_at(p, 5, n), p[1], p[2], p[3], p[4], p[n] ? p[n] : spare,
                p[n + 1] ? p[n + 1] : spare + dxw_bytes, p[n + 2], after, s, p[n + 3], threads});
      },
      {.scratch_bytes = static_cast<size_t>(bytes + dxw_bytes + spare_bytes(node, 1))});
}

}  // namespace keratin::cpu

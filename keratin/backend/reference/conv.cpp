#include "keratin/ops/conv.h"

#include "keratin/backend/reference/families.h"
#include "keratin/backend/reference/windows.h"
#include "keratin/ops/records.h"

namespace keratin::reference {

namespace {

using ops::ConvGeometry;

// Calls f(x, w, y) with the positions of every three elements that meet in the convolution.
template <class F>
void for_each_product(const ConvGeometry& g, F&& f) {
  const Shape output = spatial_output(g.axes);
  const int64_t inputs = spatial_inputs(g.axes);
  const int64_t depth = g.channels / g.groups, width = g.outputs / g.groups;
  int64_t o = 0;  // counts the outputs of all samples
  for (int64_t n = 0; n < g.batch; ++n)
    for_each_index(output, [&](const Dims& index) {
      for_each_in_window(g.axes, index, [&](int64_t k, int64_t i) {
        for (int64_t group = 0; group < g.groups; ++group)
          for (int64_t c = 0; c < depth; ++c)
            for (int64_t m = group * width; m < (group + 1) * width; ++m)
              f((n * inputs + i) * g.channels + group * depth + c, (k * depth + c) * g.outputs + m,
                o * g.outputs + m);
      });
      ++o;
    });
}

// Sums products of the inputs into the output, in double; `pick` orders (x, w, y) as
// (input 0, input 1, output).
template <class Pick>
void convolve(const Call& call, Pick pick) {
  dispatch(call.node.type().dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<S>>) {
      std::vector<double> totals(static_cast<size_t>(call.node.type().shape.count()), 0);
      const auto read = [&](size_t input, int64_t position) {
        return static_cast<double>(static_cast<compute_t<S>>(call.in<S>(input)[position]));
      };
      for_each_product(ops::conv_geometry(call.node), [&](int64_t x, int64_t w, int64_t y) {
        const auto [a, b, out] = pick(x, w, y);
        totals[static_cast<size_t>(out)] += read(0, a) * read(1, b);
      });
      for (size_t i = 0; i < totals.size(); ++i)
        call.out<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
    }
  });
}

using Positions = std::array<int64_t, 3>;

void conv(const Call& call) {
  convolve(call, [](int64_t x, int64_t w, int64_t y) { return Positions{x, w, y}; });
}
void conv_grad_input(const Call& call) {
  convolve(call, [](int64_t x, int64_t w, int64_t y) { return Positions{y, w, x}; });
}
void conv_grad_filter(const Call& call) {
  convolve(call, [](int64_t x, int64_t w, int64_t y) { return Positions{x, y, w}; });
}

constexpr Entry table[] = {
    {&ops::conv_op, conv},
    {&ops::conv_grad_input_op, conv_grad_input},
    {&ops::conv_grad_filter_op, conv_grad_filter},
};

}  // namespace

std::span<const Entry> conv_loops() { return table; }

}  // namespace keratin::reference

#include "keratin/ops/conv.h"

#include "keratin/backend/reference/windows.h"
#include "keratin/ops/records.h"
#include "keratin/ops/window_operands.h"
#include "keratin/tensor/elements.h"

namespace keratin::reference {

namespace {

using ops::ConvGeometry;

// Calls f(x, w, y) with the positions of every three elements of which the convolution multiplies
// two.
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

// out += a · b for every three elements that meet, summed in double; `pick` orders their positions
// (x, w, y) as (a, b, out).
template <class Pick>
void convolve(const Node& node, const View& a, const View& b, const View& out, Pick pick) {
  dispatch(out.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<S>>) {
      std::vector<double> totals(static_cast<size_t>(out.shape().count()), 0);
      const auto read = [](const S& element) {
        return static_cast<double>(static_cast<compute_t<S>>(element));
      };
      const S *left = a.as<S>(), *right = b.as<S>();
      for_each_product(ops::conv_geometry(node), [&](int64_t x, int64_t w, int64_t y) {
        const auto [i, j, k] = pick(x, w, y);
        totals[static_cast<size_t>(k)] += read(left[i]) * read(right[j]);
      });
      for (size_t i = 0; i < totals.size(); ++i)
        out.as<S>()[i] = static_cast<S>(static_cast<compute_t<S>>(totals[i]));
    }
  });
}

using Positions = std::array<int64_t, 3>;

void conv(const Node& node, const ops::ConvOperands<View>& v) {
  convolve(node, v.x, v.filter, v.y, [](int64_t x, int64_t w, int64_t y) {
    return Positions{x, w, y};
  });
}
void conv_grad_input(const Node& node, const ops::ConvGradInputOperands<View>& v) {
  convolve(node, v.dy, v.filter, v.dx, [](int64_t x, int64_t w, int64_t y) {
    return Positions{y, w, x};
  });
}
void conv_grad_filter(const Node& node, const ops::ConvGradFilterOperands<View>& v) {
  convolve(node, v.x, v.dy, v.dfilter, [](int64_t x, int64_t w, int64_t y) {
    return Positions{x, y, w};
  });
}

}  // namespace

extern const KernelDef conv_loop{
    .name = "conv", .ops = {&ops::conv_op}, .make = make_loop<ops::ConvOperands, conv>};
extern const KernelDef conv_grad_input_loop{
    .name = "conv_grad_input",
    .ops = {&ops::conv_grad_input_op},
    .make = make_loop<ops::ConvGradInputOperands, conv_grad_input>};
extern const KernelDef conv_grad_filter_loop{
    .name = "conv_grad_filter",
    .ops = {&ops::conv_grad_filter_op},
    .make = make_loop<ops::ConvGradFilterOperands, conv_grad_filter>};

}  // namespace keratin::reference

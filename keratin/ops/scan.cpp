#include "keratin/ops/scan.h"

#include <algorithm>

#include "keratin/base/text.h"
#include "keratin/ops/constant.h"
#include "keratin/ops/flops.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/records.h"
#include "keratin/ops/region.h"

namespace keratin::ops {

namespace {

Type slice_of(const Type& type) {
  return {type.dtype, Shape(std::span(type.shape.begin() + 1, type.shape.end())), type.device};
}

Type stack_of(const Type& slice, int64_t length) {
  Dims dims = slice.shape.dims();
  dims.insert(dims.begin(), length);
  const Shape shape(dims);
  if (shape.known()) shape.count();  // refuses what overflows
  return {slice.dtype, shape, slice.device};
}

// The number of steps, from the option and the xs, which must agree.
int64_t common_length(const Types& xs, int64_t length) {
  require(length >= 0 || length == unknown, "scan: the length must not be negative, got ", length);
  require(!xs.empty() || length != unknown, "scan: without xs the length must be given");
  for (const Type& x : xs) {
    require(x.shape.rank() > 0, "scan: an x needs a leading axis of time, got the scalar ", x);
    require(length == unknown || x.shape[0] == unknown || x.shape[0] == length, "scan: expected ",
            length, " steps, an x has ", x.shape[0], " (", x, ")");
    if (length == unknown) length = x.shape[0];
  }
  return length;
}

// A scan node's inputs by role.
struct Parts {
  Values carries, xs, constants;
};

Parts parts_of(const ScanAttrs& attrs, const Values& values) {
  const auto count = static_cast<int64_t>(values.size());
  // Without adding the two, since that may overflow.
  require(attrs.carries >= 0 && attrs.carries <= count && attrs.xs >= 0 &&
              attrs.xs <= count - attrs.carries,
          "scan: ", attrs.carries, " carries and ", attrs.xs, " xs of ", values.size(), " inputs");
  const auto xs = values.begin() + attrs.carries, constants = xs + attrs.xs;
  return {{values.begin(), xs}, {xs, constants}, {constants, values.end()}};
}

// The type of a step's input: that of an x without its axis of time.
Types step_types(const ScanAttrs& attrs, Types inputs) {
  for (size_t i = 0; i < static_cast<size_t>(attrs.xs); ++i) {
    Type& x = inputs[static_cast<size_t>(attrs.carries) + i];
    x = slice_of(x);
  }
  return inputs;
}

Types infer_scan(const Node& n) {
  const auto& attrs = n.attr<ScanAttrs>();
  const Parts in = parts_of(attrs, n.inputs());
  const int64_t length = common_length(types_of(in.xs), attrs.length);
  require_parameters(n.region(), step_types(attrs, types_of(n.inputs())), "scan");

  const Values& results = n.region().results;
  const auto carries = static_cast<size_t>(attrs.carries);
  require(results.size() >= carries, "scan: the body takes ", carries, " carries and gives ",
          results.size(), " values");
  Types types;
  for (size_t i = 0; i < carries; ++i) {
    types.push_back(in.carries[i].type());
    require(unify(types[i], results[i].type()), "scan: carry ", i, " is ", in.carries[i].type(),
            ", the body makes it ", results[i].type());
  }
  for (size_t i = carries; i < results.size(); ++i)
    types.push_back(stack_of(results[i].type(), length));
  return types;
}

Values joined(std::initializer_list<Values> lists) {
  Values all;
  for (const Values& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

using FullBody = std::function<Scanned(Block& block, const Parts& in)>;

// Like `scan`, with constants that the body takes as parameters.
Scanned scan_with_constants(const Parts& in, const FullBody& body, ScanOptions options) {
  const ScanAttrs attrs{static_cast<int64_t>(in.carries.size()), static_cast<int64_t>(in.xs.size()),
                        options.length, options.reverse};
  common_length(types_of(in.xs), options.length);
  const Values inputs = joined({in.carries, in.xs, in.constants});
  require(!inputs.empty(), "scan: needs at least one carry or x");
  const Types parameters = step_types(attrs, types_of(inputs));

  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(write_region(parameters, inputs, [&](const Values& values) {
    const Scanned step = body(values[0].block(), parts_of(attrs, values));
    require(step.carries.size() == in.carries.size(), "scan: the body takes ", in.carries.size(),
            " carries and gives ", step.carries.size());
    const Values results = joined({step.carries, step.ys});
    for (const Value& result : results)
      require(result.defined(), "scan: the body gives an undefined value");
    return results;
  }));
  const Values outputs = emit_with_regions(scan_op, inputs, attrs, std::move(regions)).outputs();
  const auto ys = outputs.begin() + attrs.carries;
  return {{outputs.begin(), ys}, {ys, outputs.end()}};
}

Values floats(const Values& values) {
  Values result;
  for (const Value& value : values)
    if (is_float(value.dtype())) result.push_back(value);
  return result;
}

// Sums over many steps are kept in f32 at least.
DType sum_dtype(DType dtype) { return size_of(dtype) < 4 ? DType::f32 : dtype; }

// The carries before each step, stacked: computed by the same loop, with its carries as ys.
Values incoming_carries(const Node& n, const Parts& in, ScanOptions options) {
  const FullBody body = [&](Block& block, const Parts& p) -> Scanned {
    Values results = inline_block(n.region(), block, joined({p.carries, p.xs, p.constants}));
    results.resize(p.carries.size());
    return {results, p.carries};
  };
  return scan_with_constants(in, body, options).ys;
}

// The loop backwards. Each step computes its forward step again and the gradients of its inputs;
// the gradients of carries are carried, those of constants are summed.
class ScanGradient {
 public:
  ScanGradient(const Node& n, const Values& dy, PullBack pull_back)
      : n_(n), in_(parts_of(n.attr<ScanAttrs>(), n.inputs())), pull_back_(pull_back) {
    for (size_t i = 0; i < dy.size(); ++i) {
      if (!is_float(dy[i].dtype())) continue;
      if (i < in_.carries.size()) {
        dcarries_.push_back(dy[i]);
      } else if (uniform_value(dy[i]) != 0.0) {
        dys_.push_back(dy[i]);
        flows_.push_back(i);
      }
    }
  }

  Values run() {
    const auto& attrs = n_.attr<ScanAttrs>();
    const int64_t length = scan_length(n_);
    const Values carries = incoming_carries(n_, in_, {length, attrs.reverse});
    Values sums;
    for (const Value& constant : floats(in_.constants))
      sums.push_back(full(n_.block(), sum_dtype(constant.dtype()), constant.shape(), 0));
    const Scanned back = scan_with_constants(
        {joined({dcarries_, sums}), joined({carries, in_.xs, dys_}), in_.constants},
        [&](Block& block, const Parts& p) { return step(block, p); }, {length, !attrs.reverse});
    return by_input(back);
  }

 private:
  Scanned step(Block& block, const Parts& p) const {
    const auto xs = p.xs.begin() + static_cast<int64_t>(in_.carries.size());
    const auto dys = xs + static_cast<int64_t>(in_.xs.size());
    const Values slices(p.xs.begin(), dys);
    const Values results = inline_block(n_.region(), block, joined({slices, p.constants}));
    Values dy(results.size());
    size_t next = 0;
    for (size_t i = 0; i < in_.carries.size(); ++i)
      if (is_float(results[i].dtype())) dy[i] = p.carries[next++];
    for (size_t i = 0; i < flows_.size(); ++i) dy[flows_[i]] = dys[static_cast<int64_t>(i)];

    const Values wrt = floats(joined({slices, p.constants}));
    Values found = pull_back_(block, results, dy, wrt);
    for (size_t i = 0; i < wrt.size(); ++i)
      if (!found[i].defined()) found[i] = full(block, wrt[i].dtype(), wrt[i].shape(), 0);
    const auto dx = found.begin() + static_cast<int64_t>(dcarries_.size());
    const auto dconstants = dx + static_cast<int64_t>(floats(in_.xs).size());
    Values carried(found.begin(), dx);
    for (auto d = dconstants; d != found.end(); ++d, ++next)
      carried.push_back(p.carries[next] + cast(*d, sum_dtype(d->dtype())));
    return {carried, {dx, dconstants}};
  }

  // The results are the gradients of the carries, then of the constants, and as ys those of the xs.
  Values by_input(const Scanned& back) const {
    Values result(n_.input_count());
    const size_t first_constant = in_.carries.size() + in_.xs.size();
    size_t carried = 0, stacked = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      if (!is_float(n_.in(i).dtype())) continue;
      const bool is_x = i >= in_.carries.size() && i < first_constant;
      result[i] = is_x ? back.ys[stacked++] : cast(back.carries[carried++], n_.in(i).dtype());
    }
    return result;
  }

  const Node& n_;
  Parts in_;
  PullBack pull_back_;
  Values dcarries_, dys_;      // of the float outputs; dys that are zero are left out
  std::vector<size_t> flows_;  // which outputs dys_ belong to
};

}  // namespace

// c, y_t = body(c, x_t, constants)
const OpDef scan_op{
    .name = "scan",
    .attrs = attrs_type<ScanAttrs>(),
    .regions = 1,
    .infer = infer_scan,
    .grad_regions = [](const Node& n, const Values& dy, PullBack pull_back) -> Values {
      if (floats(n.inputs()).empty()) return Values(n.input_count());
      return ScanGradient(n, dy, pull_back).run();
    },
    .flops = [](const Node& n) { return static_cast<double>(scan_length(n)) * flops(n.region()); },
};

int64_t scan_length(const Node& node) {
  const auto& attrs = node.attr<ScanAttrs>();
  return common_length(types_of(parts_of(attrs, node.inputs()).xs), attrs.length);
}

Scanned scan(const Values& init, const Values& xs, const ScanBody& body, ScanOptions options) {
  for (const Values* inputs : {&init, &xs})
    for (const Value& value : *inputs) require(value.defined(), "scan: an input is undefined");
  require(!init.empty() || !xs.empty(), "scan: needs at least one carry or x");
  return scan_with_constants(
      {init, xs, {}}, [&](Block&, const Parts& in) { return body(in.carries, in.xs); }, options);
}

}  // namespace keratin::ops

#include <numbers>

#include "keratin/ops/emit.h"
#include "keratin/ops/pointwise.h"
#include "keratin/ops/pointwise_rules.h"
#include "keratin/ops/records.h"
#include "keratin/ops/scalar.h"

namespace keratin::ops {

namespace {
constexpr double two_over_sqrt_pi = 2 * std::numbers::inv_sqrtpi;
}

// floor(x)
const OpDef floor_op{.name = "floor",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = no_gradient,
                     .scalar = ScalarOp::floor};
// ceil(x)
const OpDef ceil_op{.name = "ceil",
                    .arity = 1,
                    .infer = infer_floats,
                    .grad = no_gradient,
                    .scalar = ScalarOp::ceil};
// the nearest integer, half to even
const OpDef round_op{.name = "round",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = no_gradient,
                     .scalar = ScalarOp::round};
// x without its fraction
const OpDef trunc_op{.name = "trunc",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = no_gradient,
                     .scalar = ScalarOp::trunc};
// √x
const OpDef sqrt_op{
    .name = "sqrt",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] / (n.out() * 2.0)}; },
    .scalar = ScalarOp::sqrt};
// 1 / √x
const OpDef rsqrt_op{.name = "rsqrt",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = [](const Node& n, const Values& dy) -> Values {
                       return {dy[0] * n.out() / n.in() * -0.5};
                     },
                     .scalar = ScalarOp::rsqrt};
// e^x
const OpDef exp_op{
    .name = "exp",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] * n.out()}; },
    .scalar = ScalarOp::exp};
// e^x - 1, exact near 0
const OpDef expm1_op{
    .name = "expm1",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] * (n.out() + 1.0)}; },
    .scalar = ScalarOp::expm1};
// ln x
const OpDef log_op{
    .name = "log",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] / n.in()}; },
    .scalar = ScalarOp::log};
// ln(1 + x), exact near 0
const OpDef log1p_op{
    .name = "log1p",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] / (n.in() + 1.0)}; },
    .scalar = ScalarOp::log1p};
// sin x
const OpDef sin_op{
    .name = "sin",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] * cos(n.in())}; },
    .scalar = ScalarOp::sin};
// cos x
const OpDef cos_op{
    .name = "cos",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {-(dy[0] * sin(n.in()))}; },
    .scalar = ScalarOp::cos};
// tan x
const OpDef tan_op{.name = "tan",
                   .arity = 1,
                   .infer = infer_floats,
                   .grad = [](const Node& n, const Values& dy) -> Values {
                     return {dy[0] * (square(n.out()) + 1.0)};
                   },
                   .scalar = ScalarOp::tan};
// asin x
const OpDef asin_op{.name = "asin",
                    .arity = 1,
                    .infer = infer_floats,
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      return {dy[0] * rsqrt(1.0 - square(n.in()))};
                    },
                    .scalar = ScalarOp::asin};
// acos x
const OpDef acos_op{.name = "acos",
                    .arity = 1,
                    .infer = infer_floats,
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      return {-(dy[0] * rsqrt(1.0 - square(n.in())))};
                    },
                    .scalar = ScalarOp::acos};
// atan x
const OpDef atan_op{.name = "atan",
                    .arity = 1,
                    .infer = infer_floats,
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      return {dy[0] / (square(n.in()) + 1.0)};
                    },
                    .scalar = ScalarOp::atan};
// sinh x
const OpDef sinh_op{
    .name = "sinh",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] * cosh(n.in())}; },
    .scalar = ScalarOp::sinh};
// cosh x
const OpDef cosh_op{
    .name = "cosh",
    .arity = 1,
    .infer = infer_floats,
    .grad = [](const Node& n, const Values& dy) -> Values { return {dy[0] * sinh(n.in())}; },
    .scalar = ScalarOp::cosh};
// tanh x
const OpDef tanh_op{.name = "tanh",
                    .arity = 1,
                    .infer = infer_floats,
                    .grad = [](const Node& n, const Values& dy) -> Values {
                      return {dy[0] * (1.0 - square(n.out()))};
                    },
                    .scalar = ScalarOp::tanh};
// asinh x
const OpDef asinh_op{.name = "asinh",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = [](const Node& n, const Values& dy) -> Values {
                       return {dy[0] * rsqrt(square(n.in()) + 1.0)};
                     },
                     .scalar = ScalarOp::asinh};
// acosh x
const OpDef acosh_op{.name = "acosh",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = [](const Node& n, const Values& dy) -> Values {
                       return {dy[0] * rsqrt(square(n.in()) - 1.0)};
                     },
                     .scalar = ScalarOp::acosh};
// atanh x
const OpDef atanh_op{.name = "atanh",
                     .arity = 1,
                     .infer = infer_floats,
                     .grad = [](const Node& n, const Values& dy) -> Values {
                       return {dy[0] / (1.0 - square(n.in()))};
                     },
                     .scalar = ScalarOp::atanh};
// 2/√π ∫₀ˣ exp(-t²) dt
const OpDef erf_op{.name = "erf",
                   .arity = 1,
                   .infer = infer_floats,
                   .grad = [](const Node& n, const Values& dy) -> Values {
                     return {dy[0] * exp(-square(n.in())) * two_over_sqrt_pi};
                   },
                   .scalar = ScalarOp::erf};
// the x with erf(x) = input
const OpDef erfinv_op{.name = "erfinv",
                      .arity = 1,
                      .infer = infer_floats,
                      .grad = [](const Node& n, const Values& dy) -> Values {
                        return {dy[0] * exp(square(n.out())) / two_over_sqrt_pi};
                      },
                      .scalar = ScalarOp::erfinv};
// 1 / (1 + e^-x)
const OpDef sigmoid_op{.name = "sigmoid",
                       .arity = 1,
                       .infer = infer_floats,
                       .grad = [](const Node& n, const Values& dy) -> Values {
                         return {dy[0] * n.out() * (1.0 - n.out())};
                       },
                       .scalar = ScalarOp::sigmoid};
const OpDef is_nan_op{.name = "is_nan",
                      .arity = 1,
                      .infer = infer_test,
                      .grad = no_gradient,
                      .scalar = ScalarOp::is_nan};
const OpDef is_inf_op{.name = "is_inf",
                      .arity = 1,
                      .infer = infer_test,
                      .grad = no_gradient,
                      .scalar = ScalarOp::is_inf};
const OpDef is_finite_op{.name = "is_finite",
                         .arity = 1,
                         .infer = infer_test,
                         .grad = no_gradient,
                         .scalar = ScalarOp::is_finite};

Value floor(Value x) { return emit(floor_op, {x}); }
Value ceil(Value x) { return emit(ceil_op, {x}); }
Value round(Value x) { return emit(round_op, {x}); }
Value trunc(Value x) { return emit(trunc_op, {x}); }
Value sqrt(Value x) { return emit(sqrt_op, {x}); }
Value rsqrt(Value x) { return emit(rsqrt_op, {x}); }
Value exp(Value x) { return emit(exp_op, {x}); }
Value expm1(Value x) { return emit(expm1_op, {x}); }
Value log(Value x) { return emit(log_op, {x}); }
Value log1p(Value x) { return emit(log1p_op, {x}); }
Value sin(Value x) { return emit(sin_op, {x}); }
Value cos(Value x) { return emit(cos_op, {x}); }
Value tan(Value x) { return emit(tan_op, {x}); }
Value arcsin(Value x) { return emit(asin_op, {x}); }
Value arccos(Value x) { return emit(acos_op, {x}); }
Value arctan(Value x) { return emit(atan_op, {x}); }
Value sinh(Value x) { return emit(sinh_op, {x}); }
Value cosh(Value x) { return emit(cosh_op, {x}); }
Value tanh(Value x) { return emit(tanh_op, {x}); }
Value arcsinh(Value x) { return emit(asinh_op, {x}); }
Value arccosh(Value x) { return emit(acosh_op, {x}); }
Value arctanh(Value x) { return emit(atanh_op, {x}); }
Value erf(Value x) { return emit(erf_op, {x}); }
Value erfinv(Value x) { return emit(erfinv_op, {x}); }
Value sigmoid(Value x) { return emit(sigmoid_op, {x}); }
Value isnan(Value x) { return emit(is_nan_op, {x}); }
Value isinf(Value x) { return emit(is_inf_op, {x}); }
Value isfinite(Value x) { return emit(is_finite_op, {x}); }
Value square(Value x) { return x * x; }
Value reciprocal(Value x) { return 1.0 / x; }

}  // namespace keratin::ops

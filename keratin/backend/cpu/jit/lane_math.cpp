#include <array>
#include <cmath>
#include <limits>

#include "keratin/backend/cpu/jit/lane_assembler.h"
#include "keratin/base/text.h"
#include "keratin/tensor/shape_rules.h"

// exp and log of f32 by reduction to a short interval and a polynomial, the others by way of them.
// The coefficients are minimax fits, rounded one after the other with the rest fitted again.
namespace keratin::cpu {

namespace {

constexpr float log2_e = 0x1.715476p+0f;
// ln 2 in two parts; a product of the first with an exponent is exact.
constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;

// (e^r - 1 - r) / r^2 on [-ln2/2, ln2/2]; relative error of e^r is 2^-28.
constexpr std::array exp_coefficients = {0x1.fffffcp-2f, 0x1.55548ap-3f, 0x1.55584ep-5f,
                                         0x1.123f2ep-7f, 0x1.6ad132p-10f};

// The same for a relative error of e^r - 1 of 2^-28, which near 0 is harder.
constexpr std::array expm1_coefficients = {0x1p-1f,        0x1.55552cp-3f,  0x1.555502p-5f,
                                           0x1.1155a8p-7f, 0x1.6d2e4ap-10f, 0x1.3b8ad2p-13f};

// (log(1 + f) - f + f^2 / 2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1]; relative error 2^-29.
constexpr std::array log_coefficients = {0x1.555548p-2f,  -0x1.000076p-2f, 0x1.99a54ap-3f,
                                         -0x1.552ca2p-3f, 0x1.23008ap-3f,  -0x1.012b7cp-3f,
                                         0x1.f068b4p-4f,  -0x1.bd97bap-4f, 0x1.afee38p-5f};

// erf(x) / x - 1 as a function of x^2, for |x| <= 1; relative error 2^-29.
constexpr std::array erf_near_coefficients = {0x1.06eba8p-3f,  -0x1.81273ep-2f, 0x1.ce2ce6p-4f,
                                              -0x1.b7f71ap-6f, 0x1.53f224p-8f,  -0x1.a3515ep-11f,
                                              0x1.4771fep-14f};

// -log(erfc(x)) on [1, 4]; error of erf is 2^-33.
constexpr std::array erf_far_coefficients = {-0x1.8b3f28p-13f, 0x1.212c2cp+0f,  0x1.4434f8p-1f,
                                             0x1.bc186ap-4f,   -0x1.9d0a6ep-6f, 0x1.139642p-8f,
                                             -0x1.cedfbcp-12f, 0x1.6bf338p-16f};

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

// d = c0 + c1 x + c2 x^2 + ...
void LaneAssembler::horner(const Xmm& d, const Xmm& x, std::span<const float> coefficients) {
  broadcast(d, Lane::f32, constant(coefficients.back()));
  for (size_t i = coefficients.size() - 1; i-- > 0;) vfmadd213ps(d, x, constant(coefficients[i]));
}

// Between two bounds; the instructions give their second operand, here x, when it is a NaN.
void LaneAssembler::clamp(const Xmm& d, const Xmm& x, float low, float high) {
  const Xmm bound = temp();
  broadcast(bound, Lane::f32, constant(low));
  vmaxps(d, bound, x);
  broadcast(bound, Lane::f32, constant(high));
  vminps(d, bound, d);
}

// x = n ln 2 + r with n whole and |r| <= ln2 / 2.
void LaneAssembler::reduce_exponent(const Xmm& r, const Xmm& n, const Xmm& x) {
  vmulps(n, x, constant(log2_e));
  round_to(Lane::f32, 0, n, n);
  move(r, x);
  vfnmadd231ps(r, n, constant(ln2_high));
  vfnmadd231ps(r, n, constant(ln2_low));
}

// e^r - 1 = r + r^2 q(r).
void LaneAssembler::exp_tail(const Xmm& d, const Xmm& r, std::span<const float> coefficients) {
  horner(d, r, coefficients);
  const Xmm square = temp();
  vmulps(square, r, r);
  vfmadd213ps(d, square, r);
}

// 2^(n + offset), which must be a normal number.
void LaneAssembler::power_of_two(const Xmm& d, const Xmm& n, int offset) {
  if (evex()) {
    broadcast(d, Lane::f32, constant(std::ldexp(1.0f, offset)));
    return vscalefps(d, d, n);
  }
  vcvtps2dq(d, n);
  vpaddd(d, d, constant_bits(static_cast<uint32_t>(127 + offset)));
  vpslld(d, d, 23);
}

// p 2^n, right up to infinity and down to zero. AVX2 does it in two steps of half the exponent.
void LaneAssembler::scale(const Xmm& d, const Xmm& p, const Xmm& n) {
  if (evex()) return vscalefps(d, p, n);
  const Xmm whole = temp(), half = temp();
  vcvtps2dq(whole, n);
  vpsrad(half, whole, 1);
  vpsubd(whole, whole, half);
  for (const Xmm& part : {half, whole}) {
    vpaddd(part, part, constant_bits(127));
    vpslld(part, part, 23);
  }
  vmulps(d, p, half);
  vmulps(d, d, whole);
}

// e^x = 2^n (1 + (e^r - 1)).
void LaneAssembler::exp_function(const Xmm& d, const Xmm& x) {
  const Xmm n = temp(), r = temp(), clamped = temp();
  clamp(clamped, x, -110.0f, 89.0f);
  reduce_exponent(r, n, clamped);
  exp_tail(d, r, exp_coefficients);
  vaddps(d, d, constant(1.0f));
  scale(d, d, n);
}

// e^x - 1 = 2 (s (e^r - 1) + (s - 1/2)) with s = 2^(n-1), which does not overflow too early.
void LaneAssembler::expm1_function(const Xmm& d, const Xmm& x) {
  const Xmm n = temp(), r = temp(), s = temp();
  clamp(s, x, -20.0f, 89.0f);
  reduce_exponent(r, n, s);
  exp_tail(d, r, expm1_coefficients);
  power_of_two(s, n, -1);
  vsubps(n, s, constant(0.5f));
  vfmadd213ps(d, s, n);
  vaddps(d, d, d);
  const Xmm tiny = temp();  // keeps the sign of zero, and x where the rest would lose it
  vandps(tiny, x, constant_bits(~0u >> 1));
  blend_less(d, tiny, 0x1p-60f, x);
}

// Where a < bound, d becomes value.
void LaneAssembler::blend_less(const Xmm& d, const Xmm& a, float bound, const Xmm& value) {
  constexpr int less = 0x11;
  if (evex()) {
    vcmpps(k2_, a, constant(bound), less);
    return vmovaps(d | k2_, value);
  }
  const Xmm mask = temp();
  vcmpps(mask, a, constant(bound), less);
  vblendvps(d, d, value, mask);
}

void LaneAssembler::copy_sign(const Xmm& d, const Xmm& sign) {
  if (evex()) return vpternlogd(d, sign, constant_bits(1u << 31), 0xd8);
  const Xmm bit = temp();
  vandps(bit, sign, constant_bits(1u << 31));
  vorps(d, d, bit);
}

// tanh |x| = e / (e + 2) with e = e^(2|x|) - 1; beyond 10 it is 1.
void LaneAssembler::tanh_function(const Xmm& d, const Xmm& x) {
  const Xmm n = temp(), r = temp(), s = temp();
  vandps(r, x, constant_bits(~0u >> 1));
  broadcast(s, Lane::f32, constant(10.0f));
  vminps(s, s, r);
  vaddps(s, s, s);
  reduce_exponent(r, n, s);
  exp_tail(d, r, expm1_coefficients);
  power_of_two(s, n, 0);
  vsubps(n, s, constant(1.0f));
  vfmadd213ps(d, s, n);
  vaddps(r, d, constant(2.0f));
  vdivps(d, d, r);
  copy_sign(d, x);
}

// 1 / (1 + e^-x).
void LaneAssembler::sigmoid_function(const Xmm& d, const Xmm& x) {
  const Xmm negated = temp();
  vxorps(negated, x, constant_bits(1u << 31));
  exp_function(d, negated);
  vaddps(d, d, constant(1.0f));
  broadcast(negated, Lane::f32, constant(1.0f));
  vdivps(d, negated, d);
}

// x = 2^exponent (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)), by integer arithmetic.
void LaneAssembler::split_log(const Xmm& exponent, const Xmm& fraction, const Xmm& x) {
  vpsubd(exponent, x, constant_bits(0x3f3504f3));
  vpsrad(exponent, exponent, 23);
  vpslld(fraction, exponent, 23);
  vpsubd(fraction, x, fraction);
  vcvtdq2ps(exponent, exponent);
  vsubps(fraction, fraction, constant(1.0f));
}

// log(2^e (1 + f)) = e ln 2 + f - f^2 / 2 + f^3 p(f), small terms first.
void LaneAssembler::log_polynomial(const Xmm& d, const Xmm& f, const Xmm& exponent) {
  const Xmm square = temp();
  horner(d, f, log_coefficients);
  vmulps(square, f, f);
  vmulps(d, d, f);
  vmulps(d, d, square);
  vfmadd231ps(d, exponent, constant(ln2_low));
  vfnmadd231ps(d, square, constant(0.5f));
  vaddps(d, d, f);
  vfmadd231ps(d, exponent, constant(ln2_high));
}

// -inf at the pole, NaN below it; infinity and NaN stay. `x` is the argument less the pole.
void LaneAssembler::fix_log(const Xmm& d, const Xmm& x) {
  const Xmm special = temp();
  broadcast(special, Lane::f32, constant(-infinity));
  blend_less(d, x, std::numeric_limits<float>::min(), special);
  ones(special);
  blend_less(d, x, 0.0f, special);
  constexpr int not_less = 0x15;
  if (evex()) {
    vcmpps(k2_, x, constant(infinity), not_less);
    return vmovaps(d | k2_, x);
  }
  vcmpps(special, x, constant(infinity), not_less);
  vblendvps(d, d, x, special);
}

void LaneAssembler::log_function(const Xmm& d, const Xmm& x) {
  const Xmm exponent = temp(), f = temp();
  split_log(exponent, f, x);
  log_polynomial(d, f, exponent);
  fix_log(d, x);
}

// log(1 + x): what 1 + x rounds away is added to the fraction, which then is x itself when the
// exponent is 0.
void LaneAssembler::log1p_function(const Xmm& d, const Xmm& x) {
  const Xmm sum = temp(), lost = temp(), exponent = temp(), f = temp();
  const Xmm n = evex() ? temp() : d;
  vaddps(sum, x, constant(1.0f));
  vsubps(lost, sum, constant(1.0f));
  vsubps(lost, x, lost);
  split_log(exponent, f, sum);
  // 2^-exponent; one of 100 leaves no room for what was lost.
  vminps(d, exponent, constant(100.0f));
  vxorps(n, d, constant_bits(1u << 31));
  power_of_two(d, n, 0);
  vfmadd231ps(f, lost, d);
  log_polynomial(d, f, exponent);
  fix_log(d, sum);
  const Xmm magnitude = lost;
  vandps(magnitude, x, constant_bits(~0u >> 1));
  blend_less(d, magnitude, 0x1p-60f, x);
}

// Near 0 by a polynomial, elsewhere 1 - erfc(|x|) with erfc = e^-g; beyond 4 it is 1.
void LaneAssembler::erf_function(const Xmm& d, const Xmm& x) {
  const Xmm magnitude = temp(), n = temp(), r = temp(), g = temp();
  vandps(magnitude, x, constant_bits(~0u >> 1));
  broadcast(g, Lane::f32, constant(4.0f));
  vminps(magnitude, g, magnitude);
  horner(g, magnitude, erf_far_coefficients);
  vxorps(g, g, constant_bits(1u << 31));
  reduce_exponent(r, n, g);
  exp_tail(d, r, exp_coefficients);
  power_of_two(g, n, 0);
  vfmadd213ps(d, g, g);  // e^-g
  broadcast(g, Lane::f32, constant(1.0f));
  vsubps(d, g, d);
  copy_sign(d, x);
  vmulps(r, x, x);
  horner(g, r, erf_near_coefficients);
  vfmadd213ps(g, x, x);
  blend_less(d, magnitude, 1.0f, g);
}

bool LaneAssembler::has_function(ScalarOp op) {
  switch (op) {
    case ScalarOp::exp:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log1p:
    case ScalarOp::tanh:
    case ScalarOp::sigmoid:
    case ScalarOp::erf:
      return true;
    default:
      return false;
  }
}

void LaneAssembler::apply_function(ScalarOp op, const Xmm& d, const Xmm& x) {
  switch (op) {
    case ScalarOp::exp:
      return exp_function(d, x);
    case ScalarOp::expm1:
      return expm1_function(d, x);
    case ScalarOp::log:
      return log_function(d, x);
    case ScalarOp::log1p:
      return log1p_function(d, x);
    case ScalarOp::tanh:
      return tanh_function(d, x);
    case ScalarOp::sigmoid:
      return sigmoid_function(d, x);
    case ScalarOp::erf:
      return erf_function(d, x);
    default:
      ensure(false, "loop code: there is no function for ", name(op));
  }
}

}  // namespace keratin::cpu

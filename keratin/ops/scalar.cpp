#include "keratin/ops/scalar.h"

#include <cmath>
#include <numbers>

namespace keratin::scalar {

namespace {

// Two polynomials in w = -log(1 - x²): one for the middle, one for the tails.
double erfinv_start(double x) {
  double w = -std::log1p(-x * x);
  const bool middle = w < 5;
  w = middle ? w - 2.5 : std::sqrt(w) - 3;
  const double middle_terms[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                 -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                 -0.00417768164,  0.246640727,    1.50140941};
  const double tail_terms[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                               -0.00367342844,  0.00573950773,  -0.0076224613,
                               0.00943887047,   1.00167406,     2.83297682};
  double p = 0;
  for (int i = 0; i < 9; ++i) p = p * w + (middle ? middle_terms[i] : tail_terms[i]);
  return p * x;
}

}  // namespace

double erfinv(double x) {
  if (!(std::abs(x) < 1))
    return std::abs(x) == 1 ? x * std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::quiet_NaN();
  double y = erfinv_start(x);
  const double slope = std::sqrt(std::numbers::pi) / 2;
  for (int step = 0; step < 2; ++step) {
    // erfc is accurate in the tails, where erf is close to 1.
    const double error = x > 0.5    ? (1 - x) - std::erfc(y)
                         : x < -0.5 ? std::erfc(-y) - (1 + x)
                                    : std::erf(y) - x;
    y -= error * slope * std::exp(y * y);
  }
  return y;
}

float erfinv(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }

}  // namespace keratin::scalar

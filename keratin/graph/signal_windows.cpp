#include "keratin/graph/signal_windows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "keratin/base/text.h"

namespace keratin {
namespace {

constexpr double pi = std::numbers::pi;

// Element n of a window of m elements, m > 1.
using Element = double (*)(double n, double m);

// Σ a[k] · cos(k · φ), φ from -π to π
template <size_t terms>
double cosines(const std::array<double, terms>& a, double n, double m) {
  double sum = 0;
  for (size_t k = 0; k < terms; ++k)
    sum += a[k] * std::cos(static_cast<double>(k) * (2 * pi * n / (m - 1) - pi));
  return sum;
}

double hann(double n, double m) { return cosines(std::array{0.5, 0.5}, n, m); }
double hamming(double n, double m) { return cosines(std::array{0.54, 0.46}, n, m); }
double blackman(double n, double m) { return cosines(std::array{0.42, 0.5, 0.08}, n, m); }
double nuttall(double n, double m) {
  return cosines(std::array{0.3635819, 0.4891775, 0.1365995, 0.0106411}, n, m);
}
double blackman_harris(double n, double m) {
  return cosines(std::array{0.35875, 0.48829, 0.14128, 0.01168}, n, m);
}
double flat_top(double n, double m) {
  return cosines(std::array{0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368}, n, m);
}
double boxcar(double, double) { return 1; }
double sine(double n, double m) { return std::sin(pi / m * (n + 0.5)); }

// From the centre of the window, which is 0, to its ends, which are 1.
double from_centre(double n, double m) { return std::fabs(2 * n / (m - 1) - 1); }

double bartlett(double n, double m) { return 1 - from_centre(n, m); }
double triangle(double n, double m) {
  const double before = std::min(n, m - 1 - n) + 1;
  return std::fmod(m, 2) == 0 ? (2 * before - 1) / m : 2 * before / (m + 1);
}
double bartlett_hann(double n, double m) {
  const double x = from_centre(n, m) / 2;
  return 0.62 - 0.48 * x + 0.38 * std::cos(2 * pi * x);
}
double bohman(double n, double m) {
  if (n == 0 || n == m - 1) return 0;
  const double x = from_centre(n, m);
  return (1 - x) * std::cos(pi * x) + std::sin(pi * x) / pi;
}
double exponential(double n, double m) { return std::exp(-std::fabs(n - (m - 1) / 2)); }
double lanczos(double n, double m) {
  const double x = pi * from_centre(n, m);
  return x == 0 ? 1 : std::sin(x) / x;
}
double parzen(double n, double m) {
  const double distance = std::fabs(n - (m - 1) / 2), x = distance / (m / 2);
  if (distance > (m - 1) / 4) return 2 * std::pow(1 - x, 3);
  return 1 - 6 * x * x + 6 * x * x * x;
}
// A cosine over a quarter of the window at each end.
double tukey(double n, double m) {
  constexpr double alpha = 0.5;
  const double width = std::floor(alpha * (m - 1) / 2), end = std::min(n, m - 1 - n);
  return end > width ? 1 : 0.5 * (1 + std::cos(pi * (2 * end / alpha / (m - 1) - 1)));
}

constexpr int taylor_terms = 4;  // SciPy's defaults: 4 nearly equal side lobes, 30 dB down
std::array<double, taylor_terms> taylor_coefficients() {
  std::array<double, taylor_terms> f = {1};
  const double a = std::acosh(std::pow(10, 30.0 / 20)) / pi;
  const double spread =
      taylor_terms * taylor_terms / (a * a + (taylor_terms - 0.5) * (taylor_terms - 0.5));
  for (int m = 1; m < taylor_terms; ++m) {
    double above = m % 2 == 1 ? 1 : -1, below = 2;
    for (int i = 1; i < taylor_terms; ++i) {
      above *= 1 - m * m / spread / (a * a + (i - 0.5) * (i - 0.5));
      if (i != m) below *= 1 - static_cast<double>(m * m) / (i * i);
    }
    f[static_cast<size_t>(m)] = 2 * above / below;
  }
  return f;
}
double taylor(double n, double m) {
  static const auto f = taylor_coefficients();
  double sum = 0, peak = 0;
  for (size_t k = 0; k < f.size(); ++k) {
    const double turn = 2 * pi * static_cast<double>(k) / m;
    sum += f[k] * std::cos(turn * (n - m / 2 + 0.5));
    peak += f[k];
  }
  return sum / peak;
}

struct Window {
  std::array<std::string_view, 5> names;
  Element element;
};

constexpr Window all_windows[] = {
    {{"barthann", "brthan", "bth"}, bartlett_hann},
    {{"bartlett", "bart", "brt"}, bartlett},
    {{"blackman", "black", "blk"}, blackman},
    {{"blackmanharris", "blackharr", "bkh"}, blackman_harris},
    {{"bohman", "bman", "bmn"}, bohman},
    {{"boxcar", "box", "ones", "rect", "rectangular"}, boxcar},
    {{"cosine", "halfcosine"}, sine},
    {{"exponential", "poisson"}, exponential},
    {{"flattop", "flat", "flt"}, flat_top},
    {{"hamming", "hamm", "ham"}, hamming},
    {{"hann", "han"}, hann},
    {{"lanczos", "sinc"}, lanczos},
    {{"nuttall", "nutl", "nut"}, nuttall},
    {{"parzen", "parz", "par"}, parzen},
    {{"taylor", "taylorwin"}, taylor},
    {{"triangle", "triang", "tri"}, triangle},
    {{"tukey", "tuk"}, tukey},
};

// Removes the ending; false if the name does not have it.
bool take_ending(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

Element find_window(std::string_view name) {
  if (!take_ending(name, "_symmetric")) take_ending(name, "_periodic");
  if (name.empty()) return nullptr;
  for (const Window& window : all_windows)
    if (std::find(window.names.begin(), window.names.end(), name) != window.names.end())
      return window.element;
  return nullptr;
}

}  // namespace

bool is_signal_window(std::string_view name) { return find_window(name) != nullptr; }

std::vector<double> signal_window(std::string_view name, int64_t length, bool periodic) {
  const Element element = find_window(name);
  require(element != nullptr, "Invalid window name '", name, "' in parameter window='", name, "'!");
  if (name.ends_with("_symmetric")) periodic = false;
  if (name.ends_with("_periodic")) periodic = true;
  std::vector<double> window(static_cast<size_t>(length), 1.0);
  if (length <= 1) return window;
  const double m = static_cast<double>(length + (periodic ? 1 : 0));
  for (size_t n = 0; n < window.size(); ++n) window[n] = element(static_cast<double>(n), m);
  return window;
}

}  // namespace keratin

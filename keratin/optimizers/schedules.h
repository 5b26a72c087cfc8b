#pragma once

#include "keratin/base/export.h"
#include "keratin/optimizers/schedule.h"

// Keras's learning rate schedules: Adam({.learning_rate = schedules::CosineDecay{…}}).
namespace keratin::schedules {

// initial·rate^(step / decay_steps); with `staircase`, the exponent is rounded down.
struct KERATIN_API ExponentialDecay {
  double initial_learning_rate = 0;
  double decay_steps = 0;
  double decay_rate = 0;
  bool staircase = false;
  std::string name = "ExponentialDecay";

  void check() const;
  Value call(Value step) const;
  static constexpr std::string_view keras_name = "ExponentialDecay";
  static constexpr auto fields = field_list(
      field("initial_learning_rate", &ExponentialDecay::initial_learning_rate),
      field("decay_steps", &ExponentialDecay::decay_steps),
      field("decay_rate", &ExponentialDecay::decay_rate),
      field("staircase", &ExponentialDecay::staircase), field("name", &ExponentialDecay::name));
};

// initial / (1 + rate·step / decay_steps).
struct KERATIN_API InverseTimeDecay {
  double initial_learning_rate = 0;
  double decay_steps = 0;
  double decay_rate = 0;
  bool staircase = false;
  std::string name = "InverseTimeDecay";

  void check() const;
  Value call(Value step) const;
  static constexpr std::string_view keras_name = "InverseTimeDecay";
  static constexpr auto fields = field_list(
      field("initial_learning_rate", &InverseTimeDecay::initial_learning_rate),
      field("decay_steps", &InverseTimeDecay::decay_steps),
      field("decay_rate", &InverseTimeDecay::decay_rate),
      field("staircase", &InverseTimeDecay::staircase), field("name", &InverseTimeDecay::name));
};

// values[i] up to and including boundaries[i], then values[i + 1].
struct KERATIN_API PiecewiseConstantDecay {
  std::vector<double> boundaries = {};
  std::vector<double> values = {};
  std::string name = "PiecewiseConstant";

  void check() const;
  Value call(Value step) const;
  static constexpr std::string_view keras_name = "PiecewiseConstantDecay";
  static constexpr auto fields =
      field_list(field("boundaries", &PiecewiseConstantDecay::boundaries),
                 field("values", &PiecewiseConstantDecay::values),
                 field("name", &PiecewiseConstantDecay::name));
};

// (initial - end)·(1 - step / decay_steps)^power + end. With `cycle`, decay_steps is multiplied
// whenever that many steps are over; without it, the rate stays at its end.
struct KERATIN_API PolynomialDecay {
  double initial_learning_rate = 0;
  double decay_steps = 0;
  double end_learning_rate = 0.0001;
  double power = 1;
  bool cycle = false;
  std::string name = "PolynomialDecay";

  void check() const;
  Value call(Value step) const;
  static constexpr std::string_view keras_name = "PolynomialDecay";
  static constexpr auto fields =
      field_list(field("initial_learning_rate", &PolynomialDecay::initial_learning_rate),
                 field("decay_steps", &PolynomialDecay::decay_steps),
                 field("end_learning_rate", &PolynomialDecay::end_learning_rate),
                 field("power", &PolynomialDecay::power), field("cycle", &PolynomialDecay::cycle),
                 field("name", &PolynomialDecay::name));
};

// Half a cosine from the initial rate down to alpha times it; with a warmup target, a linear rise
// to the target comes first.
struct KERATIN_API CosineDecay {
  double initial_learning_rate = 0;
  double decay_steps = 0;
  double alpha = 0;
  std::string name = "CosineDecay";
  std::optional<double> warmup_target = {};
  double warmup_steps = 0;

  void check() const;
  Value call(Value step) const;
  static constexpr std::string_view keras_name = "CosineDecay";
  static constexpr auto fields = field_list(
      field("initial_learning_rate", &CosineDecay::initial_learning_rate),
      field("decay_steps", &CosineDecay::decay_steps), field("alpha", &CosineDecay::alpha),
      field("name", &CosineDecay::name), field("warmup_target", &CosineDecay::warmup_target),
      field("warmup_steps", &CosineDecay::warmup_steps));
};

// A sequence of half cosines, each t_mul times as long and m_mul times as high as the last.
struct KERATIN_API CosineDecayRestarts {
  double initial_learning_rate = 0;
  double first_decay_steps = 0;
  double t_mul = 2;
  double m_mul = 1;
  double alpha = 0;
  std::string name = "SGDRDecay";

  void check() const;
  Value call(Value step) const;
  static constexpr std::string_view keras_name = "CosineDecayRestarts";
  static constexpr auto fields = field_list(
      field("initial_learning_rate", &CosineDecayRestarts::initial_learning_rate),
      field("first_decay_steps", &CosineDecayRestarts::first_decay_steps),
      field("t_mul", &CosineDecayRestarts::t_mul), field("m_mul", &CosineDecayRestarts::m_mul),
      field("alpha", &CosineDecayRestarts::alpha), field("name", &CosineDecayRestarts::name));
};

}  // namespace keratin::schedules

#pragma once

#include "keratin/base/export.h"
#include "keratin/losses/loss.h"

namespace keratin::losses {

// Losses between distributions. Probabilities are kept ε away from 0 and 1.
struct KERATIN_API KLDivergence {
  static constexpr std::string_view keras_name = "KLDivergence";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // Σ t · log(t / p), both within [ε, 1]
};

struct KERATIN_API Poisson {
  static constexpr std::string_view keras_name = "Poisson";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // mean of p - t · log(p + ε)
};

// mean of -t · log p - (1 - t) · log(1 - p)
struct KERATIN_API BinaryCrossentropy {
  bool from_logits = false;
  double label_smoothing = 0;  // moves labels towards 1/2
  int64_t axis = -1;           // the mean is over this axis

  static constexpr std::string_view keras_name = "BinaryCrossentropy";
  static constexpr auto fields =
      field_list(field("from_logits", &BinaryCrossentropy::from_logits),
                 field("label_smoothing", &BinaryCrossentropy::label_smoothing),
                 field("axis", &BinaryCrossentropy::axis));
  LossTerms call(Value y_true, Value y_pred) const;
};

// The same with each term times (1 - q)^gamma, where q is the probability of the true label.
struct KERATIN_API BinaryFocalCrossentropy {
  bool apply_class_balancing = false;
  double alpha = 0.25;  // the weight of label 1 when classes are balanced; 0 weighs 1 - alpha
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "BinaryFocalCrossentropy";
  static constexpr auto fields =
      field_list(field("apply_class_balancing", &BinaryFocalCrossentropy::apply_class_balancing),
                 field("alpha", &BinaryFocalCrossentropy::alpha),
                 field("gamma", &BinaryFocalCrossentropy::gamma),
                 field("from_logits", &BinaryFocalCrossentropy::from_logits),
                 field("label_smoothing", &BinaryFocalCrossentropy::label_smoothing),
                 field("axis", &BinaryFocalCrossentropy::axis));
  LossTerms call(Value y_true, Value y_pred) const;
};

// -Σ t · log p
struct KERATIN_API CategoricalCrossentropy {
  bool from_logits = false;
  double label_smoothing = 0;  // moves labels towards 1 / classes
  int64_t axis = -1;           // of the classes

  static constexpr std::string_view keras_name = "CategoricalCrossentropy";
  static constexpr auto fields =
      field_list(field("from_logits", &CategoricalCrossentropy::from_logits),
                 field("label_smoothing", &CategoricalCrossentropy::label_smoothing),
                 field("axis", &CategoricalCrossentropy::axis));
  LossTerms call(Value y_true, Value y_pred) const;
};

// -Σ alpha · (1 - p)^gamma · t · log p
struct KERATIN_API CategoricalFocalCrossentropy {
  Numbers alpha = 0.25;  // one, or one per class
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "CategoricalFocalCrossentropy";
  static constexpr auto fields =
      field_list(field("alpha", &CategoricalFocalCrossentropy::alpha),
                 field("gamma", &CategoricalFocalCrossentropy::gamma),
                 field("from_logits", &CategoricalFocalCrossentropy::from_logits),
                 field("label_smoothing", &CategoricalFocalCrossentropy::label_smoothing),
                 field("axis", &CategoricalFocalCrossentropy::axis));
  LossTerms call(Value y_true, Value y_pred) const;
};

// -log p[t]: y_true is the index of a class. The loss of an index that is no class is 0.
struct KERATIN_API SparseCategoricalCrossentropy {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};  // samples of this class do not count
  int64_t axis = -1;

  static constexpr std::string_view keras_name = "SparseCategoricalCrossentropy";
  static constexpr auto fields =
      field_list(field("from_logits", &SparseCategoricalCrossentropy::from_logits),
                 field("ignore_class", &SparseCategoricalCrossentropy::ignore_class),
                 field<Written::if_changed>("axis", &SparseCategoricalCrossentropy::axis));
  LossTerms call(Value y_true, Value y_pred) const;
};

// (1 - p[t]^q) / q: between crossentropy (q → 0) and absolute error (q = 1), for noisy labels.
struct KERATIN_API CategoricalGeneralizedCrossEntropy {
  double q = 0.5;

  static constexpr std::string_view keras_name = "CategoricalGeneralizedCrossEntropy";
  static constexpr auto fields = field_list(field("q", &CategoricalGeneralizedCrossEntropy::q));
  void check() const;
  LossTerms call(Value y_true, Value y_pred) const;
};

// Margin losses. Labels are -1 and 1; if all of them are 0 or 1, 0 counts as -1.
struct KERATIN_API Hinge {
  static constexpr std::string_view keras_name = "Hinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // mean of max(1 - t · p, 0)
};

struct KERATIN_API SquaredHinge {
  static constexpr std::string_view keras_name = "SquaredHinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // mean of max(1 - t · p, 0)²
};

// The margin between the score of the true class and the best other score; y_true is one-hot.
struct KERATIN_API CategoricalHinge {
  static constexpr std::string_view keras_name = "CategoricalHinge";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;  // max(max((1 - t) · p) - Σ t · p + 1, 0)
};

// Overlap losses, summed over the given axes; default: over all.
struct KERATIN_API Dice {
  std::optional<Sizes> axis = {};

  static constexpr std::string_view keras_name = "Dice";
  static constexpr auto fields = field_list(field("axis", &Dice::axis));
  LossTerms call(Value y_true, Value y_pred) const;  // 1 - 2 · Σ t·p / (Σ t + Σ p + ε)
};

struct KERATIN_API Tversky {
  double alpha = 0.5;  // the weight of misses: Σ t · (1 - p)
  double beta = 0.5;   // the weight of false alarms: Σ (1 - t) · p
  std::optional<Sizes> axis = {};

  static constexpr std::string_view keras_name = "Tversky";
  static constexpr auto fields =
      field_list(field("alpha", &Tversky::alpha), field("beta", &Tversky::beta),
                 field("axis", &Tversky::axis));
  // 1 - Σ t·p / (Σ t·p + alpha · misses + beta · false alarms + ε)
  LossTerms call(Value y_true, Value y_pred) const;
};

// Pulls embeddings of one class together and pushes those of other classes apart. Predictions are
// unit vectors [batch, features], and y_true is the class of each. Samples without loss do not
// count: those without others to compare with, or whose distances are good already.
struct KERATIN_API Circle {
  double gamma = 80;
  double margin = 0.4;
  bool remove_diagonal = true;  // a sample is not compared with itself

  static constexpr std::string_view keras_name = "Circle";
  static constexpr auto fields =
      field_list(field("gamma", &Circle::gamma), field("margin", &Circle::margin),
                 field("remove_diagonal", &Circle::remove_diagonal));
  LossTerms call(Value y_true, Value y_pred) const;
};

// -log of the probability that scores [batch, time, classes] spell the labels [batch, length], over
// all alignments in time (connectionist temporal classification). Class 0 is the blank, and pads
// labels.
struct KERATIN_API CTC {
  static constexpr std::string_view keras_name = "CTC";
  static constexpr auto fields = field_list();
  LossTerms call(Value y_true, Value y_pred) const;
};

}  // namespace keratin::losses

#pragma once

#include "keratin/graph/named.h"
#include "keratin/ir/node.h"
#include "keratin/tensor/shape.h"

#pragma GCC visibility push(default)

namespace keratin {

// What a weight is projected onto after each step of training; a default one is none.
class Constraint {
 public:
  Constraint() = default;
  Constraint(const char* name) : Constraint(Named{name}) {}  // NOLINT
  Constraint(Named named);                                   // NOLINT

  explicit operator bool() const { return static_cast<bool>(named_); }
  Value operator()(Value weight) const;

  Json to_json() const { return *this ? named_->to_json("keras.constraints") : Json(); }
  static Constraint from_json(const Json& json);
  bool operator==(const Constraint&) const = default;

 private:
  SharedValue<Named> named_;
};

namespace constraints {

struct MinMaxOptions {
  double min_value = 0;
  double max_value = 1;
  double rate = 1;
  Dims axis = {0};
};

Constraint MaxNorm(double max_value = 2, const Dims& axis = {0});
Constraint NonNeg();
Constraint UnitNorm(const Dims& axis = {0});
Constraint MinMaxNorm(const MinMaxOptions& options = {});

}  // namespace constraints
}  // namespace keratin

#pragma GCC visibility pop

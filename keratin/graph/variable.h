#pragma once

#include <functional>
#include <memory>
#include <string>

#include "keratin/base/export.h"
#include "keratin/base/once.h"
#include "keratin/graph/constraint.h"
#include "keratin/graph/initializer.h"
#include "keratin/graph/regularizer.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

struct VariableParts;

struct VariableSpec {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  Initializer initializer = "zeros";
  bool trainable = true;
  Regularizer regularizer = {};
  Constraint constraint = {};
  std::optional<Device> device = {};  // unless given, that of the scope it is made in, or cpu:0
  bool per_sample = false;            // its first axis is the batch: replicas have their own rows
};

// A weight, or other state, of a layer. Copies are the same variable. Its first value is made when
// first asked for, from a seed drawn when the variable was, so that building and cloning large
// models costs nothing for weights that are overwritten.
class KERATIN_API Variable {
 public:
  Variable() = default;
  explicit Variable(VariableSpec spec);

  bool defined() const { return data_ != nullptr; }
  const std::string& name() const { return data_->spec.name; }
  const Shape& shape() const { return data_->spec.shape; }
  DType dtype() const { return data_->spec.dtype; }
  const VariableSpec& spec() const { return data_->spec; }
  // Where it is in a model: "encoder/dense/kernel". Set when its layer is built.
  const std::string& path() const { return data_->path; }
  void set_path(std::string path) const { data_->path = std::move(path); }

  // Where it lives. Moving it is for when no program runs: those made before are made anew.
  Device device() const { return *data_->spec.device; }
  void move_to(Device device) const;
  // How often a variable was moved, of all that there are.
  static uint64_t moves();

  bool trainable() const { return data_->spec.trainable; }
  void set_trainable(bool trainable) const { data_->spec.trainable = trainable; }

  // The current value, in place: programs read and update this very buffer.
  const Tensor& value() const;
  // Copies the elements in, converted; the shape must be the variable's.
  void assign(const Tensor& value) const;
  // The same of a tensor the caller gives away. It becomes the value itself while nobody has asked
  // for one: weights of a file stay where the file is mapped.
  void take(const Tensor& value) const;

  bool operator==(const Variable& other) const { return data_ == other.data_; }
  size_t hash() const { return std::hash<const void*>{}(data_.get()); }

 private:
  friend const VariableParts* parts_of(const Variable& variable);
  friend void set_parts(const Variable& variable, std::unique_ptr<VariableParts> parts);

  struct Data {
    VariableSpec spec;
    std::string path;
    uint64_t seed = 0;
    detail::Once filled;
    Tensor value;
    std::unique_ptr<VariableParts> parts;  // see variable_parts.h

    ~Data();
    Tensor empty() const;  // in the memory of its device
    Tensor at_home(const Tensor& given) const;
  };
  std::shared_ptr<Data> data_;
};

struct VariableHash {
  size_t operator()(const Variable& v) const { return v.hash(); }
};

// Everything random that is not given a seed of its own follows from this one.
KERATIN_API void set_random_seed(uint64_t seed);
// The next seed of the program's stream.
KERATIN_API uint64_t next_seed();

}  // namespace keratin

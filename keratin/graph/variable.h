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

struct VariableShards;

struct VariableSpec {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
  Initializer initializer = "zeros";
  bool trainable = true;
  Regularizer regularizer = {};
  Constraint constraint = {};
  std::optional<Device> device = {};  // default: the current DeviceScope's device, or cpu:0
  bool per_sample = false;            // the first axis is the batch: replicas have their own rows
};

// A weight, or other state, of a layer. Copies are the same variable. The initializer runs when the
// value is first read, with a seed that was drawn when the variable was made: building and cloning
// large models costs nothing for weights that are overwritten.
class KERATIN_API Variable {
 public:
  Variable() = default;
  explicit Variable(VariableSpec spec);

  bool defined() const { return data_ != nullptr; }
  const std::string& name() const { return data_->spec.name; }
  const Shape& shape() const { return data_->spec.shape; }
  DType dtype() const { return data_->spec.dtype; }
  const VariableSpec& spec() const { return data_->spec; }
  // Its name in a model: "encoder/dense/kernel". Set when its layer is built.
  const std::string& path() const { return data_->path; }
  void set_path(std::string path) const { data_->path = std::move(path); }

  // The device that stores it. No program may run while it moves; programs are compiled again.
  Device device() const { return *data_->spec.device; }
  void move_to(Device device) const;
  // How often any variable has been moved.
  static uint64_t moves();

  bool trainable() const { return data_->spec.trainable; }
  void set_trainable(bool trainable) const { data_->spec.trainable = trainable; }

  // The current value, in place: programs read and update this buffer. Ask again before each write.
  const Tensor& value() const;
  // Copies the elements, converted to the variable's dtype; the shape must be the variable's.
  void assign(const Tensor& value) const;
  // Takes over a tensor that the caller gives away: it becomes the value itself if the value was
  // never read, so weights of a file stay where the file is mapped. Elsewhere as `assign`.
  void take(const Tensor& value) const;

  bool operator==(const Variable& other) const { return data_ == other.data_; }
  size_t hash() const { return std::hash<const void*>{}(data_.get()); }

 private:
  friend const VariableShards* shards_of(const Variable& variable);
  friend void set_shards(const Variable& variable, VariableShards shards);
  friend Variable make_shard(VariableSpec spec);
  Variable(VariableSpec spec, uint64_t (*seed)());

  struct Data {
    VariableSpec spec;
    std::string path;
    uint64_t seed = 0;
    detail::Once filled;
    Tensor value;
    std::unique_ptr<VariableShards> shards;  // see variable_shards.h

    ~Data();
    Tensor empty() const;  // in the memory of its device
    Tensor on_device(const Tensor& given) const;
  };
  std::shared_ptr<Data> data_;
};

struct VariableHash {
  size_t operator()(const Variable& v) const { return v.hash(); }
};

// The seed of all random numbers that are not given a seed of their own.
KERATIN_API void set_random_seed(uint64_t seed);

}  // namespace keratin

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "keratin/backend/cuda/driver/driver.h"
#include "keratin/tensor/dtype.h"

// The functions of cuDNN 9's graph interface that are used, opened when first needed. Names and
// numbers are the library's; descriptors belong to the device that the caller has entered.
namespace keratin::cuda::cudnn {

// True if the library is installed. Without it convolutions become matmuls.
bool available();
// 91400 is 9.14.0.
size_t version();

// The kinds of descriptors, and the types of their attributes.
enum class Kind {
  pointwise = 0,
  convolution = 1,
  engine = 2,
  engine_config = 3,
  engine_heuristic = 4,
  execution_plan = 5,
  convolution_forward = 10,
  convolution_grad_filter = 11,
  convolution_grad_input = 12,
  pointwise_operation = 13,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
};
enum class Field {
  handle = 0,
  data_type = 1,
  boolean = 2,
  int64 = 3,
  float32 = 4,
  address = 6,
  convolution_mode = 7,
  heuristic_mode = 8,
  numerical_note = 11,
  pointwise_mode = 14,
  descriptor = 15,
  behavior_note = 19,
};

int data_type(DType dtype);  // of f32, f16 and bf16

// A descriptor: filled in, finalized, then only read.
class Descriptor {
 public:
  explicit Descriptor(Kind kind);

  void* get() const { return handle_.get(); }

  void set(int attribute, Field field, int64_t count, const void* values) const;
  void set(int attribute, Field field, int value) const { set(attribute, field, 1, &value); }
  void set(int attribute, bool value) const { set(attribute, Field::boolean, 1, &value); }
  void set(int attribute, int64_t value) const { set(attribute, Field::int64, 1, &value); }
  void set(int attribute, float value) const { set(attribute, Field::float32, 1, &value); }
  void set(int attribute, std::span<const int64_t> values) const {
    set(attribute, Field::int64, static_cast<int64_t>(values.size()), values.data());
  }
  // Held for as long as this one is.
  void set(int attribute, const Descriptor& value) {
    void* raw = value.get();
    set(attribute, Field::descriptor, 1, &raw);
    hold(value);
  }
  void set(int attribute, const std::vector<Descriptor>& values);
  void hold(const Descriptor& value) { held_.push_back(value); }
  // The library's handle for the GPU that was entered.
  void set_handle(int attribute) const;

  // False if the library cannot do what is described.
  bool finish() const;

  int64_t number(int attribute) const;
  std::vector<int> numbers(int attribute, Field field, int64_t most) const;
  // The descriptors that the library found: at most `count`, all of one kind.
  std::vector<Descriptor> descriptors(int attribute, Kind kind, int64_t most) const;

 private:
  std::shared_ptr<void> handle_;
  std::vector<Descriptor> held_;
};

// Launches a plan on a stream of the GPU that was entered. False if the library refuses.
bool execute(const Descriptor& plan, const Descriptor& variant_pack, StreamHandle stream);

}  // namespace keratin::cuda::cudnn

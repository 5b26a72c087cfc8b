#pragma once

#include "keratin/io/saved_objects.h"

namespace keratin::io {

// Where weights come from: tensors by name, in groups "layers/dense/vars".
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // How many tensors a group has; 0 where there is none.
  virtual size_t count(const std::string& group) const = 0;
  virtual bool has(const std::string& group, const std::string& name) const = 0;
  virtual Dims dims(const std::string& group, const std::string& name) const = 0;
  virtual Tensor read(const std::string& group, const std::string& name) const = 0;
  // The only group of an object of that name; "" where names are not kept, or not told apart.
  virtual std::string group_of(const std::string& object) const {
    (void)object;
    return {};
  }
};

// A value that was read for a variable, to be given to it once all are known to fit.
struct Assignment {
  Variable variable;
  Tensor value;
};
void assign(const std::vector<Assignment>& all);
// Floats are never read into integers: a file that has them is of another model.
void check_dtype(const Variable& variable, DType stored);

struct ReadOptions {
  bool skip_mismatch = false;  // warn of objects that do not fit, and leave them as they are
};
// Everything that a file should have of a model, where the Keras that wrote it puts that: what is
// in the file tells whose rule it follows.
std::vector<SavedObject> objects_in(const WeightSource& source, const Layer& model,
                                    const OptimizerState* optimizer = nullptr);
// All or nothing: everything is compared with the objects before anything is changed. Only the
// state of an optimizer of another kind is left out, with a warning. `where` is the file, for
// errors.
void read_weights(const WeightSource& source, const std::vector<SavedObject>& objects,
                  const std::string& where, const ReadOptions& options = {});

}  // namespace keratin::io

#pragma once

#include "keratin/io/saved_objects.h"

namespace keratin::io {

// A file format with weights: tensors by name, in groups such as "layers/dense/vars".
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // The number of tensors in a group; 0 if there is no such group.
  virtual size_t count(const std::string& group) const = 0;
  virtual bool has(const std::string& group, const std::string& name) const = 0;
  virtual Dims dims(const std::string& group, const std::string& name) const = 0;
  virtual Tensor read(const std::string& group, const std::string& name) const = 0;
  // The group of the object with this name; "" if the format has no names, or the name is not
  // unique.
  virtual std::string group_of(const std::string& object) const {
    (void)object;
    return {};
  }
};

// A value for a variable. Values are assigned when all of them are known to fit.
struct Assignment {
  Variable variable;
  Tensor value;
};
void assign(const std::vector<Assignment>& all);
// Refuses floats for an integer variable: such a file belongs to another model.
void check_dtype(const Variable& variable, DType stored);

struct ReadOptions {
  bool skip_mismatch = false;  // warn of objects that do not fit, and do not change them
};
// The objects that a file should have of a model, at the paths of the Keras version that wrote it.
// The version is found from the paths in the file.
std::vector<SavedObject> objects_in(const WeightSource& source, const Layer& model,
                                    const OptimizerState* optimizer = nullptr);
// Reads all weights, or throws and changes none: everything is compared with the objects before
// anything is assigned. Only the state of another optimizer is ignored, with a warning. `where`
// names the file in errors.
void read_weights(const WeightSource& source, const std::vector<SavedObject>& objects,
                  const std::string& where, const ReadOptions& options = {});

// Gives layers the tensors that they keep beside their weights, see LayerAssets. Files of weights
// alone may lack all those of a layer; then it stays as it is.
void read_own_tensors(const WeightSource& source, const std::vector<SavedObject>& objects,
                      const std::string& where);

}  // namespace keratin::io

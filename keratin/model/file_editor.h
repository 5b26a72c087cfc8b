#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/base/json.h"
#include "keratin/tensor/tensor.h"

namespace keratin {

class Model;

// Inspects and edits the weights in a .keras or .weights.h5 file, and writes them to another file:
// for weights that were saved before a model was changed. No model is made and no code is run. A
// file is a tree of objects, such as layers. An object is named by its path, "layers/dense_2", or
// by the last name of it, if only one object has that. Its weights are named "0", "1", …
class KERATIN_API KerasFileEditor {
 public:
  using Weights = std::map<std::string, Tensor>;

  explicit KerasFileEditor(const std::filesystem::path& path);
  ~KerasFileEditor();
  KerasFileEditor(KerasFileEditor&& other) noexcept;
  KerasFileEditor& operator=(KerasFileEditor&& other) noexcept;

  // Of a .keras, else null.
  const Json& config() const;
  const Json& metadata() const;
  // The paths of the objects that have weights; "" is the model itself.
  std::vector<std::string> objects() const;
  Weights weights(const std::string& object) const;  // copies

  // Prints the tree.
  void summary() const;
  void summary(std::ostream& out) const;

  // How the weights differ from those of a model. An error is an object or a weight that only one
  // of both has, or a weight of another shape; a missing object is one error.
  struct Comparison {
    std::string status;  // "success" or "error"
    int64_t error_count = 0;
    int64_t match_count = 0;  // weights with the same name and shape
    std::string report;
  };
  Comparison compare(const Model& reference) const;

  // The new name is a name, not a path. An error if it is taken.
  void rename_object(const std::string& object, const std::string& new_name);
  void delete_object(const std::string& object);
  // At a path whose parent exists; an object that is there already is replaced.
  void add_object(const std::string& path, const Weights& weights);
  void delete_weight(const std::string& object, const std::string& weight);
  // Weights of the same names are replaced.
  void add_weights(const std::string& object, const Weights& weights);

  // Writes a .weights.h5 or, if the file opened was a .keras, a .keras with all its other members.
  // The file may be the one opened. It appears whole or not at all.
  void save(const std::filesystem::path& path) const;
  void resave_weights(const std::filesystem::path& path) const { save(path); }

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace keratin

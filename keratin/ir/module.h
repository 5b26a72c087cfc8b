#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/ir/value.h"

namespace keratin {

// A state parameter's new contents at the end of a run.
struct Update {
  Value state;
  Value value;
};

// A whole program: a block whose parameters are the inputs and the state, whose results are the
// outputs, and the updates of the state.
class KERATIN_API Module {
 public:
  Module();
  ~Module();
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;

  Value input(Type type, std::string name = "");
  Value state(Type type, std::string name = "");
  void output(Value value);
  void update(Value state, Value value);

  Block& block() const { return *block_; }
  const std::vector<Update>& updates() const { return updates_; }
  std::vector<Update>& updates() { return updates_; }

  Module clone() const;
  // Numbers parameters and nodes 0, 1, 2, … in order, those of regions too; returns how many.
  size_t number() const;

 private:
  friend class Rewriter;
  friend class Gatherer;
  std::unique_ptr<Block> block_;
  std::vector<Update> updates_;
  std::unordered_set<const Node*> updated_;
};

struct OpDef;

// The text form: printing, and parsing it back to an equal module. `lookup` finds an op by name.
using OpLookup = const OpDef* (*)(std::string_view name);
KERATIN_API std::ostream& operator<<(std::ostream& out, const Module& module);
KERATIN_API Module parse_module(std::string_view text, OpLookup lookup);

// Throws InternalError if a module is invalid: values used before their definition or from another
// block, types that the op does not infer, updates of other values than state. Numbers the module.
KERATIN_API void verify(const Module& module);

}  // namespace keratin

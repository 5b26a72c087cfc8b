#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "keratin/base/export.h"
#include "keratin/ir/attrs.h"
#include "keratin/ir/value.h"

namespace keratin {

// Pointwise ops name their scalar function here; backends turn it into loops (see ops/scalar.h).
enum class ScalarOp : uint8_t;

// Appends to a block the gradients of `outputs` with respect to `wrt`, given those of the outputs.
using PullBack = Values (*)(Block& block, const Values& outputs, const Values& dy,
                            const Values& wrt);

// Everything the compiler knows of one op. An op is primitive (backends must run it) or has a
// decomposition into simpler ops (backends may run it).
struct KERATIN_API OpDef {
  std::string_view name;
  const AttrsType* attrs = attrs_type<NoAttrs>();
  // How many inputs and regions; unset means that any number is checked by `infer`.
  std::optional<size_t> arity = std::nullopt;
  size_t regions = 0;
  // Checks the inputs and attributes (UserError) and gives the outputs' types. Sizes may be
  // unknown.
  Types (*infer)(const Node&) = nullptr;
  // The same outputs from simpler ops. All sizes are known here, as they are in `grad`.
  Values (*decompose)(const Node&) = nullptr;
  // Returns the gradients of the inputs, given those of the outputs (each defined); undefined means
  // that an input has no gradient. Without this function, or if it returns no values at all, an op
  // is differentiated through its decomposition.
  Values (*grad)(const Node&, const Values& dy) = nullptr;
  // The same for ops with regions, which also have to differentiate a block.
  Values (*grad_regions)(const Node&, const Values& dy, PullBack) = nullptr;
  // Set for pointwise ops: out[i] = scalar(in0[i], in1[i], ...) after broadcasting.
  std::optional<ScalarOp> scalar = std::nullopt;
  // The arithmetic operations of a node, for reports; one per element by default.
  double (*flops)(const Node&) = nullptr;
  bool commutative = false;
  // True if `infer` gives the device of the outputs; else it is that of the first input.
  bool places = false;
  // True if the output is the input's bytes with another shape, which needs no copy.
  bool view = false;
  // True if inputs may be strings: the op moves elements, or is made for strings.
  bool takes_strings = false;
};

}  // namespace keratin

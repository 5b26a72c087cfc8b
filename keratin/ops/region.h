#pragma once

#include <functional>

#include "keratin/ir/node.h"

// Builds ops with regions from C++ functions.
namespace keratin::ops {

// Writes a region: runs `body` on new parameters of these types; what it returns are the results.
// The body may use values from outside, those of bodies around it too; `near` are some of them, as
// deep as the place where the region will be.
using RegionBody = std::function<Values(const Values& parameters)>;
std::unique_ptr<Block> write_region(const Types& parameters, const Values& near,
                                    const RegionBody& body);

// Appends a node with regions, each of which takes the inputs as its parameters. Values that the
// regions use from outside become further inputs.
Node& emit_with_regions(const OpDef& op, Values inputs, Attrs attrs,
                        std::vector<std::unique_ptr<Block>> regions);

// Checks in `infer` that a region's parameters have these types; `who` is named in the error.
void require_parameters(const Block& region, const Types& types, std::string_view who);
// Unifies two types: takes the sizes known in either. False if they cannot be equal.
bool unify(Type& type, const Type& other);

Types types_of(const Values& values);

}  // namespace keratin::ops

#pragma once

#include "keratin/base/text.h"
#include "keratin/ir/module.h"
#include "keratin/ir/node.h"

// A few ops for the tests of this folder, which stands below the real ones.
namespace keratin::testing {

inline const Type scalar{DType::f32, {}};

// One attribute of every kind.
struct EveryAttrs {
  bool flag = false;
  int64_t whole = 3;
  double real = 0.5;
  std::string words = "none";
  DType dtype = DType::f32;
  Device device = {};
  Tensor tensor = {};
  Dims sizes = {};
  std::vector<double> reals = {};
  std::vector<std::string> lines = {};
  std::vector<bool> flags = {};
  std::vector<DType> dtypes = {};
  static constexpr auto fields =
      field_list(field("flag", &EveryAttrs::flag), field("whole", &EveryAttrs::whole),
                 field("real", &EveryAttrs::real), field("words", &EveryAttrs::words),
                 field("dtype", &EveryAttrs::dtype), field("device", &EveryAttrs::device),
                 field("tensor", &EveryAttrs::tensor), field("sizes", &EveryAttrs::sizes),
                 field("reals", &EveryAttrs::reals), field("lines", &EveryAttrs::lines),
                 field("flags", &EveryAttrs::flags), field("dtypes", &EveryAttrs::dtypes));
};

// The type of the first input, with any attributes.
inline const OpDef every_op{.name = "every",
                            .attrs = attrs_type<EveryAttrs>(),
                            .arity = 1,
                            .infer = [](const Node& n) -> Types { return {n.in().type()}; }};
// One output like each of two inputs, which must be equal.
inline const OpDef pair_op{.name = "pair", .arity = 2, .infer = [](const Node& n) -> Types {
                             require(n.in(0).type() == n.in(1).type(),
                                     "pair: expected two equal types, got ", n.in(0).type(),
                                     " and ", n.in(1).type());
                             return {n.in(0).type(), n.in(1).type()};
                           }};
// Nothing from anything.
inline const OpDef sink_op{.name = "sink", .infer = [](const Node&) -> Types { return {}; }};
// What its region yields.
inline const OpDef body_op{.name = "body", .regions = 1, .infer = [](const Node& n) -> Types {
                             Types types;
                             for (const Value& result : n.region().results)
                               types.push_back(result.type());
                             return types;
                           }};
// f32[2] from nothing, on gpu:1.
inline const OpDef far_op{.name = "far",
                          .arity = 0,
                          .infer = [](const Node&) -> Types {
                            return {{DType::f32, {2}, {Device::Kind::gpu, 1}}};
                          },
                          .places = true};

inline Module parse_sample(std::string_view text) {
  return parse_module(text, [](std::string_view name) -> const OpDef* {
    for (const OpDef* op : {&every_op, &pair_op, &sink_op, &body_op, &far_op})
      if (op->name == name) return op;
    return nullptr;
  });
}

}  // namespace keratin::testing

#include <gtest/gtest.h>

#include <algorithm>

#include "keratin/backend/cpu/jit/loop_testing.h"
#include "keratin/backend/cpu/jit/tile_ops.h"
#include "keratin/base/text.h"

namespace keratin::cpu::loop_testing {

namespace {

void check_element(const LoopInst& inst, DType operand, const Element* args, Element got,
                   const std::string& where) {
  const Element want = evaluate(inst, operand, args);
  if (!is_float(inst.dtype)) {
    EXPECT_EQ(got.whole, want.whole) << where << " of " << args[0].whole << ", " << args[1].whole
                                     << " / " << args[0].real << ", " << args[1].real;
    return;
  }
  const DType precision = inst.dtype == DType::f64 ? DType::f64 : DType::f32;
  EXPECT_LE(ulps(precision, got.real, want.real), allowed_ulps(inst.op, precision))
      << where << " of " << args[0].real << ", " << args[1].real << ", " << args[2].real << ": got "
      << got.real << ", want " << want.real;
}

void check_op(ScalarOp op, DType operand, DType result, LoopIsa isa) {
  const int64_t count = 1000 + 13;
  LoopProgram p{.rank = 1, .dims = {count}};
  std::vector<int32_t> args;
  for (int i = 0; i < operand_count(op); ++i)
    args.push_back(p.add_input(op == ScalarOp::select && i == 0 ? DType::boolean : operand));
  args.resize(3, -1);
  p.store(p.add(op, result, args[0], args[1], args[2]));
  if (result == DType::f16 || result == DType::bf16) p.outputs[0].dtype = DType::f32;
  std::mt19937 random(static_cast<unsigned>(op) * 31 + static_cast<unsigned>(operand));
  std::vector<Array> inputs;
  for (const LoopInput& input : p.inputs)
    inputs.push_back(awkward_array(input.dtype, count, random));
  if (op == ScalarOp::pow && !is_float(operand))  // exponents beyond reason are slow to check
    for (int64_t i = 0; i < count; ++i) inputs[1].set(i, {0, inputs[1].get(i).whole % 70});
  const std::vector<Array> outputs = execute(p, {.isa = isa, .contract = false}, inputs);
  EXPECT_TRUE(outputs[0].guards_intact());
  const std::string where = text(name(op), ' ', operand, " -> ", result, " on ", name(isa));
  for (int64_t i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    Element values[3];
    for (size_t j = 0; j < inputs.size(); ++j) values[j] = inputs[j].get(i);
    check_element(p.body[0], operand, values, outputs[0].get(i), where);
  }
}

class LoopOps : public ::testing::TestWithParam<LoopIsa> {};

TEST_P(LoopOps, EveryOperationOfEveryDtypeMatchesDoublePrecision) {
  for (int i = 0; i < scalar_op_count; ++i) {
    const auto op = static_cast<ScalarOp>(i);
    if (op == ScalarOp::cast) continue;
    for (DType dtype : all_dtypes) {
      if (!has_tile_function(op, dtype, dtype)) continue;
      LoopProgram p{.rank = 1, .dims = {1}};
      p.add_input(DType::boolean);
      p.add_input(dtype);
      const DType result = p.dtype_of(op == ScalarOp::select ? p.add(op, 0, 1, 1) : p.add(op, 1));
      check_op(op, dtype, result, GetParam());
    }
  }
}

TEST_P(LoopOps, CastsBetweenAllDtypes) {
  for (DType from : all_dtypes)
    for (DType to : all_dtypes) check_op(ScalarOp::cast, from, to, GetParam());
}

TEST_P(LoopOps, RefusesAnOperationThatADtypeDoesNotHave) {
  LoopProgram p{.rank = 1, .dims = {4}};
  p.add_input(DType::i32);
  p.store(p.add(ScalarOp::exp, 0));
  EXPECT_THROW(LoopKernel::compile(p, {.isa = GetParam()}), InternalError);
}

INSTANTIATE_TEST_SUITE_P(Isa, LoopOps, ::testing::ValuesIn(isas()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace keratin::cpu::loop_testing

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "keratin/backend/cpu/jit/loop_testing.h"
#include "keratin/backend/cpu/jit/tile_ops.h"
#include "keratin/base/text.h"

namespace keratin::cpu::loop_testing {

namespace {

constexpr int programs = 500;

// Random programs: shapes, broadcasts, dtypes, operations.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  LoopProgram program() {
    LoopProgram p;
    p.rank = pick(5);
    for (int d = 0; d < p.rank; ++d) p.dims[d] = pick(8) == 0 ? 1 : 1 + pick(6);
    if (p.rank > 0) p.dims[p.rank - 1] = std::array{1, 3, 16, 40, 257}[pick(5)] + pick(3);
    if (pick(40) == 0 && p.rank > 0) p.dims[pick(p.rank)] = 0;
    const int inputs = 1 + pick(5);
    for (int i = 0; i < inputs; ++i) p.add_input(dtype(), strides(p));
    const int instructions = 1 + pick(24);
    while (static_cast<int>(p.body.size()) < instructions) add_instruction(p);
    return p;
  }

  // Stores every value; half types as floats, which is what they are computed in.
  static LoopProgram storing_all(LoopProgram p) {
    p.outputs.clear();
    for (int32_t id = 0; id < p.value_count(); ++id)
      p.outputs.push_back({id, stored_dtype(p.dtype_of(id))});
    return p;
  }

  LoopProgram storing_some(LoopProgram p) {
    p.outputs.clear();
    const int count = 1 + pick(4);
    for (int i = 0; i < count; ++i) {
      const int32_t id = pick(3) == 0 ? pick(p.value_count()) : p.value_count() - 1 - pick(3);
      if (id < 0) continue;
      LoopOutput out{id, stored_dtype(p.dtype_of(id))};
      if (pick(2) == 0 && p.rank > 0) {
        const bool boolean = out.dtype == DType::boolean;
        out.reduce = static_cast<Reduce>(boolean ? 3 + pick(2) : 1 + pick(4));
        out.reduced = static_cast<uint32_t>(pick(1 << p.rank));
      }
      p.outputs.push_back(out);
    }
    return p;
  }

  std::mt19937& random() { return random_; }

 private:
  static DType stored_dtype(DType dtype) {
    return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  DType dtype() {
    return pick(2) == 0 ? DType::f32 : all_dtypes[static_cast<size_t>(pick(all_dtypes.size()))];
  }

  LoopDims strides(const LoopProgram& p) {
    LoopDims strides{};
    int64_t step = 1;
    const int style = pick(4);  // full, broadcast at random, scalar, now and then spread out
    for (int d = p.rank; d-- > 0;) {
      const bool broadcast = style == 2 || (style == 1 && pick(2) == 0);
      if (broadcast) continue;
      if (style == 3 && pick(6) == 0) step *= 2;
      strides[d] = step;
      step *= std::max<int64_t>(p.dims[d], 1);
    }
    return strides;
  }

  void add_instruction(LoopProgram& p) {
    const auto op = static_cast<ScalarOp>(pick(scalar_op_count));
    const int32_t a = pick(p.value_count());
    const DType operand = p.dtype_of(a);
    if (op == ScalarOp::constant || pick(12) == 0) {
      p.add_constant(dtype(), pick(7) - 3);
      return;
    }
    if (op == ScalarOp::cast) {
      p.add(op, dtype(), a);
      return;
    }
    if (!has_tile_function(op, operand, operand)) return;
    if (op == ScalarOp::pow && !is_float(operand)) return;  // slow to check
    std::vector<int32_t> same, conditions;
    for (int32_t id = 0; id < p.value_count(); ++id) {
      if (p.dtype_of(id) == operand) same.push_back(id);
      if (p.dtype_of(id) == DType::boolean) conditions.push_back(id);
    }
    const auto any = [&](const std::vector<int32_t>& ids) {
      return ids[static_cast<size_t>(pick(static_cast<int>(ids.size())))];
    };
    if (op == ScalarOp::select) {
      if (!conditions.empty()) p.add(op, any(conditions), a, any(same));
      return;
    }
    const int count = operand_count(op);
    p.add(op, a, count > 1 ? any(same) : -1, count > 2 ? any(same) : -1);
  }

  std::mt19937 random_;
};

// Each instruction against its operands as they were computed, so errors do not add up.
void check_instructions(const LoopProgram& p, const std::vector<Array>& values) {
  for (size_t i = 0; i < p.body.size(); ++i) {
    const LoopInst& inst = p.body[i];
    const int count = operand_count(inst.op);
    const DType operand =
        count == 0 ? inst.dtype : p.dtype_of(inst.args[inst.op == ScalarOp::select ? 1 : 0]);
    const Array& results = values[p.inputs.size() + i];
    for (int64_t e = 0; e < results.count(); ++e) {
      Element args[3];
      for (int j = 0; j < count; ++j) args[j] = values[size_t(inst.args[j])].get(e);
      const Element want = evaluate(inst, operand, args), got = results.get(e);
      if (!is_float(inst.dtype)) {
        ASSERT_EQ(got.whole, want.whole) << name(inst.op) << " of " << operand << ", value "
                                         << p.inputs.size() + i << ", element " << e;
        continue;
      }
      const DType precision = inst.dtype == DType::f64 ? DType::f64 : DType::f32;
      ASSERT_LE(ulps(precision, got.real, want.real), allowed_ulps(inst.op, precision))
          << name(inst.op) << " of " << args[0].real << ", " << args[1].real << ", " << args[2].real
          << " is " << got.real << ", want " << want.real << ", value " << p.inputs.size() + i;
    }
  }
}

// A reduction against the stored values of what it reduces.
class ReductionCheck {
 public:
  ReductionCheck(const LoopProgram& p, const LoopOutput& out, const Array& values)
      : p_(p), out_(out), folded_(size_t(p.element_count(out))) {
    for (int64_t e = 0; e < values.count(); ++e) {
      Folded& f = folded_[size_t(index(e))];
      f.add(out.reduce, values.get(e));
    }
  }

  void compare(const Array& got) const {
    for (int64_t i = 0; i < got.count(); ++i) {
      const Folded& f = folded_[size_t(i)];
      if (f.count == 0) continue;
      const Element g = got.get(i);
      if (!is_float(got.dtype())) {
        Array one(got.dtype(), 1);
        one.set(0, f.value);
        ASSERT_EQ(g.whole, one.get(0).whole) << name(out_.reduce) << " element " << i;
      } else if (out_.reduce == Reduce::max || out_.reduce == Reduce::min) {
        ASSERT_TRUE(g.real == f.value.real || (std::isnan(g.real) && f.nan)) << g.real;
      } else if (!f.nan && f.magnitude < 1e30 &&
                 (out_.reduce == Reduce::sum || f.smallest > 1e-30)) {
        const double scale = out_.reduce == Reduce::sum ? f.magnitude : std::abs(f.value.real);
        ASSERT_NEAR(g.real, f.value.real, 3e-5 * scale) << name(out_.reduce) << " element " << i;
      }
    }
  }

 private:
  struct Folded {
    Element value;
    int64_t count = 0;
    bool nan = false;
    double magnitude = 0;  // the largest partial product, or the sum of magnitudes
    double smallest = 1e30;

    void add(Reduce kind, Element x) {
      nan |= !std::isfinite(x.real) && (kind == Reduce::sum || kind == Reduce::prod);
      nan |= std::isnan(x.real);
      if (count++ == 0) {
        value = x;
      } else if (kind == Reduce::sum) {
        value = {value.real + x.real, int64_t(uint64_t(value.whole) + uint64_t(x.whole))};
      } else if (kind == Reduce::prod) {
        value = {value.real * x.real, int64_t(uint64_t(value.whole) * uint64_t(x.whole))};
      } else {
        const bool max = kind == Reduce::max;
        value = {max ? std::max(value.real, x.real) : std::min(value.real, x.real),
                 max ? std::max(value.whole, x.whole) : std::min(value.whole, x.whole)};
      }
      magnitude = kind == Reduce::sum
                      ? magnitude + std::abs(x.real)
                      : std::max({magnitude, std::abs(value.real), std::abs(x.real)});
      smallest = std::min({smallest, std::abs(value.real), std::abs(x.real)});
    }
  };

  int64_t index(int64_t element) const {
    int64_t at = 0, step = 1;
    for (int d = p_.rank; d-- > 0; element /= p_.dims[d]) {
      if (out_.reduced >> d & 1) continue;
      at += element % p_.dims[d] * step;
      step *= p_.dims[d];
    }
    return at;
  }

  const LoopProgram& p_;
  const LoopOutput& out_;
  std::vector<Folded> folded_;
};

class LoopFuzz : public ::testing::TestWithParam<LoopIsa> {};

TEST_P(LoopFuzz, RandomProgramsComputeWhatTheySay) {
  for (unsigned seed = 1; seed <= programs; ++seed) {
    Generator generator(seed);
    const LoopProgram p = generator.program();
    std::vector<Array> inputs;
    for (const LoopInput& input : p.inputs)
      inputs.push_back(awkward_array(input.dtype, extent(p, input), generator.random()));
    SCOPED_TRACE(text("seed ", seed, "\n", describe(p)));
    const LoopOptions options{.threads = 1, .isa = GetParam(), .contract = false};
    const LoopProgram all = Generator::storing_all(p);
    const std::vector<Array> values = execute(all, options, inputs);
    for (const Array& array : values) ASSERT_TRUE(array.guards_intact());
    check_instructions(all, values);
    if (HasFailure()) return;
    for (int variant = 0; variant < 2; ++variant) {
      const LoopProgram some = generator.storing_some(p);
      const std::vector<Array> outputs = execute(some, options, inputs);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const LoopOutput& out = some.outputs[i];
        const Array& stored = values[size_t(out.value)];
        ASSERT_TRUE(outputs[i].guards_intact());
        if (out.reduce == Reduce::none)
          ASSERT_TRUE(outputs[i].same_bytes(stored)) << "output " << i << "\n" << describe(some);
        else
          ReductionCheck(some, out, stored).compare(outputs[i]);
      }
      for (const int threads : {2, 3}) {
        LoopOptions many = options;
        many.threads = threads;
        const std::vector<Array> again = execute(some, many, inputs);
        for (size_t i = 0; i < outputs.size(); ++i) ASSERT_TRUE(again[i].same_bytes(outputs[i]));
      }
      if (HasFailure()) {
        ADD_FAILURE() << describe(some);
        return;
      }
    }
  }
}

// With products contracted, the machine code and the interpreter round at the same places.
TEST_P(LoopFuzz, ContractedProgramsAgreeWithTheInterpreter) {
  for (unsigned seed = 1; seed <= programs; ++seed) {
    Generator generator(seed + 10000);
    std::mt19937& random = generator.random();
    LoopProgram p{.rank = 2, .dims = {3, 1 + int64_t(random() % 50)}};
    for (int i = 0; i < 4; ++i) p.add_input(DType::f32);
    for (int i = 0; i < 20; ++i) {
      const ScalarOp ops[] = {ScalarOp::add, ScalarOp::sub, ScalarOp::mul, ScalarOp::mul,
                              ScalarOp::maximum};
      const auto last = static_cast<unsigned>(p.value_count());
      p.add(ops[random() % 5], int32_t(last - 1 - random() % 4), int32_t(random() % last));
    }
    p.store(p.value_count() - 1);
    std::vector<Array> inputs = random_inputs(p, random);
    const std::vector<Array> a = execute(p, {.isa = GetParam()}, inputs);
    const std::vector<Array> b = execute(p, {.isa = LoopIsa::interpreter}, inputs);
    for (int64_t e = 0; e < a[0].count(); ++e) {
      const double x = a[0].get(e).real, y = b[0].get(e).real;
      ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << "seed " << seed << '\n'
                                                              << describe(p);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, LoopFuzz, ::testing::ValuesIn(isas()),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace keratin::cpu::loop_testing

#include <algorithm>
#include <set>

#include "keratin/backend/cuda/conv/cudnn_step.h"
#include "keratin/backend/cuda/sources_testing.h"
#include "keratin/base/text.h"
#include "keratin/ops/fused.h"
#include "keratin/ops/norm_rules.h"
#include "keratin/ops/ops.h"
#include "keratin/ops/pool.h"
#include "keratin/ops/registry.h"
#include "keratin/ops/scalar.h"

namespace keratin::cuda {
namespace {

Module module_of(const NodeExample& example) {
  return ops::parse(text("module(", example.inputs, ") {\n", example.node, "\nreturn %y\n}"));
}

// A new kernel needs no line here: its record has an example.
TEST(CudaKernels, EveryKernelWithASourceRunsItsExample) {
  for (const CudaKernel* kernel : kernels()) {
    if (kernel->write == nullptr) continue;
    const Module m = module_of(kernel->example);
    EXPECT_EQ(source_kernel_of(*m.block().nodes().back()), kernel) << kernel->name;
  }
}

TEST_F(CudaSources, OfEveryExampleCompile) {
  for (const CudaKernel* kernel : kernels()) {
    if (kernel->write == nullptr) continue;
    SCOPED_TRACE(kernel->name);
    const Module m = module_of(kernel->example);
    for (const bool tf32 : {false, true}) {
      const std::string code = kernel->write(*m.block().nodes().back(), {.tf32 = tf32}).code;
      if (!tf32 || code != kernel->write(*m.block().nodes().back(), {.tf32 = false}).code)
        expect_compiles(code);
    }
  }
}

// All pointwise ops of a kind of number, in one loop.
Module pointwise(DType dtype) {
  Module m;
  const Value a = m.input({dtype, {4, 6}}), b = m.input({dtype, {6}}),
              c = m.input({DType::boolean, {4, 1}});
  for (const OpDef* op : ops::all_ops()) {
    if (!op->scalar || op == ops::find_op("cast") || op == ops::find_op("select")) continue;
    try {
      Values inputs = {a};
      if (op->arity == 2) inputs.push_back(b);
      m.output(m.block().append(*op, inputs).out());
    } catch (const UserError&) {
      // Not an op of this dtype.
    }
  }
  m.output(ops::where(c, a, ops::broadcast_to(b, {4, 6})));
  for (DType to : all_dtypes) m.output(ops::cast(a, to));
  return m;
}

TEST_F(CudaSources, EveryPointwiseOpOfEveryDType) {
  for (DType dtype : all_dtypes) {
    // One kernel for all of them: compiling has a price per kernel.
    const Module m = pointwise(dtype);
    Module fused;
    Values inputs;
    for (const auto& parameter : m.block().parameters())
      inputs.push_back(fused.input(parameter->type()));
    for (const Value& result :
         ops::fused(fused.block(), inputs, clone_block(m.block(), 1), "loop").outputs())
      fused.output(result);
    expect_compiles(fused);
  }
}

// Large enough to be done several elements at a time.
TEST_F(CudaSources, PacksOfNeighbours) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f64, DType::u8}) {
    Module m;
    const Value x = m.input({dtype, {64, 96, 64}});
    for (const Shape& other : {Shape{64}, Shape{96, 1}, Shape{64, 1, 64}, Shape{}, Shape{64, 1, 1}})
      m.output(ops::add(x, m.input({dtype, other})));
    m.output(ops::where(m.input({DType::boolean, {64, 96, 64}}), x, x));
    m.output(ops::add(m.input({dtype, {1024, 1028}}), m.input({dtype, {1024, 1}})));
    m.output(ops::add(m.input({dtype, {8, 12001, 7}}), m.input({dtype, {7}})));
    m.output(ops::sum(x, {0, 1}));
    m.output(ops::max(x, {2}));
    m.output(ops::sum(m.input({dtype, {3, 700000}}), {1}));
    expect_compiles(m);
  }
}

TEST_F(CudaSources, Reductions) {
  for (DType dtype : {DType::f32, DType::bf16, DType::i64}) {
    Module m;
    const Value rows = m.input({dtype, {300, 70000}}), box = m.input({dtype, {3, 4, 5, 6}});
    m.output(ops::sum(rows, {1}));
    m.output(ops::max(rows, {0}));
    m.output(ops::prod(rows));
    m.output(ops::min(box, {0, 2}, true));
    m.output(ops::any(ops::greater(box, ops::zeros_like(box)), {1}));
    m.output(ops::all(ops::greater(box, ops::zeros_like(box)), {3}));
    m.output(ops::argmax(box, 1));
    m.output(ops::argmin(box, 3));
    m.output(ops::sum(m.input({dtype, {0, 3}}), {0}));
    expect_compiles(m);
  }
}

TEST_F(CudaSources, Movement) {
  Module m;
  const Value x = m.input({DType::f16, {3, 4, 5}}), at = m.input({DType::i32, {3}});
  m.output(ops::transpose(x, {2, 0, 1}));
  m.output(ops::broadcast_to(m.input({DType::i8, {4, 1}}), {3, 4, 5}));
  m.output(ops::slice(x, {0, 1, 0}, {3, 4, 5}, {1, 2, 1}));
  m.output(ops::flip(x, {0, 2}));
  m.output(ops::dynamic_slice(x, at, {1, 2, 3}));
  m.output(ops::dynamic_update_slice(x, m.input({DType::f16, {2, 2, 2}}), at));
  m.output(ops::pad(x, {.lo = {1, 0, 3}, .hi = {0, 2, 0}, .interior = {0, 1, 0}, .value = 2}));
  m.output(ops::concatenate({x, x, m.input({DType::f16, {3, 0, 5}})}, 1));
  m.output(ops::iota(m.block(), DType::f32, {3, 4}, 1));
  m.output(ops::random_bits(m.input({DType::i64, {2}}), {7}));
  expect_compiles(m);
}

TEST_F(CudaSources, IndexingAndLines) {
  Module m;
  const Value x = m.input({DType::f32, {3, 4, 5}}), at = m.input({DType::i64, {2, 2}});
  const Value along = m.input({DType::i32, {3, 2, 5}});
  m.output(ops::take(x, at, 1));
  m.output(ops::scatter_add(x, at, m.input({DType::f32, {3, 2, 2, 5}}), 1));
  m.output(ops::take_along_axis(x, along, 1));
  m.output(ops::scatter_add_along_axis(x, along, m.input({DType::f32, {3, 2, 5}}), 1));
  m.output(ops::cumsum(x, {.axis = 1, .exclusive = true}));
  m.output(ops::cumprod(x, {.axis = 2, .reverse = true}));
  m.output(ops::argsort(x, {.axis = 1, .descending = true}));
  expect_compiles(m);
}

// Many indices, and long lines, are sorted.
TEST_F(CudaSources, Sorts) {
  Module m;
  for (DType dtype : {DType::bf16, DType::i64}) {
    const Value x = m.input({dtype, {3, 500, 70}}), at = m.input({DType::i32, {100, 2}});
    m.output(ops::scatter_add(x, at, m.input({dtype, {3, 100, 2, 70}}), 1));
    m.output(ops::scatter_add_along_axis(x, m.input({DType::i64, {3, 80, 70}}),
                                         m.input({dtype, {3, 80, 70}}), 1));
    m.output(ops::argsort(x, {.axis = 1, .descending = dtype == DType::bf16}));
  }
  m.output(ops::argsort(m.input({DType::f64, {1000}}), {.axis = 0}));
  expect_compiles(m);
}

// Channels that stay together are moved 16 bytes at a time.
TEST_F(CudaSources, Padding) {
  for (DType dtype : {DType::f32, DType::bf16, DType::i32})
    for (int64_t channels : {3, 16}) {
      Module m;
      const Value x = m.input({dtype, {2, 6, 7, channels}});
      const Value y =
          ops::pad(x, {.lo = {0, 1, 2, 0}, .hi = {0, 3, 0, 0}, .interior = {0, 0, 1, 0}});
      m.output(y);
      EXPECT_EQ(source_of(y.node()).code.find(", 1>") == std::string::npos, channels == 16);
      expect_compiles(m);
    }
}

TEST_F(CudaSources, MatmulsAndWindows) {
  for (DType dtype : {DType::f32, DType::f16}) {
    Module m;
    const Value x = m.input({dtype, {2, 6, 7, 4}}), w = m.input({dtype, {3, 3, 2, 6}});
    m.output(ops::matmul(m.input({dtype, {5, 1, 3, 4}}), m.input({dtype, {2, 4, 6}})));
    const Value y = ops::conv(x, w, {.strides = {2, 1}, .groups = 2, .padding = "same"});
    m.output(y);
    m.output(ops::conv_grad_input(
        y, w, {.strides = {2, 1}, .groups = 2, .padding = "same", .sizes = {6, 7}}));
    m.output(ops::conv_grad_filter(
        x, y, {.strides = {2, 1}, .groups = 2, .padding = "same", .sizes = {3, 3}}));
    const auto pooled = ops::max_pool_where(x, {.window = {2, 2}});
    m.output(pooled.y);
    m.output(ops::max_unpool(pooled.y, pooled.where, {.window = {2, 2}, .sizes = {6, 7}}));
    m.output(ops::max_repool(x, pooled.where, {.window = {2, 2}}));
    m.output(ops::avg_pool(x, {.window = {3, 3}, .strides = {2, 2}, .padding = "same"}));
    m.output(ops::avg_pool_grad(
        pooled.y, {.window = {2, 2}, .strides = {2, 2}, .padding = "valid", .sizes = {6, 7}}));
    expect_compiles(m);
  }
}

TEST_F(CudaSources, Moments) {
  for (DType dtype : {DType::f32, DType::f64, DType::bf16})
    for (const Shape& shape : {Shape{9, 5, 64}, Shape{40000, 3}, Shape{300, 2048}, Shape{0, 4}}) {
      Module m;
      const ops::Moments found = ops::moments(m.input({dtype, shape}));
      m.output(found.mean);
      m.output(found.variance);
      expect_compiles(m);
    }
}

// Positions that 32 bits do not hold.
TEST_F(CudaSources, OfManyElements) {
  Module m;
  const Value x = m.input({DType::f16, {4096, 512, 512, 2}}), at = m.input({DType::i32, {3}});
  m.output(ops::avg_pool(x, {.window = {2, 2}}));
  m.output(ops::conv(x, m.input({DType::f16, {1, 1, 2, 3}}), {}));
  m.output(ops::cumsum(x, {.axis = 3}));
  m.output(ops::argmax(x, 3));
  m.output(ops::argsort(x, {.axis = 3}));
  m.output(ops::scatter_add(x, at, m.input({DType::f16, {3, 512, 512, 2}}), 0));
  m.output(ops::matmul(x, m.input({DType::f16, {2, 2}})));
  m.output(ops::random_bits(m.input({DType::i64, {2}}), {int64_t{1} << 33}));
  for (const std::string& code : sources_of(m)) {
    EXPECT_NE(code.find("using Index = long long;"), std::string::npos) << code;
    expect_compiles(code);
  }
}

// The kernels around cuDNN's: transposed filters, padding, more channels.
TEST_F(CudaSources, ConvolutionsByCudnn) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    Module m;
    const Value x = m.input({dtype, {2, 8, 9, 3}}), w = m.input({dtype, {3, 3, 3, 40}});
    const ops::ConvAttrs attrs{.strides = {2, 2}, .padding = "same"};
    const Value y = ops::conv(x, w, attrs);
    ops::ConvAttrs by_input = attrs, by_filter = attrs;
    by_input.sizes = {8, 9};
    by_filter.sizes = {3, 3};
    const Value dx = ops::conv_grad_input(y, w, by_input),
                dw = ops::conv_grad_filter(x, y, by_filter);
    for (const Value& value : {y, dx, dw})
      for (Channels channels : {Channels::as_they_are, Channels::more, Channels::folded}) {
        const auto shape = cudnn_shape(ops::conv_geometry(value.node()), dtype, channels);
        ASSERT_TRUE(shape);
        const ConvSources sources = conv_sources(*conv_job(value.node()), *shape, false);
        EXPECT_GT(sources.image, 0U);  // 8 rows are padded at one end only
        for (const Source& source : {sources.prepare, sources.before, sources.after})
          expect_compiles(source.code);
      }
    for (const Value& value : {y, dw}) {
      const auto job = conv_job(value.node());
      ASSERT_TRUE(fits_direct(*job));
      expect_compiles(write_direct_conv(*job).code);
    }
  }
}

// relu(conv · scale + shift + added), fused by cuDNN and not.
TEST_F(CudaSources, EpiloguesOfConvolutions) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Type types[] = {{dtype, {2, 8, 9, 3}},
                          {dtype, {3, 3, 3, 40}},
                          {dtype, {40}},
                          {dtype, {40}},
                          {dtype, {2, 4, 5, 40}}};
    auto region = std::make_unique<Block>(1);
    Module m;
    Values inside, inputs;
    for (const Type& type : types) {
      inside.push_back(region->parameter(type));
      inputs.push_back(m.input(type));
    }
    const Value y = ops::conv(inside[0], inside[1], {.strides = {2, 2}, .padding = "same"});
    region->results = {ops::relu(y * inside[2] + inside[3] + inside[4])};
    const Node& node = ops::fused(m.block(), inputs, std::move(region), "epilogue");
    const auto job = conv_job(node);
    ASSERT_TRUE(job && job->epilogue && job->epilogue->added);
    for (Channels channels : {Channels::as_they_are, Channels::more, Channels::folded})
      for (const bool fused : {true, false}) {
        const auto shape = cudnn_shape(ops::conv_geometry(job->conv), dtype, channels);
        ASSERT_TRUE(shape);
        const ConvSources sources = conv_sources(*job, *shape, fused);
        EXPECT_EQ(sources.shift > 0, fused);
        for (const Source& source : {sources.prepare, sources.before, sources.after})
          expect_compiles(source.code);
      }
    expect_compiles(write_direct_conv(*job).code);
    for (const bool with_scale : {true, false}) {
      Source alone;
      alone.code = "using Index = long long;\n";
      add_epilogue(alone, *job, with_scale);
      expect_compiles(alone.code);
    }
  }
}

// Windows that are gathered for a matmul, and added up from its result.
TEST_F(CudaSources, WindowsOfConvolutions) {
  Module m;
  const ops::ConvAttrs attrs{.strides = {2, 1}, .dilations = {1, 2}, .padding = "same"};
  ops::ConvAttrs by_input = attrs, by_filter = attrs;
  by_input.sizes = {8, 9};
  by_filter.sizes = {3, 3};
  const Value x = m.input({DType::bf16, {2, 8, 9, 3}}), w = m.input({DType::bf16, {3, 3, 3, 5}});
  const Value y = ops::conv(x, w, attrs);
  for (const Value& value :
       {y, ops::conv_grad_input(y, w, by_input), ops::conv_grad_filter(x, y, by_filter)})
    expect_compiles(write_im2col(*conv_job(value.node())).code);
}

// A kernel is compiled again if a header changes that it includes, directly or not.
TEST_F(CudaSources, TheCacheKeyHasAllIncludedHeaders) {
  const auto holds = [](const std::string& code, const char* part) {
    return compiler_input(code, "sm_90").find(part) != std::string::npos;
  };
  const std::string lstm = "#include \"keratin/backend/cuda/kernels/lstm.cu\"\n";
  for (const std::string& code : {std::string(), lstm}) {
    EXPECT_TRUE(holds(code, "struct Sigmoid"));  // ops/scalar.h
    EXPECT_EQ(holds(code, "lstm_forward"), code == lstm);
    EXPECT_EQ(holds(code, "struct StateMatmul"), code == lstm);  // recurrent.h
    EXPECT_FALSE(holds(code, "gru_forward"));
  }
}

TEST_F(CudaSources, AnErrorQuotesTheCompiler) {
  try {
    compile("extern \"C\" __global__ void kernel() { wrong; }", "sm_90");
    FAIL() << "expected a BackendError";
  } catch (const BackendError& error) {
    EXPECT_NE(std::string(error.what()).find("\"wrong\" is undefined"), std::string::npos)
        << error.what();
  }
}

// True of ops that cannot be decomposed, but for those that the plan runs itself.
bool needs_kernel(const OpDef& op) {
  return op.decompose == nullptr && !op.view && op.regions == 0 && op.infer != nullptr &&
         op.name != "constant" && op.name != "transfer";
}

// One that takes every node of the op: what it refuses does not depend on the node's inputs.
bool has_kernel_for_all_nodes(const OpDef& op) {
  Module m;
  Node& node = m.block().append_typed(op, {}, {}, {{DType::f32, {2, 3}}});
  return std::any_of(kernels().begin(), kernels().end(), [&](const CudaKernel* kernel) {
    if (kernel->ops[0] == nullptr) return !kernel->refuses(node);
    return runs_op(*kernel, op) && kernel->refuses == nullptr;
  });
}

// Strings, and integers that are handled as strings, stay on the host.
bool runs_on_host(const OpDef& op) {
  return &op == &ops::lookup_op || &op == &ops::hash_bucket_op || &op == &ops::cross_hash_op ||
         &op == &ops::text_ids_op;
}

TEST(CudaKernels, EveryPrimitiveHasAKernelForAllNodes) {
  for (const OpDef* op : ops::all_ops())
    EXPECT_TRUE(runs_on_host(*op) || !needs_kernel(*op) || has_kernel_for_all_nodes(*op))
        << op->name;
}

TEST(CudaKernels, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const CudaKernel* kernel : kernels())
    EXPECT_TRUE(names.insert(kernel->name).second) << kernel->name;
}

TEST(CudaSourceCode, PositionsTakeFewOperations) {
  EXPECT_EQ(affine({4, 6}, {6, 1}, 0, "i"), "(i)");
  EXPECT_EQ(affine({4, 6}, {0, 1}, 0, "i"), "((i) % 6)");
  EXPECT_EQ(affine({4, 6}, {1, 0}, 0, "i"), "(i / 6)");
  EXPECT_EQ(affine({2, 3, 4}, {1, 8, 2}, 5, "i"), "(((i) % 12) * Index(2) + i / 12 + Index(5))");
  EXPECT_EQ(affine({1, 1}, {0, 0}, 0, "i"), "Index(0)");
}

// sum(a · b) over the last axis, and the products too.
const Node& products_and_sums(Module& m, const Shape& a, const Shape& b) {
  auto region = std::make_unique<Block>(1);
  const Type types[] = {{DType::f32, a}, {DType::f32, b}};
  const Value x = region->parameter(types[0]), y = region->parameter(types[1]);
  const Value products = x * y;
  region->results = {products, ops::sum(products, {1})};
  return ops::fused(m.block(), {m.input(types[0]), m.input(types[1])}, std::move(region), "loop");
}

// Other threads still read a smaller input when a sum is written.
TEST(CudaSourceCode, SumsAreNotWrittenOverInputs) {
  Module m;
  const Node& node = products_and_sums(m, {8, 8}, {8});
  const Source::InPlace in_place = source_of(node).in_place;
  EXPECT_TRUE(in_place.allows(node, 0, 0));
  EXPECT_FALSE(in_place.allows(node, 0, 1));
  EXPECT_FALSE(in_place.allows(node, 1, 0));
  EXPECT_FALSE(in_place.allows(node, 1, 1));
}

// Threads without a row read the last one, when its own threads may have written it.
TEST(CudaSourceCode, SoftmaxIsInPlaceIfEveryThreadHasARow) {
  for (const int64_t rows : {64, 63}) {  // of 8 numbers: two threads each, 128 in a block
    Module m;
    m.output(ops::softmax(m.input({DType::f32, {rows, 8}})));
    const Node& node = *m.block().nodes().back();
    EXPECT_EQ(source_of(node).in_place.allows(node, 0, 0), rows == 64);
  }
}

// Inputs and sums are small; what lies between them has 2³² elements.
TEST(CudaSourceCode, ALoopOverManyElementsCountsIn64Bits) {
  Module m;
  const Type column{DType::f32, {65536, 1}}, row{DType::f32, {65536}};
  auto region = std::make_unique<Block>(1);
  const Value x = region->parameter(column), y = region->parameter(row);
  region->results = {ops::sum(x * y, {1})};
  m.output(ops::fused(m.block(), {m.input(column), m.input(row)}, std::move(region), "loop").out());
  EXPECT_EQ(sources_of(m).at(0).find("using Index = long long;"), 0U);
}

TEST(CudaSourceCode, ALoopReadsEachInputOnce) {
  auto region = std::make_unique<Block>(1);
  const Value a = region->parameter({DType::f32, {2, 3}}), b = region->parameter({DType::f32, {3}});
  const Value sum = a + b;
  region->results = {ops::relu(sum * sum)};
  Module m;
  const Value x = m.input({DType::f32, {2, 3}}), y = m.input({DType::f32, {3}});
  m.output(ops::fused(m.block(), {x, y}, std::move(region), "loop").out());
  EXPECT_EQ(sources_of(m).at(0), R"(using Index = int;
extern "C" __global__ void kernel(const float* p0, const float* p1, float* p2, char* p3) {
  wait_for_others();
  for (Index i = blockIdx.x * Index(256) + threadIdx.x; i < Index(6); i += gridDim.x * Index(256)) {
    const Index first = i * Index(1);
    const auto x0 = *reinterpret_cast<const Pack<float, 1>*>(p0 + (first));
    const auto x1 = *reinterpret_cast<const Pack<float, 1>*>(p1 + ((first) % 3));
    Pack<float, 1> y0;
#pragma unroll
    for (int e = 0; e < 1; ++e) {
    const auto a0 = load(x0.items[e]);
    const auto a1 = load(x1.items[e]);
    const float v0 = scalar::Add{}(a0, a1);
    const float v1 = scalar::Mul{}(v0, v0);
    const float v2 = scalar::Relu{}(v1);
    y0.items[e] = float(v2);
    }
    *reinterpret_cast<Pack<float, 1>*>(p2 + first) = y0;
  }
}
)");
}

}  // namespace
}  // namespace keratin::cuda

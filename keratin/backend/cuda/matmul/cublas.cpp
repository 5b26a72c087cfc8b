#include "keratin/backend/cuda/matmul/cublas.h"

#include <map>
#include <mutex>

#include "keratin/backend/cuda/driver/library.h"
#include "keratin/base/text.h"

namespace keratin::cuda::cublas {

namespace {

// Attributes, by the library's numbers.
constexpr int transpose_left_attribute = 3, transpose_right_attribute = 4;
constexpr int epilogue_attribute = 7, bias_attribute = 8;
constexpr int bits_attribute = 11, bits_stride_attribute = 12;
constexpr int plain_epilogue = 1, relu_epilogue = 2, bias_epilogue = 4, relu_grad_epilogue = 136;
constexpr int sum_left_epilogue = 256, sum_right_epilogue = 512, sum_relu_grad_epilogue = 152;
constexpr int batch_count_attribute = 5, batch_stride_attribute = 6;
constexpr int workspace_attribute = 1, reduction_attribute = 3, first_alignment_attribute = 5;
// How partial sums are joined: from the workspace, in order, never added to the result as they
// come. In the workspace they have the type of the arithmetic, or that of the result with fewer
// bits.
constexpr uint32_t parts_as_computed = 2, parts_as_given = 4;
constexpr size_t max_workspace = size_t{32} << 20;
constexpr int max_choices = 24;

struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

struct Api {
  size_t (*version)();
  int (*create)(void**);
  int (*create_operation)(void**, int compute, int scale);
  int (*destroy_operation)(void*);
  int (*set_operation)(void*, int attribute, const void*, size_t);
  int (*create_layout)(void**, int type, uint64_t rows, uint64_t columns, int64_t stride);
  int (*destroy_layout)(void*);
  int (*set_layout)(void*, int attribute, const void*, size_t);
  int (*create_preference)(void**);
  int (*destroy_preference)(void*);
  int (*set_preference)(void*, int attribute, const void*, size_t);
  int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, Heuristic*, int*);
  int (*multiply)(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                  const void*, void*, void*, void*, const void*, void*, size_t, StreamHandle);
};

void check(int status, const char* what) {
  if (status != 0)
    throw BackendError(text("cuda: cuBLASLt: ", what, " failed with status ", status));
}

Api open() {
  const Library library({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  Api a{};
  library.find(a.version, "cublasLtGetVersion");
  library.find(a.create, "cublasLtCreate");
  library.find(a.create_operation, "cublasLtMatmulDescCreate");
  library.find(a.destroy_operation, "cublasLtMatmulDescDestroy");
  library.find(a.set_operation, "cublasLtMatmulDescSetAttribute");
  library.find(a.create_layout, "cublasLtMatrixLayoutCreate");
  library.find(a.destroy_layout, "cublasLtMatrixLayoutDestroy");
  library.find(a.set_layout, "cublasLtMatrixLayoutSetAttribute");
  library.find(a.create_preference, "cublasLtMatmulPreferenceCreate");
  library.find(a.destroy_preference, "cublasLtMatmulPreferenceDestroy");
  library.find(a.set_preference, "cublasLtMatmulPreferenceSetAttribute");
  library.find(a.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.find(a.multiply, "cublasLtMatmul");
  return a;
}

const Api& api() {
  static const Api table = open();
  return table;
}

// The library's handle for the GPU that was entered.
void* handle() {
  static std::mutex lock;
  static auto* handles = new std::map<ContextHandle, void*>();  // the driver may be gone at the end
  ContextHandle context = nullptr;
  cuda::check(driver().current_context(&context), "cuCtxGetCurrent");
  const std::lock_guard guard(lock);
  void*& of_context = (*handles)[context];
  if (of_context == nullptr) check(api().create(&of_context), "cublasLtCreate");
  return of_context;
}

}  // namespace

bool available() {
  static const bool there = [] {
    try {
      handle();  // throws if the library does not fit the driver
      return true;
    } catch (const BackendError&) {
      return false;
    }
  }();
  return there;
}

size_t version() { return api().version(); }

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return DataType::f64;
    case DType::f16:
      return DataType::f16;
    case DType::bf16:
      return DataType::bf16;
    default:
      return DataType::f32;
  }
}

Operation::Operation(int compute, DataType scale, bool transpose_left, bool transpose_right) {
  void* made = nullptr;
  check(api().create_operation(&made, compute, static_cast<int>(scale)), "MatmulDescCreate");
  handle_ = {made, [](void* h) { api().destroy_operation(h); }};
  const auto transpose = [&](int attribute, bool on) {
    const int value = on ? 1 : 0;
    check(api().set_operation(made, attribute, &value, sizeof value), "MatmulDescSetAttribute");
  };
  transpose(transpose_left_attribute, transpose_left);
  transpose(transpose_right_attribute, transpose_right);
}

void Operation::epilogue(bool bias, bool relu) const {
  const int kind =
      bias || relu ? (bias ? bias_epilogue : 0) | (relu ? relu_epilogue : 0) : plain_epilogue;
  set_epilogue(kind);
}

void Operation::set_epilogue(int kind) const {
  check(api().set_operation(get(), epilogue_attribute, &kind, sizeof kind), "epilogue");
}

void Operation::bias(const void* address) const {
  check(api().set_operation(get(), bias_attribute, &address, sizeof address), "bias");
}

void Operation::relu_grad(int64_t stride) const {
  set_epilogue(relu_grad_epilogue);
  check(api().set_operation(get(), bits_stride_attribute, &stride, sizeof stride), "bits");
}

void Operation::bits(const void* address) const {
  check(api().set_operation(get(), bits_attribute, &address, sizeof address), "bits");
}

void Operation::sum_left() const { set_epilogue(sum_left_epilogue); }
void Operation::sum_right() const { set_epilogue(sum_right_epilogue); }
void Operation::sum_relu_grad() const { set_epilogue(sum_relu_grad_epilogue); }

Layout::Layout(DataType type, int64_t rows, int64_t columns) : type_(type) {
  void* made = nullptr;
  check(api().create_layout(&made, static_cast<int>(type), static_cast<uint64_t>(rows),
                            static_cast<uint64_t>(columns), rows),
        "MatrixLayoutCreate");
  handle_ = {made, [](void* h) { api().destroy_layout(h); }};
}

void Layout::batch(int64_t count, int64_t stride) const {
  const auto count32 = static_cast<int32_t>(count);
  check(api().set_layout(get(), batch_count_attribute, &count32, sizeof count32), "batch count");
  check(api().set_layout(get(), batch_stride_attribute, &stride, sizeof stride), "batch stride");
}

std::vector<Choice> choices(const Operation& operation, const Layout& left, const Layout& right,
                            const Layout& out, const std::array<uint32_t, 3>& alignments) {
  void* preference = nullptr;
  check(api().create_preference(&preference), "MatmulPreferenceCreate");
  const std::shared_ptr<void> owner(preference, [](void* p) { api().destroy_preference(p); });
  const auto set = [&](int attribute, const auto& value) {
    check(api().set_preference(preference, attribute, &value, sizeof value), "preference");
  };
  set(workspace_attribute, max_workspace);
  const bool half = out.type() == DataType::f16 || out.type() == DataType::bf16;
  set(reduction_attribute, half ? parts_as_computed : parts_as_computed | parts_as_given);
  const uint32_t of[] = {alignments[0], alignments[1], alignments[2], alignments[2]};
  for (int i = 0; i < 4; ++i) set(first_alignment_attribute + i, of[i]);
  Heuristic found[max_choices] = {};
  int count = 0;
  const int status = api().heuristic(handle(), operation.get(), left.get(), right.get(), out.get(),
                                     out.get(), preference, max_choices, found, &count);
  if (status != 0) return {};
  std::vector<Choice> all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) {
    std::copy(std::begin(found[i].algorithm), std::end(found[i].algorithm),
              all[i].algorithm.begin());
    all[i].workspace_bytes = found[i].workspace_bytes;
  }
  return all;
}

void multiply(const Operation& operation, const void* alpha, const void* left,
              const Layout& left_layout, const void* right, const Layout& right_layout,
              const void* beta, const void* addend, void* out, const Layout& out_layout,
              const Choice& choice, void* workspace, StreamHandle stream) {
  const DeviceAddress aligned = (address(workspace) + alignment - 1) / alignment * alignment;
  check(api().multiply(handle(), operation.get(), alpha, left, left_layout.get(), right,
                       right_layout.get(), beta, addend, out_layout.get(), out, out_layout.get(),
                       choice.algorithm.data(), reinterpret_cast<void*>(aligned),
                       choice.workspace_bytes, stream),
        "Matmul");
}

}  // namespace keratin::cuda::cublas

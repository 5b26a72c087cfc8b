#include "keratin/backend/cpu/jit/generate.h"

#include <algorithm>

#include "keratin/backend/cpu/jit/code_cache.h"
#include "keratin/backend/cpu/jit/code_nest.h"
#include "keratin/backend/cpu/levels.h"

#if defined(__x86_64__)
#include "keratin/backend/cpu/jit/loop_emitter.h"
#endif

namespace keratin::cpu {

std::string_view name(LoopIsa isa) {
  constexpr std::array<std::string_view, 3> names = {"interpreter", "avx2", "avx512"};
  return names[static_cast<size_t>(isa)];
}

double inst_ns(const LoopInst& inst, LoopIsa isa) {
  if (isa == LoopIsa::interpreter) return 1;
  return scalar_def(inst.op).transcendental ? 0.5 : 0.03;
}

#if defined(__x86_64__)

LoopIsa best_loop_isa() {
  constexpr LoopIsa of_level[] = {LoopIsa::interpreter, LoopIsa::avx2, LoopIsa::avx512};
  return of_level[static_cast<size_t>(levels().back())];
}

namespace {

bool can_generate(const LoopNest& nest, LoopIsa isa) {
  size_t row_folds = 0;
  for (size_t i = 0; i < nest.pointers.size(); ++i) {
    const int64_t stride = nest.column_stride(i);
    if (stride != 0 && stride != static_cast<int64_t>(size_of(nest.pointers[i].dtype)))
      return false;
  }
  for (size_t i = 0; i < nest.program.outputs.size(); ++i) {
    const LoopOutput& out = nest.program.outputs[i];
    if (out.reduce == Reduce::none) continue;
    const bool wide = nest.program.dtype_of(out.value) == DType::i64;
    if (wide && out.reduce == Reduce::prod && isa != LoopIsa::avx512) return false;
    row_folds += nest.column_stride(nest.program.inputs.size() + i) == 0;
  }
  return row_folds <= size_t(max_accumulators(isa == LoopIsa::avx512));
}

// The emitter sees nothing but the key of the cache.
GeneratedCode emit(const CodeNest& code) {
  thread_local std::vector<uint8_t> buffer(size_t{64} << 10);
  for (;;) {
    try {
      LoopEmitter emitter(code.nest, code.isa, code.stream, buffer);
      const size_t size = emitter.emit();
      return GeneratedCode(CodeMemory::copy_of(std::span(buffer).first(size)));
    } catch (const Xbyak::Error& error) {
      if (static_cast<int>(error) != Xbyak::ERR_CODE_IS_TOO_BIG) throw;
      buffer.resize(buffer.size() * 4);
    }
  }
}

}  // namespace

GeneratedCode generate(const LoopNest& nest, LoopIsa isa, bool stream) {
  if (isa == LoopIsa::interpreter || isa > best_loop_isa() || !can_generate(nest, isa)) return {};
  static CodeCache<CodeNest, GeneratedCode>& codes = *new CodeCache<CodeNest, GeneratedCode>;
  const CodeNest code = code_nest(nest, isa, stream);
  return codes.get(code, [&] { return emit(code); });
}

#else

LoopIsa best_loop_isa() { return LoopIsa::interpreter; }

GeneratedCode generate(const LoopNest&, LoopIsa, bool) { return {}; }

#endif

}  // namespace keratin::cpu

#include "keratin/backend/cpu/tile/tile_jit.h"

#if defined(__x86_64__)

#include <xbyak/xbyak.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "keratin/backend/cpu/jit/code_memory.h"

namespace keratin::cpu {
namespace {

// Writes one tile's code. Registers: the tile's sums first, then elements of A, then a row of B at
// the top; on AVX2 the mask of a partial last vector is the very last one.
class TileGenerator : private Xbyak::CodeGenerator {
 public:
  // The buffer has at least `code_size(spec)` bytes.
  TileGenerator(const TileSpec& spec, std::span<uint8_t> buffer)
      : CodeGenerator(buffer.size(), buffer.data()),
        spec_(spec),
        wide_(spec.level == Level::v4),
        double_(spec.dtype == DType::f64),
        size_(static_cast<int64_t>(size_of(spec.dtype))),
        lanes_(tile_lanes(spec.level, spec.dtype)),
        rows_(static_cast<int>(spec.a_rows.size())),
        vectors_(static_cast<int>((spec.columns + lanes_ - 1) / lanes_)),
        tail_(static_cast<int>(spec.columns % lanes_)) {
    const int registers = wide_ ? 32 : 16 - (tail_ != 0 ? 1 : 0);
    b_first_ = registers - vectors_;
    a_count_ = std::min(b_first_ - rows_ * vectors_, 4);
    emit();
  }

  // The size of the code, at the start of the buffer. It may be copied to any address.
  using CodeGenerator::getSize;

  // More than the code of a tile takes.
  static size_t code_size(const TileSpec& spec) {
    int64_t terms = 8;
    for (const TileClass& group : spec.classes) {
      terms += 16;
      for (const TileSegment& s : group.segments) terms += s.k;
    }
    return 8192 + static_cast<size_t>(terms) * spec.a_rows.size() * 16 * 12;
  }

 private:
  using Reg = Xbyak::Xmm;
  static constexpr int prefetch_rows = 12;

  Reg vec(int i) const { return Reg(wide_ ? Xbyak::Operand::ZMM : Xbyak::Operand::YMM, i); }
  // Some instructions take a register of type ymm or zmm only.
  static Xbyak::Ymm as_ymm(const Reg& r) {
    return Xbyak::Ymm(r.getIdx(), r.isZMM() ? Xbyak::Operand::ZMM : Xbyak::Operand::YMM,
                      r.isZMM() ? 512 : 256);
  }
  Reg sum(int i, int j) const { return vec(i * vectors_ + j); }
  Reg b_row(int j) const { return vec(b_first_ + j); }
  Reg a_element(int i) const { return vec(rows_ * vectors_ + i % a_count_); }
  Reg tail_mask() const { return vec(15); }
  bool partial(int j) const { return tail_ != 0 && j == vectors_ - 1; }

  int column_bytes(int j) const { return static_cast<int>(j * lanes_ * size_); }
  int bytes(int64_t elements) const { return static_cast<int>(elements * size_); }

  void emit() {
    if (tail_ != 0) load_mask();
    start_sums();
    if (spec_.unrolled) {
      unrolled_segments();
    } else {
      start_segments();
      for (size_t i = 0; i < spec_.classes.size(); ++i) loop_over_segments(i);
    }
    finish();
    store_sums();
    vzeroupper();
    ret();
    if (tail_ != 0 && !wide_) mask_table();
  }

  void load_mask() {
    if (wide_) {
      mov(eax, (1 << tail_) - 1);
      kmovw(k1, eax);
    } else {
      vmovups(tail_mask(), ptr[rip + mask_label_]);
    }
  }

  void mask_table() {
    align(32);
    L(mask_label_);
    for (int i = 0; i < 32; ++i) db(i < tail_ * size_ ? 0xff : 0);
  }

  void load(const Reg& to, const Xbyak::Address& from, bool masked) {
    if (!masked) {
      double_ ? vmovupd(to, from) : vmovups(to, from);
    } else if (wide_) {
      double_ ? vmovupd(to | k1 | T_z, from) : vmovups(to | k1 | T_z, from);
    } else {
      double_ ? vmaskmovpd(to, tail_mask(), from) : vmaskmovps(to, tail_mask(), from);
    }
  }

  void store(const Xbyak::Address& to, const Reg& from, bool masked) {
    if (!masked) {
      double_ ? vmovupd(to, from) : vmovups(to, from);
    } else if (wide_) {
      double_ ? vmovupd(to | k1, from) : vmovups(to | k1, from);
    } else {
      double_ ? vmaskmovpd(to, tail_mask(), from) : vmaskmovps(to, tail_mask(), from);
    }
  }

  void clear(const Reg& r) { wide_ ? vpxord(r, r, r) : vxorps(r, r, r); }

  void start_sums() {
    Xbyak::Label zero, ready;
    mov(c_, ptr[args_ + offsetof(TileArgs, c)]);
    cmp(qword[args_ + offsetof(TileArgs, accumulate)], 0);
    je(zero, T_NEAR);
    for_tile([&](int i, int j) { load(sum(i, j), c_address(c_, i, j), partial(j)); });
    jmp(ready, T_NEAR);
    L(zero);
    if (spec_.fetch_c) fetch();
    for_tile([&](int i, int j) { clear(sum(i, j)); });
    L(ready);
  }

  void fetch() {
    bool reads = false;
    for (const TilePost post : spec_.post) {
      if (post != TilePost::addend && post != TilePost::gate) continue;
      reads = true;
      load_array(post);
      for_tile([&](int i, int j) { prefetcht0(c_address(a_, i, j)); });
    }
    if (!reads) for_tile([&](int i, int j) { prefetcht0(c_address(c_, i, j)); });
  }

  void load_array(TilePost post) {
    const size_t at =
        post == TilePost::gate ? offsetof(TileArgs, gate) : offsetof(TileArgs, addend);
    mov(a_, ptr[args_ + at]);
  }

  Xbyak::Address c_address(const Xbyak::Reg64& base, int i, int j) {
    return ptr[base + bytes(spec_.c_rows[static_cast<size_t>(i)]) + column_bytes(j)];
  }

  template <class F>
  void for_tile(const F& body) {
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < vectors_; ++j) body(i, j);
    }
  }

  void start_segments() {
    mov(segment_, ptr[args_ + offsetof(TileArgs, segments)]);
    mov(counts_, ptr[args_ + offsetof(TileArgs, counts)]);
    if (spec_.copy_b) mov(copy_, ptr[args_ + offsetof(TileArgs, b_copy)]);
  }

  void loop_over_segments(size_t group) {
    Xbyak::Label next, done;
    mov(count_, ptr[counts_ + group * sizeof(int64_t)]);
    test(count_, count_);
    jz(done, T_NEAR);
    L(next);
    mov(a_, ptr[segment_ + offsetof(TileSegment, a)]);
    mov(b_, ptr[segment_ + offsetof(TileSegment, b)]);
    mov(k_, ptr[segment_ + offsetof(TileSegment, k)]);
    add(a_, ptr[args_ + offsetof(TileArgs, a)]);
    add(b_, ptr[args_ + offsetof(TileArgs, b)]);
    add(segment_, sizeof(TileSegment));
    loop_over_k(spec_.classes[group].rows);
    dec(count_);
    jnz(next, T_NEAR);
    L(done);
  }

  void loop_over_k(uint32_t rows) {
    const int unroll = std::clamp(64 / (rows_ * vectors_), 4, 8);
    Xbyak::Label many, few, one, done;
    sub(k_, unroll);
    jl(few, T_NEAR);
    align(32);
    L(many);
    for (int u = 0; u < unroll; ++u) {
      add_outer(rows, bytes(u * spec_.a_step), bytes(u * spec_.b_step), column_bytes(u * vectors_));
    }
    if (spec_.copy_b) add(copy_, column_bytes(unroll * vectors_));
    add(a_, bytes(unroll * spec_.a_step));
    add(b_, bytes(unroll * spec_.b_step));
    sub(k_, unroll);
    jge(many, T_NEAR);
    L(few);
    add(k_, unroll);
    jz(done, T_NEAR);
    L(one);
    add_outer(rows, 0, 0, 0);
    if (spec_.copy_b) add(copy_, column_bytes(vectors_));
    add(a_, bytes(spec_.a_step));
    add(b_, bytes(spec_.b_step));
    dec(k_);
    jnz(one, T_NEAR);
    L(done);
  }

  void unrolled_segments() {
    mov(a_, ptr[args_ + offsetof(TileArgs, a)]);
    mov(b_, ptr[args_ + offsetof(TileArgs, b)]);
    for (const TileClass& group : spec_.classes) {
      for (const TileSegment& s : group.segments) {
        for (int64_t k = 0; k < s.k; ++k) {
          add_outer(group.rows, static_cast<int>(s.a) + bytes(k * spec_.a_step),
                    static_cast<int>(s.b) + bytes(k * spec_.b_step), 0);
        }
      }
    }
  }

  // One k: the outer product of a column of A and a row of B.
  void add_outer(uint32_t rows, int a_offset, int b_offset, int copy_offset) {
    for (int j = 0; j < vectors_; ++j) {
      load(b_row(j), ptr[b_ + b_offset + column_bytes(j)], partial(j) && !spec_.whole_b);
    }
    for (int j = 0; spec_.copy_b && j < vectors_; ++j) {
      // Rows read in place lie far apart, so the hardware does not prefetch the next one.
      prefetcht0(ptr[b_ + b_offset + bytes(prefetch_rows * spec_.b_step) + column_bytes(j)]);
      store(ptr[copy_ + copy_offset + column_bytes(j)], b_row(j), false);
    }
    for (int i = 0; i < rows_; ++i) {
      if ((rows >> i & 1U) == 0) continue;
      const int at = a_offset + bytes(spec_.a_rows[static_cast<size_t>(i)]);
      if (wide_ && vectors_ == 1) {
        multiply_add(sum(i, 0), b_row(0), ptr_b[a_ + at]);
        continue;
      }
      const Reg a = a_element(i);
      double_ ? vbroadcastsd(as_ymm(a), ptr[a_ + at]) : vbroadcastss(a, ptr[a_ + at]);
      for (int j = 0; j < vectors_; ++j) multiply_add(sum(i, j), a, b_row(j));
    }
  }

  void multiply_add(const Reg& to, const Reg& x, const Xbyak::Operand& y) {
    double_ ? vfmadd231pd(to, x, y) : vfmadd231ps(to, x, y);
  }
  void add_vectors(const Reg& to, const Reg& x, const Xbyak::Operand& y) {
    double_ ? vaddpd(to, x, y) : vaddps(to, x, y);
  }

  void finish() {
    if (spec_.post.empty()) return;
    Xbyak::Label skip;
    cmp(qword[args_ + offsetof(TileArgs, finish)], 0);
    je(skip, T_NEAR);
    for (const TilePost post : spec_.post) {
      if (post == TilePost::bias) add_bias();
      if (post == TilePost::addend) add_addend();
      if (post == TilePost::relu) relu();
      if (post == TilePost::gate) gate();
      if (post == TilePost::scale) scale();
      if (post == TilePost::cap) cap();
    }
    L(skip);
  }

  void add_bias() {
    mov(a_, ptr[args_ + offsetof(TileArgs, bias)]);
    for (int j = 0; j < vectors_; ++j) load(b_row(j), ptr[a_ + column_bytes(j)], partial(j));
    for_tile([&](int i, int j) { add_vectors(sum(i, j), sum(i, j), b_row(j)); });
  }

  void add_addend() {
    load_array(TilePost::addend);
    for_tile([&](int i, int j) {
      load(b_row(0), c_address(a_, i, j), partial(j));
      add_vectors(sum(i, j), sum(i, j), b_row(0));
    });
  }

  // If one operand is NaN, the result is the second.
  void relu() {
    clear(b_row(0));
    for_tile([&](int i, int j) {
      double_ ? vmaxpd(sum(i, j), b_row(0), sum(i, j)) : vmaxps(sum(i, j), b_row(0), sum(i, j));
    });
  }

  void gate() {
    constexpr int less = 17;  // false for a NaN, raises nothing
    const Reg zero = a_element(0), open = b_row(0);
    load_array(TilePost::gate);
    clear(zero);
    for_tile([&](int i, int j) {
      const Reg s = sum(i, j);
      load(open, c_address(a_, i, j), partial(j));
      if (wide_) {
        double_ ? vcmppd(k2, zero, open, less) : vcmpps(k2, zero, open, less);
        double_ ? vmovapd(s | k2 | T_z, s) : vmovaps(s | k2 | T_z, s);
      } else {
        double_ ? vcmppd(open, zero, open, less) : vcmpps(open, zero, open, less);
        double_ ? vandpd(s, s, open) : vandps(s, s, open);
      }
    });
  }

  // Sets all elements of a register to `value`.
  void fill(const Reg& to, double value) {
    const Xbyak::Xmm low(to.getIdx());
    if (double_) {
      mov(a_, std::bit_cast<uint64_t>(value));
      vmovq(low, a_);
      vbroadcastsd(as_ymm(to), low);
    } else {
      mov(eax, std::bit_cast<uint32_t>(static_cast<float>(value)));
      vmovd(low, eax);
      vbroadcastss(to, low);
    }
  }

  void scale() {
    const Reg factor = b_row(0);
    fill(factor, spec_.scale);
    for_tile([&](int i, int j) {
      double_ ? vmulpd(sum(i, j), sum(i, j), factor) : vmulps(sum(i, j), sum(i, j), factor);
    });
  }

  // If one operand is NaN, the result is the second.
  void cap() {
    const Reg limit = b_row(0);
    fill(limit, spec_.cap);
    for_tile([&](int i, int j) {
      double_ ? vminpd(sum(i, j), limit, sum(i, j)) : vminps(sum(i, j), limit, sum(i, j));
    });
  }

  void store_sums() {
    for_tile([&](int i, int j) { store(c_address(c_, i, j), sum(i, j), partial(j)); });
  }

  const TileSpec& spec_;
  const bool wide_, double_;
  const int64_t size_, lanes_;
  const int rows_, vectors_, tail_;
  int b_first_ = 0, a_count_ = 0;
  Xbyak::Label mask_label_;
  // The code is called as f(self, args), and does not need self.
  const Xbyak::Reg64 args_ = rsi, a_ = rax, b_ = rdx, k_ = rcx, segment_ = r8, count_ = r9,
                     c_ = r10, copy_ = r11, counts_ = rdi;
};

class GeneratedTile final : public TileKernel {
 public:
  explicit GeneratedTile(CodeMemory code) : code_(std::move(code)) {
    run_ = reinterpret_cast<Run>(reinterpret_cast<uintptr_t>(code_.start()));
  }

 private:
  CodeMemory code_;
};

}  // namespace

TileKernelPtr generate_tile(const TileSpec& spec) {
  if (spec.level == Level::v2) return nullptr;
  thread_local std::vector<uint8_t> buffer;
  if (const size_t size = TileGenerator::code_size(spec); buffer.size() < size) buffer.resize(size);
  const TileGenerator generator(spec, buffer);
  CodeMemory code = CodeMemory::copy_of(std::span(buffer).first(generator.getSize()));
  if (code.start() == nullptr) return nullptr;
  return std::make_shared<GeneratedTile>(std::move(code));
}

}  // namespace keratin::cpu

#else

namespace keratin::cpu {

TileKernelPtr generate_tile(const TileSpec&) { return nullptr; }

}  // namespace keratin::cpu

#endif

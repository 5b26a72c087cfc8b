#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

// Stores where the calling function stands, and goes on where another one stood.
extern "C" void keratin_switch(void** from, void* to);
asm(R"(
.text
.type keratin_switch, @function
keratin_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size keratin_switch, .-keratin_switch

.type keratin_first, @function
keratin_first:
  mov %r12, %rdi
  call *%r13
  ud2
.size keratin_first, .-keratin_first
)");
extern "C" void keratin_first();

namespace keratin::simulator {

namespace {

constexpr size_t stack_bytes = size_t{256} << 10;

}  // namespace

// Stacks that all end at multiples of their size would share a few lines of the cache.
Fiber::Fiber()
    : unused_(++made_ % 61 * 192),
      stack_(static_cast<char*>(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(stack_, 4096, PROT_NONE);  // a stack overflow stops here
}

Fiber::~Fiber() { munmap(stack_, stack_bytes); }

void Fiber::begin(void (*function)(void*), void* argument) {
  function_ = function;
  argument_ = argument;
  ended_ = false;
  // As if `keratin_first` had been left by a switch: six registers and where it returns to.
  auto* top = reinterpret_cast<uintptr_t*>(stack_ + stack_bytes - unused_);
  top -= 2;  // stacks are aligned to 16 bytes where a function is called
  *--top = reinterpret_cast<uintptr_t>(&keratin_first);
  *--top = 0;                                           // rbp
  *--top = 0;                                           // rbx
  *--top = reinterpret_cast<uintptr_t>(this);           // r12
  *--top = reinterpret_cast<uintptr_t>(&Fiber::enter);  // r13
  *--top = 0;                                           // r14
  *--top = 0;                                           // r15
  inside_ = top;
}

void Fiber::enter(Fiber* fiber) {
  fiber->function_(fiber->argument_);
  fiber->ended_ = true;
  fiber->pause();
}

bool Fiber::resume() {
  keratin_switch(&outside_, inside_);
  return ended_;
}

const void* Fiber::stack_end() const { return stack_ + stack_bytes; }

void Fiber::pause() { keratin_switch(&inside_, outside_); }

}  // namespace keratin::simulator

#pragma once

#include <chrono>
#include <iosfwd>
#include <utility>

#include "keratin/ir/module.h"

namespace keratin {

// Runs passes one after the other: applies, verifies, times and dumps each.
class Pipeline {
 public:
  Pipeline(Module module, std::ostream* dump) : module_(std::move(module)), dump_(dump) {}

  template <class Pass>
  Pipeline& run(std::string_view name, Pass&& pass) {
    const auto start = std::chrono::steady_clock::now();
    module_ = pass(std::move(module_));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    verify(module_);
    if (dump_ != nullptr)
      *dump_ << "after " << name << " (" << took.count() << " ms):\n" << module_;
    return *this;
  }

  const Module& module() const { return module_; }
  Module take() { return std::move(module_); }

 private:
  Module module_;
  std::ostream* dump_;
};

}  // namespace keratin

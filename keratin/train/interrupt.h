#pragma once

namespace keratin {

// While it lives, Ctrl-C asks for the end of training instead of ending the process. Signals belong
// to the process: scopes of several threads share the handler, which the last one restores.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  // Whether Ctrl-C was pressed while there were scopes.
  static bool requested();
};

}  // namespace keratin

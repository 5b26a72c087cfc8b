#include "keratin/cli/command.h"

namespace keratin::cli {

// Each command is in a file of its own.
Command summary_command();
Command inspect_command();
Command plot_command();
Command predict_command();
Command evaluate_command();
Command train_command();
Command convert_command();
Command edit_command();
Command diff_command();
Command verify_command();
Command plan_command();
Command bench_command();
Command completion_command();
Command manual_command();

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      summary_command(),    inspect_command(), plot_command(),    predict_command(),
      evaluate_command(),   train_command(),   convert_command(), edit_command(),
      diff_command(),       verify_command(),  plan_command(),    bench_command(),
      completion_command(), manual_command(),
  };
  return all;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return &command;
  return nullptr;
}

const Option& help_option() {
  static const Option option{.name = "help", .help = "this help", .letter = 'h'};
  return option;
}

}  // namespace keratin::cli

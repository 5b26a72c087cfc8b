#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/commands.h"
#include "keratin/cli/help.h"

namespace keratin::cli {

Command completion_command() {
  return {
      .name = "completion",
      .summary = "print completion for a shell",
      .description = "Prints what makes a shell complete commands, options and files.",
      .positionals = {{.name = "SHELL", .help = "whose", .words = shells}},
      .examples = {"source <(keratin completion bash)", "keratin completion fish | source"},
      .run =
          [](const Arguments& arguments) {
            std::cout << completion(arguments.file("SHELL"));
            return success;
          },
  };
}

Command manual_command() {
  return {
      .name = "manual",
      .summary = "print the manual page, for man",
      .description = "Prints the manual page in troff, as it is installed.",
      .examples = {"keratin manual | man -l -"},
      .run =
          [](const Arguments&) {
            std::cout << manual_page();
            return success;
          },
  };
}

}  // namespace keratin::cli

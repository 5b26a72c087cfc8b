#pragma once

#include "keratin/cli/command.h"

namespace keratin::cli {

// Help, completion and the manual page, from the table of commands.
std::string program_help();
std::string command_help(const Command& command);
std::string usage(const Command& command);  // keratin predict [OPTION]… MODEL [DATA]…
std::string manual_page();                  // in troff, for man
// Completion for a shell: bash, zsh or fish.
std::string completion(std::string_view shell);
inline const std::vector<std::string> shells = {"bash", "zsh", "fish"};

// What the program is, in one line; and how an option is written: -o, --output FILE.
inline constexpr std::string_view tagline = "look at, run, train and convert Keras models";
std::string spelled(const Option& option);
// The option's help, with its default and the words it takes.
std::string explained(const Option& option);
std::vector<std::string> split_paragraphs(std::string_view text);
// The command's own options and --help.
std::vector<Option> options_of(const Command& command);

}  // namespace keratin::cli

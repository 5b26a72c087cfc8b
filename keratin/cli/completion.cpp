#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/help.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return joined(names);
}

// In single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What an option is called: "--output -o".
std::string spellings(const Option& option, std::string_view separator) {
  std::string out = "--" + option.name;
  if (option.letter != 0) out += text(separator, '-', option.letter);
  return out;
}

// What may follow a command that takes no files: `keratin completion bash`.
std::string words_after(const Command& command) {
  return command.positionals.empty() ? std::string() : joined(command.positionals[0].words);
}

std::string bash_case(const Command& command) {
  std::string flags, values;
  for (const Option& option : options_of(command)) {
    flags += spellings(option, " ") + ' ';
    if (!option.words.empty())
      values += text("        ", spellings(option, "|"), ") COMPREPLY=($(compgen -W ",
                     shell_quoted(joined(option.words)), " -- \"$word\")); return ;;\n");
  }
  std::string out = text("    ", command.name, ")\n");
  if (!values.empty()) out += text("      case \"$before\" in\n", values, "      esac\n");
  out += text("      flags=", shell_quoted(flags), '\n');
  out += text("      words=", shell_quoted(words_after(command)), '\n');
  return out + "      ;;\n";
}

std::string bash_completion() {
  std::string out = R"(# bash completion for keratin, made by `keratin completion bash`
_keratin() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" flags='' words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ')" +
                    command_names() + R"( --help --version' -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]}" in
)";
  for (const Command& command : commands()) out += bash_case(command);
  return out + R"(  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *)
      if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
      else
        COMPREPLY=($(compgen -f -- "$word"))
      fi ;;
  esac
}
complete -o filenames -F _keratin keratin
)";
}

// zsh runs what is made for bash.
std::string zsh_completion() {
  return "autoload -Uz bashcompinit && bashcompinit\n" + bash_completion();
}

std::string fish_completion() {
  std::string out = "# fish completion for keratin, made by `keratin completion fish`\n";
  for (const Command& command : commands()) {
    out += text("complete -c keratin -n __fish_use_subcommand -f -a ", command.name, " -d ",
                shell_quoted(command.summary), '\n');
    const std::string of_command =
        text("complete -c keratin -n '__fish_seen_subcommand_from ", command.name, "'");
    for (const Option& option : options_of(command)) {
      out += of_command + " -l " + option.name;
      if (option.letter != 0) out += text(" -s ", option.letter);
      if (!option.value.empty()) out += " -r";
      if (!option.words.empty()) out += " -f -a " + shell_quoted(joined(option.words));
      out += " -d " + shell_quoted(option.help) + '\n';
    }
    if (const std::string words = words_after(command); !words.empty())
      out += of_command + " -f -a " + shell_quoted(words) + '\n';
  }
  return out;
}

}  // namespace

std::string completion(std::string_view shell) {
  return shell == "bash"  ? bash_completion()
         : shell == "zsh" ? zsh_completion()
                          : fish_completion();
}

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

}  // namespace keratin::cli

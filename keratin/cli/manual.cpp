#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/help.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// Text as troff takes it: backslashes and hyphens escaped, no line that looks like a request.
std::string troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '-' || c == '\\') out += '\\';
    if (c == '\\')
      out += 'e';
    else
      out += c;
  }
  return out;
}

std::string entry(std::string_view term, std::string_view meaning) {
  return text(".TP\n.B ", troff(term), '\n', troff(meaning), '\n');
}

std::string command_section(const Command& command) {
  std::string out = text(".SS ", troff(usage(command)), '\n');
  for (const std::string& paragraph : split_paragraphs(command.description))
    out += text(".PP\n", troff(paragraph), '\n');
  for (const Positional& p : command.positionals) out += entry(p.name, p.help);
  for (const Option& option : options_of(command)) out += entry(spelled(option), explained(option));
  if (!command.examples.empty()) out += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string& example : command.examples) out += troff(example) + '\n';
  if (!command.examples.empty()) out += ".fi\n";
  return out;
}

}  // namespace

std::string manual_page() {
  std::string out = text(".TH KERATIN 1 \"\" \"keratin ", version(), "\" \"User Commands\"\n",
                         ".SH NAME\nkeratin \\- ", troff(tagline), '\n',
                         ".SH SYNOPSIS\n.B keratin\nCOMMAND [ARGUMENT]...\n",
                         ".SH DESCRIPTION\nModels are those that Python Keras or Keratin saved. "
                         "Nothing in a file is ever executed: a model with a Python Lambda is "
                         "refused by the commands that would have to run it.\n.SH COMMANDS\n");
  for (const Command& command : commands()) out += command_section(command);
  out += ".SH EXIT STATUS\n";
  for (const Status& status : all_statuses)
    out += entry(std::to_string(status.code), status.meaning);
  return out;
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

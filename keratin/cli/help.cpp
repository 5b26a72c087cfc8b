#include "keratin/cli/help.h"
#include "keratin/cli/text.h"

#include <algorithm>

namespace keratin::cli {
namespace {

constexpr size_t page_width = 80;

// Words in lines of at most the page's width; lines after the first are indented.
std::string wrapped(std::string_view text, size_t indent, size_t used) {
  std::string out;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t length = end - begin;
    if (used > indent && used + 1 + length > page_width) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      out += ' ';
      ++used;
    }
    out += text.substr(begin, length);
    used += length;
    begin = end + 1;
  }
  return out;
}

// Two columns: what it is, and what that means.
std::string table(const std::vector<std::pair<std::string, std::string>>& rows) {
  size_t column = 0;
  for (const auto& [left, right] : rows)
    if (left.size() <= 26) column = std::max(column, left.size());
  std::string out;
  for (const auto& [left, right] : rows) {
    out += "  " + left;
    if (left.size() > column)
      out += '\n' + std::string(column + 4, ' ');
    else
      out += std::string(column + 2 - left.size(), ' ');
    out += wrapped(right, column + 4, column + 4) + '\n';
  }
  return out;
}

std::string section(std::string_view title,
                    const std::vector<std::pair<std::string, std::string>>& rows) {
  return rows.empty() ? std::string() : text('\n', title, ":\n", table(rows));
}

}  // namespace

std::vector<std::string> split_paragraphs(std::string_view text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find("\n\n", begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> out = command.options;
  out.push_back(help_option());
  return out;
}

std::string spelled(const Option& option) {
  return (option.letter != 0 ? std::string{'-', option.letter, ',', ' '} : "") + "--" +
         option.name + (option.value.empty() ? "" : " " + option.value);
}

std::string explained(const Option& option) {
  std::string out = option.help;
  if (!option.words.empty()) {
    out += ": ";
    for (size_t i = 0; i < option.words.size(); ++i) out += (i == 0 ? "" : ", ") + option.words[i];
  }
  if (option.required) out += " (required)";
  if (!option.fallback.empty()) out += " (default: " + option.fallback + ")";
  if (option.repeats) out += "; may be repeated";
  return out;
}

std::string usage(const Command& command) {
  std::string out = "keratin " + command.name + " [OPTION]...";
  for (const Positional& p : command.positionals)
    out += ' ' + (p.optional ? "[" + p.name + "]" : p.name) + (p.repeats ? "..." : "");
  return out;
}

std::string command_help(const Command& command) {
  std::string out = "usage: " + usage(command) + "\n\n";
  for (const std::string& paragraph : split_paragraphs(command.description))
    out += wrapped(paragraph, 0, 0) + "\n\n";
  out.pop_back();
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Positional& p : command.positionals) rows.emplace_back(p.name, p.help);
  out += section("arguments", rows);
  rows.clear();
  for (const Option& option : options_of(command))
    rows.emplace_back(spelled(option), explained(option));
  out += section("options", rows);
  if (!command.examples.empty()) out += "\nexamples:\n";
  for (const std::string& example : command.examples) out += "  " + example + '\n';
  return out;
}

std::string program_help() {
  std::string out = text("usage: keratin COMMAND [ARGUMENT]...\n\nkeratin: ", tagline, ".\n");
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Command& command : commands()) rows.emplace_back(command.name, command.summary);
  out += section("commands", rows);
  out += section("options", {{"-h, --help", "this help; `keratin COMMAND --help` says more"},
                             {"--version", "the version"}});
  rows.clear();
  for (const Status& status : all_statuses)
    rows.emplace_back(std::to_string(status.code), status.meaning);
  return out + section("exit status", rows);
}

}  // namespace keratin::cli

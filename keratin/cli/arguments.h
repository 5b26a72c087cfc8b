#pragma once

#include "keratin/cli/command.h"

namespace keratin::cli {

// What a user wrote, checked against what a command takes.
class Arguments {
 public:
  // Reads `--name value`, `--name=value`, `-n value`; after `--` nothing is an option.
  Arguments(const Command& command, const std::vector<std::string>& words);

  bool help() const { return flag("help"); }
  bool flag(std::string_view option) const { return given(option); }
  bool given(std::string_view option) const { return values_.contains(option); }

  // The last value that was given, or the option's default; "" where there is neither.
  std::string text(std::string_view option) const;
  const std::vector<std::string>& all(std::string_view option) const;
  int64_t integer(std::string_view option) const;
  double number(std::string_view option) const;
  std::vector<int64_t> integers(std::string_view option) const;

  // The values of one positional argument.
  const std::string& file(std::string_view name) const;
  const std::vector<std::string>& files(std::string_view name) const;

 private:
  void read_option(const std::vector<std::string>& words, size_t& at);
  void place(const std::vector<std::string>& positionals);
  const Option& find(std::string_view spelled) const;
  const Option& option(std::string_view name) const;

  const Command* command_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_, positionals_;
};

// Splits a list: "a,b" to "a" and "b".
std::vector<std::string> split(std::string_view text, char separator);
// "name=file" to both; the name is empty where there is none.
std::pair<std::string, std::string> named_file(const std::string& text);
// The word nearest to one that is not known, or nothing when all are far.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);
// ", did you mean 'x'?", or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       std::string_view prefix = "");

}  // namespace keratin::cli

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keratin/keratin.h"

// The `keratin` program. A command states its arguments once; parsing, --help, completion and the
// manual page derive from that.
namespace keratin::cli {

// What the program's status says.
struct Status {
  int code;
  std::string_view meaning;
};
inline constexpr Status success{0, "all went well"};
inline constexpr Status different{
    1, "diff or edit --compare found a difference, or verify a deviation"};
inline constexpr Status bad_usage{2, "the command line is wrong"};
inline constexpr Status bad_file{3, "a file or its data is missing, damaged or does not fit"};
inline constexpr Status failure{4, "the machine or Keratin itself failed"};
inline constexpr Status interrupted{130, "Ctrl-C ended training early; the model was written"};
inline constexpr Status all_statuses[] = {success,  different, bad_usage,
                                          bad_file, failure,   interrupted};

// The command line is wrong; the message does not name the command.
class UsageError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Kind { text, integer, integers, number };  // integers: 1,8,32

struct Option {
  std::string name;   // "batch-size" is written --batch-size
  std::string value;  // what its value is called in the help; "" for a flag
  std::string help;
  char letter = 0;                      // -o
  bool repeats = false;                 // may be given several times
  bool required = false;                // must be given
  std::vector<std::string> words = {};  // all that its value may be, where that is a few words
  std::string fallback = {};            // its value when it is not given
  Kind kind = Kind::text;
  double min = 0;  // of numbers
};

struct Positional {
  std::string name;
  std::string help;
  bool optional = false;
  bool repeats = false;
  std::vector<std::string> words = {};  // all that it may be, where it is no file
};

class Arguments;

struct Command {
  std::string name;
  std::string summary;      // one line
  std::string description;  // paragraphs, apart by empty lines
  std::vector<Positional> positionals;
  std::vector<Option> options;
  std::vector<std::string> examples;
  std::function<Status(const Arguments&)> run;
};

// Every command, in the order of the help.
const std::vector<Command>& commands();
const Command* find_command(std::string_view name);

const Option& help_option();  // of every command

}  // namespace keratin::cli

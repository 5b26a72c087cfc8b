// The `keratin` program: finds the command, runs it, and says what went wrong.
#include <iostream>

#include "keratin/cli/arguments.h"
#include "keratin/cli/help.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

Status complain(const std::string& who, std::string_view what, Status status) {
  std::cout.flush();
  std::cerr << who << ": " << what << '\n';
  if (status.code == bad_usage.code) std::cerr << "Try '" << who << " --help'.\n";
  return status;
}

Status no_command(const std::string& word) {
  std::vector<std::string> known;
  for (const Command& command : commands()) known.push_back(command.name);
  const bool option = word.starts_with('-');
  return complain("keratin",
                  text("unknown ", option ? "option '" : "command '", word, "'",
                       option ? "" : suggestion(word, known)),
                  bad_usage);
}

Status run_command(const Command& command, const std::vector<std::string>& words) {
  const Arguments arguments(command, words);
  if (!arguments.help()) return command.run(arguments);
  std::cout << command_help(command);
  return success;
}

Status run_program(std::vector<std::string> words) {
  if (words.empty()) {
    std::cerr << program_help();
    return bad_usage;
  }
  const std::string first = words[0];
  words.erase(words.begin());
  if (first == "--version") {
    std::cout << "keratin " << version() << '\n';
    return success;
  }
  if (first == "--help" || first == "-h" || first == "help") {
    const Command* command = words.empty() ? nullptr : find_command(words[0]);
    if (command == nullptr && !words.empty()) return no_command(words[0]);
    std::cout << (command != nullptr ? command_help(*command) : program_help());
    return success;
  }
  const Command* command = find_command(first);
  if (command == nullptr) return no_command(first);
  const std::string who = "keratin " + command->name;
  try {
    return run_command(*command, words);
  } catch (const UsageError& error) {
    return complain(who, error.what(), bad_usage);
  } catch (const UserError& error) {
    return complain(who, error.what(), bad_file);
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(who, error.what(), bad_file);
  } catch (const std::exception& error) {
    return complain(who, error.what(), failure);
  }
}

}  // namespace
}  // namespace keratin::cli

int main(int argc, char** argv) {
  namespace cli = keratin::cli;
  keratin::set_warning_handler(
      [](const std::string& message) { std::cerr << "keratin: warning: " << message << '\n'; });
  const cli::Status status = cli::run_program({argv + 1, argv + argc});
  std::cout.flush();
  if (!std::cout.good() && status.code == cli::success.code) {
    std::cerr << "keratin: the output could not be written\n";
    return cli::failure.code;
  }
  return status.code;
}

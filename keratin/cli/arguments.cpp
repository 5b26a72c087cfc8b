#include "keratin/cli/arguments.h"
#include "keratin/cli/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace keratin::cli {
namespace {

template <class... Parts>
[[noreturn]] void misused(const Parts&... parts) {
  throw UsageError(cli::text(parts...));
}

// How many letters must change to make one word of the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

void check_words(const std::string& who, const std::vector<std::string>& words,
                 const std::string& value) {
  if (words.empty() || std::find(words.begin(), words.end(), value) != words.end()) return;
  std::string known;
  for (const std::string& word : words) known += (known.empty() ? "" : ", ") + word;
  misused(who, " is one of ", known, "; got '", value, "'", suggestion(value, words));
}

// The number that the whole word is; nothing where it is none.
template <class T>
std::optional<T> parsed(const std::string& word) {
  T value{};
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || stop != word.data() + word.size()) return {};
  return value;
}

template <class T>
bool at_least(const std::string& word, double least) {
  const std::optional<T> value = parsed<T>(word);
  return value && static_cast<double>(*value) >= least;
}

void check_number(const Option& option, const std::string& value) {
  bool good = true;
  std::string_view what;
  if (option.kind == Kind::integer) {
    what = "a whole number";
    good = at_least<int64_t>(value, option.min);
  } else if (option.kind == Kind::integers) {
    what = "whole numbers";
    for (const std::string& word : split(value, ','))
      good = good && at_least<int64_t>(word, option.min);
  } else if (option.kind == Kind::number) {
    what = "a number";
    good = at_least<double>(value, option.min);
  }
  if (!good)
    misused("--", option.name, " takes ", what, " of at least ", option.min, ", got '", value, "'");
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::pair<std::string, std::string> named_file(const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos) return {"", text};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t changes = candidate.starts_with(word) ? 1 : distance(word, candidate);
    if (changes >= least) continue;
    least = changes;
    best = candidate;
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       std::string_view prefix) {
  const auto found = nearest(word, known);
  return found ? text("; did you mean '", prefix, *found, "'?") : std::string();
}

Arguments::Arguments(const Command& command, const std::vector<std::string>& words)
    : command_(&command) {
  std::vector<std::string> positionals;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      positionals.insert(positionals.end(), words.begin() + static_cast<int64_t>(at) + 1,
                         words.end());
      break;
    }
    if (word.size() > 1 && word[0] == '-')
      read_option(words, at);
    else
      positionals.push_back(word);
  }
  if (help()) return;
  place(positionals);
  for (const Option& option : command.options)
    if (option.required && !given(option.name))
      misused("--", option.name, " ", option.value, " is missing");
}

const Option& Arguments::find(std::string_view spelled) const {
  std::vector<std::string> known;
  for (const Option& option : command_->options) {
    if (spelled == "--" + option.name) return option;
    if (option.letter != 0 && spelled == std::string{'-', option.letter}) return option;
    known.push_back("--" + option.name);
  }
  if (spelled == "--help" || spelled == "-h") return help_option();
  known.emplace_back("--help");
  misused("unknown option '", spelled, "'", suggestion(spelled, known));
}

void Arguments::read_option(const std::vector<std::string>& words, size_t& at) {
  const std::string& word = words[at];
  const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const Option& option = find(word.substr(0, equals));
  std::vector<std::string>& values = values_[option.name];
  if (!values.empty() && !option.repeats) misused("--", option.name, " is given twice");
  if (option.value.empty()) {
    if (equals != std::string::npos) misused("--", option.name, " takes no value");
    values.emplace_back();
    return;
  }
  if (equals == std::string::npos && (at + 1 == words.size() || words[at + 1].starts_with("--")))
    misused("--", option.name, " needs a value: ", option.value);
  const std::string value = equals == std::string::npos ? words[++at] : word.substr(equals + 1);
  check_words("--" + option.name, option.words, value);
  check_number(option, value);
  values.push_back(value);
}

void Arguments::place(const std::vector<std::string>& given) {
  size_t next = 0;
  for (const Positional& positional : command_->positionals) {
    std::vector<std::string>& values = positionals_[positional.name];
    while (next < given.size() && (values.empty() || positional.repeats)) {
      check_words(positional.name, positional.words, given[next]);
      values.push_back(given[next++]);
    }
    if (values.empty() && !positional.optional) misused(positional.name, " is missing");
  }
  if (next < given.size()) misused("unexpected argument '", given[next], "'");
}

const Option& Arguments::option(std::string_view name) const {
  for (const Option& option : command_->options)
    if (option.name == name) return option;
  throw InternalError(cli::text(command_->name, " has no option ", name));
}

std::string Arguments::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? option(name).fallback : found->second.back();
}

const std::vector<std::string>& Arguments::all(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

int64_t Arguments::integer(std::string_view name) const { return *parsed<int64_t>(text(name)); }

double Arguments::number(std::string_view name) const { return *parsed<double>(text(name)); }

std::vector<int64_t> Arguments::integers(std::string_view name) const {
  std::vector<int64_t> out;
  for (const std::string& word : split(text(name), ',')) out.push_back(*parsed<int64_t>(word));
  return out;
}

const std::string& Arguments::file(std::string_view name) const { return files(name).front(); }

const std::vector<std::string>& Arguments::files(std::string_view name) const {
  return positionals_.find(name)->second;
}

}  // namespace keratin::cli

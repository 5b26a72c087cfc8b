#include "rewrite.h"

#include <regex>
#include <vector>

namespace keratin::simulator {

namespace {

// The end of what begins at `at` with a quote or a bracket: one behind the matching one.
size_t end_of(const std::string& text, size_t at) {
  if (text[at] == '"') {
    for (++at; text[at] != '"'; ++at)
      if (text[at] == '\\') ++at;
    return at + 1;
  }
  int depth = 0;
  do {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == ']' || text[at] == '}') --depth;
    at = text[at] == '"' ? end_of(text, at) : at + 1;
  } while (depth > 0);
  return at;
}

// Splits where `mark` stands outside of quotes and brackets.
std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts(1);
  for (size_t at = 0; at < text.size();) {
    if (text[at] == mark) {
      parts.emplace_back();
      ++at;
      continue;
    }
    const bool opens = text[at] == '"' || text[at] == '(' || text[at] == '[' || text[at] == '{';
    const size_t end = opens ? end_of(text, at) : at + 1;
    parts.back() += text.substr(at, end - at);
    at = end;
  }
  return parts;
}

// "instruction" : "=r"(a) : "f"(b), "n"(c) : "memory"   is   ptx<"instruction">(a, b, c)
std::string as_call(const std::string& statement) {
  const std::vector<std::string> parts = split(statement, ':');
  std::string operands;
  for (size_t i = 1; i < parts.size() && i < 3; ++i)
    for (const std::string& operand : split(parts[i], ',')) {
      const size_t begin = operand.find('(');
      if (begin == std::string::npos) continue;
      operands += (operands.empty() ? "" : ", ") + operand.substr(begin);
    }
  return "::keratin::simulator::ptx<" + parts[0] + ">(" + operands + ")";
}

}  // namespace

std::string as_cpp(const std::string& text) {
  static const std::regex assembly(R"(\basm\s*(volatile\s*)?\()"),
      aligned(R"((__shared__) (alignas\(\d+\)))"),
      shared(R"(extern __shared__ ([^;\[]+) (\w+)\[\];)");
  std::string out;
  auto from = text.cbegin();
  for (std::smatch found; std::regex_search(from, text.cend(), found, assembly);) {
    out.append(from, found[0].first);
    const auto open = static_cast<size_t>(found[0].second - text.cbegin()) - 1;
    const size_t end = end_of(text, open);
    out += as_call(text.substr(open + 1, end - open - 2));
    from = text.cbegin() + static_cast<ptrdiff_t>(end);
  }
  out.append(from, text.cend());
  out = std::regex_replace(out, aligned, "$2 $1");
  return std::regex_replace(
      out, shared,
      "\n#define $2 (reinterpret_cast<$1*>(::keratin::simulator::runtime->self->shared))\n");
}

std::string module_of(const std::string& text) {
  static const std::regex kernel(
      R"re(extern "C" __global__ void (?:__launch_bounds__\((\d+)[^)]*\) )?)re"
      R"re((?:__cluster_dims__\((\d+)\) )?(\w+)\()re");
  std::string kernels;
  size_t count = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), kernel), end; found != end; ++found) {
    const auto number = [&](size_t group, const char* fallback) {
      return (*found)[group].matched ? (*found)[group].str() : fallback;
    };
    kernels += "Kernel<::" + number(3, "") + ">::info(\"" + number(3, "") + "\", " +
               number(1, "0") + ", " + number(2, "1") + "), ";
    ++count;
  }
  return "\nnamespace keratin::simulator {\n"
         "extern \"C\" __attribute__((visibility(\"hidden\"))) char __ehdr_start[], __bss_start[], "
         "_end[];\n"
         "static const KernelInfo kernels[] = {" +
         kernels +
         "{}};\n"
         "extern \"C\" __attribute__((visibility(\"default\"))) const ModuleInfo keratin_module = "
         "{&runtime, __ehdr_start, __bss_start, _end, kernels, " +
         std::to_string(count) + "};\n}\n";
}

}  // namespace keratin::simulator

#include "keratin/model/summary.h"
#include "keratin/base/text.h"
#include "keratin/graph/sequential.h"
#include "keratin/graph/topology.h"
#include "keratin/ir/node.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <unordered_set>

namespace keratin {
namespace {

// The number of characters in UTF-8.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// Splits a word after `width` characters.
std::pair<std::string, std::string> cut(const std::string& word, size_t width) {
  size_t bytes = 0;
  for (size_t chars = 0; bytes < word.size() && chars <= width; ++bytes)
    if ((static_cast<unsigned char>(word[bytes]) & 0xc0) != 0x80 && ++chars > width) break;
  return {word.substr(0, bytes), word.substr(bytes)};
}

// Breaks text into lines of at most `width` characters, at spaces. Only a word that is longer than
// a line is split.
std::vector<std::string> wrap(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    end = end == std::string::npos ? text.size() : end;
    std::string word = text.substr(at, end - at);
    while (end < text.size() && text[end] == ' ') ++end;
    const size_t spaces = end - at - word.size();
    at = end;
    if (width_of(lines.back()) + width_of(word) > width) {
      if (!lines.back().empty()) lines.emplace_back();
      while (width_of(word) > width) {
        auto [head, tail] = cut(word, width);
        lines.back() = head;
        lines.emplace_back();
        word = tail;
      }
    }
    lines.back() += word + std::string(spaces, ' ');
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

enum class Align { left, right, center };

std::string aligned(const std::string& text, size_t width, Align align) {
  const size_t space = width - std::min(width, width_of(text));
  const size_t before = align == Align::left ? 0 : align == Align::right ? space : space / 2;
  return std::string(before, ' ') + text + std::string(space - before, ' ');
}

class Table {
 public:
  Table(std::vector<std::string> header, std::vector<Align> aligns, std::vector<size_t> widths)
      : header_(std::move(header)), aligns_(std::move(aligns)), widths_(std::move(widths)) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string draw() const {
    std::vector<std::string> header = header_;  // too long: truncated, not wrapped
    for (size_t i = 0; i < header.size(); ++i)
      if (width_of(header[i]) > widths_[i]) header[i] = cut(header[i], widths_[i] - 1).first + "…";
    std::string out = rule("┏", "━", "┳", "┓") + line(header, "┃") + rule("┡", "━", "╇", "┩");
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i > 0) out += rule("├", "─", "┼", "┤");
      out += line(rows_[i], "│");
    }
    return out + rule("└", "─", "┴", "┘");
  }

 private:
  std::string rule(const char* first, const char* dash, const char* between,
                   const char* last) const {
    std::string out = first;
    for (size_t i = 0; i < widths_.size(); ++i)
      out += (i > 0 ? between : "") + repeat(dash, widths_[i] + 2);
    return out + last + "\n";
  }

  std::string line(const std::vector<std::string>& cells, const char* bar) const {
    std::vector<std::vector<std::string>> wrapped;
    size_t height = 1;
    for (size_t i = 0; i < cells.size(); ++i) {
      wrapped.push_back(wrap(cells[i], widths_[i]));
      height = std::max(height, wrapped.back().size());
    }
    std::string out;
    for (size_t row = 0; row < height; ++row) {
      out += bar;
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = row < wrapped[i].size() ? wrapped[i][row] : "";
        out += text(' ', aligned(cell, widths_[i], aligns_[i]), ' ', bar);
      }
      out += "\n";
    }
    return out;
  }

  std::vector<std::string> header_;
  std::vector<Align> aligns_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

// The widths of the columns' text. Borders and padding are taken off each column evenly.
std::vector<size_t> column_widths(const std::vector<double>& positions, int64_t line_length) {
  std::vector<int64_t> widths;
  int64_t current = 0, total = 0;
  for (const double position : positions) {
    const int64_t width =
        static_cast<int64_t>(position * static_cast<double>(line_length)) - current;
    require(width >= 4, "summary: a line of ", line_length, " characters is too short");
    widths.push_back(width + 2);
    current += width;
    total += width + 2;
  }
  const auto count = static_cast<int64_t>(widths.size());
  int64_t excess = total - (line_length - count - 1);
  std::vector<size_t> out;
  for (int64_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(excess) / static_cast<double>(count - i);
    const int64_t taken = excess > 0 ? static_cast<int64_t>(std::nearbyint(share)) : 0;
    excess -= taken;
    out.push_back(
        static_cast<size_t>(std::max<int64_t>(1, widths[static_cast<size_t>(i)] - taken - 2)));
  }
  return out;
}

std::string shape_text(const Shape& shape) {
  std::string out = "(";
  for (int64_t i = 0; i < shape.rank(); ++i)
    out += (i > 0 ? ", " : "") + (shape[i] == unknown ? "None" : std::to_string(shape[i]));
  return out + ")";
}

std::string output_shape(const Layer& layer) {
  const auto nodes = layer.inbound_nodes();
  if (nodes.empty()) {
    const auto* sequential = dynamic_cast<const SequentialLayer*>(&layer);
    const FunctionalLayer* graph = sequential != nullptr
                                       ? sequential->functional()
                                       : dynamic_cast<const FunctionalLayer*>(&layer);
    return graph == nullptr ? "?" : shape_text(graph->outputs()[0].shape());
  }
  const auto& outputs = nodes.back()->outputs();
  if (outputs.size() == 1) return shape_text(outputs[0].type.shape);
  std::string out = "[";
  for (size_t i = 0; i < outputs.size(); ++i)
    out += (i > 0 ? ", " : "") + shape_text(outputs[i].type.shape);
  return out + "]";
}

std::pair<int64_t, double> count_and_bytes(const std::vector<Variable>& variables) {
  int64_t count = 0;
  double bytes = 0;
  for (const Variable& v : variables) {
    count += v.shape().count();
    bytes += static_cast<double>(v.shape().count()) * static_cast<double>(size_of(v.dtype()));
  }
  return {count, bytes};
}

class Summary {
 public:
  Summary(const Model& model, const SummaryOptions& options) : model_(model), options_(options) {
    if (const auto* functional = dynamic_cast<const FunctionalLayer*>(model.layer().get())) {
      layers_ = functional->operations();
      for (const NodePtr& node : functional->topology().nodes) nodes_.insert(node.get());
      straight_ = is_straight(functional->topology());
    } else {
      layers_ = model.layers();
    }
  }

  std::string text() {
    std::vector<std::string> header = {"Layer (type)", "Output Shape", "Param #"};
    std::vector<Align> aligns = {Align::left, Align::left, Align::right};
    std::vector<double> positions = {0.45, 0.80, 1.0};
    int64_t length = 88;
    if (!straight_) {
      header.push_back("Connected to");
      aligns.push_back(Align::left);
      positions = {0.3, 0.56, 0.74, 1.0};
      length = 108;
    }
    if (!options_.positions.empty()) positions = options_.positions;
    if (options_.show_trainable) {
      header.push_back("Trainable");
      aligns.push_back(Align::center);
      for (double& p : positions) p *= 0.9;
      positions.push_back(1.0);
      length += 12;
    }
    require(positions.size() == header.size(), "summary: expected ", header.size(),
            " positions, got ", positions.size());
    if (options_.line_length > 0) length = options_.line_length;
    Table table(header, aligns, column_widths(positions, length));
    for (const LayerPtr& layer : shown()) add(table, *layer, 0);
    return "Model: \"" + model_.name() + "\"\n" + table.draw() + totals();
  }

 private:
  // True if the calls form a sequence: each takes one tensor, and no layer is called twice.
  static bool is_straight(const Topology& topology) {
    std::unordered_set<int64_t> depths;
    std::unordered_set<const Layer*> seen;
    for (size_t i = 0; i < topology.nodes.size(); ++i) {
      const CallNode& node = *topology.nodes[i];
      if (!depths.insert(topology.depths[i]).second || node.inputs().size() > 1 ||
          !seen.insert(node.layer().get()).second)
        return false;
    }
    return true;
  }

  std::vector<LayerPtr> shown() const {
    const auto& [first, last] = options_.layer_range;
    if (first.empty() && last.empty()) return layers_;
    const auto named = [](const std::string& name) {
      return [&name](const LayerPtr& layer) { return layer->name() == name; };
    };
    const auto begin = std::find_if(layers_.begin(), layers_.end(), named(first));
    const auto end = std::find_if(begin, layers_.end(), named(last));
    require(begin != layers_.end() && end != layers_.end(),
            "summary: expected the names of two "
            "layers, the first before the last, got '",
            first, "' and '", last, "'");
    return {begin, end + 1};
  }

  void add(Table& table, const Layer& layer, size_t level) const {
    const std::string prefix = level == 0 ? "" : repeat("   ", level) + "└ ";
    std::vector<std::string> row = {
        prefix + layer.name() + " (" + std::string(layer.class_name()) + ")", output_shape(layer),
        layer.built() ? detail::with_commas(parameters_of(layer)) : "0 (unbuilt)"};
    if (!straight_) row.push_back(connections(layer));
    if (options_.show_trainable)
      row.emplace_back(layer.weights().empty() ? "-" : layer.trainable() ? "Y" : "N");
    table.add(std::move(row));
    const auto* nested = dynamic_cast<const ModelLayer*>(&layer);
    if (!options_.expand_nested || nested == nullptr) return;
    for (const LayerPtr& inner : nested->layers()) add(table, *inner, level + 1);
  }

  static int64_t parameters_of(const Layer& layer) {
    return count_and_bytes(layer.weights()).first;
  }

  std::string connections(const Layer& layer) const {
    std::string out;
    for (const NodePtr& node : layer.inbound_nodes()) {
      if (!nodes_.contains(node.get())) continue;
      for (const SymbolicTensor& t : node->inputs())
        out += (out.empty() ? "" : ", ") + t.layer()->name() + "[" +
               std::to_string(t.node().index()) + "][" + std::to_string(t.index()) + "]";
    }
    return out.empty() ? "-" : out;
  }

  std::string totals() const {
    const auto [trainable, trainable_bytes] = count_and_bytes(model_.layer()->trainable_weights());
    const auto [frozen, frozen_bytes] = count_and_bytes(model_.layer()->non_trainable_weights());
    const auto row = [](const char* title, int64_t count, double bytes) {
      return std::string(title) + detail::with_commas(count) + " (" + readable_size(bytes) + ")\n";
    };
    return row(" Total params: ", trainable + frozen, trainable_bytes + frozen_bytes) +
           row(" Trainable params: ", trainable, trainable_bytes) +
           row(" Non-trainable params: ", frozen, frozen_bytes);
  }

  const Model& model_;
  const SummaryOptions& options_;
  std::vector<LayerPtr> layers_;
  std::unordered_set<const CallNode*> nodes_;
  bool straight_ = true;
};

int64_t terminal_columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

std::string detail::with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string readable_size(double bytes) {
  static constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << bytes << ' ' << units[unit];
  return out.str();
}

std::string summary_text(const Model& model, const SummaryOptions& options) {
  return Summary(model, options).text();
}

void summary(const Model& model, const SummaryOptions& options) {
  SummaryOptions fitted = options;
  if (const int64_t columns = terminal_columns(); fitted.line_length == 0 && columns > 30) {
    const std::string first = summary_text(model, options);
    const auto line = static_cast<int64_t>(width_of(first.substr(
        first.find('\n') + 1, first.find('\n', first.find('\n') + 1) - first.find('\n') - 1)));
    fitted.line_length = std::min(line, columns - 4);
  }
  std::cout << summary_text(model, fitted) << std::flush;
}

}  // namespace keratin

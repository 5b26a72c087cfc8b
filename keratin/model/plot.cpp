#include "keratin/model/plot.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

#include "keratin/base/text.h"
#include "keratin/graph/dtype_policy.h"
#include "keratin/graph/sequential.h"
#include "keratin/graph/topology.h"

namespace keratin {
namespace {

// A drawing of a model: one box of text per layer, and arrows between them. Boxes have levels from
// the inputs on.
struct Box {
  std::vector<std::string> lines;
  int64_t level = 0;    // 0 for inputs
  std::string cluster;  // the path of the nested model that contains the layer
};
struct Picture {
  std::vector<Box> boxes;
  std::vector<std::pair<size_t, size_t>> arrows;
};

std::string shapes_text(const std::vector<OutputSpec>& outputs) {
  std::string text;
  for (const OutputSpec& output : outputs)
    text += (text.empty() ? "" : ", ") + keras_shape(output.type.shape);
  return text;
}

std::vector<std::string> describe(const Layer& layer, const PlotOptions& options) {
  std::vector<std::string> lines;
  const std::string class_name(layer.class_name());
  lines.push_back(options.show_layer_names ? layer.name() + " (" + class_name + ")" : class_name);
  if (options.show_layer_activations)
    if (const Json config = layer.get_config(); config.contains("activation"))
      lines.push_back("Activation: " + (config.at("activation").is_string()
                                            ? config.at("activation").as_string()
                                            : config.at("activation").dump()));
  const auto nodes = layer.inbound_nodes();
  if (options.show_shapes && !nodes.empty()) {
    std::string inputs;
    for (const SymbolicTensor& t : nodes.back()->inputs())
      inputs += (inputs.empty() ? "" : ", ") + keras_shape(t.shape());
    if (!inputs.empty()) lines.push_back("Input shape: " + inputs);
    lines.push_back("Output shape: " + shapes_text(nodes.back()->outputs()));
  }
  if (options.show_dtype && !nodes.empty() && !nodes.back()->outputs().empty())
    lines.push_back("Output dtype: " +
                    std::string(keras_name(nodes.back()->outputs()[0].type.dtype)));
  if (options.show_trainable && !layer.weights().empty())
    lines.emplace_back(layer.trainable() ? "Trainable" : "Non-trainable");
  return lines;
}

class Painter {
 public:
  explicit Painter(const PlotOptions& options) : options_(options) {}

  Picture paint(const Model& model) {
    const FunctionalLayer* graph = model.functional();
    if (graph != nullptr) {
      add(*graph, "", 0);
    } else {  // no graph: the layers form a sequence
      size_t before = 0;
      for (const LayerPtr& layer : model.layers()) {
        const size_t box = add_box(*layer, "", static_cast<int64_t>(picture_.boxes.size()));
        if (box > 0) picture_.arrows.emplace_back(before, box);
        before = box;
      }
    }
    return std::move(picture_);
  }

 private:
  size_t add_box(const Layer& layer, const std::string& cluster, int64_t level) {
    picture_.boxes.push_back({describe(layer, options_), level, cluster});
    return picture_.boxes.size() - 1;
  }

  // The boxes where the arrows into a layer end, and where those out of it start: the layer's own
  // box, or boxes of the nested model's layers.
  struct Ends {
    std::vector<size_t> in, out;
  };

  Ends add(const FunctionalLayer& model, const std::string& cluster, int64_t level) {
    const Topology& topology = model.topology();
    std::unordered_map<const Layer*, int64_t> levels;
    const int64_t deepest = topology.depths.empty() ? 0 : topology.depths.front();
    for (size_t i = 0; i < topology.nodes.size(); ++i)
      levels[topology.nodes[i]->layer().get()] = level + deepest - topology.depths[i];
    std::unordered_map<const Layer*, Ends> ends;
    for (const LayerPtr& layer : topology.layers)
      ends[layer.get()] = add_layer(*layer, cluster, levels[layer.get()]);
    for (const NodePtr& node : topology.nodes)
      for (const SymbolicTensor& t : node->inputs())
        for (const size_t from : ends[t.layer().get()].out)
          for (const size_t to : ends[node->layer().get()].in) {
            const std::pair arrow{from, to};
            auto& arrows = picture_.arrows;
            if (std::find(arrows.begin(), arrows.end(), arrow) == arrows.end())
              arrows.push_back(arrow);
          }
    Ends mine;
    for (const SymbolicTensor& t : model.inputs())
      mine.in.insert(mine.in.end(), ends[t.layer().get()].in.begin(),
                     ends[t.layer().get()].in.end());
    for (const SymbolicTensor& t : model.outputs())
      mine.out.insert(mine.out.end(), ends[t.layer().get()].out.begin(),
                      ends[t.layer().get()].out.end());
    return mine;
  }

  Ends add_layer(const Layer& layer, const std::string& cluster, int64_t level) {
    if (options_.expand_nested) {
      const auto* sequential = dynamic_cast<const SequentialLayer*>(&layer);
      const FunctionalLayer* nested = sequential != nullptr
                                          ? sequential->functional()
                                          : dynamic_cast<const FunctionalLayer*>(&layer);
      if (nested != nullptr) return add(*nested, cluster + "/" + layer.name(), level);
    }
    const size_t box = add_box(layer, cluster, level);
    return {{box}, {box}};
  }

  const PlotOptions& options_;
  Picture picture_;
};

std::string escaped(const std::string& text, bool markup) {
  std::string out;
  for (const char c : text) {
    if (markup && c == '<')
      out += "&lt;";
    else if (markup && c == '>')
      out += "&gt;";
    else if (markup && c == '&')
      out += "&amp;";
    else if (!markup && (c == '"' || c == '\\'))
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

// The position and size of a box.
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

constexpr double char_width = 7.2, line_height = 16, margin = 10, gap_x = 24, gap_y = 36;

// Computes the positions of boxes: a row for each level, from the inputs down. Boxes of a row keep
// their order.
std::vector<Rectangle> layout(const Picture& picture, bool sideways, double& width,
                              double& height) {
  std::map<int64_t, std::vector<size_t>> rows;
  std::vector<Rectangle> placed(picture.boxes.size());
  for (size_t i = 0; i < picture.boxes.size(); ++i) {
    size_t longest = 0;
    for (const std::string& line : picture.boxes[i].lines) longest = std::max(longest, line.size());
    placed[i].width = static_cast<double>(longest) * char_width + 2 * margin;
    placed[i].height = static_cast<double>(picture.boxes[i].lines.size()) * line_height + margin;
    rows[picture.boxes[i].level].push_back(i);
  }
  const auto along = [&](Rectangle& p) -> double& { return sideways ? p.y : p.x; };
  const auto across = [&](Rectangle& p) -> double& { return sideways ? p.x : p.y; };
  const auto size_along = [&](const Rectangle& p) { return sideways ? p.height : p.width; };
  const auto size_across = [&](const Rectangle& p) { return sideways ? p.width : p.height; };
  double widest = 0;
  std::map<int64_t, double> lengths;
  for (const auto& [level, row] : rows) {
    double length = -gap_x;
    for (const size_t i : row) length += size_along(placed[i]) + gap_x;
    lengths[level] = length;
    widest = std::max(widest, length);
  }
  double at = margin;
  for (const auto& [level, row] : rows) {
    double next = margin + (widest - lengths[level]) / 2, thickest = 0;
    for (const size_t i : row) {
      along(placed[i]) = next;
      across(placed[i]) = at;
      next += size_along(placed[i]) + gap_x;
      thickest = std::max(thickest, size_across(placed[i]));
    }
    at += thickest + gap_y;
  }
  width = sideways ? at - gap_y + margin : widest + 2 * margin;
  height = sideways ? widest + 2 * margin : at - gap_y + margin;
  return placed;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  require(file.good(), "plot_model: cannot write ", path);
}

// Runs Graphviz without a shell, so that no character of a path is special.
void run_graphviz(const std::string& dot_path, const std::string& png_path) {
  const pid_t child = fork();
  require(child >= 0, "plot_model: cannot start Graphviz");
  if (child == 0) {
    execlp("dot", "dot", "-Tpng", "-o", png_path.c_str(), dot_path.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  require(code != 127,
          "plot_model: a .png needs the program `dot` of Graphviz (Debian package "
          "graphviz), which is not installed; .svg and .dot do not need it");
  require(code == 0, "plot_model: Graphviz could not write ", png_path);
}

}  // namespace

std::string model_to_dot(const Model& model, const PlotOptions& options) {
  const Picture picture = Painter(options).paint(model);
  std::ostringstream out;
  out << "digraph \"" << escaped(model.name(), false) << "\" {\n  rankdir=" << options.rankdir
      << ";\n  node [shape=box, fontname=Helvetica, fontsize=11];\n";
  std::map<std::string, std::vector<size_t>> clusters;
  for (size_t i = 0; i < picture.boxes.size(); ++i) clusters[picture.boxes[i].cluster].push_back(i);
  size_t number = 0;
  for (const auto& [cluster, boxes] : clusters) {
    if (!cluster.empty())
      out << "  subgraph cluster_" << number++ << " {\n  label=\""
          << escaped(cluster.substr(1), false) << "\";\n";
    for (const size_t i : boxes) {
      out << "  n" << i << " [label=\"";
      for (size_t line = 0; line < picture.boxes[i].lines.size(); ++line)
        out << (line > 0 ? "\\n" : "") << escaped(picture.boxes[i].lines[line], false);
      out << "\"];\n";
    }
    if (!cluster.empty()) out << "  }\n";
  }
  for (const auto& [from, to] : picture.arrows) out << "  n" << from << " -> n" << to << ";\n";
  out << "}\n";
  return out.str();
}

std::string model_to_svg(const Model& model, const PlotOptions& options) {
  require(options.rankdir == "TB" || options.rankdir == "LR",
          "plot_model: rankdir must be TB or LR, got '", options.rankdir, "'");
  const bool sideways = options.rankdir == "LR";
  const Picture picture = Painter(options).paint(model);
  double width = 0, height = 0;
  const std::vector<Rectangle> placed = layout(picture, sideways, width, height);
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
      << "\" font-family=\"monospace\" font-size=\"12\">\n"
      << "<defs><marker id=\"arrow\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" "
         "orient=\"auto\"><path d=\"M0,0 L7,3 L0,6 z\"/></marker></defs>\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (const auto& [from, to] : picture.arrows) {
    const Rectangle &a = placed[from], &b = placed[to];
    const double x1 = sideways ? a.x + a.width : a.x + a.width / 2;
    const double y1 = sideways ? a.y + a.height / 2 : a.y + a.height;
    const double x2 = sideways ? b.x : b.x + b.width / 2;
    const double y2 = sideways ? b.y + b.height / 2 : b.y;
    const double mx = sideways ? (x1 + x2) / 2 : x1, my = sideways ? y1 : (y1 + y2) / 2;
    const double nx = sideways ? (x1 + x2) / 2 : x2, ny = sideways ? y2 : (y1 + y2) / 2;
    out << "<path d=\"M" << x1 << ',' << y1 << " C" << mx << ',' << my << ' ' << nx << ',' << ny
        << ' ' << x2 << ',' << y2
        << "\" fill=\"none\" stroke=\"#444\" marker-end=\"url(#arrow)\"/>\n";
  }
  for (size_t i = 0; i < placed.size(); ++i) {
    const Rectangle& p = placed[i];
    out << "<rect x=\"" << p.x << "\" y=\"" << p.y << "\" width=\"" << p.width << "\" height=\""
        << p.height << "\" rx=\"4\" fill=\"#f4f7fb\" stroke=\"#345\"/>\n";
    for (size_t line = 0; line < picture.boxes[i].lines.size(); ++line)
      out << "<text x=\"" << p.x + p.width / 2 << "\" y=\""
          << p.y + margin / 2 + line_height * (static_cast<double>(line) + 0.75)
          << "\" text-anchor=\"middle\"" << (line == 0 ? " font-weight=\"bold\"" : "") << ">"
          << escaped(picture.boxes[i].lines[line], true) << "</text>\n";
  }
  out << "</svg>\n";
  return out.str();
}

void plot_model(const Model& model, const std::string& path, const PlotOptions& options) {
  if (ends_with(path, ".svg")) return write_file(path, model_to_svg(model, options));
  if (ends_with(path, ".dot")) return write_file(path, model_to_dot(model, options));
  require(ends_with(path, ".png"),
          "plot_model: expected a path that ends in .svg, .dot or .png, got '", path, "'");
  const std::string dot_path = path + ".dot";
  write_file(dot_path, model_to_dot(model, options));
  try {
    run_graphviz(dot_path, path);
  } catch (...) {
    std::remove(dot_path.c_str());
    throw;
  }
  std::remove(dot_path.c_str());
}

}  // namespace keratin

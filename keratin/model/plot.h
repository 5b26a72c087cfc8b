#pragma once

#include "keratin/base/export.h"
#include "keratin/model/model.h"

namespace keratin {

struct PlotOptions {
  bool show_shapes = false;
  bool show_dtype = false;
  bool show_layer_names = true;
  bool show_trainable = false;
  bool show_layer_activations = false;
  bool expand_nested = false;
  std::string rankdir = "TB";  // or "LR"
};

// The graph in Graphviz's language, and as an SVG image, which needs no Graphviz.
KERATIN_API std::string model_to_dot(const Model& model, const PlotOptions& options = {});
KERATIN_API std::string model_to_svg(const Model& model, const PlotOptions& options = {});

// Writes the graph to a file. The suffix chooses the format: .dot, .svg or, with Graphviz, .png.
KERATIN_API void plot_model(const Model& model, const std::string& path,
                            const PlotOptions& options = {});

}  // namespace keratin

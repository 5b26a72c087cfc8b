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

// The graph in Graphviz's language, and as a picture laid out here.
KERATIN_API std::string model_to_dot(const Model& model, const PlotOptions& options = {});
KERATIN_API std::string model_to_svg(const Model& model, const PlotOptions& options = {});

// Writes the file; its ending says what: .dot, .svg or, where Graphviz is installed, .png.
KERATIN_API void plot_model(const Model& model, const std::string& path,
                            const PlotOptions& options = {});

}  // namespace keratin

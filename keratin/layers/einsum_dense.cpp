#include "keratin/layers/dense.h"

#include <algorithm>
#include <cctype>

#include "keratin/base/text.h"
#include "keratin/graph/named.h"
#include "keratin/layers/lora.h"
#include "keratin/ops/einsum.h"
#include "keratin/ops/pointwise.h"

namespace keratin {
namespace {

constexpr std::string_view dots = "...";
constexpr size_t npos = std::string::npos;

bool starts_with_dots(const std::string& term) { return term.starts_with(dots); }
bool ends_with_dots(const std::string& term) { return term.size() > 3 && term.ends_with(dots); }

bool all_letters(const std::string& term) {
  return !term.empty() && std::all_of(term.begin(), term.end(),
                                      [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

// The three terms of the equation without their dots.
struct EinsumDenseLayer::Terms {
  std::string input, kernel, output;
  bool left = false, right = false;  // which side has dots
  size_t elided = 0;                 // how many axes the dots stand for
  std::string equation;              // with letters instead of dots
};

EinsumDenseLayer::EinsumDenseLayer(EinsumDenseConfig config, LayerOptions options)
    : LayerOf(std::move(config), std::move(options)) {
  check_lora(cfg);
}

EinsumDenseLayer::Terms EinsumDenseLayer::terms(const Shape& input) const {
  Terms t;
  const size_t comma = cfg.equation.find(','), arrow = cfg.equation.find("->");
  if (comma != npos && arrow != npos && comma < arrow) {
    t.input = cfg.equation.substr(0, comma);
    t.kernel = cfg.equation.substr(comma + 1, arrow - comma - 1);
    t.output = cfg.equation.substr(arrow + 2);
  }
  t.left = starts_with_dots(t.input) && starts_with_dots(t.output);
  t.right = !t.left && ends_with_dots(t.input) && ends_with_dots(t.output);
  for (std::string* term : {&t.input, &t.output}) {
    if (t.left) term->erase(0, dots.size());
    if (t.right) term->erase(term->size() - dots.size());
  }
  require(all_letters(t.input) && all_letters(t.kernel) && all_letters(t.output),
          "Invalid einsum equation '", cfg.equation,
          "'. Equations must be in the form [X],[Y]->[Z], ...[X],[Y]->...[Z], or "
          "[X]...,[Y]->[Z]....");
  const auto rank = static_cast<size_t>(input.rank());
  require(rank >= t.input.size() && (t.left || t.right || rank == t.input.size()), "EinsumDense '",
          name(), "': the equation '", cfg.equation, "' does not fit an input of ", "shape ",
          keras_shape(input));
  t.elided = rank - t.input.size();
  std::string letters;
  for (char c = 'A'; letters.size() < t.elided; ++c)
    if ((t.input + t.kernel + t.output).find(c) == npos) letters += c;
  t.equation = (t.left ? letters : "") + t.input + (t.right ? letters : "") + "," + t.kernel +
               "->" + (t.left ? letters : "") + t.output + (t.right ? letters : "");
  return t;
}

// The size of a letter of the output term; null if the config leaves it open.
std::optional<int64_t> EinsumDenseLayer::output_size(const Terms& t, size_t letter) const {
  // output_shape starts after the batch, which is the first letter or the first of the dots.
  const bool batch_in_dots = t.left && t.elided > 0;
  if (!batch_in_dots && letter == 0) return std::nullopt;
  const size_t at = batch_in_dots ? letter : letter - 1;
  require(at < cfg.output_shape.size(), "EinsumDense '", name(),
          "': output_shape=", cfg.output_shape.to_json(), " is too short for the equation '",
          cfg.equation, "'");
  return cfg.output_shape[at];
}

void EinsumDenseLayer::check_shared(const Terms& t, const Shape& input) const {
  const int64_t first = t.left ? static_cast<int64_t>(t.elided) : 0;
  for (size_t i = 0; i < t.input.size(); ++i) {
    const size_t at = t.output.find(t.input[i]);
    if (at == npos) continue;
    const auto wanted = output_size(t, at);
    const int64_t given = input[first + static_cast<int64_t>(i)];
    require(!wanted || given == unknown || *wanted == given,
            "Input shape and output shape do not match at shared dimension '", t.input[i],
            "'. Input shape is ", given, ", and output shape is ", wanted.value_or(0), ".");
  }
  for (const char letter : t.output)
    require(t.input.find(letter) != npos || t.kernel.find(letter) != npos, "Dimension '", letter,
            "' was specified in the output '", t.output,
            "' but has no corresponding dim in the input spec '", t.input, "' or weight spec '",
            t.kernel, "'");
}

Dims EinsumDenseLayer::kernel_shape(const Terms& t, const Shape& input, Dims& from_input,
                                    Dims& to_output) const {
  const int64_t first = t.left ? static_cast<int64_t>(t.elided) : 0;
  Dims shape;
  for (size_t i = 0; i < t.kernel.size(); ++i) {
    const size_t in_output = t.output.find(t.kernel[i]), in_input = t.input.find(t.kernel[i]);
    require(in_output != npos || in_input != npos, "Weight dimension '", t.kernel[i],
            "' did not have a match in either the input spec '", t.input, "' or the output spec '",
            t.output, "'. For this layer, the weight must be fully specified.");
    int64_t size = unknown;
    if (in_output != npos) size = output_size(t, in_output).value_or(unknown);
    if (size == unknown && in_input != npos) size = input[first + static_cast<int64_t>(in_input)];
    require(size != unknown, "EinsumDense '", name(), "': the size of the weight dimension '",
            t.kernel[i], "' must be known, got the input shape ", keras_shape(input));
    (in_output != npos ? to_output : from_input).push_back(static_cast<int64_t>(i));
    shape.push_back(size);
  }
  return shape;
}

// The shape of the bias, from its first letter on; 1 for letters that it does not have.
Dims EinsumDenseLayer::bias_shape(const Terms& t) const {
  const std::string& axes = *cfg.bias_axes;
  for (const char letter : axes)
    require(t.output.find(letter) != npos, "Bias dimension '", letter,
            "' was requested, but is not part of the output spec '", t.output, "'");
  Dims shape;
  for (size_t i = t.output.find_first_of(axes); i < t.output.size(); ++i) {
    const bool mine = axes.find(t.output[i]) != npos;
    const auto size = mine ? output_size(t, i) : 1;
    require(size.has_value(), "EinsumDense '", name(), "': the size of the bias dimension '",
            t.output[i], "' must be in output_shape, got ", cfg.output_shape.to_json());
    shape.push_back(*size);
  }
  if (t.right) shape.insert(shape.end(), t.elided, 1);
  return shape;
}

void EinsumDenseLayer::build(const Shapes& inputs) {
  const Terms t = terms(inputs[0]);
  check_shared(t, inputs[0]);
  Dims from_input, to_output;
  const Dims shape = kernel_shape(t, inputs[0], from_input, to_output);
  Named scaled = cfg.kernel_initializer.named();
  const Json* given = scaled.config.find("input_axes");
  // Initializers that scale by fan-in and fan-out count the axes of the equation.
  const bool settle = given != nullptr && given->is_null();
  if (settle) {
    scaled.config["input_axes"] = config::write(from_input);
    scaled.config["output_axes"] = config::write(to_output);
  }
  kernel_ =
      add_weight("kernel", Shape(shape), settle ? Initializer(scaled) : cfg.kernel_initializer,
                 {.regularizer = cfg.kernel_regularizer, .constraint = cfg.kernel_constraint});
  if (cfg.bias_axes && !cfg.bias_axes->empty())
    bias_ = add_weight("bias", Shape(bias_shape(t)), cfg.bias_initializer,
                       {.regularizer = cfg.bias_regularizer, .constraint = cfg.bias_constraint});
  set_input_spec({{.ndim = inputs[0].rank()}});
  if (cfg.lora_rank) add_lora(cfg, kernel_, {.rank = *cfg.lora_rank, .alpha = cfg.lora_alpha});
}

void EinsumDenseLayer::enable_lora(const LoraOptions& options) { add_lora(cfg, kernel_, options); }

Results EinsumDenseLayer::call(const Call& c) const {
  const Value x = c.float_input();
  Value y = ops::einsum(terms(x.shape()).equation, {x, with_lora(c, kernel_)});
  if (bias_.defined()) y = y + c.read(bias_);
  return cfg.activation(c, y);
}

}  // namespace keratin

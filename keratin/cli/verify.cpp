#include <cmath>
#include <iostream>

#include "keratin/cli/data.h"
#include "keratin/cli/models.h"
#include "keratin/cli/tables.h"
#include "keratin/cli/text.h"

namespace keratin::cli {
namespace {

// How far an output is from what it should be.
struct Deviation {
  std::string output;
  std::string error;  // the shapes differ; nothing else is known then
  int64_t outside = 0, count = 0;
  int64_t worst = 0;  // the place of the largest excess over the tolerance
  double max_abs = 0;
  Tensor want, got;

  bool good() const { return error.empty() && outside == 0; }
};

struct Tolerance {
  double rtol, atol;
  double allowed(double want) const { return atol + rtol * std::abs(want); }
};

Deviation deviation(const std::string& name, const Tensor& want, const Tensor& got,
                    const Tolerance& tolerance) {
  Deviation out{.output = name, .count = want.count(), .want = want, .got = got};
  if (want.shape() != got.shape()) {
    out.error =
        text("expected shape ", keras_shape(want.shape()), ", got ", keras_shape(got.shape()));
    return out;
  }
  double worst = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < want.count(); ++i) {
    const double a = want.at(i), b = got.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double difference = std::isfinite(a) && std::isfinite(b)
                                  ? std::abs(a - b)
                                  : std::numeric_limits<double>::infinity();
    const double excess = difference - tolerance.allowed(std::isfinite(a) ? a : 0);
    out.max_abs = std::max(out.max_abs, difference);
    if (excess > 0) ++out.outside;
    if (excess > worst) out.worst = i, worst = excess;
  }
  return out;
}

Dims index_of(int64_t position, const Shape& shape) {
  Dims out(static_cast<size_t>(shape.rank()));
  for (int64_t axis = shape.rank() - 1; axis >= 0; --axis) {
    out[static_cast<size_t>(axis)] = position % shape[axis];
    position /= shape[axis];
  }
  return out;
}

Json deviation_json(const Deviation& d) {
  Json out = Json::Object{{"output", d.output}, {"ok", d.good()}};
  if (!d.error.empty()) {
    out["error"] = d.error;
    return out;
  }
  out["elements"] = d.count;
  out["outside"] = d.outside;
  out["max_abs_difference"] = finite_json(d.max_abs);
  if (d.max_abs > 0)
    out["worst"] = Json::Object{{"index", shape_json(index_of(d.worst, d.want.shape()))},
                                {"expected", number_json(d.want, d.worst)},
                                {"got", number_json(d.got, d.worst)}};
  return out;
}

void print_deviation(const Deviation& d) {
  std::cout << (d.good() ? "ok    " : "WRONG ") << d.output << ": ";
  if (!d.error.empty()) {
    std::cout << d.error << '\n';
    return;
  }
  std::cout << d.outside << " of " << d.count << " elements outside the tolerance";
  if (d.max_abs > 0)
    std::cout << "; the worst at " << Shape(index_of(d.worst, d.want.shape())) << ": expected "
              << number_text(d.want, d.worst) << ", got " << number_text(d.got, d.worst);
  std::cout << "; largest difference " << d.max_abs << '\n';
}

Tree<Tensor> golden_inputs(const Model& model, const Arrays& arrays, const std::string& path) {
  const std::vector<Slot> slots = input_slots(model);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor* array = find_array(arrays, slots, i, 'x');
    require(array != nullptr || slots[i].optional, path, ": no array for the input '",
            slots[i].name, "', which takes ", keras_shape(slots[i].shape));
    inputs.push_back(array != nullptr ? fitted(*array, slots[i], path) : Tensor());
  }
  return packed_inputs(model, inputs);
}

Status run_verify(const Arguments& arguments) {
  const Tolerance tolerance{arguments.number("rtol"), arguments.number("atol")};
  const Model model = open_model(arguments.file("MODEL"), {.compile = false});
  const std::string& path = arguments.file("GOLDEN");
  const Arrays arrays = read_npz(path);
  const std::vector<Slot> slots = output_slots(model);
  const std::vector<Tensor> outputs =
      outputs_for(model, golden_inputs(model, arrays, path), batch_size(model, arguments)).flat();
  std::vector<Deviation> all;
  for (size_t i = 0; i < slots.size(); ++i)
    if (const Tensor* want = find_array(arrays, slots, i, 'y'))
      all.push_back(deviation(slots[i].name, *want, outputs[i], tolerance));
  require(!all.empty(), path, ": no array for an output of the model, such as '", slots[0].name,
          "'");
  bool good = true;
  Json list = Json::array();
  for (const Deviation& d : all) {
    good = good && d.good();
    list.push_back(deviation_json(d));
    if (!arguments.flag("json")) print_deviation(d);
  }
  if (arguments.flag("json"))
    std::cout << Json(Json::Object{{"ok", good}, {"outputs", list}}).dump(2) << '\n';
  return good ? success : different;
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .summary = "compare a model's outputs with golden ones",
      .description =
          "Runs a model on the inputs in an .npz and compares what comes out with the outputs "
          "there. An element is right when |got - expected| <= ATOL + RTOL * |expected|; NaN "
          "equals NaN. The status is 1 when one is not, and the worst of each output is "
          "named.\n\n" +
          naming,
      .positionals = {model_argument(),
                      {.name = "GOLDEN", .help = "an .npz with inputs and expected outputs"}},
      .options = {{.name = "rtol",
                   .value = "RTOL",
                   .help = "relative tolerance",
                   .fallback = "1e-5",
                   .kind = Kind::number},
                  {.name = "atol",
                   .value = "ATOL",
                   .help = "absolute tolerance",
                   .fallback = "1e-6",
                   .kind = Kind::number},
                  batch_size_option(),
                  json_option()},
      .examples = {"keratin verify model.keras golden.npz",
                   "keratin verify model.keras golden.npz --rtol 1e-3 --json"},
      .run = run_verify,
  };
}

}  // namespace keratin::cli

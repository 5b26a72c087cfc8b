#include "keratin/graph/symbolic_ops.h"
#include "keratin/model/clone.h"
#include "tests/errors/errors_testing.h"

namespace keratin::errors {
namespace {

struct Subclassed final : Layer {
  Subclassed() : Layer("Subclassed", {}) { add_sublayer("dense", dense); }
  std::string_view class_name() const override { return "Subclassed"; }
  LayerPtr fresh_copy() const override { return std::make_shared<Subclassed>(); }
  Results call(const Call& c) const override {
    return c.invoke(*dense.ptr(), Traced{c.input()}).value;
  }
  Dense dense{{.units = 2}};
};
Model subclassed() { return Model(std::make_shared<Subclassed>()); }

}  // namespace

std::vector<Case> graph_errors() {
  return {
      // --- Graphs
      {"disconnected graph",
       [] {
         const auto a = named("a"), b = named("b");
         const Symbols y = Add({}, "add")({Dense({.units = 3}, "dense")(a), b});
         Model({.inputs = a, .outputs = y});
       },
       Match::all,
       {"cannot find parent for tensor", "name=b", "at operation 'add'"}},
      {"disconnected graph through a layer of one input",
       [] {
         const auto a = named("a"), b = named("b");
         Model({.inputs = a, .outputs = Dense({.units = 3}, "dense")(b)});
       },
       Match::all,
       {"name=b", "'dense'"}},
      {"disconnected graph with two outputs",
       [] {
         const auto a = named("a"), b = named("b");
         const Symbols p = Dense({.units = 2}, "p")(a), q = Dense({.units = 2}, "q")(b);
         Model({.inputs = {a}, .outputs = {p, q}});
       },
       Match::all,
       {"name=b", "'q'"}},
      {"disconnected graph with a dict of outputs",
       [] {
         const auto a = named("a"), b = named("b");
         const Symbols p = Dense({.units = 2}, "p")(a), q = Dense({.units = 2}, "q")(b);
         Model({.inputs = {a}, .outputs = Symbols::Dict{{"p", p}, {"q", q}}});
       },
       Match::all,
       {"name=b", "'q'"}},
      {"two layers of one name",
       [] {
         const auto x = named("x");
         Model(
             {.inputs = x, .outputs = Dense({.units = 3}, "same")(Dense({.units = 3}, "same")(x))});
       }},
      {"a layer named as the input",
       [] {
         const auto x = named("x");
         Model({.inputs = x, .outputs = Dense({.units = 3}, "x")(x)});
       }},
      {"two inputs of one name",
       [] {
         const auto a = named("x"), b = named("x");
         Model({.inputs = {a, b}, .outputs = Add({}, "add")({a, b})});
       }},
      {"no inputs",
       [] { Model({.inputs = Symbols::List{}, .outputs = Dense({.units = 2})(Input({3}))}); },
       Match::beginning},
      {"no outputs", [] { Model({.inputs = named("x"), .outputs = Symbols::List{}}); },
       Match::beginning},
      {"an input that is not a tensor",
       [] { Model({.inputs = 1.0, .outputs = Dense({.units = 2})(Input({3}))}); },
       Match::beginning},
      {"an output that is not a tensor", [] { Model({.inputs = named("x"), .outputs = 1.0}); },
       Match::beginning},
      {"unknown layer by name", [] { chain().get_layer("missing"); }},
      {"unknown layer by index", [] { chain().get_layer(7); }},
      {"name with a slash", [] { Dense({.units = 3}, "a/b"); }, Match::beginning},
      {"name that is no string",
       [] {
         from_json("Dense", O{{"units", 3}, {"name", 7}});
       },
       Match::substrings,
       {"name"}},
      // --- Calls of models
      {"model called with too few tensors",
       [] {
         two_inputs().predict({data({2, 3})});
       },
       Match::substrings,
       {"Layer \"two\" expects 2 named input(s) with keys ['a', 'b'], but it received 1 input"}},
      {"model called with too many tensors",
       [] {
         two_inputs().predict({data({2, 3}), data({2, 3}), data({2, 3})});
       },
       Match::substrings,
       {"Layer \"two\" expects 2 named input(s) with keys ['a', 'b'], but it received 3 input"}},
      {"model of one input called with two",
       [] {
         chain().predict({data({2, 3}), data({2, 3})});
       },
       Match::substrings,
       {"Layer \"chain\" expects 1 named input(s) with keys ['x'], but it received 2 input"}},
      {"model of one input called with a dict of another name",
       [] {
         chain().predict(Tree<Tensor>::Dict{{"y", data({2, 3})}});
       }},
      {"model of two inputs called with a dict that lacks one",
       [] {
         two_inputs().predict(Tree<Tensor>::Dict{{"a", data({2, 3})}});
       }},
      {"model of two inputs called with one tensor",
       [] {
         two_inputs().predict(data({2, 3}));
       },
       Match::substrings,
       {"Layer \"two\" expects 2 named input(s) with keys ['a', 'b'], but it received 1 input"}},
      {"model called with a wrong width",
       [] {
         chain().predict(data({2, 4}));
       }},
      {"model called with a wrong rank",
       [] {
         chain().predict(data({2, 4, 3}));
       }},
      {"model called with None",
       [] {
         two_inputs().predict(Tree<Tensor>::List{data({2, 3}), Tree<Tensor>()});
       }},
      // --- Sequential
      {"Sequential: a layer of the same name",
       [] {
         Sequential({Dense({.units = 2}, "same"), Dense({.units = 2}, "same")});
       }},
      {"Sequential: two inputs",
       [] {
         Sequential({Input({3}).layer(), Input({3}).layer()});
       }},
      {"Sequential: a layer with two outputs",
       [] {
         Sequential({Input({3}).layer(), Lambda([](Value x) {
                       return Values{x, x};
                     }),
                     Dense({.units = 2})});
       },
       Match::substrings,
       {"Layer \"dense\" expects 1 input(s), but it received 2 input tensors"}},
      {"Sequential: pop from nothing",
       [] { Sequential().pop(); },
       Match::substrings,
       {"no layer to remove"}},
      {"Sequential: not built",
       [] { Sequential({Dense({.units = 2})}).inputs(); },
       Match::substrings,
       {"sequential", "built"}},
      {"Sequential: output of what is not built",
       [] { Sequential({Dense({.units = 2})}).output(); },
       Match::substrings,
       {"sequential", "built"}},
      {"Sequential: layers that do not fit",
       [] {
         Sequential(
             {Input({3}).layer(), Flatten(), Conv2D({.filters = 2, .kernel_size = 2}, "conv")});
       }},
      {"Sequential: call of nothing",
       [] {
         Sequential().predict(data({2, 3}));
       }},
      // --- Clones
      {"clone: input_tensors of another structure",
       [] { clone_model(two_inputs(), {.input_tensors = {Input({3})}}); }, Match::beginning},
      {"clone: dict of input tensors for a list",
       [] {
         clone_model(two_inputs(),
                     {.input_tensors = Symbols::Dict{{"a", Input({3})}, {"b", Input({3})}}});
       },
       Match::beginning},
      {"clone: tuple of input tensors for a dict",
       [] {
         const auto x = Input({.shape = {2}, .name = "x"}), y = Input({.shape = {2}, .name = "y"});
         const Model model(
             {.inputs = Symbols::Dict{{"x", x}, {"y", y}}, .outputs = Symbols::Dict{{"z", x + y}}});
         clone_model(model, {.input_tensors = {Input({2}), Input({2})}});
       },
       Match::beginning},
      {"clone: input_tensors that are arrays",
       [] { clone_model(chain(), {.input_tensors = 1.0}); },
       Match::substrings,
       {"input_tensors"}},
      {"clone: Sequential on an array", [] { clone_model(stack(), {.input_tensors = 1.0}); },
       Match::beginning},
      {"clone: Sequential on two tensors",
       [] {
         clone_model(stack(), {.input_tensors = {Input({3}), Input({3})}});
       }},
      {"clone: Sequential with call_function",
       [] {
         clone_model(stack(), {.call_function = [](const LayerPtr& layer,
                                                   Arguments<SymbolicTensor> arguments) {
                       return layer->call_symbolic(std::move(arguments));
                     }});
       },
       Match::beginning},
      {"clone: subclassed with clone_function",
       [] { clone_model(subclassed(), {.clone_function = [](const LayerPtr& l) { return l; }}); },
       Match::beginning},
      {"clone: subclassed with input_tensors",
       [] { clone_model(subclassed(), {.input_tensors = {Input({3})}}); }, Match::beginning},
      {"clone: subclassed with call_function",
       [] {
         clone_model(subclassed(), {.call_function = [](const LayerPtr& layer,
                                                        Arguments<SymbolicTensor> arguments) {
                       return layer->call_symbolic(std::move(arguments));
                     }});
       },
       Match::beginning},
      // --- Configs
      {"config: loop or missing node",
       [] {
         std::string text = chain().to_json();
         const std::string from = "\"keras_history\": [\"x\"", to = "\"keras_history\": [\"out\"";
         text.replace(text.find(from), from.size(), to);
         layer_from_json(Json::parse(text));
       },
       Match::substrings,
       {"Invalid Functional model configuration", "'chain'",
        "The graph of the Functional model either has loops or disconnected nodes. The following "
        "nodes failed to be resolved:",
        "'hidden'"}},
      {"config: unknown layer class",
       [] { from_json("Missing", O{}); },
       Match::substrings,
       {"'Missing'"}},
      {"config: custom class that is not registered",
       [] {
         layer_from_json(
             Json::Object{{"class_name", "Own"}, {"registered_name", "pack>Own"}, {"config", O{}}});
       },
       Match::substrings,
       {"'Own'", "register"}},
      {"config: a Lambda",
       [] {
         const LayerPtr layer = from_json(
             "Lambda",
             O{{"name", "square"},
               {"function", O{{"class_name", "__lambda__"}, {"config", O{{"code", "4wEAAAA="}}}}}});
         (*layer)(Input({3}));
       },
       Match::substrings,
       {"square"}},
      // --- Masks
      {"attention: masks that are no list",
       [] {
         Attention()({ones({2, 3, 4}), ones({2, 5, 4})}, {{"mask", ones({2, 3}) > 0.0}});
       },
       Match::substrings,
       {"attention", "`mask` should be a list"}},
      {"time distributed: mask of one axis",
       [] {
         TimeDistributed({Dense({.units = 2})})(ones({2, 3, 4}), {{"mask", ones({2}) > 0.0}});
       },
       Match::substrings,
       {"mask", "(2,)"}},
      {"time distributed: mask of other times",
       [] {
         TimeDistributed({Dense({.units = 2})})(ones({2, 3, 4}), {{"mask", ones({2, 5}) > 0.0}});
       },
       Match::substrings,
       {"mask", "(2, 5)", "(2, 3"}},
  };
}

}  // namespace keratin::errors

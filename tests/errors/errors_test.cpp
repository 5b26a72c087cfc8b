// Checks every error that Keras recorded in tests/golden/errors.json: the same mistake in C++ is a
// UserError with Keras's message, unless the message speaks of something that only Python has.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "keratin/base/warning.h"
#include "keratin/model/clone.h"
#include "keratin/ops/ops.h"
#include "keratin/testing/golden.h"
#include "keratin/testing/golden_layers.h"
#include "tests/errors/errors_testing.h"

namespace keratin::errors {
namespace {

struct Warning {
  const char* name;
  std::function<void()> code;
};
const Warning warnings[] = {
    {"mask is destroyed",
     [] {
       Conv1D({.filters = 2, .kernel_size = 2}, "conv")(Masking()(ones({2, 4, 3})));
     }},
    {"mask is destroyed in a graph",
     [] {
       Flatten({}, "flatten")(Masking()(Input({4, 3})));
     }},
};

// Cases that Keras accepts, with or without a warning, and Keratin too.
const Warning accepted[] = {
    {"model called with a fixed batch that differs",
     [] {
       const auto x = Input({.shape = {3}, .batch_size = 2, .name = "x"});
       Model({.inputs = x, .outputs = Dense({.units = 2})(x)}).predict(data({4, 3}));
     }},
    {"model called with another structure",
     [] {
       two_inputs().predict(
           Tree<Tensor>::Dict{{"a", data({2, 3})}, {"b", data({2, 3})}, {"c", data({2, 3})}});
     }},
    {"dict of inputs whose key is not the name",
     [] {
       const auto x = named("x");
       Model({.inputs = Symbols::Dict{{"y", x}}, .outputs = Dense({.units = 2})(x)});
     }},
    {"dict model called with a list",
     [] {
       const auto a = named("a"), b = named("b");
       Model({.inputs = Symbols::Dict{{"a", a}, {"b", b}}, .outputs = Add()({a, b})})
           .predict({data({2, 3}), data({2, 3})});
     }},
    {"a missing last axis of size 1",
     [] {
       const auto x = Input({.shape = {3, 1}, .name = "x"});
       Model({.inputs = x, .outputs = Flatten()(x)}).predict(data({2, 3}));
     }},
    {"a surplus last axis of size 1",
     [] {
       chain().predict(data({2, 3, 1}));
     }},
    {"a list of one for a model of one input",
     [] {
       chain().predict(Tree<Tensor>::List{data({2, 3})});
     }},
    {"a dict for a list of inputs",
     [] {
       two_inputs().predict(Tree<Tensor>::Dict{{"b", data({2, 3})}, {"a", data({2, 3})}});
     }},
    {"integers for a float input",
     [] {
       chain().predict(Tensor::of<int>(DType::i32, {2, 3}, {1, 1, 1, 1, 1, 1}));
     }},
    {"clone: input tensors of another width",
     [] { clone_model(chain(), {.input_tensors = Input({.shape = {5}, .name = "wide"})}); }},
    {"clone: Sequential on a tensor in the middle",
     [] { clone_model(stack(), {.input_tensors = Dense({.units = 3})(Input({3}))}); }},
    {"merge: one input",
     [] {
       Add()(Symbols::List{ones({2, 3})});
     }},
    {"concatenate: one input",
     [] {
       Concatenate()(Symbols::List{ones({2, 3})});
     }},
    {"recurrent: reset before a call", [] { LSTM({.units = 3})->reset_states(); }},
    // Keras refuses these, but cloning in Keratin supports them.
    {"clone: a Lambda",
     [] {
       const auto x = Input({.shape = {1}, .name = "x"});
       const Symbols both = Lambda([](Value v) { return Values{v, v}; }, "split")(x);
       clone_model(Model({.inputs = x, .outputs = Add({}, "add")(both)}));
     }},
    {"clone: a Lambda of a named function",
     [] {
       const auto x = Input({.shape = {1}, .name = "x"});
       clone_model(
           Model({.inputs = x, .outputs = Lambda([](Value v) { return v * 2.0; }, "double")(x)}));
     }},
    {"clone: an optional input is not optional any more",
     [] {
       const auto x = Input({.shape = {2}, .name = "x"});
       const auto y = Input({.shape = {2}, .name = "maybe", .optional = true});
       const LayerPtr add =
           layer_from_json(O{{"class_name", "AddIfThere"}, {"config", O{{"name", "add"}}}},
                           testing::golden_layers(Json::object()));
       const Model model({.inputs = {x, y}, .outputs = add->call_symbolic({{x, y}, {}})});
       clone_model(model).predict(Tree<Tensor>::List{data({2, 2}), Tree<Tensor>()});
     }},
    {"clone: empty Sequential", [] { clone_model(Sequential()); }},
    {"config: unknown argument",  // a newer Keras may have written it: a warning, not an error
     [] {
       from_json("Dense", O{{"units", 3}, {"colour", "red"}});
     }},
    // Keras's scale has a wrong shape there; Keratin's is along the axis.
    {"rms normalization: another axis than the last",
     [] {
       RMSNormalization({.axis = 1}, "norm")(ones({2, 4, 5}));
     }},
};

// Cases that Keras accepts and ignores, and Keratin refuses.
const Warning stricter[] = {
    {"Sequential: an input after a layer",
     [] {
       Sequential({Dense({.units = 2}), Input({2}).layer()});
     }},
    {"attention: too many masks",
     [] {
       Attention()({ones({2, 3, 4}), ones({2, 5, 4})},
                   {{"mask", Symbols::List{Symbols(), Symbols(), Symbols()}}});
     }},
    {"attention: negative dropout", [] { Attention({.dropout = -0.5}); }},
};

constexpr const char* compute_mask_alone =
    "users do not call compute_mask, and the call of a merge takes no masks";
// Cases that cannot be written in C++, with the reason.
const std::map<std::string, const char*> not_here = {
    {"layer by name and index", "two functions of one argument each"},
    {"layer by nothing", "two functions of one argument each"},
    {"layers cannot be set", "there is no attribute to set"},
    {"Input without a shape", "InputOptions without a shape is one number per row"},
    {"Input with shape and batch_shape", "InputOptions has no batch_shape"},
    {"Input with batch_size and batch_shape", "InputOptions has no batch_shape"},
    {"iterating over a symbolic tensor", "does not compile"},
    {"a symbolic tensor as a boolean", "does not compile"},
    {"a symbolic tensor as an array", "does not compile"},
    {"Sequential: not a layer", "does not compile"},
    {"clone: not a model", "does not compile"},
    {"clone: unknown argument", "does not compile"},
    {"clone: clone_function that is no function", "does not compile"},
    {"merge: inputs that are no list", compute_mask_alone},
    {"merge: mask that is no list", compute_mask_alone},
    {"merge: another number of masks", compute_mask_alone},
    {"concatenate: inputs that are no list", compute_mask_alone},
    {"concatenate: mask that is no list", compute_mask_alone},
    {"concatenate: another number of masks", compute_mask_alone},
    {"shape differs", "InputSpec has no shape: axes and ndim say the same"},
    {"dtype differs", "InputSpec has no dtype: layers cast their inputs"},
    {"lambda: shape unknown", "a Lambda is traced; its shape is never unknown"},
};

std::map<std::string, Json> recorded() {
  std::map<std::string, Json> cases;
  const Json golden = testing::read_golden("errors.json");
  for (const Json& test : golden.as_array()) cases.emplace(test.at("case").as_string(), test);
  return cases;
}

// Keras's message without the text that it adds to errors in a layer's call.
std::string essence(std::string message) {
  if (message.starts_with("Exception encountered when calling"))
    message = message.substr(message.find("\n\n") + 2);
  const std::string no_name = " with name 'None'";  // the tensor has no such name
  if (message.find(no_name) != std::string::npos)
    message.erase(message.find(no_name), no_name.size());
  return message.substr(0, message.find("\n\nArguments received by"));
}
std::string beginning(const std::string& message) {
  return message.substr(0, std::min(message.find("Received"), message.find("structure: ")));
}

std::string error_of(const std::function<void()>& code) {
  clear_session();
  try {
    code();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::vector<Case> all_errors() {
  std::vector<Case> all = graph_errors();
  const std::vector<Case> more = layer_errors();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class Errors : public ::testing::Test {
 protected:
  void SetUp() override {
    handler_ = set_warning_handler([this](const std::string& text) { said_.push_back(text); });
  }
  void TearDown() override { set_warning_handler(handler_); }

  std::vector<std::string> said_;

 private:
  WarningHandler handler_;
};

TEST_F(Errors, HaveKerassMessages) {
  const auto cases = recorded();
  for (const Case& test : all_errors()) {
    SCOPED_TRACE(test.name);
    ASSERT_TRUE(cases.contains(test.name));
    const Json& theirs = cases.at(test.name);
    EXPECT_NE(theirs.at("kind"), Json("none"));
    std::vector<std::string> wanted = test.substrings;
    const std::string message = essence(theirs.at("message").as_string());
    if (test.match == Match::all) wanted.push_back(message);
    if (test.match == Match::beginning) wanted.push_back(beginning(message));
    const std::string ours = error_of(test.code);
    EXPECT_NE(ours, "") << "expected a UserError; Keras says: " << message;
    for (const std::string& substring : wanted)
      EXPECT_NE(ours.find(substring), std::string::npos)
          << "got: " << ours << "\nexpected: " << substring;
  }
}

TEST_F(Errors, WarnAsKerasDoes) {
  const auto cases = recorded();
  for (const Warning& test : warnings) {
    SCOPED_TRACE(test.name);
    said_.clear();
    EXPECT_EQ(error_of(test.code), "");
    ASSERT_EQ(said_.size(), 1u);
    EXPECT_EQ(said_[0], cases.at(test.name).at("message").as_string());
  }
}

TEST_F(Errors, AcceptWhatKerasAccepts) {
  for (const Warning& test : accepted) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(error_of(test.code), "");
  }
}

TEST_F(Errors, RefuseWhatKerasIgnores) {
  const auto cases = recorded();
  for (const Warning& test : stricter) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(cases.at(test.name).at("kind"), Json("none"));
    EXPECT_NE(error_of(test.code), "");
  }
}

TEST_F(Errors, CoverEveryRecordedCaseOnce) {
  std::map<std::string, int> counts;
  for (const Case& test : all_errors()) ++counts[test.name];
  for (const Warning& test : warnings) ++counts[test.name];
  for (const Warning& test : accepted) ++counts[test.name];
  for (const Warning& test : stricter) ++counts[test.name];
  for (const auto& item : not_here) ++counts[item.first];
  const auto cases = recorded();
  for (const auto& item : cases) EXPECT_EQ(counts[item.first], 1) << item.first;
  EXPECT_EQ(counts.size(), cases.size());
}

}  // namespace
}  // namespace keratin::errors

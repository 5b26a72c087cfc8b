#include "keratin/base/json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "keratin/base/text.h"

namespace keratin {
namespace {

void expect_refused(std::string_view text, const std::string& part, Json::Limits limits = {}) {
  try {
    Json::parse(text, limits);
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    return;
  }
  ADD_FAILURE() << "accepted: " << text;
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json json =
      Json::parse(R"( {"a": [1, -2.5, 1e3, true, false, null, "x"], "b": {"c": {}}, "d": []} )");
  EXPECT_EQ(json["a"][0].as_int(), 1);
  EXPECT_EQ(json["a"][1].as_double(), -2.5);
  EXPECT_EQ(json["a"][2].as_double(), 1000);
  EXPECT_TRUE(json["a"][3].as_bool());
  EXPECT_TRUE(json["a"][5].is_null());
  EXPECT_EQ(json["a"][6].as_string(), "x");
  EXPECT_EQ(json["b"]["c"].size(), 0u);
  EXPECT_EQ(json["d"].size(), 0u);
}

TEST(Json, KeepsIntegersAndTheOrderOfKeys) {
  const std::string text = R"({"z": 9007199254740993, "a": 1.0, "m": [0.1, 1e-05, 1e+16]})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

TEST(Json, WritesNumbersAsPythonDoes) {
  EXPECT_EQ(Json(0.001).dump(), "0.001");
  EXPECT_EQ(Json(0.0001).dump(), "0.0001");
  EXPECT_EQ(Json(0.00001).dump(), "1e-05");
  EXPECT_EQ(Json(3.0).dump(), "3.0");
  EXPECT_EQ(Json(-0.0).dump(), "-0.0");
  EXPECT_EQ(Json(123456789.125).dump(), "123456789.125");
  EXPECT_EQ(Json(1e22).dump(), "1e+22");
  EXPECT_EQ(Json(std::nan("")).dump(), "NaN");
  EXPECT_EQ(Json(-INFINITY).dump(), "-Infinity");
  EXPECT_TRUE(std::isnan(Json::parse("NaN").as_double()));
  EXPECT_EQ(Json::parse("-Infinity").as_double(), -INFINITY);
}

TEST(Json, ReadsEscapesAsUtf8) {
  EXPECT_EQ(Json::parse(R"("\"\\\/\b\f\n\r\t")").as_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(Json::parse(R"("\u0041\u00e9\u20ac\ud83d\ude00")").as_string(), "Aé€😀");
  EXPECT_EQ(Json(std::string("\x01\n\"")).dump(), R"("\u0001\n\"")");
}

TEST(Json, ComparesByValue) {
  EXPECT_EQ(Json::parse("1"), Json::parse("1.0"));
  EXPECT_EQ(Json::parse(R"({"a": 1, "b": [2]})"), Json::parse(R"({"b": [2], "a": 1})"));
  EXPECT_FALSE(Json::parse(R"({"a": 1})") == Json::parse(R"({"a": 1, "b": 2})"));
  EXPECT_FALSE(Json::parse("0") == Json::parse("false"));
}

TEST(Json, CopiesChangeAlone) {
  Json json = Json::Object{{"list", Json::Array{1}}, {"inner", Json::Object{{"x", 1}}}};
  const Json copy = json;
  json["list"].push_back(2);
  json["inner"]["x"] = 5;
  json["new"] = true;
  EXPECT_EQ(copy.dump(), R"({"list": [1], "inner": {"x": 1}})");
  EXPECT_EQ(json.dump(), R"({"list": [1, 2], "inner": {"x": 5}, "new": true})");
}

TEST(Json, CopiesDoNotSeeChangesThroughAnOlderReference) {
  Json json = Json::Object{{"inner", Json::Object{{"x", 1}}}};
  Json& inner = json["inner"];
  Json& x = inner["x"];
  const Json copy = json, inner_copy = inner;
  x = 2;
  inner["y"] = 3;
  EXPECT_EQ(copy.dump(), R"({"inner": {"x": 1}})");
  EXPECT_EQ(inner_copy.dump(), R"({"x": 1})");
  EXPECT_EQ(json.dump(), R"({"inner": {"x": 2, "y": 3}})");
}

TEST(Json, RefusesWhatIsNotJson) {
  expect_refused("", "a value at byte 0, got the end");
  expect_refused("[1, 2", "',' or ']'");
  expect_refused("{\"a\" 1}", "':'");
  expect_refused("{a: 1}", "a key");
  expect_refused("[1] x", "nothing more at byte 4, got 'x'");
  expect_refused("01", "leading zeros");
  expect_refused("1.", "a number");
  expect_refused("+1", "a value");
  expect_refused("nul", "a value");
  expect_refused("\"\\x\"", "an escape");
  expect_refused("\"\\ud800\"", "surrogate");
  expect_refused("\"\\udc00\"", "surrogate");
  expect_refused("\"\\u12g4\"", "hexadecimal");
  expect_refused("\"a\nb\"", "control character in a string at byte 2, got the byte 10");
  expect_refused("\"abc", "the end of a string");
  expect_refused("1e999", "a number that fits");
  expect_refused(R"({"a": 1, "a": 2})", "\"a\" twice");
}

TEST(Json, IsBounded) {
  expect_refused(std::string(100000, '['), "levels of nesting");
  expect_refused("[1, 2, 3, 4]", "at most 3 values", {.values = 3});
}

TEST(Json, SaysWhatIsThereInstead) {
  const Json json = Json::parse(R"({"a": "text"})");
  try {
    json["a"].as_int();
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), "JSON: expected an integer, got a string: \"text\"");
  }
  EXPECT_THROW(json.at("b"), UserError);
  EXPECT_THROW(Json(1.5).as_int(), UserError);
  EXPECT_EQ(Json(2.0).as_int(), 2);
}

}  // namespace
}  // namespace keratin

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "keratin/base/json.h"
#include "keratin/base/text.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace keratin::fuzz {

// Mutates JSON so that it stays JSON: replaces a number by an extreme one, a value by another one,
// and drops, repeats or renames members. Other text is mutated by libFuzzer.
class JsonMutator {
 public:
  explicit JsonMutator(unsigned seed) : random_(seed) {}

  // Mutates `text`, with values from `other` if that is JSON too.
  std::string run(const std::string& text, const std::string& other) {
    try {
      Json json = Json::parse(text);
      const Json donor = other.empty() ? json : Json::parse(other);
      do json = with_a_change(json, donor);
      while (random_() % 2 == 0);
      return json.dump();
    } catch (const UserError&) {
      return text;
    }
  }

  size_t run(uint8_t* data, size_t size, size_t max_size) {
    if (random_() % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
    const std::string changed = run({reinterpret_cast<char*>(data), size}, "");
    return copy_out(changed, data, max_size) ? changed.size()
                                             : LLVMFuzzerMutate(data, size, max_size);
  }

  static bool copy_out(const std::string& text, uint8_t* data, size_t max_size) {
    if (text.empty() || text.size() > max_size) return false;
    std::memcpy(data, text.data(), text.size());
    return true;
  }

 private:
  static size_t count(const Json& json) {
    size_t all = 1;
    if (json.is_array())
      for (const Json& item : json.as_array()) all += count(item);
    if (json.is_object())
      for (const auto& member : json.as_object()) all += count(member.second);
    return all;
  }

  // The value with the index `left` in preorder.
  static const Json* at(const Json& json, size_t& left) {
    if (left-- == 0) return &json;
    if (json.is_array())
      for (const Json& item : json.as_array())
        if (const Json* found = at(item, left)) return found;
    if (json.is_object())
      for (const auto& member : json.as_object())
        if (const Json* found = at(member.second, left)) return found;
    return nullptr;
  }

  const Json& any(const Json& json) {
    size_t left = random_() % count(json);
    return *at(json, left);
  }

  using Change = std::function<Json(const Json&)>;
  static Json replaced(const Json& json, size_t& left, const Change& change) {
    if (left-- == 0) return change(json);
    if (json.is_array()) {
      Json::Array items;
      for (const Json& item : json.as_array()) items.push_back(replaced(item, left, change));
      return items;
    }
    if (json.is_object()) {
      Json::Object members;
      for (const auto& [key, value] : json.as_object())
        members.emplace_back(key, replaced(value, left, change));
      return members;
    }
    return json;
  }

  Json with_a_change(const Json& json, const Json& donor) {
    size_t left = random_() % count(json);
    return replaced(json, left, [&](const Json& old) { return changed(old, donor); });
  }

  Json changed(const Json& old, const Json& donor) {
    switch (random_() % 8) {
      case 0:
        return any(donor);
      case 1:
        return Json::Array{old};
      case 2:
        return random_() % 2 == 0 ? Json() : Json(random_() % 2 == 0);
      default:
        break;
    }
    if (old.is_number()) return extreme_number();
    if (old.is_string()) return string_of(donor, old.as_string());
    if (old.is_array()) return changed_list(old.as_array(), donor);
    if (old.is_object()) return changed_object(old.as_object(), donor);
    return any(donor);
  }

  Json extreme_number() {
    constexpr int64_t integers[] = {0,          1,         -1,        2,         3,
                                    8,          -2,        127,       65536,     2147483647,
                                    1LL << 32,  1LL << 40, 1LL << 61, INT64_MAX, INT64_MIN,
                                    -(1 << 20), 1 << 20,   1LL << 53};
    constexpr double reals[] = {0.5, -0.0, 1e308, -1e-300, 1e18, HUGE_VAL, NAN};
    return random_() % 4 == 0 ? Json(reals[random_() % std::size(reals)])
                              : Json(integers[random_() % std::size(integers)]);
  }

  // A random string of the donor, or one with a meaning. Values are drawn until one is a string, at
  // most 16 times.
  std::string string_of(const Json& donor, const std::string& fallback) {
    constexpr const char* known[] = {"",        "string",  "int64",  "uint8",     "bool", "float16",
                                     "one_hot", "tf_idf",  "count",  "multi_hot", "int",  "same",
                                     "[UNK]",   "../../x", "/etc/x", "none"};
    if (random_() % 8 == 0) return known[random_() % std::size(known)];
    for (int tries = 0; tries < 16; ++tries)
      if (const Json& found = any(donor); found.is_string()) return found.as_string();
    return fallback + "_1";
  }

  std::string key_of(const Json& donor, const std::string& fallback) {
    for (int tries = 0; tries < 16; ++tries)
      if (const Json& found = any(donor); found.is_object() && found.size() > 0)
        return found.as_object()[random_() % found.size()].first;
    return fallback;
  }

  Json changed_list(Json::Array items, const Json& donor) {
    if (items.empty()) return Json::Array{any(donor)};
    const size_t i = random_() % items.size();
    switch (random_() % 4) {
      case 0:
        items.erase(items.begin() + static_cast<int64_t>(i));
        break;
      case 1:
        items.push_back(Json(items[i]));
        break;
      case 2:
        std::swap(items[i], items[random_() % items.size()]);
        break;
      default:
        items.insert(items.begin() + static_cast<int64_t>(i), any(donor));
    }
    return items;
  }

  Json changed_object(Json::Object members, const Json& donor) {
    if (members.empty()) return Json::Object{{key_of(donor, "name"), any(donor)}};
    const size_t i = random_() % members.size();
    switch (random_() % 3) {
      case 0:
        members.erase(members.begin() + static_cast<int64_t>(i));
        break;
      case 1:
        members[i].second = any(donor);
        break;
      default: {
        const std::string key = key_of(donor, "name");
        if (!Json(members).contains(key)) members.emplace_back(key, any(donor));
      }
    }
    return members;
  }

  std::mt19937 random_;
};

}  // namespace keratin::fuzz

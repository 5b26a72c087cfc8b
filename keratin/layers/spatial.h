#pragma once

#include <array>

#include "keratin/graph/config.h"

// Arguments of layers over one to three spatial axes.
namespace keratin {

namespace detail {

// The first of the spatial axes.
inline int64_t first_spatial_axis(const std::string& data_format) {
  return data_format == "channels_first" ? 2 : 1;
}

}  // namespace detail

// How many elements before and after those of one axis; one number counts for both.
struct Side {
  int64_t before = 0, after = 0;

  Side() = default;
  Side(int both) : Side(both, both) {}      // NOLINT(google-explicit-constructor)
  Side(int64_t both) : Side(both, both) {}  // NOLINT(google-explicit-constructor)
  Side(int64_t before, int64_t after) : before(before), after(after) {}
  bool operator==(const Side&) const = default;
};

// One Side for each of n spatial axes, written as 2, {1, 2} or {{0, 1}, {2, 3}}. With one axis,
// {1, 2} are its two sides; with more, each number is one axis.
template <size_t n>
class Borders {
 public:
  Borders(int all) : Borders(int64_t{all}) {}  // NOLINT(google-explicit-constructor)
  Borders(int64_t all) { sides_.fill(all); }   // NOLINT(google-explicit-constructor)
  Borders(std::initializer_list<Side> sides) : Borders(std::vector<Side>(sides)) {}
  explicit Borders(const std::vector<Side>& sides) {
    if (n == 1 && sides.size() == 2) {
      sides_[0] = {sides[0].before, sides[1].before};
      return;
    }
    detail::require(sides.size() == n, "expected ", n == 1 ? 2 : n, " elements, got ",
                    sides.size());
    std::copy(sides.begin(), sides.end(), sides_.begin());
  }

  const Side& operator[](size_t axis) const { return sides_[axis]; }
  bool operator==(const Borders&) const = default;
  // Errors: a negative number. `what` is the name of the argument.
  void check(std::string_view what, std::string_view who) const {
    for (const Side& side : sides_)
      detail::require(side.before >= 0 && side.after >= 0, "`", what, "` of ", who,
                      " cannot be negative. Received: ", what, "=", text());
  }
  // ((0, 1), (2, 3)), or (0, 1) of one axis
  std::string text() const {
    std::string all;
    for (const Side& side : sides_)
      all += detail::text(all.empty() ? "" : ", ", "(", side.before, ", ", side.after, ")");
    return n == 1 ? all : "(" + all + ")";
  }

  Json to_json() const {
    Json all = Json::array();
    for (const Side& side : sides_) all.push_back(Json::Array{side.before, side.after});
    return n == 1 ? all.as_array()[0] : all;
  }
  static Borders from_json(const Json& json) {
    if (json.is_number()) return json.as_int();
    std::vector<Side> sides;
    for (const Json& item : json.as_array()) {
      detail::require(item.is_number() || item.size() == 2, "expected a number or two, got ", item);
      sides.push_back(item.is_number() ? Side(item.as_int())
                                       : Side(item[0].as_int(), item[1].as_int()));
    }
    return Borders(sides);
  }

 private:
  std::array<Side, n> sides_;
};

}  // namespace keratin

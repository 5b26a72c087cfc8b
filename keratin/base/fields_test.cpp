#include "keratin/base/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "keratin/base/hash.h"

namespace keratin {
namespace {

struct Point {
  int64_t x = 1;
  double y = 2;
  std::string name = "p";
  static constexpr auto fields =
      field_list(field("x", &Point::x), field("y", &Point::y), field("name", &Point::name));
};
struct Path {
  Point start;
  std::vector<int64_t> steps;
  static constexpr auto fields =
      field_list(field("start", &Path::start), field("steps", &Path::steps));
};

static_assert(HasFields<Point> && !HasFields<int>);

TEST(Fields, AreVisitedInOrderAndCanBeChanged) {
  Point point;
  std::string names;
  detail::for_each_field(point, [&](std::string_view name, auto& value) {
    names += std::string(name) + ' ';
    value = {};
  });
  EXPECT_EQ(names, "x y name ");
  EXPECT_EQ(point.x, 0);
  EXPECT_EQ(point.name, "");
}

TEST(Fields, EveryFieldCountsForEquality) {
  EXPECT_TRUE(detail::equal_fields(Point{}, Point{}));
  EXPECT_FALSE(detail::equal_fields(Point{}, Point{.x = 2}));
  EXPECT_FALSE(detail::equal_fields(Point{}, Point{.y = 3}));
  EXPECT_FALSE(detail::equal_fields(Point{}, Point{.name = "q"}));
}

TEST(Fields, ComparesNumbersBitForBit) {
  EXPECT_TRUE(detail::equal_fields(Point{.y = NAN}, Point{.y = NAN}));
  EXPECT_FALSE(detail::equal_fields(Point{.y = 0.0}, Point{.y = -0.0}));
}

// A path with one thing changed.
template <class Change>
Path path(Change change) {
  Path result;
  change(result);
  return result;
}

struct Forgetful {
  int x = 0;
  std::vector<std::string> names = {};
  bool forgotten = false;
  static constexpr auto fields =
      field_list(field("x", &Forgetful::x), field("names", &Forgetful::names));
};

// Made from a number only, so it has no default.
struct Size {
  Size(int64_t value) : value(value) {}  // NOLINT(google-explicit-constructor)
  int64_t value;
};

// Takes everything that can be a size.
struct Converting {
  template <class T>
  requires std::convertible_to<const T&, Size> Converting(const T&) {}  // NOLINT
};

template <int rank>
struct Window {
  Size size = 1;
  Converting made = Size(1);
  int64_t strides[2][rank] = {};
  std::array<int64_t, 2> dilation = {};
  std::optional<std::string> padding = {};
  std::optional<std::vector<Size>> sides = {};
  static constexpr auto fields =
      field_list(field("size", &Window::size), field("made", &Window::made),
                 field("strides", &Window::strides), field("dilation", &Window::dilation),
                 field("padding", &Window::padding), field("sides", &Window::sides));
};

struct OneStrideForgotten {
  int64_t strides[3] = {};
  bool forgotten = false;
  static constexpr auto fields = field_list(field("strides", &OneStrideForgotten::strides));
};

TEST(Fields, FindsAMemberThatTheListForgets) {
  EXPECT_TRUE(detail::lists_every_member<Point>());
  EXPECT_TRUE(detail::lists_every_member<Path>());
  EXPECT_FALSE(detail::lists_every_member<Forgetful>());
}

TEST(Fields, CountsMembersOfAnyType) {
  EXPECT_TRUE(detail::lists_every_member<Window<1>>());
  EXPECT_TRUE(detail::lists_every_member<Window<3>>());
  EXPECT_FALSE(detail::lists_every_member<OneStrideForgotten>());
}

// The entries that Bias and Scaled share.
template <class C>
struct BiasFields {
  static constexpr auto fields = field_list(
      field("use_bias", &C::use_bias), field<Written::if_changed>("initializer", &C::initializer));
};
struct Bias {
  bool use_bias = true;
  std::string initializer = "zeros";
  static constexpr auto fields = field_list(fields_of<BiasFields>());
};
template <class C>
struct ScaledFields {
  static constexpr auto fields = field_list(field("scale", &C::scale), fields_of<BiasFields>());
};
struct Scaled {
  bool use_bias = true;
  std::string initializer = "zeros";
  double scale = 1;
  int64_t calls = 0;
  static constexpr auto fields = field_list(fields_of<ScaledFields>(), unlisted(&Scaled::calls));
};

template <class T>
std::string names_of(const T& object) {
  std::string names;
  detail::for_each_field(
      object, [&](std::string_view name, const auto&) { names += std::string(name) + ' '; });
  return names;
}

TEST(Fields, SharedListsNestAndKeepTheirOrder) {
  EXPECT_EQ(names_of(Bias{}), "use_bias initializer ");
  EXPECT_EQ(names_of(Scaled{}), "scale use_bias initializer ");
  EXPECT_FALSE(detail::equal_fields(Scaled{}, Scaled{.initializer = "ones"}));
}

TEST(Fields, SkipsUnlistedMembers) {
  EXPECT_TRUE(detail::lists_every_member<Scaled>());
  EXPECT_TRUE(detail::equal_fields(Scaled{}, Scaled{.calls = 1}));
}

TEST(Fields, SaysWhenAFieldIsWritten) {
  std::string when;
  detail::for_each_listed<Bias>([&]<class Field>(const Field&) {
    when += Field::written == Written::always ? "always " : "if_changed ";
  });
  EXPECT_EQ(when, "always if_changed ");
}

TEST(Fields, StructsNest) {
  EXPECT_TRUE(detail::equal_fields(Path(), Path()));
  EXPECT_FALSE(detail::equal_fields(Path(), path([](Path& p) { p.start.x = 5; })));
  EXPECT_FALSE(detail::equal_fields(Path(), path([](Path& p) { p.steps = {1}; })));
}

TEST(Hash, EqualStructsHaveEqualHashesAndOthersDiffer) {
  const std::vector<Path> paths = {
      Path(),
      path([](Path& p) { p.start.x = 2; }),
      path([](Path& p) { p.start.y = 3; }),
      path([](Path& p) { p.start.name = "q"; }),
      path([](Path& p) { p.steps = {0}; }),
      path([](Path& p) {
        p.steps = {0, 0};
      }),
      path([](Path& p) {
        p.steps = {1, 2};
      }),
      path([](Path& p) {
        p.steps = {2, 1};
      }),
  };
  for (const Path& a : paths)
    for (const Path& b : paths) EXPECT_EQ(detail::hash_of(a) == detail::hash_of(b), &a == &b);
  EXPECT_EQ(detail::hash_of(paths[5]), detail::hash_of(path([](Path& p) { p.steps = {0, 0}; })));
}

TEST(Hash, MixDependsOnTheOrder) {
  EXPECT_NE(detail::mix(detail::mix(0, 1), 2), detail::mix(detail::mix(0, 2), 1));
  EXPECT_NE(detail::mix(0, 0), 0);
}

}  // namespace
}  // namespace keratin

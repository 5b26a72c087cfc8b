"""Shows that scripts/api sees every kind of public name, and that --check can fail.

usage: self_test.py SCRIPT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HEADER = """
#pragma once
// int commented(int);
#include <vector>
namespace keratin {
enum class Kind : int { one, two = 2 };
class Later;
using Numbers = std::vector<int>;
inline constexpr int limit = 3;
struct KERATIN_API Options {
  double scale = 1, shift = 0;
  std::function<int(int, int)> callback = {};
  static constexpr auto fields = field_list(field("scale", &Options::scale));
};
template <class T>
concept Number = requires(T t) { t + t; };
class KERATIN_API Thing final : public Base<int> {
 public:
  explicit Thing(int size = (2)) : size_{size}, rest_(1) {}
  int size() const { return size_ < 3 ? size_ : 3; }
  bool operator==(const Thing& other) const = default;
  operator double() const;
  Thing& operator=(const Thing& other) { return *this; }
  template <class T>
  requires requires(T t) { t.x(); } T made(T t = {}) const;
  class Inner;
  friend void stranger(Thing);

 protected:
  int kept_ = 0;

 private:
  void hidden();
  struct Secret {
    int secret;
  };
  int size_, rest_;
};
class Thing::Inner {
 public:
  int deep;
};
template <class T>
T Thing::made(T t) const {
  return t;
}
template <class F>
decltype(auto) called(F&& f) {
  return f();
}
template <Number T>
T twice(T x) {
  return x + x;
}
Thing operator+(const Thing& a, const Thing& b);
extern template class Sized<Thing>;
namespace detail {
int helper();
}
namespace ops {
KERATIN_API int sum(int a, const Options& options = {.scale = 2});
}  // namespace ops
}  // namespace keratin
"""

LISTED = """keratin::Kind: enum class Kind : int
keratin::Kind::one: one
keratin::Kind::two: two = 2
keratin::Number: template <class T> concept Number = requires(T t) { t + t; }
keratin::Numbers: using Numbers = std::vector<int>
keratin::Options: struct Options
keratin::Options::callback: std::function<int(int, int)> callback = {}
keratin::Options::fields: static constexpr auto fields
keratin::Options::scale: double scale = 1, shift = 0
keratin::Options::shift: double scale = 1, shift = 0
keratin::Thing: class Thing final : public Base<int>
keratin::Thing::Inner: class Thing::Inner
keratin::Thing::Inner::deep: int deep
keratin::Thing::Thing: explicit Thing(int size = (2))
keratin::Thing::kept_: protected: int kept_ = 0
keratin::Thing::made: template <class T> requires requires(T t) { t.x(); } T made(T t = {}) const
keratin::Thing::operator double: operator double() const
keratin::Thing::operator=: Thing& operator=(const Thing& other)
keratin::Thing::operator==: bool operator==(const Thing& other) const = default
keratin::Thing::size: int size() const
keratin::called: template <class F> decltype(auto) called(F&& f)
keratin::limit: inline constexpr int limit = 3
keratin::operator+: Thing operator+(const Thing& a, const Thing& b)
keratin::ops::sum: int sum(int a, const Options& options = {.scale = 2})
keratin::twice: template <Number T> T twice(T x)
"""


class Api(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.root / "keratin").mkdir()
        (self.root / "docs").mkdir()
        (self.root / "keratin/keratin.h").write_text(HEADER, encoding="utf-8")

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *arguments, str(self.root)],
                              capture_output=True, text=True, check=False)

    def test_lists_every_public_name(self):
        self.assertEqual(self.run_script().returncode, 0)
        self.assertEqual((self.root / "docs/api.txt").read_text("utf-8"), LISTED)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_check_fails_on_each_change(self):
        self.run_script()
        for old, new in [("int size() const", "long size() const"), ("two = 2", "two = 3"),
                         ("int sum(", "int total("), ("  operator double() const;", ""),
                         ("double scale = 1", "double scale = 2"), ("namespace detail", "namespace x")]:
            self.assertIn(old, HEADER)
            (self.root / "keratin/keratin.h").write_text(HEADER.replace(old, new), "utf-8")
            checked = self.run_script("--check")
            self.assertEqual(checked.returncode, 1, old)
            self.assertIn("docs/api.txt differs", checked.stdout)

    def test_check_fails_without_a_list(self):
        self.assertEqual(self.run_script("--check").returncode, 1)


if __name__ == "__main__":
    SCRIPT = sys.argv.pop(1)
    unittest.main()

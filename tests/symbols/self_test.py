"""Shows that check.py finds what cannot be linked: a small header against lists of exports."""

import pathlib
import tempfile
import unittest

import check

HEADER = """
#pragma once
// A comment that declares int nothing(int);
namespace keratin {
enum class Kind : int { one, two };
struct KERATIN_API Options {
  double scale = 1;
  std::function<int(int, int)> callback;
  void (*plain)(int) = nullptr;
};
class KERATIN_API Thing {
 public:
  explicit Thing(int size = (2));
  Thing(const Thing&) = delete;
  int here() const { return helper(1); }
  int below() const;
  Thing& operator=(Thing&& other);
  bool operator()(int a, std::map<int, int> b) const;
};
inline int Thing::below() const { return 2; }
template <class Derived, int n = 2>
class Sized : public Base<Derived> {
 public:
  int size(std::map<int, int> a) const;
};
extern template class Sized<Thing>;
std::ostream& operator<<(std::ostream& out, const Thing& thing);
namespace ops {
KERATIN_API int twice(int a, int b = 3, const Options& options = {});
int twice(Thing a, Thing b, Thing c);
template <class T> T any(T x);
constexpr int known(int x) { return x; }
}  // namespace ops
}  // namespace keratin
"""

EXPORTS = """keratin::Thing::Thing(int)
keratin::Thing::operator=(keratin::Thing&&)
keratin::Thing::operator()(int, std::map<int, int, std::less<int> >) const
keratin::operator<<(std::ostream&, keratin::Thing const&)
keratin::Sized<keratin::Thing, (keratin::Kind)1>::size(std::map<int, int, std::less<int> >) const
keratin::ops::twice(int, int, keratin::Options const&)
keratin::ops::twice(keratin::Thing, keratin::Thing, keratin::Thing)
typeinfo for keratin::Thing
""".splitlines()


def complaints(exports):
    with tempfile.TemporaryDirectory() as root:
        path = pathlib.Path(root, "keratin/keratin.h")
        path.parent.mkdir()
        path.write_text(HEADER, encoding="utf-8")
        return check.check(pathlib.Path(root), "\n".join(exports))


class Symbols(unittest.TestCase):
    def test_accepts_what_links(self):
        self.assertEqual(complaints(EXPORTS), ([], 7))

    def test_misses_each_function(self):
        for missing in EXPORTS[:7]:
            found, _ = complaints([symbol for symbol in EXPORTS if symbol != missing])
            self.assertEqual(len(found), 1, missing)
            self.assertIn(check.without_arguments(missing).split("(")[0], found[0])


if __name__ == "__main__":
    unittest.main()

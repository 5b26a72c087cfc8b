#!/usr/bin/env python3
"""Proves that the check of scripts/coverage can fail, without Keras."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import compare
import page
from compare import Place


def row(name, is_class=True):
    return types.SimpleNamespace(name=name, aliases=[], is_class=is_class)


def lists(missing=(), not_meant=None, renamed=None):
    return types.SimpleNamespace(LISTED=("keras.layers",), MISSING={"keras.layers": set(missing)},
                                 NOT_MEANT={"keras.layers": not_meant or {}}, RENAMED=renamed or {})


def complaints(rules, names=("Dense", "New"), index=("keratin::Dense",)):
    index = {name: {"keratin/layers/dense.h"} for name in index}
    ours = compare.Keratin(index, {"layers": {"Dense"}}, rules)
    places = {"keras.layers": [(row(name), ours.find("keras.layers", row(name))) for name in names]}
    return list(compare.complaints(places, rules, index))


class CoverageTest(unittest.TestCase):
    def test_a_class_in_no_list_is_new(self):
        [line] = complaints(lists())
        self.assertIn("keras.layers.New is new in Keras", line)

    def test_a_class_in_a_list_is_no_complaint(self):
        self.assertEqual(complaints(lists(missing={"New"})), [])
        self.assertEqual(complaints(lists(not_meant={"New": "wraps something"})), [])

    def test_a_public_class_that_files_cannot_name_is_missing(self):
        [line] = complaints(lists(), index=("keratin::Dense", "keratin::New"))
        self.assertIn("keras.layers.New is new in Keras", line)

    def test_the_list_of_what_is_missing_names_nothing_that_is_here(self):
        [line] = complaints(lists(missing={"Dense", "New"}))
        self.assertIn("keras.layers.Dense is in MISSING", line)

    def test_lists_name_what_keras_has(self):
        lines = complaints(lists(missing={"New", "Old"}, not_meant={"Older": "was removed"}))
        self.assertEqual([line.split()[0] for line in lines],
                         ["keras.layers.Old", "keras.layers.Older"])

    def test_another_name_is_a_public_one(self):
        [line] = complaints(lists(missing={"New"}, renamed={"keras.a": "keratin::a"}))
        self.assertIn("keratin::a", line)

    def test_the_page_counts(self):
        rows = [(row("A"), Place("A", ("keratin/a.h",))), (row("B"), Place()),
                (row("C"), Place(reason="wraps something"))]
        text = page.written({"keras.layers": rows}, "3", {})
        self.assertIn("| 1 / 3 | 1 | 1 |", text)
        self.assertIn("| `A` | `A` in a.h |", text)
        self.assertIn("| `B` | **missing** |", text)
        self.assertIn("| `C` | not meant to be: wraps something |", text)


if __name__ == "__main__":
    unittest.main()

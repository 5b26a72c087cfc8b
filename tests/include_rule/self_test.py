"""Shows that scripts/check-includes finds what it must: each case is a tree with one flaw, or none.

usage: self_test.py CHECK_INCLUDES
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)

# A tree without a flaw; each case adds to it or replaces a file of it.
CLEAN = {
    "keratin/keratin.h": '#include "keratin/ops/ops.h"\n',
    "keratin/base/error.h": "#include <string>\n",
    "keratin/ir/node.h": '#include "keratin/base/error.h"\n',
    "keratin/ops/ops.h": '#include "keratin/ir/node.h"\n#include <vector>\n',
    "keratin/ops/ops.cpp": '#include "keratin/ops/ops.h"\n',
    "keratin/ops/ops_test.cpp": "#include <gtest/gtest.h>\n"
    '#include "keratin/testing/check.h"\n#include "keratin/engine/run.h"\n',
    "keratin/ops/ops_testing.h": "#include <gtest/gtest.h>\n",
    "keratin/testing/check.h": '#include "keratin/engine/run.h"\n',
    "keratin/plan/plan.h": '#include "keratin/ops/ops.h"\n',
    "keratin/backend/cpu/step.cpp": '#include "keratin/plan/plan.h"\n#include <omp.h>\n',
    "keratin/backend/cpu/jit/loop.h": "#include <xbyak/xbyak.h>\n",
    "keratin/backend/reference/loops.h": "",
    "keratin/engine/run.h": '#include "keratin/plan/plan.h"\n',
    "keratin/engine/run.cpp": '#include "keratin/backend/reference/loops.h"\n',
    "keratin/ops/shards.h": '#include "keratin/ir/node.h"\n',
    "keratin/ops/shards.cpp": '#include "keratin/ops/shards.h"\n',
    "keratin/ops/emit.cpp": '#include "keratin/ops/shards.h"\n',
    "keratin/ops/shards_test.cpp": '#include "keratin/ops/shards.h"\n',
    "keratin/distribute/replicas.cpp": '#include "keratin/ops/shards.h"\n',
    "examples/digits.cpp": '#include <keratin/keratin.h>\n#include "keratin/ir/node.h"\n',
}


def run(files):
    """What check-includes says about a tree of these files: (exit status, output)."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([CHECK, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class IncludeRule(unittest.TestCase):
    def refuses(self, name, text, complaint):
        status, output = run(CLEAN | {name: text})
        self.assertEqual(status, 1, output)
        self.assertIn(complaint, output)

    def test_accepts_a_clean_tree(self):
        status, output = run(CLEAN)
        self.assertEqual(status, 0, output)

    def test_refuses_an_arrow_that_points_up(self):
        self.refuses("keratin/ir/node.cpp", '#include "keratin/ops/ops.h"\n',
                     "keratin/ir/node.cpp:1: ir may not include ops")

    def test_refuses_one_backend_seeing_another(self):
        self.refuses("keratin/backend/cpu/kernel.h",
                     '\n  #  include "keratin/backend/reference/loops.h"\n',
                     "keratin/backend/cpu/kernel.h:2: backend/cpu may not include backend/reference")

    def test_refuses_testing_outside_tests(self):
        self.refuses("keratin/ops/helper.h", '#include "keratin/testing/check.h"\n',
                     "ops may not include testing")

    def test_refuses_a_header_of_tests_outside_tests(self):
        self.refuses("keratin/ops/helper.h", '#include "keratin/ops/ops_testing.h"\n',
                     "only tests may include keratin/ops/ops_testing.h")

    def test_refuses_the_umbrella_inside_the_library(self):
        self.refuses("keratin/ops/helper.h", '#include "keratin/keratin.h"\n', "only users")

    def test_the_program_sees_what_users_see(self):
        status, output = run(CLEAN | {"keratin/cli/main.cpp": '#include "keratin/keratin.h"\n'})
        self.assertEqual(status, 0, output)
        self.refuses("keratin/cli/main.cpp", '#include "keratin/ops/ops.h"\n',
                     "cli may not include ops")

    def test_refuses_a_third_party_header_outside_its_folder(self):
        self.refuses("keratin/engine/threads.cpp", "#include <zlib.h>\n",
                     "only files may include <zlib.h>")

    def test_refuses_a_third_party_header_in_a_public_one(self):
        self.refuses("keratin/ir/node.h", "#include <fmt/core.h>\n",
                     "keratin/ir/node.h:1: a public header may not include <fmt/core.h>")

    def test_refuses_a_path_that_does_not_start_at_the_root(self):
        self.refuses("keratin/ops/ops.cpp", '#include "ops.h"\n', "from the root")

    def test_refuses_a_header_that_does_not_exist(self):
        self.refuses("keratin/ops/ops.cpp", '#include "keratin/ops/gone.h"\n', "does not exist")

    def test_refuses_a_folder_without_a_rule(self):
        self.refuses("keratin/extra/thing.h", "", "the folder extra has no rule")

    def test_refuses_an_example_that_looks_inside(self):
        self.refuses("examples/inside.cpp", '#include "keratin/plan/plan.h"\n',
                     "keratin/plan/plan.h is not a public header")

    def test_refuses_sharding_in_a_leaf_file(self):
        self.refuses("keratin/ops/softmax.cpp", '\n#include "keratin/ops/shards.h"\n',
                     "keratin/ops/softmax.cpp:2: only distribute and SHARDING_USERS may include "
                     "keratin/ops/shards.h")

    def test_refuses_a_needless_entry_of_the_sharding_users(self):
        self.refuses("keratin/ops/emit.cpp", '#include "keratin/ops/ops.h"\n',
                     "keratin/ops/emit.cpp: includes nothing of SHARDING")


if __name__ == "__main__":
    unittest.main()

"""Tests the program `keratin` as a user runs it: by files, output, messages and exit status.

usage: run.py PROGRAM [TEST...]
"""

import pathlib
import sys
import unittest

import program

if __name__ == "__main__":
    program.PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    tests = unittest.defaultTestLoader
    suite = (tests.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else
             tests.discover(pathlib.Path(__file__).parent, "*_test.py"))
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())

import re
import shutil
import subprocess

import program
from program import MODELS, USAGE, ProgramTest

DOCS = (program.GOLDEN.parents[1] / "docs/program.md").read_text(encoding="utf-8")
# The commands of the examples in the docs, in their order.
COMMANDS = list(dict.fromkeys(re.findall(r"(?m)^(?:.*<\()?keratin ([a-z]+)", DOCS)))


class Usage(ProgramTest):
    def test_help_lists_every_command_and_status(self):
        result = self.succeeds("--help").out
        listed = re.findall(r"^  ([a-z]+)  ", result.split("commands:")[1].split("options:")[0],
                            re.MULTILINE)
        self.assertEqual(listed, COMMANDS)
        for status in ("0", "1", "2", "3", "4", "130"):
            self.assertRegex(result.split("exit status:")[1], rf"(?m)^  {status} ")
        self.assertEqual(self.succeeds("help").out, result)
        self.assertEqual(self.succeeds("-h").out, result)

    def test_every_command_has_help(self):
        for command in COMMANDS:
            result = self.succeeds(command, "--help").out
            self.assertTrue(result.startswith(f"usage: keratin {command} "), result)
            self.assertIn("--help", result)
            self.assertLessEqual(max(map(len, result.splitlines())), 100, command)
            self.assertEqual(self.succeeds("help", command).out, result)

    def test_version(self):
        self.assertRegex(self.succeeds("--version").out, r"^keratin \d+\.\d+\.\d+\n$")

    def test_no_command(self):
        done = self.run_program(status=USAGE)
        self.assertEqual(done.out, "")
        self.assertIn("usage: keratin COMMAND", done.err)

    def test_suggests_the_nearest_command(self):
        self.refuses("sumary", status=USAGE, message="did you mean 'summary'?")
        done = self.refuses("xyzzy", status=USAGE, message="unknown command 'xyzzy'")
        self.assertNotIn("did you mean", done.err)
        self.refuses("help", "inspct", status=USAGE, message="did you mean 'inspect'?")
        self.refuses("--verson", status=USAGE, message="unknown option '--verson'")

    def test_suggests_the_nearest_option(self):
        self.refuses("summary", "--jsn", "m.keras", status=USAGE,
                     message="keratin summary: unknown option '--jsn'; did you mean '--json'?")
        self.refuses("summary", "-x", "m.keras", status=USAGE, message="unknown option '-x'")

    def test_wrong_arguments(self):
        self.refuses("summary", status=USAGE, message="MODEL is missing")
        self.refuses("summary", "a.keras", "b.keras", status=USAGE,
                     message="unexpected argument 'b.keras'")
        self.refuses("summary", "a.keras", "--width", status=USAGE, message="--width needs a value")
        self.refuses("summary", "a.keras", "--width", "--json", status=USAGE,
                     message="--width needs a value")
        self.refuses("summary", "a.keras", "--width", "wide", status=USAGE,
                     message="--width takes a whole number of at least 0, got 'wide'")
        self.refuses("summary", "a.keras", "--width", "3x", status=USAGE, message="got '3x'")
        self.refuses("summary", "a.keras", "--width=-3", status=USAGE, message="at least 0")
        self.refuses("summary", "a.keras", "--json=yes", status=USAGE, message="takes no value")
        self.refuses("summary", "a.keras", "--json", "--json", status=USAGE, message="given twice")
        self.refuses("completion", "tcsh", status=USAGE, message="SHELL is one of bash, zsh, fish")

    def test_arguments_after_two_dashes_are_files(self):
        shutil.copy(MODELS / "classifier.keras", self.folder / "--json.keras")
        done = subprocess.run([program.PROGRAM, "summary", "--", "--json.keras"], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Model: "classifier"', done.stdout)

    def test_an_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([program.PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertIn("could not be written", done.stderr)


class Texts(ProgramTest):
    def complete(self, line):
        """The completions that bash offers at the end of a line."""
        script = self.succeeds("completion", "bash").out + (
            f"COMP_WORDS=({line}); [[ {line!r} == *' ' ]] && COMP_WORDS+=('')\n"
            "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _keratin; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                              cwd=self.folder, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes(self):
        self.write_text("model.keras", "")
        self.assertEqual(self.complete("keratin ins"), ["inspect"])
        self.assertEqual(set(COMMANDS) - set(self.complete("keratin ")), set())
        self.assertEqual(self.complete("keratin summary --exp"), ["--expand-nested"])
        self.assertEqual(self.complete("keratin summary mod"), ["model.keras"])
        self.assertEqual(self.complete("keratin completion "), ["bash", "zsh", "fish"])

    def test_other_shells(self):
        self.assertIn("bashcompinit", self.succeeds("completion", "zsh").out)
        result = self.succeeds("completion", "fish").out
        for command in COMMANDS:
            self.assertIn(f"-n __fish_use_subcommand -f -a {command} ", result)

    def test_the_manual_page_has_the_help(self):
        page = self.succeeds("manual").out
        self.assertTrue(page.startswith(".TH KERATIN 1 "))
        for command in COMMANDS:
            self.assertIn(f".SS keratin {command} ", page)
            for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)",
                                     self.succeeds(command, "--help").out, re.MULTILINE):
                self.assertIn(option.replace("-", "\\-"), page)
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings=w", "-l", "-"], input=page, text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.stderr, "")

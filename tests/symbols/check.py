"""Shows that users can link every function that a public header declares.

usage: check.py ROOT LIBRARY NM

Reads the declarations without a body in keratin/keratin.h and the headers it reaches, and asks NM
what LIBRARY, a shared one, exports. A function that nobody defined, or that stays hidden because
its declaration lacks KERATIN_API, is a complaint. Functions are compared by qualified name and
number of parameters; a class template counts as exported when an instance is.
"""

import collections
import pathlib
import re
import subprocess
import sys

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'',
                   re.DOTALL | re.MULTILINE)
ACCESS = re.compile(r"\s*(public|private|protected)\s*:")
SCOPE = re.compile(r"\b(?:namespace|class|struct)\s+([\w:]+)")
NAME = r"operator\s*(?:\(\)|[^\s\w(]+)|~?\w+"
FUNCTION = re.compile(rf"({NAME})\s*(\((?!\*).*)", re.DOTALL)
EXPORTED = re.compile(rf"((?:\w+::)*(?:{NAME}))(?:\[abi:\w+\])*(\(.*)")
INLINE = re.compile(r"\binline\b[^;{(]*\b(\w+::\w+)\(")
TEMPLATE = re.compile(r"\btemplate\s*<[^;{]*?>\s*(?=class|struct)")
# What needs no symbol, or is no function.
SKIPPED = re.compile(r"\b(template|using|friend|inline|constexpr|static_assert|typedef)\b"
                     r"|=\s*(default|delete|0)\s*$")


def public_headers(root):
    """The umbrella and every header of ours that it reaches."""
    reached, todo = [], ["keratin/keratin.h"]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.append(name)
            text = (root / name).read_text("utf-8")
            todo += re.findall(r'^#include "(keratin/[^"]+)"', text, re.MULTILINE)
    return reached


def parameter_count(text):
    """How many parameters there are in a text that starts with `(`."""
    depth, commas, inside = 0, 0, ""
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if depth == 0:
            break
        commas += char == "," and depth == 1
        inside += char
    return 0 if inside.strip("( ") in ("", "void") else commas + 1


def function_of(statement):
    """(name, number of parameters) that a statement declares, or None."""
    if SKIPPED.search(statement):
        return None
    plain = re.sub(r"\bstd::function<.*?\)>", "", statement, flags=re.DOTALL)
    match = FUNCTION.search(plain)
    if not match or "=" in plain[:match.start()]:
        return None
    return re.sub(r"\s", "", match[1]), parameter_count(match[2])


def declarations(text):
    """Yields (qualified name, number of parameters) for each function declared without a body."""
    text = NOISE.sub("", text).replace("KERATIN_API ", "")
    inlines = INLINE.findall(text)
    scopes, statement = [], ""  # a scope without a name is the body of something
    for char in text:
        in_parameters = statement.count("(") > statement.count(")")
        if in_parameters or char not in "{};":
            statement += char
            if ACCESS.fullmatch(statement):
                statement = ""
            continue
        if char == "{":
            plain = TEMPLATE.sub("", statement)
            opened = None if ")" in plain or None in scopes else SCOPE.search(plain)
            scopes.append(opened and opened[1])
        elif char == "}":
            scopes.pop()
        elif None not in scopes:
            function = function_of(statement)
            if function:
                name = "::".join(scopes + [function[0]])
                if not name.endswith(tuple(f"::{inline}" for inline in inlines)):
                    yield name, function[1]
        statement = ""


def without_arguments(symbol):
    """The symbol with its classes' template arguments left out: A<1>::f(B<2>) is A::f(B<2>)."""
    plain, depth = "", 0
    for i, char in enumerate(symbol):
        if char == "(" and depth == 0:
            return plain + symbol[i:]
        named = plain.endswith(("operator", "operator<"))
        depth += char == "<" and (depth > 0 or not named)
        if depth == 0:
            plain += char
        depth -= char == ">" and depth > 0
    return plain


def exports(symbols):
    """What is exported: {(qualified name, number of parameters): how many}."""
    found = collections.Counter()
    for symbol in set(symbols.splitlines()):
        match = EXPORTED.match(without_arguments(symbol))
        if match:
            found[match[1], parameter_count(match[2])] += 1
    return found


def check(root, symbols):
    """All complaints, and how many functions are declared."""
    declared = collections.Counter()
    for header in public_headers(root):
        declared.update(declarations((root / header).read_text("utf-8")))
    found = exports(symbols)
    complaints = [f"{name}, {parameters} parameters: declared {count}, exported "
                  f"{found[name, parameters]} times"
                  for (name, parameters), count in sorted(declared.items())
                  if found[name, parameters] < count]
    return complaints, declared.total()


def main():
    root, library, nm = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    symbols = subprocess.run([nm, "--dynamic", "--defined-only", "--demangle",
                              "--format=just-symbols", library],
                             capture_output=True, text=True, check=True).stdout
    complaints, count = check(root, symbols)
    print("\n".join(complaints) or f"symbols: all {count} functions of the public headers link")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

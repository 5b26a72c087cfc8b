"""Writes the text of docs/coverage.md."""

import difflib

TITLES = {"keras": "keras: names without a namespace", "Layer": "Members of keras.Layer",
          "Model": "Members of keras.Model that keras.Layer lacks",
          "Sequential": "Members of keras.Sequential that keras.Model lacks",
          "Callback": "Members of keras.callbacks.Callback", "Metric": "Members of keras.Metric",
          "Optimizer": "Members of keras.Optimizer",
          "Keras 2": "Classes of Keras 2 that Keras 3 lacks"}

HEAD = """# What of Keras is here

Everything that is public in Keras {version}, and where it is in Keratin. `scripts/coverage` writes this
page, from Keras itself, the registries and the public headers; a test compares. An alias counts once.

"By name" means that files or options may name it. Functions of keras.ops are in `graph/symbolic_ops.h` for
symbolic tensors, and in `ops/` for values. What is missing may come; what is not meant to be has a reason
in `tests/coverage/lists.py`. The test also fails if Keras has a layer, loss, metric, optimizer, schedule,
callback or dtype policy that is neither here nor in the lists of that file.

Left out are {left_out}.

"""


def title(space):
    return TITLES.get(space, space)


def anchor(space):
    kept = [c for c in title(space).lower() if c.isalnum() or c in "-_ "]
    return "".join(kept).replace(" ", "-")


def counts(rows):
    """How many names are here, missing and not meant to be."""
    here = sum(place.here for _, place in rows)
    unmeant = sum(bool(place.reason) for _, place in rows)
    return here, len(rows) - here - unmeant, unmeant


def count_of(places):
    all_counts = [counts(rows) for rows in places.values()]
    here, missing, unmeant = (sum(column) for column in zip(*all_counts))
    return f"{here} of {here + missing + unmeant} names are here, {unmeant} are not meant to be"


def summary(places):
    yield "| Namespace | Here / all | Missing | Not meant to be |"
    yield "| --- | --- | --- | --- |"
    for space, rows in places.items():
        here, missing, unmeant = counts(rows)
        yield f"| [{title(space)}](#{anchor(space)}) | {here} / {len(rows)} | {missing or ''} | {unmeant or ''} |"


def where(place):
    if place.reason:
        return f"not meant to be: {place.reason}"
    if not place.here:
        return "**missing**"
    headers = ", ".join(header.removeprefix("keratin/") for header in place.headers)
    return f"`{place.name}` in {headers}" if place.name else "by name"


def written(places, version, left_out):
    reasons = "; ".join(f"keras.{name}, which {why}" for name, why in sorted(left_out.items())
                        if name != "src")
    lines = [*summary(places)]
    for space, rows in places.items():
        lines += ["", f"## {title(space)}", "", "| Keras | Here |", "| --- | --- |"]
        for row, place in rows:
            names = ", ".join(f"`{name}`" for name in (row.name, *row.aliases))
            lines.append(f"| {names} | {where(place)} |")
    return HEAD.format(version=version, left_out=reasons) + "\n".join(lines) + "\n"


def show_difference(path, text):
    old = path.read_text("utf-8").splitlines() if path.exists() else []
    for line in difflib.unified_diff(old, text.splitlines(), "docs/coverage.md", "now", "", "", 0, ""):
        print(line)

# SPDX-License-Identifier: BSD-3-Clause
"""Run one program with the reference and with this library, and compare.

compare.py TABLE NAME REFERENCE_DIR LIBRARY_DIR PROGRAM [ARGUMENT...]

The program prints units ("unit NAME [ID]") of indented lines. A unit with an
ID is a test marked as a difference; that it differs, its run on the reference
makes sure of. In all others a line that only one side has is allowed when a
row of the table names it, and a row that no longer names any fails:

    ID  PROGRAM  UNIT  SIDE  LINE

separated by tabs; PROGRAM is one NAME or several with | between, in each of
which the difference has to happen; SIDE is - (the reference has the line) or + (the library
has it). In UNIT and LINE a * stands for any text and a | between choices; in UNIT braces hold
choices inside a name, and @NAME stands for the choices that a line "@NAME = CHOICES" defines.
"""
import difflib
import os
import re
import subprocess
import sys


def glob(pattern):
    choices = (".*".join(map(re.escape, choice.split("*")))
               for choice in pattern.split("|"))
    return re.compile("(?:" + "|".join(choices) + r")\Z")


def expand(unit, groups):
    """The choices without braces that a UNIT stands for."""
    unit = re.sub(r"@(\w+)", lambda name: "{" + groups[name[1]] + "}", unit)
    before, brace, rest = unit.partition("{")
    if not brace:
        return unit
    choices, _, after = rest.partition("}")
    return "|".join(expand(before + choice + after, groups) for choice in choices.split("|"))


class Row:
    def __init__(self, number, text, groups):
        self.number = number
        self.text = text
        self.id, self.program, unit, self.side, line = text.split("\t")
        self.unit = glob(expand(unit, groups))
        self.line = glob(line)
        self.used = 0

    def allows(self, unit, side, line):
        return (side == self.side and self.line.match(line)
                and self.unit.match(unit))


def read_table(path, program):
    rows = []
    groups = {}
    with open(path, encoding="utf-8") as table:
        for number, text in enumerate(table, 1):
            text = text.rstrip("\n")
            if text.startswith("@"):
                name, _, choices = text[1:].partition(" = ")
                groups[name] = choices
            elif text and not text.startswith("#"):
                row = Row(number, text, groups)
                if program in row.program.split("|"):
                    rows.append(row)
    return rows


def run(library, command):
    environment = dict(os.environ, LD_LIBRARY_PATH=library)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                          check=False)
    text = done.stdout.decode("utf-8", "backslashreplace")
    units, marks, lines = {}, {}, None
    for line in text.splitlines():
        if line.startswith("unit "):
            name = line[5:]
            marked = re.search(r" ((?:F\d+|[A-Z]+))$", name)
            if marked:
                name = name[:marked.start()]
                marks[name] = marked.group(1)
            lines = units.setdefault(name, [])
        elif lines is not None:
            lines.append(line.strip())
    if not units:
        sys.exit(f"{command[0]} printed nothing with {library}: "
                 f"status {done.returncode}")
    return units, marks


def differing(reference, library):
    if reference == library:
        return
    if reference is None:
        yield "+", "unit"
        return
    if library is None:
        yield "-", "unit"
        return
    matcher = difflib.SequenceMatcher(None, reference, library, False)
    for tag, begin, end, other_begin, other_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        for line in reference[begin:end]:
            yield "-", line
        for line in library[other_begin:other_end]:
            yield "+", line


def main():
    table, name, reference_dir, library_dir, *command = sys.argv[1:]
    rows = read_table(table, name)
    reference, marks = run(reference_dir, command)
    library, library_marks = run(library_dir, command)
    bad = listed = marked = 0
    marks.update(library_marks)
    for unit in list(reference) + [u for u in library if u not in reference]:
        found = list(differing(reference.get(unit), library.get(unit)))
        if unit in marks:
            marked += 1
            continue
        for side, line in found:
            allowing = [row for row in rows if row.allows(unit, side, line)]
            for row in allowing:
                row.used += 1
            listed += bool(allowing)
            if not allowing:
                bad += 1
                print(f"{unit}: {side} {line}")
    for row in rows:
        if not row.used:
            bad += 1
            print(f"{table}:{row.number}: no longer happens: {row.text}")
    print(f"{len(reference)} and {len(library)} units, {marked} marked, "
          f"{listed} listed differences, {bad} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Check that DIFFERENCES.md and the tests know the same differences.

ids.py SOURCE_FOLDER

Every id of DIFFERENCES.md has a test: a row of parity's table, a device program that shows it, or a
contract test that is marked with it (in a comment where the reference shows it too rarely). No test
names an id that DIFFERENCES.md does not have.
"""
import pathlib
import re
import sys


def ids(pattern, *paths):
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return {found for text in texts for found in re.findall(pattern, text, re.MULTILINE)}


def main():
    source = pathlib.Path(sys.argv[1])
    tests = source / "cabi-tests"
    documented = ids(r"^\| ([A-Z]+\d*) \|", source / "DIFFERENCES.md")
    tested = {
        "parity's table": ids(r"^([A-Z]+\d*)\t", tests / "parity/differences.txt"),
        "contract tests": ids(
            r'(?:DIFFERS\([^)]*"|/\* )([A-Z]+\d*)(?:"\)|: )', *(tests / "contract").glob("*.c")
        ),
        "device tests": ids(r"FAULT ([A-Z]+\d*)", tests / "device/CMakeLists.txt"),
    }
    bad = 0
    for where, found in tested.items():
        print(f"{where}: {len(found)} ids")
        for name in sorted(found - documented):
            bad += 1
            print(f"  {name} is not in DIFFERENCES.md")
    for name in sorted(documented - set().union(*tested.values())):
        bad += 1
        print(f"{name} of DIFFERENCES.md has no test")
    print(f"DIFFERENCES.md: {len(documented)} ids")
    return 1 if bad or not documented or not all(tested.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

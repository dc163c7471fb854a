#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares debian/copyright with what the manifests of all crates say: usage: copyright.py SOURCE"""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys

NAMES = {
    "Apache-2.0 WITH LLVM-exception": "Apache-2.0-with-LLVM-exception",
    "LGPL-2.1-or-later": "LGPL-2.1+",
}


def paragraphs(text):
    """Each a dictionary from field to value."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        yield {
            name: value.strip()
            for name, value in re.findall(r"^([A-Za-z-]+):(.*(?:\n[ \t].*)*)", paragraph, re.M)
        }


def licences(expression):
    """The names in a DEP-5 or SPDX expression, SPDX's in DEP-5's words."""
    parts = re.split(r"\s+(?:or|and|OR|AND)\s+|[()]", expression)
    return {NAMES.get(part.strip(), part.strip()) for part in parts if part.strip()}


def main():
    source = pathlib.Path(sys.argv[1])
    text = (source / "debian" / "copyright").read_text(encoding="utf-8")
    files = [entry for entry in paragraphs(text) if "Files" in entry]
    texts = {entry["License"].partition("\n")[0] for entry in paragraphs(text)
             if "License" in entry and "Files" not in entry}
    metadata = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],
        cwd=source, check=True, capture_output=True, text=True,
    ).stdout
    crates = [crate for crate in json.loads(metadata)["packages"] if crate["source"]]
    faults, used = [], set()
    for crate in crates:
        manifest = f"vendor/{crate['name']}-{crate['version']}/Cargo.toml"
        # The last paragraph that matches is the one that counts.
        matching = [(entry, pattern) for entry in files for pattern in entry["Files"].split()
                    if pattern != "*" and fnmatch.fnmatchcase(manifest, pattern)]
        if not matching:
            faults.append(f"{manifest}: not in debian/copyright; its licence is {crate['license']}")
            continue
        entry, pattern = matching[-1]
        used.add(pattern)
        if licences(entry["License"]) != licences(crate["license"]):
            faults.append(f"{manifest}: {crate['license']}, not {entry['License']}")
    for entry in files:
        for pattern in entry["Files"].split():
            if pattern.count("/") == 1 and pattern not in used:
                faults.append(f"{pattern}: no such crate")
        for name in licences(entry["License"]) - texts:
            faults.append(f"{entry['Files']}: the text of {name} is missing")
    for name in texts - set().union(*(licences(entry["License"]) for entry in files)):
        faults.append(f"nothing has the licence {name}")
    if faults or not crates:
        sys.exit("FAULT: " + "\n  ".join(faults or ["there are no crates"]))
    print(f"{len(crates)} crates, {len(texts)} licences: debian/copyright has them all")


if __name__ == "__main__":
    main()

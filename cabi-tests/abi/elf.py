#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of librpma.so.0 as a file, most of them against the reference library.

Each check prints what it looked at and fails when there was nothing to look at.
"""

import argparse
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
from checks import FUNCTIONS, VERSION_NODE, Failure, differences, report, run


def dynamic_symbols(library):
    """(name with version, type, binding, visibility, section) of .dynsym."""
    pattern = re.compile(
        r"^\s*\d+: [0-9a-f]+\s+\S+ (\w+)\s+(\w+)\s+(\w+)\s+(?:\[.*?\]\s+)?(\w+) (\S+)(?: \(\d+\))?$", re.M
    )
    symbols = []
    for type_, binding, visibility, section, name in pattern.findall(
        run("readelf", "--wide", "--dyn-syms", library)
    ):
        # numbers of sections mean nothing to another file
        section = section if section in ("UND", "ABS") else "defined"
        symbols.append((name, type_, binding, visibility, section))
    return symbols


def exported(library):
    return {s for s in dynamic_symbols(library) if s[4] != "UND" and s[2] != "LOCAL"}


def imported(library):
    return {symbol[0] for symbol in dynamic_symbols(library) if symbol[4] == "UND"}


def dynamic_section(library):
    """(tag, value) of .dynamic."""
    pattern = re.compile(r"^ 0x[0-9a-f]+ \((\w+)\)\s+(.*?)\s*$", re.M)
    entries = pattern.findall(run("readelf", "--wide", "--dynamic", library))
    if not entries:
        raise Failure(f"{library} has no dynamic section")
    return entries


def bracketed(library, tag):
    values = [value for name, value in dynamic_section(library) if name == tag]
    return [re.search(r"\[(.*)\]", value).group(1) for value in values]


def version_definitions(library):
    text = run("readelf", "--wide", "--version-info", library)
    section = text.partition("Version definition section")[2].partition("\n\n")[0]
    return re.findall(r"Flags: (\S+)\s+Index: (\d+)\s+Cnt: (\d+)\s+Name: (\S+)", section)


def segments(library):
    """(type, flags) of the program headers."""
    pattern = re.compile(
        r"^  (\w+) +0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ ([RWE ]{3})", re.M
    )
    found = pattern.findall(run("readelf", "--wide", "--segments", library))
    if not found:
        raise Failure(f"{library} has no segments")
    return [(type_, flags.replace(" ", "")) for type_, flags in found]


def exports(library, reference):
    ours, theirs = exported(library), exported(reference)
    functions = [s for s in ours if s[1] == "FUNC" and s[0].endswith("@@" + VERSION_NODE)]
    differences("exported symbols", ours, theirs)
    if len(functions) != FUNCTIONS or len(ours) != FUNCTIONS + 1:
        raise Failure(f"{len(functions)} functions of {len(ours)} symbols, not {FUNCTIONS} and 1")
    definitions = version_definitions(library)
    if definitions != version_definitions(reference) or len(definitions) != 2:
        raise Failure(f"version definitions: {definitions}")
    return (
        f"{len(ours)} exported symbols ({len(functions)} functions) agree in name, version, type, "
        f"binding and visibility; {len(definitions)} version definitions agree"
    )


def soname(library, reference):
    ours, theirs = bracketed(library, "SONAME"), bracketed(reference, "SONAME")
    if ours != theirs or ours != ["librpma.so.0"]:
        raise Failure(f"SONAME is {ours}, the reference has {theirs}")
    return f"SONAME {ours[0]}"


def link(library, reference):
    del reference
    folder = os.path.dirname(library)
    path = os.path.join(folder, "librpma.so")
    if os.path.islink(library) or not os.path.isfile(library):
        raise Failure(f"{library} is not a regular file")
    if not os.path.islink(path) or os.readlink(path) != "librpma.so.0":
        raise Failure(f"{path} is not a link to librpma.so.0")
    return "librpma.so is a link to the regular file librpma.so.0"


def needed(library, reference):
    # On some machines the compiler takes the stack protector's word from the dynamic linker.
    ours, theirs = (
        {name for name in bracketed(path, "NEEDED") if not name.startswith("ld-linux-")}
        for path in (library, reference)
    )
    differences("needed libraries", ours, theirs)
    if ours != {"libc.so.6", "libibverbs.so.1", "librdmacm.so.1"}:
        raise Failure(f"needs {sorted(ours)}")
    for tag in ("RPATH", "RUNPATH"):
        if bracketed(library, tag):
            raise Failure(f"has {tag} {bracketed(library, tag)}")
    return f"needs {len(ours)} libraries: {' '.join(sorted(ours))}; no search path"


def imports(library, reference):
    """Only what every rdma-core has that the reference runs with: newer verbs go by dlsym."""

    def versions(path):
        text = run("readelf", "--wide", "--version-info", path)
        return set(re.findall(r"Name: ((?:IBVERBS|RDMACM)_[\d.]+)", text))

    ours, theirs = versions(library), versions(reference)
    if not ours or not theirs:
        raise Failure("no version of libibverbs or librdmacm is imported")
    if ours - theirs:
        raise Failure(f"needs {sorted(ours - theirs)}, which the reference does not")
    verbs = {name for name in imported(library) if "@IBVERBS" in name or "@RDMACM" in name}
    if not verbs:
        raise Failure("no verb is imported")
    return f"{len(verbs)} functions of rdma-core, versions {' '.join(sorted(ours))}"


def hardened(library, reference):
    del reference
    entries, parts = dict(dynamic_section(library)), segments(library)
    types = [type_ for type_, _ in parts]
    flags = entries.get("FLAGS", "").split()
    flags_1 = entries.get("FLAGS_1", "").split()
    faults = []
    if "GNU_RELRO" not in types:
        faults.append("no GNU_RELRO segment")
    if "BIND_NOW" not in flags + list(entries) and "NOW" not in flags_1:
        faults.append("no BIND_NOW")
    stack = [flags_ for type_, flags_ in parts if type_ == "GNU_STACK"]
    if len(stack) != 1 or "E" in stack[0]:
        faults.append(f"executable stack: GNU_STACK {stack}")
    loads = [flags_ for type_, flags_ in parts if type_ == "LOAD"]
    if not loads:
        faults.append("nothing to load")
    if any("W" in flags_ and "E" in flags_ for flags_ in loads):
        faults.append(f"a segment is writable and executable: {loads}")
    if "TEXTREL" in entries or "TEXTREL" in flags:
        faults.append("text relocations")
    if faults:
        raise Failure("; ".join(faults))
    return (
        f"{len(parts)} segments ({len(loads)} loaded: {' '.join(loads)}) and {len(entries)} kinds "
        "of dynamic entry: RELRO, BIND_NOW, no writable code, executable stack or text relocation"
    )


# Symbols that only panicking, unwinding or std bring along, as readelf prints them demangled.
PANIC_SYMBOL = re.compile(
    r"panic|unwrap|unwind|eh_personality|bounds_check"
    r"|(slice|str|index|assert|expect)\w*_fail(ed)?\b|(^|[^\w:])(std|alloc)::|__rust_|__rg_|__rdl_",
    re.I,
)
# What the tables of a panic would leave among the loaded bytes: its messages, and the path of the
# source file that every panic location holds. Log lines hold base names only.
PANIC_TEXT = re.compile(
    rb"panic|unwrap|core::|std::|alloc::|/rustc/|called `|attempt to |index out of bounds"
    rb"|out of range for|internal error: entered unreachable|assertion (failed|`)"
    rb"|[\w.-]+[/\\][\w./\\-]*\.rs\b"
)


def no_panic(library, reference):
    del reference
    text = run("readelf", "--wide", "--symbols", "--demangle", library)
    table = text.partition("Symbol table '.symtab'")[2]
    symbols = re.findall(r"^\s*\d+: [0-9a-f]+\s+\S+ \w+\s+\w+\s+\w+\s+\w+ (\S.*)$", table, re.M)
    if not symbols:
        raise Failure(f"{library} is stripped: there are no symbols to look through")
    # the unwinder's symbols of the C start files and of libc are imports, which .dynsym shows
    found = [f"symbol {name}" for name in symbols if PANIC_SYMBOL.search(name)]
    with tempfile.TemporaryDirectory() as folder:
        bare = os.path.join(folder, "bare")
        run(os.environ.get("STRIP", "strip"), "--strip-all", "-o", bare, library)
        with open(bare, "rb") as file:
            content = file.read()
    strings = re.findall(rb"[\x20-\x7e]{4,}", content)
    if not strings:
        raise Failure("no strings to look through")
    found += [f"text {s.decode()!r}" for s in strings if PANIC_TEXT.search(s)]
    if found:
        raise Failure(f"{len(found)} traces of panics:\n  " + "\n  ".join(found[:40]))
    return f"{len(symbols)} symbols and {len(strings)} strings: no panic path, no unwinding, no std"


def abidiff(library, reference):
    """Symbols only: the reference has no debug information, and Rust's says nothing about C."""
    with tempfile.TemporaryDirectory() as folder:
        bare = os.path.join(folder, "librpma.so.0")
        run("strip", "--strip-all", "-o", bare, library)
        run("abidiff", reference, bare)
        dump = run("abidw", bare)
    count = len(re.findall(r"<elf-symbol name='rpma_\w+' version='LIBRPMA_1.0'", dump))
    if count != FUNCTIONS:
        raise Failure(f"abidw sees {count} functions")
    return f"abidiff: the symbols of {count} functions agree"


CHECKS = {
    "exports": exports,
    "abidiff": abidiff,
    "soname": soname,
    "link": link,
    "needed": needed,
    "imports": imports,
    "hardened": hardened,
    "no-panic": no_panic,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("library")
    parser.add_argument("reference")
    options = parser.parse_args()
    report(CHECKS[options.check], options.library, options.reference)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of librpma.h, most of them against the reference's header.

Each check prints what it looked at and fails when there was nothing to look at.
"""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
from checks import FUNCTIONS, Failure, differences, report, run


class Header:
    """The declarations and macros of one librpma.h, without those of what it includes."""

    def __init__(self, folder, compiler):
        self.folder = folder
        path = os.path.join(folder, "librpma.h")
        if not os.path.exists(path):
            raise Failure(f"{path} does not exist")
        text = run(compiler, "-E", "-dD", "-x", "c", f"-I{folder}", path)
        own, mine = [], False
        for line in text.splitlines():
            marker = re.match(r'# \d+ "(.*?)"', line)
            if marker:
                mine = marker.group(1) == path
            elif mine:
                own.append(line)
        macros = [re.match(r"#define (\w+)(\(.*?\))?(?: +(.*))?$", line) for line in own]
        self.macros = {m.group(1): (m.group(2), m.group(3) or "") for m in macros if m}
        code = "\n".join(line for line in own if not line.startswith("#"))
        self.enums = {}
        for name, body in re.findall(r"\benum (\w+)\s*\{(.*?)\}\s*;", code, re.S):
            self.enums[name] = re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())
        self.structs = {}
        for name, body in re.findall(r"\bstruct (\w+)\s*\{(.*?)\}\s*;", code, re.S):
            self.structs[name] = re.findall(r"(\w+)(?:\[[^\]]*\])*\s*;", body)
        code = re.sub(r"\b(enum|struct) \w+\s*\{.*?\}\s*;", "", code, flags=re.S)
        self.prototypes, self.typedefs, self.opaque = {}, {}, set()
        for statement in code.split(";"):
            statement = " ".join(statement.split())
            opaque = re.fullmatch(r"struct (\w+)", statement)
            function = re.fullmatch(r"(?!typedef)[^(]*?(\w+)\(.*\)", statement)
            typedef = re.fullmatch(r"typedef [^(]*?(\w+)\(.*\)", statement)
            if opaque:
                self.opaque.add(opaque.group(1))
            elif function:
                self.prototypes[function.group(1)] = statement
            elif typedef:
                self.typedefs[typedef.group(1)] = statement
            elif statement:
                raise Failure(f"{path}: cannot tell what this is: {statement}")
        if not self.prototypes:
            raise Failure(f"{path} declares no function")

    def constants(self):
        """Names with a value: macros that are not the include guard, and enumerators."""
        macros = [name for name, (args, value) in self.macros.items() if value and not args]
        macros = [name for name in macros if name != "LIBRPMA_H"]
        return macros + [name for names in self.enums.values() for name in names]


def compiles(options):
    """Alone, twice, with every function and constant used, and without one warning."""
    header = Header(options.ours, "cc")
    used = [*header.prototypes, *header.constants()]
    used += [f"sizeof(struct {name})" for name in header.structs]
    lines = ["#include <librpma.h>", "#include <librpma.h>", "int main(void);", "int main(void)"]
    lines += ["{", *(f"\t(void)({item});" for item in used), "\treturn 0;", "}", ""]
    command = [options.compiler, f"-std={options.std}", "-Wall", "-Wextra", "-Werror"]
    if options.pedantic:
        command += ["-pedantic", "-pedantic-errors"]
    language = "c++" if "++" in options.std else "c"
    if language == "c":
        command.append("-Wstrict-prototypes")
    command += ["-x", language, "-fsyntax-only", f"-I{options.ours}", "-"]
    run(*command, source="\n".join(lines))
    return (
        f"{' '.join(command[:2])}: {len(header.prototypes)} functions, "
        f"{len(header.constants())} constants and {len(header.structs)} structures, no warning"
    )


def prototypes(options):
    """Declares everything once more the reference's way: a conflict is an error."""
    ours, theirs = Header(options.ours, "cc"), Header(options.reference, "cc")
    differences("functions", ours.prototypes, theirs.prototypes)
    differences("typedefs", ours.typedefs, theirs.typedefs)
    differences("opaque structures", ours.opaque, theirs.opaque)
    if len(theirs.prototypes) != FUNCTIONS:
        raise Failure(f"the reference declares {len(theirs.prototypes)} functions")
    again = [*theirs.typedefs.values(), *theirs.prototypes.values()]
    lines = ["#include <librpma.h>"] + [statement + ";" for statement in again]
    command = [options.compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wstrict-prototypes"]
    command += ["-x", "c", "-fsyntax-only", f"-I{options.ours}", "-"]
    run(*command, source="\n".join(lines) + "\n")
    # Opaque types are to stay so.
    for name in sorted(theirs.opaque):
        source = f"#include <librpma.h>\nint size = sizeof(struct {name});\n"
        try:
            run(*command, source=source)
        except Failure as failure:
            if "incomplete type" not in str(failure):
                raise
        else:
            raise Failure(f"struct {name} is not opaque")
    return (
        f"{options.compiler}: {len(theirs.prototypes)} prototypes and {len(theirs.typedefs)} "
        f"typedefs redeclared without conflict, {len(theirs.opaque)} structures opaque"
    )


def values(options):
    """What a program that prints every constant and layout gets from each header."""
    headers = Header(options.ours, "cc"), Header(options.reference, "cc")
    ours, theirs = headers
    differences("macros and enumerators", ours.constants(), theirs.constants())
    for what in ("enums", "structs"):
        one, other = getattr(ours, what), getattr(theirs, what)
        differences(what, one, other)
        for name, members in other.items():
            if one[name] != members:
                raise Failure(f"{what} {name} has {one[name]}, not {members}")
    lines = ["#include <librpma.h>", "#include <stddef.h>", "#include <stdio.h>", ""]
    lines += [
        '#define TYPE(x) _Generic((x), int: "int", unsigned int: "unsigned", default: "other")',
        # the operators show an expression that lacks its parentheses
        '#define SHOW(x) printf(#x " %s %zu %lld %lld %lld\\n", TYPE(x), sizeof(x), '
        "(long long)x, 2LL * x, -1LL - x)",
        "",
        "int main(void)",
        "{",
    ]
    for name in theirs.constants():
        _, text = theirs.macros.get(name, (None, ""))
        if "NULL" in text:
            pointer = f"__builtin_types_compatible_p(__typeof__({name}), void *)"
            lines.append(f'\tprintf("{name} %d %d\\n", !{name}, {pointer});')
            continue
        lines.append(f"\tSHOW({name});")
        if text:
            # usable by the preprocessor too
            lines += [f"#if -{name} - 2 * {name} > 0", f'\tputs("{name} < 0");', "#endif"]
    for name in theirs.enums:
        lines.append(
            f'\tprintf("enum {name} %zu %d\\n", sizeof(enum {name}), (enum {name})-1 < 0);'
        )
    fields = 0
    for name, members in theirs.structs.items():
        spelled = f"struct {name}"
        lines.append(
            f'\tprintf("{spelled} %zu %zu\\n", sizeof({spelled}), _Alignof({spelled}));'
        )
        for member in members:
            fields += 1
            field = f"(({spelled} *)0)->{member}"
            lines.append(
                f'\tprintf("{spelled}.{member} %zu %zu %s\\n", offsetof({spelled}, {member}), '
                f'sizeof({field}), _Generic({field}, void *: "void *", uint8_t: "uint8_t", '
                'default: "other"));'
            )
    lines += ["\treturn 0;", "}", ""]
    outputs = []
    os.makedirs(options.work, exist_ok=True)
    program = os.path.join(options.work, "values")
    for header in headers:
        command = [options.compiler, "-std=c11", "-Wall", "-Werror", "-Wno-type-limits"]
        command += [f"-I{header.folder}", "-x", "c", "-o", program, "-"]
        run(*command, source="\n".join(lines))
        outputs.append(run(program).splitlines())
    differences("values", *outputs)
    if not outputs[0] or not fields:
        raise Failure("nothing was compared")
    return (
        f"{len(theirs.constants())} constants, {len(theirs.enums)} enums and "
        f"{len(theirs.structs)} structures with {fields} fields: {len(outputs[0])} lines agree"
    )


def stubs(header, compiler, work, name):
    """A library whose functions have the header's signatures and nothing inside."""
    lines = ["#include <librpma.h>"]
    lines += [f"{statement} {{ __builtin_trap(); }}" for statement in header.prototypes.values()]
    library = os.path.join(work, name)
    command = [compiler, "-std=gnu11", "-g", "-fPIC", "-shared", "-Wno-unused-parameter"]
    command += ["-Wl,-soname,librpma.so.0", f"-I{header.folder}", "-x", "c", "-o", library, "-"]
    run(*command, source="\n".join(lines) + "\n")
    return library


def abidiff(options):
    os.makedirs(options.work, exist_ok=True)
    pair = []
    for folder, name in ((options.reference, "reference.so"), (options.ours, "ours.so")):
        header = Header(folder, "cc")
        if len(header.prototypes) != FUNCTIONS:
            raise Failure(f"{folder}/librpma.h declares {len(header.prototypes)} functions")
        pair.append(stubs(header, options.compiler, options.work, name))
    run("abidiff", "--harmless", "--fail-no-debug-info", "--no-default-suppression", *pair)
    dump = run("abidw", pair[1])
    functions = len(re.findall(r"<function-decl [^>]*elf-symbol-id='rpma_", dump))
    if functions != FUNCTIONS:
        raise Failure(f"abidw sees {functions} functions")
    return f"abidiff: the signatures of {functions} functions agree, down through their types"


def cxx(options):
    """A C++ program calls the functions by their C names."""
    header = Header(options.ours, "cc")
    os.makedirs(options.work, exist_ok=True)
    source = "#include <librpma.h>\nextern const void *const all[];\nconst void *const all[] = {\n"
    source += "".join(f"\t(const void *)&{name},\n" for name in header.prototypes) + "};\n"
    program = os.path.join(options.work, "cxx.o")
    command = [options.compiler, "-std=c++17", f"-I{header.folder}", "-x", "c++", "-c", "-"]
    run(*command, "-o", program, source=source)
    undefined = re.findall(r"^\s+U (\S+)$", run("nm", "--undefined-only", program), re.M)
    differences("names", undefined, header.prototypes)
    return f"{options.compiler}: {len(undefined)} functions are called by their C names"


CHECKS = {
    "compiles": compiles,
    "prototypes": prototypes,
    "values": values,
    "abidiff": abidiff,
    "cxx": cxx,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--ours", required=True, help="folder of our librpma.h")
    parser.add_argument("--reference", help="folder of the reference's")
    parser.add_argument("--work", help="folder for what is built")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--std", default="c11")
    parser.add_argument("--pedantic", action="store_true")
    options = parser.parse_args()
    report(CHECKS[options.check], options)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the types, constants and functions of rdma-sys with the installed rdma-core headers.

What rdma-sys has is read from its sources, what the headers have from clang's syntax tree. A Rust
and a C program then print the size, alignment, offset or value of each item, and assertions in the
C program compare the type of every field and function. An item that only one side has is a
failure, and so is a comparison of nothing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HEADERS = "#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\n"

# What librpma cannot do without. All else is compared because rdma-sys has it.
NEEDED = """
ibv_ah_attr ibv_comp_channel ibv_context ibv_context_ops ibv_cq ibv_device ibv_device_attr
ibv_device_attr_ex ibv_gid ibv_mr ibv_odp_caps ibv_pd ibv_qp ibv_qp_attr ibv_qp_cap
ibv_qp_ex
ibv_qp_init_attr_ex ibv_query_device_ex_input ibv_recv_wr ibv_send_wr ibv_sge ibv_srq ibv_srq_attr
ibv_srq_init_attr ibv_wc rdma_addr rdma_addrinfo rdma_cm_event rdma_cm_id rdma_conn_param
rdma_event_channel rdma_route rdma_ud_param verbs_context
ib_uverbs_advise_mr_advice ibv_access_flags ibv_odp_general_caps ibv_odp_transport_cap_bits
ibv_qp_attr_mask
ibv_qp_create_send_ops_flags ibv_qp_init_attr_mask ibv_qp_type ibv_send_flags ibv_transport_type
ibv_wc_flags ibv_wc_opcode ibv_wc_status ibv_wr_opcode rdma_cm_event_type rdma_port_space
""".split()

# Rust names of fields whose C union has no name.
UNNAMED = {
    "imm_data_invalidated_rkey_union",
    "bind_mw_tso_union",
    "src_addr_union",
    "dst_addr_union",
}
# Rust path -> C path, where rdma-sys follows the older binding instead of C.
RENAMED = {("ibv_send_wr", "invalidated_rkey"): "invalidate_rkey"}

# rdma-core 45 and newer, or only in the kernel's headers (then as IB_UVERBS_*). Compared where the
# headers have them.
NEWER_CONSTANTS = {
    "IBV_ACCESS_FLUSH_GLOBAL",
    "IBV_ACCESS_FLUSH_PERSISTENT",
    "IBV_DEVICE_ATOMIC_WRITE",
    "IBV_DEVICE_FLUSH_GLOBAL",
    "IBV_DEVICE_FLUSH_PERSISTENT",
    "IBV_FLUSH_GLOBAL",
    "IBV_FLUSH_MR",
    "IBV_FLUSH_PERSISTENT",
    "IBV_FLUSH_RANGE",
    "IBV_QP_EX_WITH_FLUSH",
    "IBV_WC_FLUSH",
}
NEWER_FIELDS = {("ibv_qp_ex", "wr_flush")}
NEWER_FUNCTIONS = {"ibv_wr_flush"}
# ibv_qp_ex grows at its end, so its size may differ; verbs_context grows at its front, so its
# fields are counted from its end.
GROWS_AT_END = {"ibv_qp_ex"}
GROWS_AT_FRONT = {"verbs_context"}

LIBC_TYPES = {
    "pthread_mutex_t": "pthread_mutex_t",
    "pthread_cond_t": "pthread_cond_t",
    "socklen_t": "socklen_t",
    "sockaddr": "struct sockaddr",
    "sockaddr_in": "struct sockaddr_in",
    "sockaddr_in6": "struct sockaddr_in6",
    "sockaddr_storage": "struct sockaddr_storage",
}
SCALARS = {
    "c_int": "int",
    "c_uint": "unsigned int",
    "c_char": "char",
    "c_void": "void",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "usize": "size_t",
    "__be16": "__be16",
    "__be32": "__be32",
    "__be64": "__be64",
    "ibv_advise_mr_advice": "enum ibv_advise_mr_advice",
}


class Failure(Exception):
    """The comparison could not be made."""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise Failure(" ".join(command) + " failed:\n" + done.stdout + done.stderr)
    return done.stdout


def split_list(text):
    """Splits at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[i - 1] != "-"):
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


class Rust:
    """The public items of rdma-sys."""

    def __init__(self, crate):
        names = ("bindings.rs", "types.rs", "verbs.rs")
        text = ""
        for name in names:
            with open(os.path.join(crate, "src", name), encoding="utf-8") as file:
                text += re.sub(r"//.*", "", file.read())
        text = text.replace("::core::ffi::", "").replace("::core::option::", "")

        opaque = re.search(r"^opaque! \{(.*?)^\}", text, re.S | re.M)
        self.opaque = opaque.group(1).split() if opaque else []
        self.records = {}
        for kind, name, body in re.findall(
            r"^pub (struct|union) (\w+) \{\n(.*?)^\}", text, re.S | re.M
        ):
            fields = [re.fullmatch(r"pub (\w+):\s*(.*)", f, re.S) for f in split_list(body)]
            if not fields or None in fields:
                raise Failure(f"cannot read the fields of {kind} {name}")
            self.records[name] = (kind, [(f.group(1), f.group(2)) for f in fields])
        self.flags = re.findall(r"^pub struct (\w+)\(pub c_uint\);", text, re.M)
        self.enums = {}
        for name, body in re.findall(r"^pub mod (\w+) \{\n(.*?)^\}", text, re.S | re.M):
            self.enums[name] = re.findall(r"pub const (\w+): Type =", body)
        # constant -> how Rust spells it
        self.constants = {c: f"{e}::{c}" for e, all_ in self.enums.items() for c in all_}
        for name, body in re.findall(r"^impl (\w+) \{\n(.*?)^\}", text, re.S | re.M):
            for const in re.findall(r"pub const (\w+):", body):
                self.constants[const] = f"{name}::{const}.0"
        for const in re.findall(r"^pub const (\w+):", text, re.M):
            self.constants[const] = const
        self.functions = {}
        for name, args, result in re.findall(
            r"^(?:    )?pub (?:unsafe )?fn (\w+)\(([^{;]*?)\)\s*(?:->\s*([^{;]*?))?\s*[{;]",
            text,
            re.M,
        ):
            if name not in ("bitor", "bitand", "bitor_assign", "bitand_assign"):
                self.functions[name] = (args, result or None)

        # A looser count of what there is: nothing may have escaped the patterns above.
        found = {
            "struct": sum(k == "struct" for k, _ in self.records.values()) + len(self.flags),
            "union": sum(k == "union" for k, _ in self.records.values()),
            "mod": len(self.enums),
            "const": len(self.constants),
            "fn": len(self.functions),
        }
        for kind, count in found.items():
            there = len(re.findall(rf"\bpub\s+(?:unsafe\s+)?{kind}\s+[a-z_A-Z]", text))
            # the body of the opaque macro has one `pub struct $name`, which does not count here
            if there != count:
                raise Failure(f"{there} public {kind} items in rdma-sys, but {count} understood")


class C:
    """What the headers declare."""

    def __init__(self, clang, work, flags):
        source = os.path.join(work, "headers.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(HEADERS)
        arguments = [clang, *flags]
        tree = run(*arguments, "-Xclang", "-ast-dump=json", "-fsyntax-only", source)
        macros = run(*arguments, "-dM", "-E", source)
        self.macros = dict(re.findall(r"^#define (\w+)(?: (.*))?$", macros, re.M))
        self.records, self.declared, self.constants, self.enums = {}, set(), set(), {}
        self.functions = set()
        for node in json.loads(tree)["inner"]:
            kind, name = node["kind"], node.get("name")
            if kind == "RecordDecl" and name:
                self.declared.add(name)
                # a struct can be named for the first time inside another one
                for inner in node.get("inner", []):
                    if inner["kind"] == "RecordDecl" and "name" in inner:
                        self.declared.add(inner["name"])
                if node.get("completeDefinition"):
                    self.records[name] = (node["tagUsed"], list(self.leaves(node)))
            elif kind == "EnumDecl":
                inside = [c["name"] for c in node.get("inner", []) if "name" in c]
                self.constants.update(inside)
                if name:
                    self.enums[name] = inside
            elif kind == "FunctionDecl":
                self.functions.add(name)

    def leaves(self, record):
        """The paths of a record's fields, down through the records without a name."""
        unnamed = None
        for node in record.get("inner", []):
            if node["kind"] == "RecordDecl" and "name" not in node:
                unnamed = node
            elif node["kind"] == "FieldDecl":
                name = node.get("name")
                if unnamed is None:
                    yield name
                else:
                    for leaf in self.leaves(unnamed):
                        yield f"{name}.{leaf}" if name else leaf
                unnamed = None

    def has_constant(self, name):
        return name in self.constants or name in self.macros


class Spelling:
    """Spells Rust types in C."""

    def __init__(self, rust, c):
        self.rust, self.c = rust, c

    def base(self, text):
        if text.endswith("::Type"):
            return "enum " + text[: -len("::Type")]
        if text in SCALARS or text in LIBC_TYPES:
            return SCALARS.get(text) or LIBC_TYPES[text]
        if text in self.c.records:
            return f"{self.c.records[text][0]} {text}"
        if text in self.c.declared:
            return "struct " + text
        raise Failure(f"no C type for Rust's {text}")

    def function(self, args, result, inner):
        args = [re.sub(r"^\w+: ", "", arg) for arg in split_list(args)]
        args = ", ".join(self.type(arg) for arg in args) or "void"
        declarator = f"{inner}({args})"
        return self.type(result, declarator) if result else f"void {declarator}"

    def type(self, text, inner=""):
        text = " ".join(text.split())
        pointer = re.fullmatch(r"\*(mut|const) (.*)", text)
        if pointer:
            target = pointer.group(2)
            if target.startswith(("[", "Option")):
                raise Failure(f"pointer to {target} is not expected")
            const = pointer.group(1) == "const"
            if target.startswith("*"):
                return self.type(target, f"{'const ' if const else ''}*{inner}")
            return ("const " if const else "") + self.type(target, "*" + inner)
        array = re.fullmatch(r"\[(.*); (\d+)(?:usize)?\]", text)
        if array:
            return self.type(array.group(1), f"{inner}[{array.group(2)}]")
        call = re.fullmatch(
            r'Option<\s*unsafe extern "C" fn\((.*?)\)(?: -> (.*?))?,?\s*>', text, re.S
        )
        if call:
            return self.function(call.group(1), call.group(2), f"(*{inner})")
        return f"{self.base(text)} {inner}"


def rust_leaves(rust, c, name, rust_path="", c_path=""):
    """(Rust path, C path, type) of a record's fields, down through records C has no name for."""
    for field, type_ in rust.records[name][1]:
        r_path = rust_path + field
        plain = field[:-1] if field.endswith("_") and not field.startswith("_") else field
        path = c_path if field in UNNAMED else c_path + plain
        if type_ in rust.records and type_ not in c.declared:
            prefix = path if field in UNNAMED else path + "."
            yield from rust_leaves(rust, c, type_, r_path + ".", prefix)
        else:
            yield r_path, path, type_


class Comparison:
    def __init__(self, rust, c):
        self.rust, self.c = rust, c
        self.spelling = Spelling(rust, c)
        self.faults = []
        self.skipped = []
        self.asserts = 0
        self.rust_lines, self.c_lines = [], []

    def missing(self, what, newer=False):
        (self.skipped if newer else self.faults).append(f"{what} is not in the headers")

    def print_both(self, key, rust_value, c_value):
        self.rust_lines.append(f'println!("{key} {{}}", ({rust_value}) as i128);')
        self.c_lines.append(f'printf("{key} %lld\\n", (long long)({c_value}));')

    def same_type(self, one, other, what):
        self.asserts += 1
        self.c_lines.append(
            f'_Static_assert(__builtin_types_compatible_p({one}, {other}), "type of {what}");'
        )

    def record(self, name):
        kind, c_leaves = self.c.records[name]
        if self.rust.records[name][0] != kind:
            self.faults.append(f"{name} is a {kind} in C")
        spelled = f"{kind} {name}"
        if name not in GROWS_AT_END | GROWS_AT_FRONT:
            self.print_both(f"size of {name}", f"size_of::<{name}>()", f"sizeof({spelled})")
        self.print_both(f"alignment of {name}", f"align_of::<{name}>()", f"_Alignof({spelled})")
        rust_paths = []
        for r_path, c_path, type_ in rust_leaves(self.rust, self.c, name):
            c_path = RENAMED.get((name, c_path), c_path)
            rust_paths.append(c_path)
            if c_path not in c_leaves:
                self.missing(f"{name}.{c_path}", (name, c_path) in NEWER_FIELDS)
                continue
            r_offset, c_offset = f"offset_of!({name}, {r_path})", f"offsetof({spelled}, {c_path})"
            if name in GROWS_AT_FRONT:
                r_offset = f"size_of::<{name}>() - {r_offset}"
                c_offset = f"sizeof({spelled}) - {c_offset}"
            self.print_both(f"offset of {name}.{c_path}", r_offset, c_offset)
            own = name if type_ == "Self" else re.sub(r"\bSelf\b", name, type_)
            self.same_type(
                f"__typeof__((({spelled} *)0)->{c_path})",
                self.spelling.type(own),
                f"{name}.{c_path}",
            )
        there = c_leaves
        if name in GROWS_AT_FRONT and rust_paths[0] in there:
            there = there[there.index(rust_paths[0]) :]
        if name in GROWS_AT_END and rust_paths[-1] in there:
            there = there[: there.index(rust_paths[-1]) + 1]
        for path in there:
            if path not in rust_paths:
                self.faults.append(f"{name}.{path} is not in rdma-sys")
        return len(rust_paths)

    def all(self):
        rust, c = self.rust, self.c
        counts = dict.fromkeys(("types", "fields", "constants", "functions"), 0)
        every = set(rust.records) | set(rust.flags) | set(rust.enums)
        for name in NEEDED:
            if name not in every:
                self.faults.append(f"{name} is not in rdma-sys")
        for name in rust.opaque:
            counts["types"] += 1
            if name not in c.declared:
                self.missing(name)
        unnamed = set()
        for name in rust.records:
            for _, type_ in rust.records[name][1]:
                if type_ in rust.records and type_ not in c.declared:
                    unnamed.add(type_)
        for name in rust.records:
            if name in c.records:
                counts["types"] += 1
                counts["fields"] += self.record(name)
            elif name not in unnamed:
                self.missing(name)
        for name in [*rust.flags, *rust.enums]:
            if name not in c.enums:
                self.missing(name)
                continue
            counts["types"] += 1
            type_ = f"{name}::Type" if name in rust.enums else name
            self.print_both(f"size of {name}", f"size_of::<{type_}>()", f"sizeof(enum {name})")
            number = f"{name}::Type" if name in rust.enums else "c_uint"
            self.print_both(f"sign of {name}", f"{number}::MIN < 0", f"(enum {name})-1 < 0")
        for name, spelled in rust.constants.items():
            kernel = re.sub("^IBV_", "IB_UVERBS_", name)
            newer = name in NEWER_CONSTANTS
            if not c.has_constant(name) and not (newer and c.has_constant(kernel)):
                self.missing(name, newer)
                continue
            counts["constants"] += 1
            self.print_both(
                f"value of {name}", spelled, name if c.has_constant(name) else kernel
            )
        for name, (args, result) in rust.functions.items():
            if name not in c.functions:
                self.missing(name + "()", name in NEWER_FUNCTIONS)
                continue
            counts["functions"] += 1
            self.same_type(
                f"__typeof__({name})", self.spelling.function(args, result, ""), name + "()"
            )
        return counts

    def rust_program(self):
        return (
            "#![allow(unused_imports, unused_comparisons, clippy::all)]\n"
            "use rdma_sys::*;\nuse std::ffi::c_uint;\nuse std::mem::{align_of, offset_of, size_of};"
            "\n\nfn main() {\n    " + "\n    ".join(self.rust_lines) + "\n}\n"
        )

    def c_program(self):
        return (
            HEADERS + "#include <stddef.h>\n#include <stdio.h>\n\nint main(void)\n{\n\t"
            + "\n\t".join(self.c_lines) + "\n\treturn 0;\n}\n"
        )


def build_and_run(work, crate, cargo, compiler, flags, emulator, comparison):
    package = os.path.join(work, "layout")
    os.makedirs(os.path.join(package, "src"), exist_ok=True)
    with open(os.path.join(package, "Cargo.toml"), "w", encoding="utf-8") as file:
        file.write(
            '[package]\nname = "layout"\nversion = "0.0.0"\nedition = "2021"\n\n'
            f"[dependencies]\nrdma-sys = {{ path = {json.dumps(crate)} }}\n\n[workspace]\n"
        )
    # The versions the library itself is built with.
    lock = os.path.join(os.path.dirname(crate), "Cargo.lock")
    if os.path.exists(lock):
        shutil.copyfile(lock, os.path.join(package, "Cargo.lock"))
    with open(os.path.join(package, "src", "main.rs"), "w", encoding="utf-8") as file:
        file.write(comparison.rust_program())
    environment = dict(os.environ, CARGO_TARGET_DIR=os.path.join(work, "target"))
    environment.pop("RUSTFLAGS", None)
    ours = run(cargo, "run", "--quiet", cwd=package, env=environment)

    source, program = os.path.join(work, "layout.c"), os.path.join(work, "layout-c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(comparison.c_program())
    run(compiler, *flags, "-std=gnu11", "-o", program, source)
    theirs = run(*emulator, program)
    return [dict(line.rsplit(" ", 1) for line in out.splitlines()) for out in (ours, theirs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crate", required=True, help="folder of rdma-sys")
    parser.add_argument("--work", required=True, help="folder for what is built")
    parser.add_argument("--cargo", default="cargo")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--target", help="clang's name of another machine")
    parser.add_argument("--emulator", action="append", default=[], help="runs its programs")
    parser.add_argument("--include", action="append", default=[], help="headers to prefer")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    flags = ["-I" + folder for folder in options.include]
    crate = os.path.realpath(options.crate)

    target = ["--target=" + options.target] if options.target else []
    comparison = Comparison(Rust(crate), C(options.clang, options.work, [*target, *flags]))
    counts = comparison.all()
    faults = comparison.faults
    for what, count in counts.items():
        if not count:
            faults.append(f"no {what} compared")
    if not faults:
        ours, theirs = build_and_run(
            options.work, crate, options.cargo, options.cc, flags, options.emulator, comparison
        )
        for key in sorted(set(ours) | set(theirs)):
            if ours.get(key) != theirs.get(key):
                faults.append(f"{key}: {ours.get(key)} in rdma-sys, {theirs.get(key)} in C")
        print(
            f"compared {len(theirs)} numbers and {comparison.asserts} types: "
            + ", ".join(f"{count} {what}" for what, count in counts.items())
        )
    for what in comparison.skipped:
        print(f"newer than the installed headers: {what}")
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"FAULT: {failure}")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the manual pages: pages.py CHECK PAGES ARGUMENTS...

Each function below is a check. If it finds something, this prints it and exits with status 1.
"""

import gzip
import pathlib
import re
import subprocess
import sys

# Pages of others that ours may name, and the packages they are in.
FOREIGN = {
    "ibv_ack_async_event(3)", "ibv_advise_mr(3)", "ibv_fork_init(3)", "ibv_get_async_event(3)",
    "ibv_poll_cq(3)", "ibv_post_send(3)", "ibv_query_device(3)", "ibv_query_port(3)",
    "ibv_reg_mr(3)",  # libibverbs-dev
    "rdma_cm(7)",  # librdmacm-dev
    "epoll(7)", "fcntl(2)", "fork(2)", "malloc(3)", "memfd_create(2)", "mmap(2)", "ntohl(3)",
    "openlog(3)", "poll(2)", "printf(3)", "syslog(3)",  # manpages-dev
    "pkg-config(1)", "valgrind(1)",
}

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "NOTES", "EXAMPLES",
            "SEE ALSO"]
OPTIONAL = {"EXAMPLES"}

WIDTH = 80

# The longest purpose in a NAME section, in characters.
PURPOSE = 66

# References that the C library's pages make and ours need not: (page, reference).
OMITTED = {
    ("rpma_mr_advise", "ibv_mr_advise(3)"),  # a misprint: the page is ibv_advise_mr(3)
}


class Page:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.reference = f"{path.stem}({path.suffix[1:]})"
        self.source = path.read_text()
        # Names are set in another font than their section number.
        self.text = re.sub(r"\\f(?:\[\w*\]|\w)", "", self.source).replace("\\-", "-")
        parts = re.split(r"^\.SH (.+)\n", self.text, flags=re.MULTILINE)
        self.headings = parts[1::2]
        self.sections = dict(zip(parts[1::2], parts[2::2]))

    def references(self):
        prose = re.sub(r"^\.EX\n.*?^\.EE\n", "", self.text, flags=re.MULTILINE | re.DOTALL)
        return set(re.findall(r"[a-z][\w-]+\(\d\)", prose))

    def prose(self):
        return "\n".join(self.sections.values())

    def error_terms(self):
        return re.findall(r"^\.TP\n(.+)$", self.sections["ERRORS"], flags=re.MULTILINE)


def load(folder):
    return [Page(path) for path in sorted(folder.glob("man?/*"))]


def output_of(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return result.returncode, result.stdout + result.stderr


def exported(pages, version_script):
    names = set(re.findall(r"^\s+(rpma_\w+);", pathlib.Path(version_script).read_text(),
                           re.MULTILINE))
    expected = {f"{name}(3)" for name in names} | {"librpma(7)"}
    found = {page.reference for page in pages}
    yield from (f"no page {name}" for name in expected - found)
    yield from (f"{name} is no function" for name in found - expected)
    if len(names) != 84:
        yield f"{len(names)} functions in the version script"


def sections(pages):
    for page in functions(pages):
        expected = [s for s in SECTIONS if s not in OPTIONAL or s in page.headings]
        if page.headings != expected:
            yield f"{page.reference}: {page.headings}"
        yield from (f"{page.reference}: nothing in {heading}"
                    for heading, text in page.sections.items() if not text.strip())


def mandoc(pages, program):
    _, found = output_of([program, "-T", "lint", "-W", "style", *[page.path for page in pages]])
    yield from found.splitlines()


def groff(pages):
    for page in pages:
        status, found = output_of(["groff", "-man", "-Tutf8", "-ww", "-z", page.path])
        if status or found:
            yield f"{page.reference}: {found}"


def lexgrog(pages, program):
    for page in pages:
        status, found = output_of([program, page.path])
        what = re.fullmatch(r'.*: "(\S+) - (.*)"\n', found)
        if status or not what or what[1] != page.name:
            yield f"{page.reference}: {found}"
        elif not re.match(r"[a-z]", what[2]) or what[2].endswith("."):
            yield f"{page.reference}: not a purpose: {what[2]}"
        elif len(what[2]) > PURPOSE:
            yield f"{page.reference}: {len(what[2])} characters: {what[2]}"


def width(pages):
    for page in pages:
        _, text = output_of(["groff", "-man", "-Tascii", "-P-c", f"-rLL={WIDTH - 2}n", page.path])
        text = re.sub(r".\x08", "", text)
        # A prototype is not to be broken within a parameter.
        yield from (f"{page.reference}: {line}" for line in text.splitlines()
                    if len(line) > WIDTH and not line.rstrip().endswith((",", ");")))


def references(pages):
    known = FOREIGN | {page.reference for page in pages}
    named = set()
    for page in pages:
        named |= page.references()
        yield from (f"{page.reference} names {name}" for name in page.references() - known)
    yield from (f"{name} is not named any more" for name in FOREIGN - named)
    for page in pages:
        # What a page names, it lists; the guide lists the ways in.
        listed = set(re.findall(r"[a-z][\w-]+\(\d\)", page.sections["SEE ALSO"]))
        if page.name != "librpma":
            yield from (f"{page.reference} does not list {name}" for name
                        in page.references() - listed - {page.reference})


def original(pages, folder):
    """Our SEE ALSO leads wherever that of the C library's page leads."""
    theirs = {}
    for path in pathlib.Path(folder).glob("man3/*.3.gz"):
        with gzip.open(path, "rt") as file:
            text = re.sub(r"\\f(?:\[\w*\]|\w)", "", file.read())
        listed = text.split(".SH SEE ALSO\n")[1]
        theirs[path.name.removesuffix(".3.gz")] = set(re.findall(r"[a-z]\w+\(\d\)", listed))
    ours = {page.name: set(re.findall(r"[a-z]\w+\(\d\)", page.sections["SEE ALSO"]))
            for page in functions(pages)}
    if theirs.keys() != ours.keys():
        yield f"pages of one library only: {theirs.keys() ^ ours.keys()}"
    missing = {(name, reference) for name, references in theirs.items()
               for reference in references - ours.get(name, set())}
    yield from (f"{name}(3) does not lead to {reference}" for name, reference in missing - OMITTED)
    yield from (f"{name}(3) does lead to {reference}" for name, reference in OMITTED - missing)


def provider(pages):
    """RPMA_E_PROVIDER names the provider's calls that may fail."""
    found = 0
    for page in functions(pages):
        text = re.search(r"^RPMA_E_PROVIDER\n(.*?)(?=^\.(?:TP|PP)|\Z)", page.sections["ERRORS"],
                         flags=re.MULTILINE | re.DOTALL)
        found += bool(text)
        if text and not re.search(r"\b(?:ibv|rdma)_\w+\(\)", text[1]):
            yield f"{page.reference}: {text[1]}"
    if not found:
        yield "no page has RPMA_E_PROVIDER"


def reachable(pages):
    by_reference = {page.reference: page for page in pages}
    reached = set()
    ahead = {"librpma(7)"}
    while ahead:
        reference = ahead.pop()
        reached.add(reference)
        ahead |= (by_reference[reference].references() & by_reference.keys()) - reached
    yield from (f"no way to {name}" for name in by_reference.keys() - reached)


def constants(pages, header):
    code = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.DOTALL)
    defined = set(re.findall(r"\bRPMA_\w+", code))
    variables = {"RPMA_LOG", "RPMA_LOG_STDERR", "RPMA_FLUSH", "RPMA_ATOMIC_WRITE"}
    for page in pages:
        for name in set(re.findall(r"\bRPMA_\w+\*?", page.prose())) - variables:
            if name.endswith("*"):
                known = any(constant.startswith(name[:-1]) for constant in defined)
            else:
                known = name in defined
            if not known:
                yield f"{page.reference}: no constant {name}"
    for page in functions(pages):
        yield from (f"{page.reference}: no error code: {term}" for term in page.error_terms()
                    if not re.fullmatch(r"RPMA_E_\w+", term))


def inval(pages, header):
    code = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.DOTALL)
    for page in functions(pages):
        parameters = re.search(rf"\b{page.name}\(([^)]*)\)", code)[1]
        required = "*" in parameters and "rpma_log_function" not in parameters
        if required and "RPMA_E_INVAL" not in page.error_terms():
            yield f"{page.reference}: takes {parameters}, but has no RPMA_E_INVAL"


def environment(pages, sources):
    guide = next(page for page in pages if page.name == "librpma")
    described = set(re.findall(r"^\.TP\n(RPMA_\w+)$", guide.sections["ENVIRONMENT"],
                               re.MULTILINE))
    used = set()
    for path in pathlib.Path(sources).glob("**/*.rs"):
        used |= set(re.findall(r'c"(RPMA_\w+)"', path.read_text()))
    used -= {name for name in used if re.match(r"RPMA_E_", name)}
    yield from (f"{name} is not described" for name in used - described)
    yield from (f"{name} is not used" for name in described - used)


def examples(pages, folder, include, compiler):
    paths = sorted(pathlib.Path(folder).glob("*.c"))
    names = {page.name for page in pages}
    for path in paths:
        if path.stem not in names:
            yield f"{path.name} is for no page"
        status, found = output_of([compiler, "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra",
                                   "-Werror", f"-I{include}", "-fsyntax-only", path])
        if status:
            yield found
    shown = {page.name for page in functions(pages) if "EXAMPLES" in page.headings}
    if shown != {path.stem for path in paths}:
        yield f"shown are {sorted(shown)}"


def functions(pages):
    return [page for page in pages if page.name != "librpma"]


CHECKS = (exported, sections, mandoc, groff, lexgrog, width, references, original, provider,
          reachable, constants, inval, environment, examples)


def main():
    check, folder, *arguments = sys.argv[1:]
    pages = load(pathlib.Path(folder))
    if not pages:
        sys.exit(f"no pages in {folder}")
    run = {function.__name__: function for function in CHECKS}[check]
    found = list(run(pages, *arguments))
    print(*found, sep="\n")
    print(f"{len(pages)} pages, {len(found)} findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

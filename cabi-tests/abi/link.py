#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links one program with librpma in every way there is and runs it.

The program takes the address of every function and calls those that need no RDMA device. What it
prints has to be what it prints with the reference library.
"""

import argparse
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
from checks import FUNCTIONS, Failure, report, run
from header import Header

PROGRAM = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <librpma.h>

typedef void (*function)(void);
static const function volatile all[] = {
%s};

int main(void)
{
	Dl_info info;
	int functions = 0;

	if (!dladdr((void *)rpma_err_2str, &info))
		return 1;
	printf("%%s\\n", info.dli_fname);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		functions += all[i] != NULL;
	printf("functions %%d\\n", functions);

	for (int error = 0; error >= RPMA_E_NOT_SHARED_CHNL - 1; error--)
		if (error == 0 || error <= RPMA_E_UNKNOWN)
			printf("error %%d %%s\\n", error, rpma_err_2str(error));
	for (int event = RPMA_CONN_UNDEFINED; event <= RPMA_CONN_UNREACHABLE; event++)
		printf("event %%d %%s\\n", event,
		       rpma_utils_conn_event_2str((enum rpma_conn_event)event));

	struct rpma_peer_cfg *pcfg = NULL;
	uint8_t descriptor[1] = { 9 };
	size_t size = 0;
	bool direct = false;
	int ret = rpma_peer_cfg_new(&pcfg);

	ret = ret ? ret : rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true);
	ret = ret ? ret : rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &direct);
	ret = ret ? ret : rpma_peer_cfg_get_descriptor_size(pcfg, &size);
	ret = ret ? ret : rpma_peer_cfg_get_descriptor(pcfg, descriptor);
	ret = ret ? ret : rpma_peer_cfg_delete(&pcfg);
	printf("peer_cfg %%d %%d %%zu %%d %%d\\n", ret, direct, size, descriptor[0], pcfg == NULL);

	struct rpma_conn_cfg *cfg = NULL;
	uint32_t cq_size = 0;
	int timeout = 0;

	ret = rpma_conn_cfg_new(&cfg);
	ret = ret ? ret : rpma_conn_cfg_get_timeout(cfg, &timeout);
	ret = ret ? ret : rpma_conn_cfg_get_cq_size(cfg, &cq_size);
	ret = ret ? ret : rpma_conn_cfg_delete(&cfg);
	printf("conn_cfg %%d %%d %%" PRIu32 " %%d\\n", ret, timeout, cq_size, cfg == NULL);

	printf("invalid %%d %%d\\n", rpma_peer_new(NULL, NULL), rpma_cq_wait(NULL));
	return 0;
}
"""


def source(folder):
    header = Header(folder, "cc")
    if len(header.prototypes) != FUNCTIONS:
        raise Failure(f"{folder}/librpma.h declares {len(header.prototypes)} functions")
    return PROGRAM % "".join(f"\t(function){name},\n" for name in header.prototypes)


def link(options, name, include, *libraries):
    os.makedirs(options.work, exist_ok=True)
    program = os.path.join(options.work, name)
    command = [options.compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{include}"]
    command += ["-x", "c", "-", "-x", "none", "-o", program, *libraries]
    run(*command, source=source(include))
    return program


def needed(program):
    return re.findall(r"NEEDED\).*\[(.*)\]", run("readelf", "--wide", "--dynamic", program))


def output(program, folder):
    """What the program printed, and the file that it found the library in."""
    where, _, text = run(program, LD_LIBRARY_PATH=folder, LD_PRELOAD="").partition("\n")
    if f"functions {FUNCTIONS}\n" not in text:
        raise Failure(f"{program} did not see {FUNCTIONS} functions:\n{text}")
    return text, os.path.realpath(where)


def comes_from(where, folder):
    if os.path.dirname(where) != os.path.realpath(folder):
        raise Failure(f"the library was taken from {where}")


def same_as_reference(options, text):
    libraries = [f"-L{options.reference_lib}", "-lrpma"]
    program = link(options, "with-reference", options.reference_include, *libraries)
    expected, where = output(program, options.reference_lib)
    comes_from(where, options.reference_lib)
    if text != expected:
        raise Failure(f"prints\n{text}but with the reference\n{expected}")
    return len(text.splitlines())


def static(options):
    archive = os.path.join(options.build, "librpma.a")
    program = link(options, "static", options.include, archive, "-libverbs", "-lrdmacm")
    libraries = needed(program)
    if any("librpma" in library for library in libraries):
        raise Failure(f"needs {libraries}")
    text, where = output(program, "")
    if where != os.path.realpath(program):
        raise Failure(f"the library was taken from {where}")
    lines = same_as_reference(options, text)
    return f"librpma.a: {FUNCTIONS} functions, {lines} lines as with the reference"


def drop_in(options):
    """A program built with the reference runs with our library, and the other way round."""
    ours, theirs = options.build, options.reference_lib
    lines = 0
    for name, include, built_with, runs_with in (
        ("built-with-reference", options.reference_include, theirs, ours),
        ("built-with-ours", options.include, ours, theirs),
        ("built-with-ours", options.include, ours, ours),
    ):
        program = link(options, name, include, f"-L{built_with}", "-lrpma")
        if "librpma.so.0" not in needed(program):
            raise Failure(f"{name} needs {needed(program)}")
        text, where = output(program, runs_with)
        comes_from(where, runs_with)
        lines += same_as_reference(options, text)
    return f"3 programs, {FUNCTIONS} functions each: {lines} lines as with the reference"


def pkg_config_of(folder, *arguments):
    command = ["pkg-config", *arguments, "librpma"]
    return shlex.split(run(*command, PKG_CONFIG_PATH=folder))


def pkg_config(options):
    with open(os.path.join(options.source, "Cargo.toml"), encoding="utf-8") as file:
        version = re.search(r'^version = "(.*)"', file.read(), re.M).group(1)
    reference = os.path.join(options.reference_lib, "pkgconfig")
    (found,) = pkg_config_of(options.build, "--modversion")
    (required,) = pkg_config_of(reference, "--modversion")
    if found != version:
        raise Failure(f"librpma.pc has version {found}, Cargo.toml {version}")
    pkg_config_of(options.build, f"--atleast-version={required}")
    # What links dynamically may name less than the reference, what links statically may not.
    static_libs = pkg_config_of(options.build, "--static", "--libs-only-l")
    missing = set(pkg_config_of(reference, "--libs-only-l")) - set(static_libs)
    if missing:
        raise Failure(f"--static --libs lacks {sorted(missing)}")
    # A variable's value is text of the file, where a space has to be escaped.
    variables = {"libdir": options.build, "includedir": options.include}
    escaped = {name: folder.replace(" ", r"\ ") for name, folder in variables.items()}
    where = [f"--define-variable={name}={folder}" for name, folder in escaped.items()]
    if f"-I{options.include}" not in pkg_config_of(options.build, *where, "--cflags"):
        raise Failure("--cflags does not follow includedir")
    libraries = pkg_config_of(options.build, *where, "--libs")
    if f"-L{options.build}" not in libraries or "-lrpma" not in libraries:
        raise Failure(f"--libs is {libraries}")
    program = link(options, "pkg-config", options.include, *libraries)
    text, taken_from = output(program, options.build)
    comes_from(taken_from, options.build)
    lines = same_as_reference(options, text)
    return (
        f"librpma.pc {found} (at least {required}); --libs {' '.join(libraries[1:])}, static "
        f"{' '.join(static_libs)}; the program it builds prints {lines} lines as with the reference"
    )


CHECKS = {"static": static, "drop-in": drop_in, "pkg-config": pkg_config}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--source", required=True, help="top folder of the sources")
    parser.add_argument("--build", required=True, help="folder of our libraries")
    parser.add_argument("--include", required=True, help="folder of our librpma.h")
    parser.add_argument("--reference-include", required=True)
    parser.add_argument("--reference-lib", required=True)
    parser.add_argument("--work", required=True, help="folder for what is built")
    parser.add_argument("--compiler", default="cc")
    options = parser.parse_args()
    report(CHECKS[options.check], options)


if __name__ == "__main__":
    main()

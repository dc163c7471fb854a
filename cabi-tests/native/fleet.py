#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a server and a client on kernels, librpmas and rdma-cores that differ.

    fleet.py PATHS start|stop FLEET
    fleet.py PATHS works|breaks FLEET PORT SERVER CLIENT ...     see native.c
    fleet.py PATHS strikes FLEET PORT SERVER CLIENT ...          see unknown_operation.c; starts and stops the fleet
    fleet.py PATHS power-cut FLEET PORT SERVER CLIENT            the remote log of examples/, flushed natively
    fleet.py PATHS ext4 FLEET SIDE PROGRAM [MOUNT-OPTION]        a program and a file on a disk, see with_ext4.sh
    fleet.py PATHS forget, same-library                          what ran on our library in between used one file

A fleet is two guests on one wire, see FLEETS. SIDE, SERVER and CLIENT are GUEST:LIBRARY:RDMA-CORE, as in
a:ours:55: the library ours or reference, the rdma-core 55 or system, which is what this machine has installed.
Exit status: 0 all as expected, 77 this machine's own rdma-core is not the one that the test is about.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FETCH = ROOT / "tools/fetch-rdma-core"

PMEM = "128M"
DAX = "/dev/dax0.0"
ADDRESSES = {"a": "10.0.0.1", "b": "10.0.0.2"}
PROGRAM_LIMIT = 60  # seconds; native.c ends by itself after 30
STEP = 30  # seconds that a line may take to come
SAFE = 300  # records that are safe when the power goes
NATIVE = {"flush": "RPMA_FLUSH", "atomic-write": "RPMA_ATOMIC_WRITE"}
NOT_APPLICABLE = 77
NO_GUEST = 125  # of `guest exec`: there is none, or it died
CRASH = "rxe_icrc_hdr"  # where the kernel computes the checksum of a packet's header


@dataclasses.dataclass(frozen=True)
class Machine:
    kernel: str
    pmem: bool = False


FLEETS = {
    "new": {"a": Machine("6.12"), "b": Machine("6.12", pmem=True)},
    "mixed": {"a": Machine("6.1", pmem=True), "b": Machine("6.12")},
    "old_target": {"a": Machine("6.12"), "b": Machine("6.1")},
    "new_target": {"a": Machine("6.12"), "b": Machine("6.12")},
}


class Failed(Exception):
    """Something is not as it has to be; the message says what."""


def say(text):
    print(text, flush=True)


class Side:
    """Where and on what one of the two programs runs."""

    def __init__(self, args, text):
        self.guest, self.library, self.rdma_core = text.split(":")
        self.name = f"native-{args.fleet}-{self.guest}"
        self.kernel = FLEETS[args.fleet][self.guest].kernel
        self.address = ADDRESSES[self.guest]
        self.folder = {"ours": args.ours, "reference": args.reference}[self.library]
        self.tool = args.guest

    def environment(self, extra):
        found = {"LD_LIBRARY_PATH": str(self.folder), "RPMA_TEST_LIBRARY": str(self.so())}
        if self.rdma_core == "55":
            libraries = rdma_core_55()
            found["LD_LIBRARY_PATH"] += f":{libraries}"
            found["IBV_DRIVERS"] = f"{libraries}/librxe"
        return found | extra

    def so(self):
        return self.folder / "librpma.so.0"

    def start(self, role, extra, *command, folder=None):
        """What it loads is hashed by the guest itself, by the same file system that the program loads it from."""
        hashed = ["sh", "-c", 'sha256sum "$RPMA_TEST_LIBRARY" && exec "$@"', "sh", *map(str, command)]
        variables = [word for item in self.environment(extra).items() for word in ("-e", "=".join(item))]
        exec_ = [self.tool, "exec", "--name", self.name, "--timeout", str(PROGRAM_LIMIT), *variables, "--"]
        return Process(role, [*exec_, *hashed], folder)

    def check(self, process):
        """That the program ran on what it was meant to run on; returns what `same_library` compares."""
        kernel = process.find(r"kernel: (.*)")[1]
        if not kernel.startswith(f"{self.kernel}."):
            raise Failed(f"{process.role} ran on Linux {kernel}, not {self.kernel}")
        libibverbs = pathlib.Path(process.find(r"libibverbs: (.*)")[1])
        cached = libibverbs.parent == rdma_core_55()
        if cached != (self.rdma_core == "55"):
            raise Failed(f"{process.role} ran on {libibverbs}")
        process.find(f"library: {re.escape(str(self.so()))}")
        sha256 = process.find(r"([0-9a-f]{64})  .*")[1]
        return {"library": self.library, "kernel": self.kernel, "libibverbs": libibverbs.name, "sha256": sha256}


class Process:
    """A program under way, and what it has said line by line."""

    def __init__(self, role, command, folder=None):
        self.role = role
        self.lines = []
        self.ended = False
        self.news = threading.Condition()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            say(f"{self.role}: {line.rstrip()}")
            with self.news:
                self.lines.append(line.rstrip())
                self.news.notify_all()
        with self.news:
            self.ended = True
            self.news.notify_all()

    def search(self, pattern):
        return next(filter(None, (re.fullmatch(pattern, line) for line in self.lines)), None)

    def find(self, pattern):
        match = self.search(pattern)
        if not match:
            raise Failed(f"{self.role} did not say '{pattern}'")
        return match

    def expect(self, pattern):
        """Waits for a line; returns its match."""
        with self.news:
            if not self.news.wait_for(lambda: self.ended or self.search(pattern), STEP):
                raise Failed(f"{self.role} did not say '{pattern}' within {STEP} s")
        return self.find(pattern)

    def finish(self, limit=PROGRAM_LIMIT + 10):
        """Waits for its end, of its output too."""
        with self.news:
            if not self.news.wait_for(lambda: self.ended, limit):
                raise Failed(f"{self.role} did not end within {limit} s")
        self.process.wait(limit)

    def succeed(self):
        self.finish()
        if self.process.returncode != 0:
            raise Failed(f"{self.role} ended with {self.process.returncode}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Its process group is there as long as it has not been waited for."""
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def rdma_core_55():
    """What tools/fetch-rdma-core made before; it is not to build anything within a test."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "librpma/rdma-core-55/lib"
    if not folder.is_dir():
        raise Failed(f"there is no {folder}: run {FETCH}")
    return folder.resolve()


# ---- guests ----


def names(args):
    return {guest: f"native-{args.fleet}-{guest}" for guest in FLEETS[args.fleet]}


def guest(args, *words):
    if subprocess.run([args.guest, *words], stdin=subprocess.DEVNULL).returncode != 0:
        raise Failed(f"guest {' '.join(words)} failed")


def pmem_file(args, name):
    return args.work / f"{name}.pmem"


def start(args):
    stop(args)
    with socket.create_server(("127.0.0.1", 0)) as server:
        wire = server.getsockname()[1]
    try:
        for (letter, name), end in zip(names(args).items(), ("listen", "connect")):
            machine = FLEETS[args.fleet][letter]
            pmem = ["--pmem", f"{pmem_file(args, name)}:{PMEM}"] if machine.pmem else []
            guest(args, "start", "--name", name, "--kernel", machine.kernel, "--wire", f"{end}:{wire}", *pmem)
    except BaseException:
        stop(args)
        raise


def stop(args):
    """What an interrupted run has left, too."""
    for name in names(args).values():
        guest(args, "stop", "--name", name)
        pmem_file(args, name).unlink(missing_ok=True)


# ---- native.c ----


def settings(args, case):
    return {
        "NATIVE_CASE": case,
        "NATIVE_MEMORY": DAX if args.dax else "",
        "NATIVE_FLUSH_OPCODE": str(args.flush),
        "NATIVE_ATOMIC_WRITE_OPCODE": str(args.atomic_write),
    }


def native_environment(requested):
    return {NATIVE[name]: "native" for name in requested}


def converse(args, case):
    """Server and client from beginning to end; returns what the client said."""
    server, client = Side(args, args.server), Side(args, args.client)
    if args.native and client.rdma_core == "system" and client.kernel == "6.12":
        check_installed_rdma_core()
    program = args.work / "native"
    conversation = server.address, args.port
    with contextlib.ExitStack() as stack:
        serving = stack.enter_context(server.start("server", settings(args, case), program, "server", *conversation))
        serving.expect("listening")
        environment = settings(args, case) | native_environment(args.native)
        using = stack.enter_context(client.start("client", environment, program, "client", *conversation))
        using.succeed()
        serving.succeed()
        record(args, [server.check(serving), client.check(using)])
        check_log(serving, 0)
        return using


def check_installed_rdma_core():
    """What is granted on request, and which huge pages are taken, is known of Debian 12's only."""
    installed = {path.resolve().name for path in pathlib.Path("/usr/lib").glob("*/libibverbs.so.1")}
    if not any(name.endswith(".44.0") for name in installed):
        say(f"SKIPPED: this test is about rdma-core 44, and this machine has {installed}")
        sys.exit(NOT_APPLICABLE)


def check_log(process, warnings, text=""):
    """No errors, and so many warnings."""
    found = [line for line in process.lines if "*WARN*" in line or "*ERROR*" in line]
    if len(found) != warnings or not all("*WARN*" in line and text in line for line in found):
        raise Failed(f"{process.role}: expected {warnings} warnings '{text}', not {found}")


def works(args):
    client = converse(args, "works")
    check_log(client, 1 if args.warning else 0, args.warning)
    for what, opcode, count in [
        ("flush to visibility", args.flush, 2),
        ("flush to persistence", args.flush, 2),
        ("atomic write", args.atomic_write, 2),
    ]:
        if client.lines.count(f"{what}: opcode {opcode}") != count:
            raise Failed(f"not {count} times '{what}: opcode {opcode}'")


def breaks(args):
    client = converse(args, f"{args.what}-breaks")
    check_log(client, 0)
    outcome = client.find(r"outcome: (.*)")[1]
    if outcome != args.outcome:
        raise Failed(f"outcome '{outcome}', not '{args.outcome}'")
    client.find("the next connection works")


# ---- an operation that the target's kernel does not know ----


def strikes(args):
    """What becomes of the server is seen when its program, or its machine, has ended."""
    start(args)
    try:
        server, client = Side(args, args.server), Side(args, args.client)
        program = args.work / "unknown_operation"
        conversation = server.address, args.port
        case = {"NATIVE_CASE": args.what}
        with server.start("server", case, program, "server", *conversation) as serving:
            serving.expect("listening")
            environment = case | native_environment(args.native)
            with client.start("client", environment, program, "client", *conversation) as using:
                using.succeed()
            serving.finish()
            for side, process in ((server, serving), (client, using)):
                side.check(process)
            outcome = using.find(r"outcome: (.*)")[1]
            gone = is_gone(serving)
            say(f"{args.what}: {outcome}; {f'the server is gone, {gone}' if gone else 'the server lives on'}")
            if gone and args.lives_on:
                raise Failed("the server is gone")
            expected = "no completion" if gone else args.outcome
            if outcome != expected:
                raise Failed(f"outcome '{outcome}', not '{expected}'")
    finally:
        stop(args)


def is_gone(serving):
    """Whether the server's machine is gone: the lines of its console that say why, or None if the server ended well."""
    if serving.process.returncode == 0:
        serving.find("lives on")
        return None
    if serving.process.returncode != NO_GUEST:
        raise Failed(f"the server ended with {serving.process.returncode}")
    serving.find(rf".*\b{CRASH}\b.*")
    return serving.find(r".*(Kernel panic.*)")[1]


# ---- one library ----


def record(args, used):
    """For `same_library`."""
    folder = args.work / "loaded"
    folder.mkdir(exist_ok=True)
    (folder / f"{args.fleet}-{args.port}.json").write_text(json.dumps(used))


def forget(args):
    for file in (args.work / "loaded").glob("*.json"):
        file.unlink()


def same_library(args):
    """Kernels and rdma-cores differ, our library does not."""
    used = [use for file in (args.work / "loaded").glob("*.json") for use in json.loads(file.read_text())]
    ours = [use for use in used if use["library"] == "ours"]
    machines = sorted({(use["kernel"], use["libibverbs"]) for use in ours})
    for kernel, libibverbs in machines:
        say(f"Linux {kernel} with {libibverbs}")
    hashes = {use["sha256"] for use in ours}
    expected = hashlib.sha256((args.ours / "librpma.so.0").read_bytes()).hexdigest()
    say(f"librpma.so.0, {len(ours)} times loaded: {' '.join(hashes)}")
    if hashes != {expected}:
        raise Failed(f"{args.ours}/librpma.so.0 is {expected}")
    found = {(kernel, ".55." in libibverbs) for kernel, libibverbs in machines}
    missing = {("6.1", False), ("6.12", False), ("6.12", True)} - found
    if missing:
        raise Failed(f"not loaded on {missing}")


# ---- a power cut ----


def power_cut(args):
    """It is the server's, which is on the guest that can be reset."""
    server, client = Side(args, args.server), Side(args, args.client)
    pmem = ["--pmem", DAX, "--direct-write"]
    with start_log_server(args, server, *pmem, "--format") as serving:
        safe = append_until_power_cut(args, server, client)
        serving.finish(STEP)
    with start_log_server(args, server, *pmem) as serving:
        recovered = int(serving.find(r"log: recovered, (\d+) whole records, .*")[1])
        if recovered < safe:
            raise Failed(f"{safe} records were safe before the power cut, {recovered} are there")
        say(f"{safe} records were reported safe, {recovered} are there")
        with start_log_client(args, server, client, "verify", recovered) as reading:
            reading.succeed()
            reading.find(rf"verified: .*\b{recovered} records.*")
        serving.succeed()


def start_log_server(args, side, *more):
    server = side.start("server", {}, args.work / "remote-log-server", side.address, args.port, "--clients", "1", *more)
    try:
        server.expect("listening on .*")
    except BaseException:
        server.__exit__()
        raise
    return server


def start_log_client(args, server, side, command, records, *more):
    environment = native_environment(NATIVE) | {"RPMA_LOG_STDERR": "warning"}
    environment["LD_PRELOAD"] = "./libopcodes.so"  # a path there ends at a space
    what = [command, server.address, args.port, "--records", str(records), *more]
    return side.start("client", environment, args.work / "remote-log-client", *what, folder=args.work)


def append_until_power_cut(args, server, side):
    """Returns how many records the client knew to be safe when the power went."""
    with start_log_client(args, server, side, "append", 1000000, "--report", "20") as client:
        client.expect("connected: .*, flushed to persistence")
        client.expect(rf"safe: records up to {SAFE}")
        guest(args, "reset", "--name", server.name)
    check_log(client, 0)
    opcodes = {line for line in client.lines if re.fullmatch(r"opcode \d+: rpma_flush", line)}
    if opcodes != {"opcode 8: rpma_flush"}:
        raise Failed(f"expected native flushes only, not {sorted(opcodes)}")
    return max(int(match[1]) for line in client.lines if (match := re.fullmatch(r"safe: records up to (\d+)", line)))


# ---- a file on a disk ----


def ext4(args):
    """The namespace is a device DAX before and after it, for the other tests."""
    side = Side(args, args.side)
    if args.program == "mappings":
        check_installed_rdma_core()
    script = pathlib.Path(__file__).with_name("with_ext4.sh")
    with side.start("guest", {}, script, args.work / args.program, *args.options) as process:
        process.succeed()
        process.find("passed")


# ---- command line ----


def parse():
    parser = argparse.ArgumentParser(usage=__doc__, allow_abbrev=False)
    for path in ("guest", "ours", "reference", "work"):
        parser.add_argument(f"--{path}", type=pathlib.Path, required=True)
    actions = parser.add_subparsers(dest="action", required=True)

    def add(name, act, *, fleet=True):
        action = actions.add_parser(name, allow_abbrev=False)
        action.set_defaults(act=act)
        if fleet:
            action.add_argument("fleet", choices=FLEETS)
        return action

    def add_roles(name, act):
        action = add(name, act)
        for word in ("port", "server", "client"):
            action.add_argument(word)
        return action

    for name, act in (("works", works), ("breaks", breaks)):
        action = add_roles(name, act)
        action.add_argument("--native", nargs="*", choices=NATIVE, default=[], help="what the client requests")
        action.add_argument("--dax", action="store_true", help="the server registers persistent memory")
        action.add_argument("--flush", type=int, default=2, help="opcode")
        action.add_argument("--atomic-write", type=int, default=1, help="opcode")
        if name == "works":
            action.add_argument("--warning", default="", help="the client's only one")
        else:
            action.add_argument("--what", required=True)
            action.add_argument("--outcome", required=True)
    action = add_roles("strikes", strikes)
    action.add_argument("--native", nargs="*", choices=NATIVE, default=[], help="what the client requests")
    action.add_argument("--what", required=True, choices=("flush", "atomic-write", "opcode"))
    action.add_argument("--outcome", required=True, help="what the client sees of a server that lives on")
    action.add_argument("--lives-on", action="store_true", help="the server has to")
    add("start", start)
    add("stop", stop)
    add_roles("power-cut", power_cut)
    action = add("ext4", ext4)
    action.add_argument("side")
    action.add_argument("program")
    action.add_argument("options", nargs="*")
    add("forget", forget, fleet=False)
    add("same-library", same_library, fleet=False)
    return parser.parse_args()


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    args = parse()
    begin = time.monotonic()
    args.act(args)
    say(f"passed after {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"FAILED: {failure}")

# SPDX-License-Identifier: BSD-3-Clause
"""The guest's side of `guest exec`: runs commands for the host.

One TCP connection is one command. The host sends one line of JSON, the request; the agent answers with frames, each
a letter, a length in four bytes and that many bytes:

    o, e    what the command wrote to stdout or stderr
    b       nothing to say, but alive
    m       a message about the command, for the user
    x       the command's exit status, the last frame

When the host closes the connection early, the command is killed.
"""

import hmac
import ipaddress
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

PORT = 7
HEARTBEAT = 2
DEVICE = "/sys/class/infiniband/rxe0/ports/1"
DAX = "/dev/dax0.0"


def environment():
    """What every command finds in its environment: the same for all, whoever calls."""
    env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    for name in ("RPMA_TEST_ADDRESS", "RPMA_TEST_ADDRESS6"):
        env[name] = os.environ[name]
    if os.path.exists(DAX):
        env["RPMA_TEST_DAX"] = DAX
    return env


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:  # an unset entry of the GID table
        return ""


def wait_for_device():
    """The port is active and RDMA CM can use both addresses, which arrive in the GID table a moment after the link."""
    wanted = {
        ipaddress.IPv6Address("::ffff:" + os.environ["RPMA_TEST_ADDRESS"]).exploded,
        ipaddress.IPv6Address(os.environ["RPMA_TEST_ADDRESS6"]).exploded,
    }
    deadline = time.monotonic() + 20
    while True:
        gids = {read(f"{DEVICE}/gids/{entry}") for entry in os.listdir(DEVICE + "/gids")}
        state = read(DEVICE + "/state")
        if "ACTIVE" in state and wanted <= gids:
            return
        if time.monotonic() > deadline:
            sys.exit(f"guest: rxe0 is '{state}' with the GIDs {sorted(gids)}")
        time.sleep(0.05)


class Command:
    """One command under way for one connection."""

    def __init__(self, conn, request):
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("2")  # see `init` about the caches
        self.conn = conn
        self.timeout = request["timeout"]
        self.process = subprocess.Popen(
            request["argv"],
            cwd=request["cwd"],
            env=environment() | request["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def send(self, kind, payload=b""):
        self.conn.sendall(struct.pack(">cI", kind, len(payload)) + payload)

    def kill(self):
        """Ends the command and all it has started. Its process group exists until the process is waited for."""
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def run(self):
        pipes = {self.process.stdout.fileno(): b"o", self.process.stderr.fileno(): b"e"}
        ended = os.pidfd_open(self.process.pid)
        try:
            status = self.follow(pipes, ended)
            # What it wrote over 9p must be on the host before the host hears that it has ended.
            os.sync()
            self.send(b"x", str(status).encode())
        finally:
            self.kill()
            os.close(ended)
            self.process.stdout.close()
            self.process.stderr.close()

    def follow(self, pipes, ended):
        """Passes on what the command writes until it ends; returns its exit status."""
        poll = select.poll()
        for fd in (*pipes, ended, self.conn):
            poll.register(fd, select.POLLIN)
        deadline = time.monotonic() + self.timeout
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                self.send(b"m", f"no end after {self.timeout:g} s, killed".encode())
                self.drain(pipes)
                return 124
            events = dict(poll.poll(1000 * min(left, HEARTBEAT)))
            if not events:
                self.send(b"b")
            if self.conn.fileno() in events:
                raise ConnectionError("the host went away")
            for fd in pipes.keys() & events.keys():
                data = os.read(fd, 65536)
                self.send(pipes[fd], data)
                if not data:
                    poll.unregister(fd)
            if ended in events:
                self.kill()
                self.drain(pipes)
                code = self.process.wait()
                return code if code >= 0 else 128 - code

    def drain(self, pipes):
        """What is in the pipes when the command has ended. A process that left the group may hold them open: no waiting."""
        for fd, kind in pipes.items():
            os.set_blocking(fd, False)
            try:
                while data := os.read(fd, 65536):
                    self.send(kind, data)
            except BlockingIOError:
                pass


def serve(conn, token, stop):
    with conn:
        conn.settimeout(60)
        try:
            line = bytearray()
            while not line.endswith(b"\n"):
                data = conn.recv(65536)
                if not data:
                    return
                line += data
            request = json.loads(line)
            if not hmac.compare_digest(request["token"], token):
                return
            if request.get("stop"):
                stop.set()
                conn.recv(1)  # until the machine is gone
                return
            Command(conn, request).run()
        except FileNotFoundError as error:
            refuse(conn, error, 127)
        except OSError as error:
            refuse(conn, error, 126)


def refuse(conn, error, status):
    try:
        for kind, payload in ((b"m", str(error).encode()), (b"x", b"%d" % status)):
            conn.sendall(struct.pack(">cI", kind, len(payload)) + payload)
    except OSError:  # nobody is there to hear it
        pass


def main():
    token = read(os.path.join(sys.argv[1], "token"))
    wait_for_device()
    stop = threading.Event()
    server = socket.create_server((os.environ["RPMA_GUEST_CONTROL"], PORT), backlog=64)

    def accept():
        while True:
            conn, _ = server.accept()
            threading.Thread(target=serve, args=(conn, token, stop), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print("guest: READY", flush=True)
    stop.wait()


main()

# SPDX-License-Identifier: BSD-3-Clause
"""The far side of `guest exec`: runs a command for it. In the guest this serves any number of commands at once.

One connection is one command. The client sends one line of JSON, the request; the answer is frames, each a letter, a
length in four bytes and that many bytes:

    o, e    what the command wrote to stdout or stderr
    b       nothing to say, but alive
    m       a message about the command, for the user
    x       the command's exit status, the last frame

When the client closes the connection early, the command is killed.
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
HEARTBEAT = 2  # seconds
DEVICE = "/sys/class/infiniband/rxe0/ports/1"
DAX = "/dev/dax0.0"

# What every command finds in its environment: the same, whoever calls.
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}


def send(conn, kind, payload=b""):
    conn.sendall(struct.pack(">cI", kind, len(payload)) + payload)


def execute(conn, request, env):
    """Runs the requested command to its end; returns its exit status."""
    try:
        process = subprocess.Popen(
            request["argv"],
            cwd=request["cwd"],
            env=ENVIRONMENT | env | request["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        send(conn, b"m", str(error).encode())
        return 127 if isinstance(error, FileNotFoundError) else 126
    try:
        return follow(conn, process, request["timeout"])
    finally:
        kill(process)
        process.stdout.close()
        process.stderr.close()


def kill(process):
    """Ends the command and what it has started. Its process group exists until the process is waited for."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)


def follow(conn, process, timeout):
    """Passes on what the command writes until it ends."""
    pipes = {process.stdout.fileno(): b"o", process.stderr.fileno(): b"e"}
    with open(os.pidfd_open(process.pid)) as ended:
        poll = select.poll()
        for file in (*pipes, ended, conn):
            poll.register(file, select.POLLIN)
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                kill(process)
                drain(conn, pipes)
                send(conn, b"m", f"no end after {timeout:g} s, killed".encode())
                return 124
            events = dict(poll.poll(1000 * min(left, HEARTBEAT)))
            if not events:
                send(conn, b"b")
            if conn.fileno() in events:
                raise ConnectionError("the client has gone")
            for fd in pipes.keys() & events.keys():
                data = os.read(fd, 65536)
                if data:
                    send(conn, pipes[fd], data)
                else:
                    poll.unregister(fd)
            if ended.fileno() in events:
                kill(process)
                drain(conn, pipes)
                code = process.wait()
                return code if code >= 0 else 128 - code


def drain(conn, pipes):
    """Passes on what is left in the pipes. Their end may never come: who left the process group may hold them open."""
    for fd, kind in pipes.items():
        os.set_blocking(fd, False)
        try:
            while data := os.read(fd, 65536):
                send(conn, kind, data)
        except BlockingIOError:
            pass


def serve(conn, token, stop):
    conn.settimeout(60)
    with conn, conn.makefile("rb") as lines:
        try:
            request = json.loads(lines.readline() or "{}")
            if not hmac.compare_digest(request.get("token", ""), token):
                return
            if request.get("stop"):
                stop.set()
                lines.read(1)  # the connection ends with the machine
                return
            write("/proc/sys/vm/drop_caches", "3")  # `init` says why
            env = {name: os.environ[name] for name in ("RPMA_TEST_ADDRESS", "RPMA_TEST_ADDRESS6")}
            if os.path.exists(DAX):
                env["RPMA_TEST_DAX"] = DAX
            status = execute(conn, request, env)
            os.sync()  # what it wrote is on the host before the host hears of its end
            send(conn, b"x", b"%d" % status)
        except OSError:  # the client has gone, and the command with it
            pass


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:  # reading an empty entry of the GID table fails
        return ""


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def wait_for_device():
    """The port is active and RDMA CM can use both addresses, which arrive in the GID table a moment after the link."""
    wanted = {
        ipaddress.IPv6Address("::ffff:" + os.environ["RPMA_TEST_ADDRESS"]).exploded,
        ipaddress.IPv6Address(os.environ["RPMA_TEST_ADDRESS6"]).exploded,
    }
    deadline = time.monotonic() + 20
    while True:
        state = read(DEVICE + "/state")
        gids = {read(f"{DEVICE}/gids/{entry}") for entry in range(8)}
        if "ACTIVE" in state and wanted <= gids:
            return
        if time.monotonic() > deadline:
            sys.exit(f"guest: rxe0 is '{state}' with the GIDs {sorted(gids)}")
        time.sleep(0.05)


def main():
    token = read(os.path.join(sys.argv[1], "token"))
    sys.stdin.readline()  # `init` has set everything up
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


if __name__ == "__main__":
    main()

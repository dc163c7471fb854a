# SPDX-License-Identifier: BSD-3-Clause
"""The guest's kernel: Debian's own, downloaded and unpacked into a cache folder, and the initramfs built for it.
With RPMA_GUEST_KERNEL it is that package, and apt is not asked.

    <cache>/<package>_<version>/                      Debian's package
    <cache>/<package>_<version>/vmlinux               the kernel without its compression
    <cache>/<package>_<version>/initramfs-<hash>      the hash covers what it was built from
    <cache>/6.1, <cache>/6.12, <cache>/6.1-arm64      links to the current one of each series

Everything is made under a temporary name and renamed when it is whole, under one lock.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "librpma" / "guest"
HERE = pathlib.Path(__file__).resolve().parent
APT = HERE.parent.parent / "tools/apt"
ARCHITECTURE = os.environ.get("RPMA_GUEST_ARCHITECTURE") or "amd64"
ROOT = pathlib.Path(os.environ.get("RPMA_GUEST_ROOT") or "/")
META_PACKAGES = {
    "amd64": {"6.1": "linux-image-amd64", "6.12": "linux-image-6.12-amd64"},
    "arm64": {"6.1": "linux-image-arm64"},
}[ARCHITECTURE]
DECOMPRESSORS = {b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}

QEMU = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}[ARCHITECTURE]

# In the groups that `init` loads one after the other. What the crypto API looks up by name no dependency tells: crc32
# for rxe, crc32c for ext4.
MODULES = {
    "root": ["virtio_pci", "9pnet_virtio", "9p"],
    "rdma": ["virtio_net", "crc32_generic", "crc32_pclmul", "ipv6", "rdma_rxe", "rdma_ucm", "ib_uverbs", "sch_netem"],
    "pmem": ["nfit", "nd_pmem", "dax_pmem", "device_dax", "crc32c_generic", "ext4"],
}
if ARCHITECTURE != "amd64":
    MODULES["rdma"].remove("crc32_pclmul")
    del MODULES["pmem"]


class Error(Exception):
    """Something the user must know; the message says it all."""


def say(text):
    print(f"guest: {text}", file=sys.stderr, flush=True)


def fetch(series):
    """Gets the current kernel of a series, or keeps the cached one where there is none to be had."""
    with lock():
        link = link_of(series)
        try:
            try:
                folder = current(series)
            except Error as error:
                say(f"{error}")
                if subprocess.run([APT, "update"], stdin=subprocess.DEVNULL).returncode != 0:
                    raise
                folder = current(series)
        except Error as error:
            if not link.is_dir():
                raise
            say(f"{error}")
            say(f"using the cached kernel {link.resolve().name}")
        else:
            if not link.is_dir() or link.resolve() != folder:
                point(link, folder)
        initramfs(link.resolve())
        say(f"kernel {series}: {link.resolve()}")


def cached(series):
    """The kernel and the initramfs of a series; whatever is missing is made now."""
    if not link_of(series).is_dir():
        fetch(series)
    with lock():
        folder = link_of(series).resolve()
        return folder / "vmlinux", initramfs(folder)


@contextlib.contextmanager
def lock():
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another `guest` that is filling {CACHE}")
            fcntl.flock(file, fcntl.LOCK_EX)
        # Whatever an earlier one has left half-done: nobody else is at work now.
        for leftover in CACHE.glob("tmp.*"):
            shutil.rmtree(leftover)
        yield


def link_of(series):
    return CACHE / (series if ARCHITECTURE == "amd64" else f"{series}-{ARCHITECTURE}")


def temporary_folder():
    # A child that is being killed may still write to it; what then remains goes with the next lock().
    return tempfile.TemporaryDirectory(prefix="tmp.", dir=CACHE, ignore_cleanup_errors=True)


def current(series):
    """The folder of the newest kernel that apt's lists have."""
    given = os.environ.get("RPMA_GUEST_KERNEL")
    if given:
        folder = CACHE / pathlib.Path(given).stem
        if not folder.is_dir():
            with temporary_folder() as tmp:
                unpack(pathlib.Path(given), pathlib.Path(tmp), folder)
        return folder
    package, version, size = newest(series)
    folder = CACHE / f"{package}_{version}"
    if not folder.is_dir():
        download(package, version, size, folder)
    return folder


def newest(series):
    """Package, version and size in bytes of what the meta package depends on."""
    meta = META_PACKAGES[series]
    depends = apt_field(meta, "Depends")
    match = re.match(rf"(linux-image-{re.escape(series)}[.-]\S+) \(= (\S+)\)", depends)
    if not match:
        raise Error(f"{meta} depends on '{depends}', which is no kernel {series}")
    package, version = match.groups()
    return package, version, int(apt_field(f"{package}={version}", "Size"))


def apt_field(package, field):
    command = ["apt-cache", "show", "--no-all-versions", package]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    match = re.search(rf"^{field}: (.*)$", result.stdout, re.MULTILINE)
    if not match:
        raise Error(f"apt knows no package {package}: Debian 12 has it, in main or in its security updates")
    return match[1]


def download(package, version, size, folder):
    with temporary_folder() as tmp:
        tmp = pathlib.Path(tmp)
        start = time.monotonic()
        # With a sandbox user apt warns about every folder that _apt cannot write to.
        command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", f"{package}={version}"]
        with open(tmp / "messages", "w+") as messages:
            apt = subprocess.Popen(command, cwd=tmp, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages)
            try:
                while apt.poll() is None:
                    done = sum(file.stat().st_size for file in tmp.glob("*.deb*"))
                    progress(f"downloading {package} {version}: {done >> 20} of {size >> 20} MiB", start)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        apt.wait(1)
            finally:
                apt.kill()
                apt.wait()
            messages.seek(0)
            if apt.returncode != 0:
                raise Error(f"cannot download {package} {version}: {messages.read().strip()}")
        progress(f"downloaded {package} {version}: {size >> 20} MiB", start, last=True)
        (deb,) = tmp.glob("*.deb")
        unpack(deb, tmp, folder)


def unpack(deb, tmp, folder):
    start = time.monotonic()
    progress(f"unpacking {folder.name}", start)
    run(["dpkg", "-x", deb, tmp / "root"])
    (tmp / "root").chmod(0o755)
    extract(next((tmp / "root/boot").glob("vmlinuz-*")), tmp / "root/vmlinux")
    os.rename(tmp / "root", folder)
    progress(f"unpacked {folder.name}", start, last=True)


def extract(vmlinuz, vmlinux):
    """Emulated, the kernel would take seconds to decompress itself, each time. (Header: the x86 boot protocol.)"""
    image = vmlinuz.read_bytes()
    if ARCHITECTURE != "amd64":  # not compressed
        vmlinux.write_bytes(image)
        return
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (setup_sectors + 1) * 512 + offset
    vmlinux.write_bytes(decompress(image[begin : begin + length - 4]))  # the last four bytes are the size


def decompress(data):
    for magic, tool in DECOMPRESSORS.items():
        if data.startswith(magic):
            return subprocess.run([tool, "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    if data.startswith(b"\x7fELF"):
        return data
    raise Error(f"a kernel or module in an unknown format: {data[:8].hex()}")


def point(link, folder):
    """Makes `link` lead to `folder` and removes the kernel that it led to before."""
    old = link.resolve() if link.is_dir() else None
    new = link.with_name(f"{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(folder.name)
    os.replace(new, link)
    if old:
        shutil.rmtree(old)


def initramfs(folder):
    init = HERE / "init"
    busybox = find_busybox()
    wanted = hashlib.sha256()
    for part in (init.read_bytes(), busybox.read_bytes(), pathlib.Path(__file__).read_bytes()):
        wanted.update(part)
    image = folder / f"initramfs-{wanted.hexdigest()[:16]}"
    if image.exists():
        return image
    start = time.monotonic()
    progress("building the initramfs", start)
    with temporary_folder() as tmp:
        root = pathlib.Path(tmp) / "root"
        for name in ("bin", "modules", "proc", "sys", "dev", "host"):
            (root / name).mkdir(parents=True)
        shutil.copy(busybox, root / "bin/busybox")
        shutil.copy(init, root / "init")
        (root / "init").chmod(0o755)
        for number, (name, (group, data)) in enumerate(modules(folder).items()):
            target = root / "modules" / group / f"{number:03}-{name}.ko"
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(data)
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        archive = pathlib.Path(tmp) / "initramfs"
        with open(archive, "wb") as file:
            command = ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"]
            subprocess.run(command, cwd=root, input=names.encode(), stdout=file, check=True)
        for outdated in folder.glob("initramfs-*"):
            outdated.unlink()
        os.rename(archive, image)
    progress(f"built the initramfs: {image.stat().st_size >> 20} MiB", start, last=True)
    return image


def find_busybox():
    """The guest's own; None where there is none."""
    found = shutil.which("busybox") if ROOT == pathlib.Path("/") else ROOT / "bin/busybox"
    return pathlib.Path(found) if found and pathlib.Path(found).exists() else None


def modules(folder):
    """MODULES and all they depend on, in the order to load them: {name: (the first group to need it, contents)}."""
    (tree,) = (folder / "lib/modules").iterdir()
    files = {name_of(file): file for file in tree.rglob("*.ko*")}
    built_in = {name_of(pathlib.Path(line)) for line in (tree / "modules.builtin").read_text().split()}
    found = {}

    def add(name, group):
        if name in found or name in built_in:
            return
        if name not in files:
            raise Error(f"{folder.name} has no module {name}")
        data = decompress(files[name].read_bytes())
        depends = re.search(rb"\0depends=([^\0]*)\0", data)[1].decode()
        for other in filter(None, depends.split(",")):
            add(name_of(pathlib.Path(other)), group)
        found[name] = (group, data)

    for group, names in MODULES.items():
        for name in names:
            add(name, group)
    return found


def name_of(file):
    """The kernel takes - and _ for the same."""
    return file.name.split(".")[0].replace("-", "_")


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        raise Error(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    return result.stdout


def progress(text, start, last=False):
    """One line that is written over and over on a terminal; elsewhere only its first and its last state."""
    elapsed = time.monotonic() - start
    line = f"guest: {text}, {elapsed:.1f} s"
    if sys.stderr.isatty():
        print(f"\r{line}\033[K", end="\n" if last else "", file=sys.stderr, flush=True)
    elif last or elapsed < 0.5 or int(elapsed) % 10 == 0:
        print(line, file=sys.stderr, flush=True)

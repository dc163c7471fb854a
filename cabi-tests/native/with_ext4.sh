#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# with_ext4.sh -- run in a guest with persistent memory: PROGRAM FILE, where FILE can be made on an
# ext4 file system
#
#	with_ext4.sh PROGRAM [MOUNT-OPTION]

set -eu

mountpoint=/run/native-ext4

cleanup() {
	status=$?
	trap - EXIT
	! mountpoint -q "$mountpoint" || umount "$mountpoint" || status=1
	ndctl create-namespace -f -e namespace0.0 -m devdax >/dev/null || status=1
	[ -e /dev/dax0.0 ] || status=1
	exit "$status"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

ndctl create-namespace -f -e namespace0.0 -m fsdax >/dev/null
mkfs.ext4 -q -b 4096 /dev/pmem0
mkdir -p "$mountpoint"
mount -o "${2:-defaults}" /dev/pmem0 "$mountpoint"
"$1" "$mountpoint/file"

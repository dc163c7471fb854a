#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# imports.sh NM PROVIDER LIBRARY... -- every function of libibverbs and
# librdmacm that a library imports has to be one that the provider defines.
set -eu

nm=$1
provider=$2
shift 2
defined=$("$nm" -D --defined-only "$provider" | awk '{ print $3 }')
status=0
for library; do
	imported=$("$nm" -D --undefined-only "$library" |
		awk '{ sub(/@.*/, "", $2); print $2 }' |
		grep -E '^_*(ibv|rdma)_') || {
		echo "$library imports nothing of rdma-core"
		status=1
		continue
	}
	for name in $imported; do
		if ! echo "$defined" | grep -qx "$name"; then
			echo "$library imports $name, which the provider lacks"
			status=1
		fi
	done
	echo "$library: $(echo "$imported" | wc -l) imports"
done
exit $status

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# covered.sh NM LIBRARY SOURCE... -- every function that the library exports
# is named by a contract test.
set -eu

nm=$1
library=$2
shift 2
names=$("$nm" -D --defined-only "$library" |
	awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }')
status=0
count=0
for name in $names; do
	count=$((count + 1))
	if ! grep -qw "$name" "$@"; then
		echo "no test of $name"
		status=1
	fi
done
echo "$count functions"
[ "$count" -gt 0 ] || status=1
exit $status

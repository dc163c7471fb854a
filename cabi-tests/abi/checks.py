# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share."""

import os
import subprocess
import sys

VERSION_NODE = "LIBRPMA_1.0"
FUNCTIONS = 84


class Failure(Exception):
    """What is wrong, or why nothing could be compared."""


def run(*command, source=None, **variables):
    """The command's output; variables are added to its environment."""
    environment = dict(os.environ, LC_ALL="C", **variables)
    try:
        done = subprocess.run(
            command, input=source, capture_output=True, text=True, env=environment, timeout=120
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(f"{command[0]}: {error}") from error
    if done.returncode:
        raise Failure(
            f"{' '.join(command)} exits with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def differences(what, ours, reference):
    lines = [f"only in the reference: {item}" for item in sorted(set(reference) - set(ours))]
    lines += [f"only in ours: {item}" for item in sorted(set(ours) - set(reference))]
    if lines:
        raise Failure(f"the {what} differ:\n  " + "\n  ".join(lines))


def report(check, *arguments):
    """Prints what the check says it compared, or exits with its failure."""
    try:
        print(check(*arguments))
    except Failure as failure:
        sys.exit(f"FAULT: {failure}")

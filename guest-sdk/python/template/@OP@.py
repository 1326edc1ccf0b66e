"""Computes the op `@OP@`. What it asks for must match a line of `requests` in op.json, and only what `pick` names of its
result goes back.
"""

from pinhole_guest import world


def @OP@(args, host):
    """The op: its args, checked and with their defaults, to what `pick` picks from."""
    answer = host.get("@PATH@", args).send().expect_ok().json()
    return {"members": len(answer), "names": list(answer)}


WitWorld = world(@OP@)

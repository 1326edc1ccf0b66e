"""Computes the op `@OP@`. What it asks for must match a line of `requests` in op.json, and only what `pick` names of its
result goes back.
"""

from pinhole_guest import world

# The same text as in op.json.
DOCUMENT = @DOCUMENT@


def @OP@(args, host):
    """The op: its args, checked and with their defaults, to what `pick` picks from."""
    data = host.graphql("@PATH@", DOCUMENT)
    return {"members": len(data), "names": list(data)}


WitWorld = world(@OP@)

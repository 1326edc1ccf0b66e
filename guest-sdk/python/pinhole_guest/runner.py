"""From the text that the host hands over to an op, and from what the op gives to the text that goes back.

INVARIANT: whatever is raised becomes an `OpError`, so that the caller is told why. An error of the module's own code is
written to the log with its place first.
"""

import traceback

from .errors import OpError
from .text import from_json, to_json


def run(ops, host, op, args):
    """Runs an op; gives its result as JSON, or raises an `OpError`."""
    try:
        if op not in ops:
            raise OpError(f"this module has no op `{op}`")
        result = ops[op](from_json(args), host)
        if result is None:
            raise OpError(f"the op `{op}` gave no result: let it return one")
        return to_json(result)
    except OpError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        host.log.error("\n".join([said, *_places(error)]))
        raise OpError(said) from error


def _places(error):
    """Where it came from, outermost first. Without the lines themselves: in the sandbox there are no files to read."""
    frames = traceback.walk_tb(error.__traceback__)
    return [f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_name}" for frame, line in frames]

"""Where ops meet the sandbox: `world` makes of them the class that `componentize-py` looks for.

The bindings are there when the component is built and not in a test. Without them `world` gives nothing, and the ops can be
imported all the same.
"""

import sys
from importlib.machinery import PathFinder

from .errors import OpError, RequestError
from .host import Host
from .runner import run

try:
    import wit_world
    from componentize_py_types import Err
    from wit_world.imports import clock, http, log
except ImportError:
    wit_world = None


def world(*ops):
    """A module of these functions, each the op of its name: `WitWorld = world(stale_issues)`."""
    if wit_world is None:
        return None
    by_name = {op.__name__: op for op in ops}

    class WitWorld(wit_world.WitWorld):
        """What the host calls."""

        def run(self, op, args):
            """Computes an op."""
            _close_imports()
            try:
                return run(by_name, Host(_Sandbox()), op, args)
            except OpError as error:
                raise Err(wit_world.OpError(str(error))) from None

    return WitWorld


def _close_imports():
    """What was not imported when the component was built is not there: it is an error that names it, and no trap."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder]


class _Sandbox:
    """The contract's functions."""

    def send(self, sent):
        try:
            return http.send(_request(sent))
        except Err as error:
            raise _failure(error) from None

    def send_all(self, requests):
        results = http.send_all([_request(sent) for sent in requests])
        return [_failure(result) if isinstance(result, Err) else result.value for result in results]

    def write(self, level, message):
        log.write(log.Level[level.upper()], message)

    def now(self):
        return clock.now()


def _request(sent):
    method = http.Method[sent.method.upper()]
    return http.Request(method, sent.path, list(sent.query), list(sent.headers), sent.body)


def _failure(error):
    return RequestError(error.value.code, error.value.message)

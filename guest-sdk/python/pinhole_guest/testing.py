"""A double of the host, for tests of a module: `python3 -m unittest`, without Wasm.

It answers each request with what a case of the manifest recorded, if the request is exactly the recorded one, and refuses
everything after the first difference. The credential and the headers of the manifest are the host's, and no matter of the
module. `pinhole module run` plays the same cases through the real host; only there the picks are held.
"""

from collections import namedtuple
from pathlib import Path

from .errors import OpError, RequestError
from .host import Host
from .runner import run
from .text import from_json, to_json

CASE_TIME = 1767225600
"""The time of every case: 2026-01-01T00:00:00Z, as `pinhole manifest test` and `pinhole module run` have it."""

Answer = namedtuple("Answer", "status headers body")
Came = namedtuple("Came", "result message")


class Difference(AssertionError):
    """What a request or a result should have been."""


class Recorded:
    """Answers recorded requests in their order. With `loose`, what a recorded request leaves out is not held."""

    def __init__(self, exchanges, *, now=CASE_TIME, loose=False):
        self._exchanges = exchanges
        self._now = now
        self._loose = loose
        self._sent = 0
        self.logged = []
        self.difference = None

    def host(self):
        """What an op is given."""
        return Host(self)

    @property
    def unsent(self):
        """How many recorded requests were not sent."""
        return len(self._exchanges) - self._sent

    def send(self, sent):
        """Answers one request."""
        if self.difference:
            raise self.difference
        number = self._sent
        self._sent += 1
        why = "no more is recorded"
        if number < len(self._exchanges):
            why = _differs(sent, self._exchanges[number]["request"], self._loose)
        if why:
            self.difference = Difference(f"request {self._sent}, {sent}: {why}")
            raise self.difference
        response = self._exchanges[number]["response"]
        if "failure" in response:
            raise RequestError(response["failure"]["code"], response["failure"]["message"])
        text = response.get("body_text", to_json(response["body"]) if "body" in response else "")
        headers = [(name.lower(), value) for name, value in response.get("headers", {}).items()]
        return Answer(response["status"], headers, text.encode())

    def send_all(self, requests):
        """Answers many."""
        return [self._or_error(sent) for sent in requests]

    def _or_error(self, sent):
        try:
            return self.send(sent)
        except RequestError as error:
            return error

    def write(self, level, message):
        """Keeps a line of the log."""
        self.logged.append((level, message))

    def now(self):
        """The time of the call."""
        return self._now


def play_case(file, *ops, declared=None, now=CASE_TIME, whole=False):
    """Plays a case's file through these ops, and gives the result, or the message of the error.

    Raises a `Difference` where a request is not the recorded one, is missing, or what came is not what the case expects. What
    the case expects was picked, so it need only be part of the result; with `whole` it must be all. `declared` is the op's
    declaration (`op.json` or a manifest, parsed), from which args get their defaults.
    """
    case = from_json(Path(file).read_bytes())
    op = _op_of(file)
    # A case that expects nothing yet is one that `pinhole module run --rewrite` fills in.
    recorded = Recorded(case["exchanges"], now=now, loose="expect" not in case)
    args = _normal(case["args"], _schema(declared or {}, op))
    try:
        text = run({one.__name__: one for one in ops}, recorded.host(), op, to_json(args))
        came = Came(from_json(text), None)
    except OpError as error:
        came = Came(None, str(error))
    if recorded.difference:
        raise recorded.difference
    if recorded.unsent:
        raise Difference(f"{recorded.unsent} recorded requests were not sent")
    _judge(case.get("expect", {}), came, whole)
    return came


def cases_of(folder, *ops):
    """The files of a folder that are cases of these ops and come to the module: those that end before it are the host's."""
    names = {op.__name__ for op in ops}
    return [file for file in sorted(Path(folder).glob("*.json")) if _op_of(file) in names and _reaches_module(file)]


def _reaches_module(file):
    case = from_json(file.read_bytes())
    return bool(case["exchanges"]) or case.get("expect", {}).get("refusal") in (None, "module_failed")


def _op_of(file):
    return Path(file).name.split(".")[0]


def _schema(declared, op):
    ops = declared.get("ops", declared.get("op", {}))
    return ops.get(op, {}).get("args", {})


def _normal(args, schema):
    """As the host hands args over: `null` as absent, defaults filled in."""
    given = {name: value for name, value in args.items() if value is not None}
    defaults = {name: one["default"] for name, one in schema.get("properties", {}).items() if "default" in one}
    return {**defaults, **given}


def _judge(expect, came, whole):
    if expect.get("refusal") == "module_failed" and came.message is None:
        raise Difference("the case expects an error")
    if "result" not in expect:
        return
    if came.message is not None:
        raise Difference(f"the case expects a result, and the op gave: {came.message}")
    wanted = expect["result"]
    if not (_same(wanted, came.result) if whole else _is_part(wanted, came.result)):
        raise Difference(f"expected {to_json(wanted)}, got {to_json(came.result)}")


def _differs(sent, wanted, loose):
    query = {}
    for name, value in sent.query:
        query.setdefault(name, []).append(value)
    recorded = {name: value if isinstance(value, list) else [value] for name, value in wanted.get("query", {}).items()}
    headers = wanted.get("headers", {})
    body = None if sent.body is None else from_json(sent.body)
    parts = [
        ("method", sent.method.upper(), wanted["method"]),
        ("path", sent.path, wanted["path"]),
        ("query", query, recorded),
        ("body", body, wanted.get("body")),
        *((f"header {name}", value, headers.get(name.lower())) for name, value in sent.headers),
    ]
    for what, was, should in parts:
        if not (_same(was, should) or (loose and should is None)):
            return f"{what}: recorded {to_json(should)}, sent {to_json(was)}"
    return None


def _same(one, other):
    """Equal as JSON: `True` is not 1."""
    return to_json(_sorted(one)) == to_json(_sorted(other))


def _sorted(value):
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _is_part(part, whole):
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(_is_part, part, whole))
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and _is_part(one, whole[name]) for name, one in part.items())
    return _same(part, whole)

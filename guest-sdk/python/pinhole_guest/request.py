"""A request of an op, built step by step, and the answer to it.

It must match a line of the op's `requests`: the host holds it to that. Refuses a value that is not one segment of a path
before the host would. INVARIANT: a request is never changed; each step gives a new one, so that a page can be asked for
again and again.
"""

import re
from dataclasses import dataclass, replace
from urllib.parse import quote

from .errors import OpError, ServiceError
from .text import from_json, to_json


@dataclass(frozen=True)
class Sent:
    """A request as the contract has it: `method` in lower case, `query` and `headers` as pairs, `body` as JSON."""

    method: str
    path: str
    query: tuple = ()
    headers: tuple = ()
    body: str | None = None

    def __str__(self):
        return f"{self.method.upper()} {self.path}"


class Request:
    """A request."""

    def __init__(self, transport, sent):
        self._transport = transport
        self.sent = sent

    @classmethod
    def to(cls, transport, method, path, values):
        """A request to a path whose `{name}`s are filled with these values, each as one segment, encoded."""
        return cls(transport, Sent(method, _filled(path, values)))

    def _with(self, **parts):
        return Request(self._transport, replace(self.sent, **parts))

    def query(self, name, value):
        """Adds to the query. `None` adds nothing, a list adds its key once for each element."""
        values = value if isinstance(value, (list, tuple)) else [value]
        pairs = tuple((name, _text(value)) for value in values if value is not None)
        return self._with(query=self.sent.query + pairs)

    def set_query(self, name, value):
        """Puts a value into the query in the place of those of the same name."""
        kept = tuple(pair for pair in self.sent.query if pair[0] != name)
        return self._with(query=kept).query(name, value)

    def with_target(self, path, query):
        """The same with another path, as it is sent, and another query, as pairs."""
        return self._with(path=path, query=tuple(query))

    def header(self, name, value):
        """Adds a header; the line lists its name."""
        return self._with(headers=self.sent.headers + ((name, _text(value)),))

    def json(self, value):
        """Gives it a body of JSON."""
        return self._with(body=to_json(value))

    def send(self):
        """Sends it and waits for the answer, whatever its status. Raises a `RequestError` where there is none."""
        return Response(self.sent, self._transport.send(self.sent))


class Response:
    """An answer, whatever its status."""

    def __init__(self, sent, answer):
        self._sent = sent
        self.status = answer.status
        self.headers = tuple(answer.headers)
        self.body = answer.body

    @property
    def ok(self):
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def header(self, name):
        """The values of a header, joined by `, `; `None` where there is none."""
        values = [value for other, value in self.headers if other == name.lower()]
        return ", ".join(values) if values else None

    def text(self):
        """The body as text; U+FFFD stands for what is no UTF-8."""
        # Not `utf-8-sig`: Python looks for that codec in a file, and the sandbox has none.
        return self.body.decode("utf-8", "replace").removeprefix("\ufeff")

    def json(self):
        """The body as JSON. Whole numbers keep their digits."""
        try:
            return from_json(self.text())
        except (ValueError, RecursionError):
            raise OpError(f"{self._sent}: the answer is not JSON") from None

    def expect_ok(self):
        """This answer, if its status is 2xx."""
        if self.ok:
            return self
        raise ServiceError(f"{self._sent}: the service answered {self.status}", self)


def _text(value):
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


def _filled(path, values):
    def value(found):
        name = found[1]
        if name not in values:
            raise OpError(f"the path `{path}` has no value for `{{{name}}}`")
        return _segment(name, values[name])

    return re.sub(r"\{([^{}]*)\}", value, path)


def _segment(name, value):
    text = "" if value is None else _text(value)
    if text in ("", ".", "..") or re.search(r"[\x00-\x1f\x7f]", text):
        raise OpError(f"`{name}` cannot stand in a path: it is empty, `.`, `..` or holds a control character")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise OpError(f"`{name}` is not valid Unicode") from None

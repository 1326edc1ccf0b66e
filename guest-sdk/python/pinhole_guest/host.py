"""What an op is given: requests to the manifest's service, their pages, the log, the time. Nothing else is to be had.

INVARIANT: whatever is sent goes through `transport`, which the sandbox gives or a test.
"""

from .errors import OpError, ServiceError
from .pages import Pages
from .request import Request, Response


class Log:
    """Lines for the host's log."""

    def __init__(self, write):
        self._write = write

    def debug(self, message):
        """Writes a line that few want to see."""
        self._write("debug", str(message))

    def info(self, message):
        """Writes a line that tells what is done."""
        self._write("info", str(message))

    def warn(self, message):
        """Writes a line about what is odd."""
        self._write("warn", str(message))

    def error(self, message):
        """Writes a line about what went wrong."""
        self._write("error", str(message))


class Host:
    """What an op is given."""

    def __init__(self, transport):
        self.transport = transport
        self.log = Log(transport.write)
        self.pages = Pages(self)

    def now(self):
        """Seconds since 1970 at which the call began."""
        return self.transport.now()

    def get(self, path, values=None):
        """A GET; `{name}`s of the path are filled with these values."""
        return Request.to(self.transport, "get", path, values or {})

    def head(self, path, values=None):
        """A HEAD."""
        return Request.to(self.transport, "head", path, values or {})

    def post(self, path, values=None):
        """A POST, on a line that says it reads."""
        return Request.to(self.transport, "post", path, values or {})

    def graphql(self, path, document, variables=None):
        """The `data` of a GraphQL document, which must be the line's letter by letter.

        Raises a `ServiceError` on `errors` and on another status than 2xx.
        """
        response = self.post(path).json({"query": document, "variables": variables or {}}).send()
        # Some services send `errors` with a status of 400: they say more than the status does.
        is_json = response.ok or "json" in (response.header("content-type") or "")
        answer = response.json() if is_json else None
        answer = answer if isinstance(answer, dict) else {}
        if answer.get("errors"):
            raise ServiceError(f"the service answered with an error: {_first(answer['errors'])}", response)
        response.expect_ok()
        if not isinstance(answer.get("data"), dict):
            raise ServiceError("the service answered without `data`", response)
        return answer["data"]

    def send_all(self, requests):
        """Sends all, up to eight at once. Gives for each, in order, its answer or the `RequestError` that came of it."""
        requests = [request.sent for request in requests]
        answers = self.transport.send_all(requests)
        pairs = zip(requests, answers, strict=True)
        return [answer if isinstance(answer, OpError) else Response(sent, answer) for sent, answer in pairs]


def _first(errors):
    first = errors[0] if isinstance(errors, list) else errors
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, str) else "without a message"

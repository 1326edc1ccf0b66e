"""Four ways of services to cut a list into pages, each a generator.

INVARIANT: a list is followed to its end or ends in an error: at most `limit` pages, and never the same one twice.
"""

import re
from urllib.parse import parse_qsl, urlsplit

from .errors import OpError

LIMIT = 20
_NEXT = re.compile(r';\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)', re.IGNORECASE)


class Pages:
    """The pages of a list, each asked for when the one before it is done with.

    More than `limit` pages are an error, never a list that is silently short.
    """

    def __init__(self, host):
        self._host = host

    def link(self, request, *, limit=LIMIT):
        """Follows `Link: <…>; rel="next"`. Gives answers."""
        visits = _Visits(limit)
        while request is not None:
            visits.visit(request.sent)
            response = request.send().expect_ok()
            yield response
            request = _linked(request, response.header("link"))

    def page(self, request, *, query="page", first=1, size=None, items=lambda body: body, limit=LIMIT):
        """Counts `query` up from `first` until `items` of an answer gives none, or fewer than `size`. Gives answers."""
        visits = _Visits(limit)
        number = first
        while True:
            visits.visit(number)
            response = request.set_query(query, number).send().expect_ok()
            found = items(response.json())
            if not isinstance(found, list):
                raise OpError(f"{request.sent}: page {number} is not a list")
            if found:
                yield response
            # With the size known, a short page is the last; without it an empty one.
            if len(found) < (size or 1):
                return
            number += 1

    def cursor(self, request, *, query, next, limit=LIMIT):
        """Puts what `next` finds in an answer into `query` until it finds none. Gives answers."""
        visits = _Visits(limit)
        place = None
        while True:
            visits.visit(place)
            response = (request if place is None else request.set_query(query, place)).send().expect_ok()
            yield response
            place = next(response.json())
            if place is None or place == "":
                return

    def relay(self, path, document, variables, *, connection, variable="after", limit=LIMIT):
        """Follows a GraphQL connection, which `connection` finds in `data`. Gives `data`."""
        visits = _Visits(limit)
        place = None
        while True:
            visits.visit(place)
            given = variables if place is None else {**variables, variable: place}
            data = self._host.graphql(path, document, given)
            info = (connection(data) or {}).get("pageInfo")
            if not isinstance(info, dict) or not isinstance(info.get("hasNextPage"), bool):
                raise OpError("the answer has no `pageInfo`")
            yield data
            if not info["hasNextPage"]:
                return
            place = info.get("endCursor")
            if not isinstance(place, str):
                raise OpError("there is a next page, and no `endCursor` to it")


class _Visits:
    def __init__(self, limit):
        self._limit = limit
        self._seen = set()

    def visit(self, place):
        if place in self._seen:
            raise OpError("the service leads from a page back to the same one")
        if len(self._seen) >= self._limit:
            raise OpError(f"there are more than {self._limit} pages: narrow what is asked for")
        self._seen.add(place)


def _linked(request, header):
    """The request that a `Link` header leads to. Of the address only path and query count: the host is the manifest's."""
    for address, params in re.findall(r"<([^>]*)>([^<]*)", header or ""):
        if _NEXT.search(params):
            try:
                target = urlsplit(address)
                pairs = parse_qsl(target.query, keep_blank_values=True, errors="strict")
            except ValueError:
                raise OpError("the `Link` to the next page is not an address") from None
            return request.with_target(target.path or request.sent.path, pairs)
    return None

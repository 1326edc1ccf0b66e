"""Why an op has no result.

Each kind is an `OpError`, whose message is what the caller is told, clipped and marked as the module's: say what is wrong and
what to do, and put nothing of a record into it.
"""


class OpError(Exception):
    """Why there is no result, in words for the person or the bot."""


class RequestError(OpError):
    """A request has no answer: it timed out, was redirected, or the like. `code` is the host's name for it."""

    def __init__(self, code, message):
        super().__init__(f"{message} ({code})")
        self.code = code


class ServiceError(OpError):
    """The service answered, and not with what was asked for: another status than 2xx, or `errors` of GraphQL."""

    def __init__(self, message, response):
        super().__init__(message)
        self.response = response

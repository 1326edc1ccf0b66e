"""For writing Pinhole op modules: what an op raises, and `world`, which makes a module of ops.

An op gets everything else from the `host` that it is given. Nothing here needs the sandbox to be imported, so that the ops
run in `python3 -m unittest` as well.
"""

from .errors import OpError, RequestError, ServiceError
from .host import Host
from .request import Request, Response
from .sandbox import world

__all__ = ["Host", "OpError", "Request", "RequestError", "Response", "ServiceError", "world"]

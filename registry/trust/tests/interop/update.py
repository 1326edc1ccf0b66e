"""python-tuf's own client on a folder that is served over loopback HTTP.

usage: update.py FOLDER STATE ROOT [TARGET...]
Says as one line of JSON which versions it trusts and what it downloaded, or which error refused it.
"""

import functools
import hashlib
import http.server
import json
import os
import sys
import threading

from tuf.ngclient import Updater


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def main(folder, state, root, *targets):
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    downloads = os.path.join(state, "downloads")
    os.makedirs(downloads, exist_ok=True)
    with open(root, "rb") as file:
        bootstrap = file.read()
    updater = Updater(
        state, f"{base}/metadata", downloads, f"{base}/targets", bootstrap=bootstrap
    )
    said = {}
    try:
        updater.refresh()
        for name in targets:
            info = updater.get_targetinfo(name)
            with open(updater.download_target(info), "rb") as file:
                said[name] = hashlib.sha256(file.read()).hexdigest()
        trusted = updater._trusted_set
        said["versions"] = [
            trusted.root.version,
            trusted.timestamp.version,
            trusted.snapshot.version,
            trusted.targets.version,
        ]
    except Exception as error:
        said = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(said))
    server.shutdown()


main(*sys.argv[1:])

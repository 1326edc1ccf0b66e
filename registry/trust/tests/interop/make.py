"""python-tuf makes a repository and changes it: three folders, each as a web server would serve it.

usage: make.py OUT KEYTYPE NAME=FILE...
OUT/1 is the first state. OUT/2 has other root, targets and snapshot keys (root and targets two of three), the same timestamp
key, and later versions. KEYTYPE is ed25519 or ecdsa. OUT/3 is OUT/2 with the timestamp of OUT/1: a rollback. Each target has the bytes of FILE.
"""

import copy
import datetime
import os
import shutil
import sys

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization.json import JSONSerializer

EXPIRES = datetime.datetime(2090, 1, 1, tzinfo=datetime.timezone.utc)


def write(folder, area, name, data):
    path = os.path.join(folder, area, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def signed(role, signers):
    metadata = Metadata(copy.deepcopy(role))
    for signer in signers:
        metadata.sign(signer, append=True)
    return metadata.to_bytes(JSONSerializer(compact=False))


def listed(version, data):
    return MetaFile.from_data(version, data, ["sha256"])


GENERATE = {
    "ed25519": CryptoSigner.generate_ed25519,
    "ecdsa": CryptoSigner.generate_ecdsa,
}


class Repository:
    def __init__(self, generate, targets):
        self.generate = generate
        self.signers = {
            role: [generate()]
            for role in ("root", "timestamp", "snapshot", "targets")
        }
        self.root = Root(expires=EXPIRES, consistent_snapshot=True)
        for role, signers in self.signers.items():
            for signer in signers:
                self.root.add_key(signer.public_key, role)
        self.targets = Targets(expires=EXPIRES)
        self.content = {}
        for name, file in targets.items():
            with open(file, "rb") as opened:
                self.content[name] = opened.read()
            self.targets.targets[name] = TargetFile.from_data(
                name, self.content[name], ["sha256"]
            )
        self.snapshot = Snapshot(expires=EXPIRES)
        self.timestamp = Timestamp(expires=EXPIRES)

    def replace(self, role, count, threshold):
        for key in list(self.root.roles[role].keyids):
            self.root.revoke_key(key, role)
        self.signers[role] = [self.generate() for _ in range(count)]
        for signer in self.signers[role]:
            self.root.add_key(signer.public_key, role)
        self.root.roles[role].threshold = threshold

    def publish(self, folder, root_signers):
        root = signed(self.root, root_signers)
        write(folder, "metadata", f"{self.root.version}.root.json", root)
        targets = signed(self.targets, self.signers["targets"])
        write(folder, "metadata", f"{self.targets.version}.targets.json", targets)
        self.snapshot.meta["targets.json"] = listed(self.targets.version, targets)
        snapshot = signed(self.snapshot, self.signers["snapshot"])
        write(folder, "metadata", f"{self.snapshot.version}.snapshot.json", snapshot)
        self.timestamp.snapshot_meta = listed(self.snapshot.version, snapshot)
        timestamp = signed(self.timestamp, self.signers["timestamp"])
        write(folder, "metadata", "timestamp.json", timestamp)
        for name, data in self.content.items():
            hashed = self.targets.targets[name].hashes["sha256"]
            place, _, file = name.rpartition("/")
            write(folder, "targets", os.path.join(place, f"{hashed}.{file}"), data)


def main(out, key_type, *pairs):
    repository = Repository(GENERATE[key_type], dict(pair.split("=", 1) for pair in pairs))
    first, second, third = (os.path.join(out, n) for n in ("1", "2", "3"))
    repository.publish(first, repository.signers["root"])
    shutil.copytree(first, second)
    old = repository.signers["root"]
    for role in ("root", "targets"):
        repository.replace(role, 3, 2)
    repository.replace("snapshot", 1, 1)
    # Two of the three are enough.
    repository.signers["targets"].pop()
    for role in (repository.root, repository.targets, repository.snapshot, repository.timestamp):
        role.version += 1
    repository.publish(second, old + repository.signers["root"][1:])
    shutil.copytree(second, third)
    shutil.copy(
        os.path.join(first, "metadata", "timestamp.json"),
        os.path.join(third, "metadata", "timestamp.json"),
    )


main(*sys.argv[1:])

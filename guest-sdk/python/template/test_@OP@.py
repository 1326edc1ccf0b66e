"""Plays every case of `cases/` through the op, without Wasm: `python3 -m unittest`."""

import json
import unittest
from pathlib import Path

from pinhole_guest import ServiceError
from pinhole_guest.testing import Answer, Recorded, cases_of, play_case

from @OP@ import @OP@

HERE = Path(__file__).parent
DECLARED = json.loads((HERE / "op.json").read_text(encoding="utf-8"))


class Op(unittest.TestCase):
    def test_every_case_holds(self):
        for file in cases_of(HERE / "cases", @OP@):
            with self.subTest(file.name):
                play_case(file, @OP@, declared=DECLARED)

    def test_a_status_that_is_no_success_is_an_error(self):
        host = Recorded([]).host()
        host.transport.send = lambda sent: Answer(503, [], b"")
        args = {name: "1" for name in DECLARED["op"]["@OP@"]["args"].get("properties", {})}
        with self.assertRaisesRegex(ServiceError, "the service answered 503"):
            @OP@(args, host)


if __name__ == "__main__":
    unittest.main()

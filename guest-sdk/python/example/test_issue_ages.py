"""Plays every case of `cases/` through the op, without Wasm: `python3 -m unittest`."""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).parent
# A project of your own has the folder `pinhole_guest` in it, and this line is not needed.
sys.path.append(str(HERE.parent))

from pinhole_guest import OpError  # noqa: E402
from pinhole_guest.testing import Recorded, cases_of, play_case  # noqa: E402

from issue_ages import issue_ages  # noqa: E402

DECLARED = json.loads((HERE / "op.json").read_text(encoding="utf-8"))
CASES = cases_of(HERE / "cases", issue_ages)


class IssueAges(unittest.TestCase):
    def test_every_case_holds(self):
        self.assertGreaterEqual(len(CASES), 3)
        for file in CASES:
            with self.subTest(file.name):
                play_case(file, issue_ages, declared=DECLARED)

    def test_an_endless_list_is_an_error(self):
        request = {"method": "GET", "path": "/repos/o/r/issues", "query": {"state": "open", "per_page": "100"}}
        link = {"link": '</repos/o/r/issues?state=open&per_page=100>; rel="next"'}
        recorded = Recorded([{"request": request, "response": {"status": 200, "headers": link, "body": []}}])
        with self.assertRaisesRegex(OpError, "back to the same one"):
            issue_ages({"owner": "o", "repo": "r", "labels": 5}, recorded.host())


if __name__ == "__main__":
    unittest.main()

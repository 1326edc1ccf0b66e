"""The double itself: what it must not let pass."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from pinhole_guest import OpError, RequestError  # noqa: E402
from pinhole_guest.testing import Difference, Recorded, cases_of, play_case  # noqa: E402

BIG = 12345678901234567890


def exchange(**parts):
    request = {"method": "POST", "path": "/x", "query": {"a": ["1", "2"], "b": "3"}, "headers": {"x-a": "1"}, "body": {"n": 1}}
    return {"request": {**request, **parts}, "response": {"status": 200, "body": {"id": BIG}}}


def op(args, host):
    request = host.post("/x").query("a", [1, 2]).query("b", args["b"]).header("x-a", 1).json({"n": 1})
    return {"id": request.send().json()["id"], "more": True}


class Double(unittest.TestCase):
    def written(self, **parts):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        whole = {"args": {"b": 3}, "access": "read", "exchanges": [exchange()], "expect": {"result": {"id": BIG}}, **parts}
        file = Path(folder.name) / "op.some.json"
        file.write_text(json.dumps({name: value for name, value in whole.items() if value is not None}))
        return file

    def differs(self, played=op, words="", **parts):
        with self.assertRaisesRegex(Difference, words):
            self.play(played, **parts)

    def play(self, played, **parts):
        played.__name__ = "op"
        return play_case(self.written(**parts), played)

    def test_a_case_holds_whose_requests_and_result_are_as_recorded_to_the_last_digit(self):
        self.assertEqual(play_case(self.written(), op).result, {"id": BIG, "more": True})
        self.differs(expect={"result": {"id": BIG + 1}})

    def test_each_part_of_a_request_is_held(self):
        others = [
            {"method": "GET"}, {"path": "/y"}, {"query": {"a": ["2", "1"], "b": "3"}}, {"query": {}},
            {"headers": {"x-a": "2"}}, {"headers": {}}, {"body": {"n": 2}}, {"body": {"n": True}}, {"body": None},
        ]  # fmt: skip
        for other in others:
            with self.subTest(other):
                self.differs(exchanges=[exchange(**other)])

    def test_a_request_too_many_and_one_too_few_are_differences_and_an_op_cannot_swallow_them(self):
        def swallows(args, host):
            try:
                return op(args, host)
            except Difference:
                return {"id": BIG}

        def again(args, host):
            swallows(args, host)
            return op(args, host)

        self.differs(swallows, "no more is recorded", exchanges=[])
        self.differs(again, "^request 1, ", exchanges=[exchange(path="/y"), exchange()])
        self.differs(op, "were not sent", exchanges=[exchange(), exchange()])

    def test_an_error_where_a_result_is_expected_is_a_difference_and_the_other_way_round(self):
        def breaks(args, host):
            raise OpError("no such thing")

        refused = {"refusal": "module_failed"}
        self.differs(breaks, "the op gave: no such thing", exchanges=[])
        self.assertEqual(self.play(breaks, exchanges=[], expect=refused).message, "no such thing")
        self.differs(op, "expects an error", expect=refused)

    def test_what_a_case_expects_may_be_part_of_the_result_and_with_whole_must_be_all(self):
        with self.assertRaises(Difference):
            play_case(self.written(), op, whole=True)
        for result in [{"id": BIG, "other": 1}, [], None, {"more": [True]}, {"more": 1}]:
            with self.subTest(result):
                self.differs(expect={"result": result})

    def test_a_list_of_another_length_is_another_list(self):
        def lists(args, host):
            return {"rows": [1, 2]}

        self.assertEqual(self.play(lists, exchanges=[], expect={"result": {"rows": [1, 2]}}).result, {"rows": [1, 2]})
        for rows in [[1], [1, 2, 3], [2, 1], []]:
            with self.subTest(rows):
                self.differs(lists, "expected", exchanges=[], expect={"result": {"rows": rows}})

    def test_absent_args_have_their_defaults_and_null_is_absent(self):
        seen = []
        schema = {"properties": {"b": {"default": 3}, "c": {"default": []}, "d": {}}}
        file = self.written(args={"b": None, "d": None, "e": 0}, exchanges=[], expect={"result": {}})

        def op(args, host):
            seen.append(args)
            return {}

        play_case(file, op, declared={"op": {"op": {"args": schema}}})
        self.assertEqual(seen, [{"b": 3, "c": [], "e": 0}])

    def test_a_case_that_expects_nothing_yet_is_loose_and_is_still_held_to_what_it_has(self):
        bare = {"request": {"method": "POST", "path": "/x"}, "response": {"status": 200, "body": {"id": 1}}}

        def plain(args, host):
            return host.post("/x").json({"n": 1}).send().json()

        self.assertEqual(self.play(plain, exchanges=[bare], expect=None).result, {"id": 1})
        self.differs(op, "query", exchanges=[bare], expect=None)
        bare["request"]["path"] = "/y"
        self.differs(plain, "path", exchanges=[bare], expect=None)

    def test_a_recorded_failure_reaches_the_op_alone_and_among_many(self):
        failed = {"request": {"method": "GET", "path": "/x"}, "response": {"failure": {"code": "timed_out", "message": ""}}}
        host = Recorded([failed, failed]).host()
        with self.assertRaises(RequestError):
            host.get("/x").send()
        self.assertEqual(host.send_all([host.get("/x")])[0].code, "timed_out")

    def test_cases_that_end_before_the_module_are_left_to_the_host(self):
        def found(**parts):
            return len(cases_of(self.written(**parts).parent, op))

        self.assertEqual((found(), found(exchanges=[], expect={"refusal": "invalid_args"})), (1, 0))
        self.assertEqual((found(exchanges=[], expect={"refusal": "module_failed"}), found(expect=None)), (1, 1))


if __name__ == "__main__":
    unittest.main()

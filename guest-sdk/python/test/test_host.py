"""Requests, answers, pages and errors of `pinhole_guest`, over a host that is a few lines of test."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from pinhole_guest import Host, OpError, RequestError, ServiceError, world  # noqa: E402
from pinhole_guest.runner import run  # noqa: E402
from pinhole_guest.testing import Answer  # noqa: E402


class Transport:
    """Answers each request with what `answer` makes of it, and remembers what was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.logged = []

    def send(self, sent):
        self.asked.append(sent)
        came = self.answer(sent, len(self.asked))
        if isinstance(came, Exception):
            raise came
        body = came.get("body")
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answer(came.get("status", 200), came.get("headers", []), raw)

    def send_all(self, requests):
        answers = []
        for sent in requests:
            try:
                answers.append(self.send(sent))
            except RequestError as error:
                answers.append(error)
        return answers

    def write(self, level, message):
        self.logged.append((level, message))

    def now(self):
        return 7


def hosting(answer):
    transport = Transport(answer)
    return Host(transport), transport


def queries(transport):
    return [sent.query for sent in transport.asked]


class Requests(unittest.TestCase):
    def test_a_value_of_a_path_is_one_encoded_segment(self):
        host, transport = hosting(lambda *_: {})
        host.get("/repos/{owner}/{repo}/issues", {"owner": "a/../b", "repo": "ü?#"}).send()
        self.assertEqual(transport.asked[0].path, "/repos/a%2F..%2Fb/%C3%BC%3F%23/issues")

    def test_a_value_that_cannot_stand_in_a_path_is_refused_before_it_is_sent(self):
        host, transport = hosting(lambda *_: {})
        for owner in ["", ".", "..", "a\0b", "a\nb", "\ud800", None]:
            with self.subTest(owner=owner), self.assertRaises(OpError):
                host.get("/repos/{owner}", {"owner": owner})
        with self.assertRaisesRegex(OpError, r"no value for `\{owner\}`"):
            host.get("/repos/{owner}")
        self.assertEqual(transport.asked, [])

    def test_what_is_absent_is_left_out_of_the_query_and_a_list_repeats_its_key(self):
        host, transport = hosting(lambda *_: {})
        request = host.get("/x").query("a", None).query("c", [1, "zwei"]).query("d", False)
        request.set_query("c", 3).send()
        request.send()
        self.assertEqual(queries(transport)[0], (("d", "false"), ("c", "3")))
        self.assertEqual(queries(transport)[1], (("c", "1"), ("c", "zwei"), ("d", "false")), "a step changed the request")

    def test_a_body_and_an_answer_keep_the_digits_of_whole_numbers(self):
        host, transport = hosting(lambda *_: {"body": b'{"id":12345678901234567890}'})
        answer = host.post("/x").json({"id": 12345678901234567890}).send().json()
        self.assertEqual((transport.asked[0].body, answer["id"]), ('{"id":12345678901234567890}', 12345678901234567890))

    def test_many_requests_have_their_answers_in_their_order_failures_among_them(self):
        failure = RequestError("timed_out", "too slow")
        host, _ = hosting(lambda _, n: failure if n == 2 else {"status": 200 + n})
        answers = host.send_all([host.get("/1"), host.get("/2"), host.get("/3")])
        self.assertEqual((answers[0].status, answers[1].code, answers[2].status), (201, "timed_out", 203))

    def test_a_status_that_is_no_success_and_an_answer_that_is_no_json_are_errors_that_say_so(self):
        host, _ = hosting(lambda *_: {"status": 502, "body": b"<html>"})
        response = host.get("/x").send()
        with self.assertRaisesRegex(ServiceError, r"GET /x.* 502"):
            response.expect_ok()
        with self.assertRaisesRegex(OpError, "not JSON"):
            response.json()
        for body in [b"NaN", b"[" * 200_000, b'{"a":Infinity}']:
            with self.subTest(body=body[:9]), self.assertRaisesRegex(OpError, "not JSON"):
                hosting(lambda *_: {"body": body})[0].get("/x").send().json()

    def test_a_body_that_is_no_utf8_is_text_all_the_same(self):
        host, _ = hosting(lambda *_: {"body": b"\xef\xbb\xbfa\xffb"})
        self.assertEqual(host.get("/x").send().text(), "a\ufffdb")

    def test_headers_of_one_name_are_joined_in_whatever_case_they_are_asked_for(self):
        host, _ = hosting(lambda *_: {"headers": [("link", "a"), ("etag", "x"), ("link", "b")]})
        response = host.get("/x").send()
        self.assertEqual((response.header("Link"), response.header("age")), ("a, b", None))


class Graphql(unittest.TestCase):
    def test_errors_are_errors_whatever_the_status(self):
        body = {"errors": [{"message": "no such team"}], "data": None}
        for status in [200, 400]:
            headers = [("content-type", "application/json")]
            host, _ = hosting(lambda *_: {"status": status, "headers": headers, "body": body})
            with self.subTest(status=status), self.assertRaisesRegex(ServiceError, "no such team"):
                host.graphql("/graphql", "query")
        for answer, words in [({"body": {"data": None}}, "without `data`"), ({"status": 502, "body": b"<"}, "502")]:
            with self.subTest(words), self.assertRaisesRegex(ServiceError, words):
                hosting(lambda *_: answer)[0].graphql("/graphql", "query")

    def test_a_document_and_its_variables_are_posted_as_they_are(self):
        host, transport = hosting(lambda *_: {"body": {"data": {"a": 1}}})
        self.assertEqual(host.graphql("/graphql", "query Q { ü }", {"b": 2}), {"a": 1})
        sent = transport.asked[0]
        self.assertEqual((sent.method, sent.body), ("post", '{"query":"query Q { ü }","variables":{"b":2}}'))


class Pages(unittest.TestCase):
    def test_links_are_followed_by_their_path_and_query_alone(self):
        target = "https://elsewhere.example/repositories/7/issues?a=open+now&page=2%261"
        link = f'<https://x/y>; rel="prev", <{target}>; rel="next", </z>; rel=last'
        host, transport = hosting(lambda _, n: {"headers": [("link", link)] if n == 1 else []})
        self.assertEqual(len(list(host.pages.link(host.get("/repos/a/b/issues").query("a", "open now")))), 2)
        self.assertEqual(transport.asked[1].path, "/repositories/7/issues")
        self.assertEqual(queries(transport)[1], (("a", "open now"), ("page", "2&1")))

    def test_a_list_of_more_pages_than_the_limit_is_an_error_and_no_short_list(self):
        host, transport = hosting(lambda _, n: {"headers": [("link", f'</x?page={n + 1}>; rel="next"')], "body": [1]})
        for pages in [host.pages.link, host.pages.page]:
            with self.assertRaisesRegex(OpError, "more than 3 pages"):
                list(pages(host.get("/x"), limit=3))
        self.assertEqual(len(transport.asked), 6)

    def test_a_page_that_leads_back_to_itself_is_an_error(self):
        host, _ = hosting(lambda *_: {"headers": [("link", '</x?page=2>; rel="next"')], "body": {"after": "c"}})
        with self.assertRaisesRegex(OpError, "same one"):
            list(host.pages.link(host.get("/x")))
        with self.assertRaisesRegex(OpError, "same one"):
            list(host.pages.cursor(host.get("/x"), query="after", next=lambda body: body["after"]))

    def test_pages_are_counted_until_one_is_empty_or_short_where_the_size_is_known(self):
        rows = [[1, 2], [3, 4], [5], []]
        host, transport = hosting(lambda sent, _: {"body": {"items": rows[int(sent.query[0][1]) - 1]}})
        found = host.pages.page(host.get("/x"), items=lambda body: body["items"])
        self.assertEqual((len(list(found)), len(transport.asked)), (3, 4))
        found = host.pages.page(host.get("/x"), items=lambda body: body["items"], size=2)
        self.assertEqual((len(list(found)), len(transport.asked)), (3, 7))
        with self.assertRaisesRegex(OpError, "not a list"):
            list(host.pages.page(host.get("/x")))

    def test_a_cursor_is_taken_from_each_answer_to_the_next_request(self):
        host, transport = hosting(lambda _, n: {"body": {"after": f"c{n}" if n < 3 else None}})
        self.assertEqual(len(list(host.pages.cursor(host.get("/x"), query="after", next=lambda body: body["after"]))), 3)
        self.assertEqual(queries(transport), [(), (("after", "c1"),), (("after", "c2"),)])

    def test_a_connection_is_followed_by_its_page_info(self):
        infos = [{"hasNextPage": True, "endCursor": "c1"}, {"hasNextPage": False, "endCursor": None}]
        host, transport = hosting(lambda _, n: {"body": {"data": {"all": {"nodes": [n], "pageInfo": infos[n - 1]}}}})
        pages = host.pages.relay("/graphql", "query", {"first": 1}, connection=lambda data: data["all"])
        self.assertEqual([data["all"]["nodes"] for data in pages], [[1], [2]])
        given = [json.loads(sent.body)["variables"] for sent in transport.asked]
        self.assertEqual(given, [{"first": 1}, {"first": 1, "after": "c1"}])
        for info, words in [({"hasNextPage": True, "endCursor": None}, "no `endCursor`"), (None, "no `pageInfo`")]:
            host, _ = hosting(lambda *_: {"body": {"data": {"all": {"pageInfo": info}}}})
            with self.subTest(words), self.assertRaisesRegex(OpError, words):
                list(host.pages.relay("/graphql", "query", {}, connection=lambda data: data["all"]))


class Runs(unittest.TestCase):
    def said(self, op, result):
        host, transport = hosting(lambda *_: {})
        with self.assertRaises(OpError) as caught:
            run({"op": result}, host, op, "{}")
        return str(caught.exception), transport.logged

    def test_whatever_an_op_raises_is_the_contracts_error(self):
        def tells(args, host):
            raise OpError("no such team")

        self.assertEqual(self.said("op", tells), ("no such team", []))
        message, logged = self.said("op", lambda args, host: args["absent"])
        self.assertEqual(message, "KeyError: 'absent'")
        self.assertEqual(logged[0][0], "error")
        self.assertRegex(logged[0][1], r"(?s)^KeyError: .*test_host\.py:\d+ <lambda>$")
        self.assertIn("gave no result", self.said("op", lambda args, host: None)[0])
        self.assertIn("ValueError", self.said("op", lambda args, host: float("nan"))[0])
        self.assertIn("no op `other`", self.said("other", tells)[0])

    def test_a_result_is_json_with_its_digits(self):
        host, _ = hosting(lambda *_: {})
        op = {"op": lambda args, host: {"id": args["id"] + 1, "now": host.now()}}
        came = run(op, host, "op", '{"id":12345678901234567890}')
        self.assertEqual(came, '{"id":12345678901234567891,"now":7}')

    def test_without_the_sandbox_a_module_can_be_imported(self):
        self.assertIsNone(world(lambda args, host: None))


if __name__ == "__main__":
    unittest.main()

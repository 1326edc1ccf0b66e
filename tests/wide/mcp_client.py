"""A session of the Python package `mcp`'s client with a server of Pinhole's, and what the client made of it, as one line of JSON.

    python3 tests/wide/mcp_client.py '{"mode": "auto", "command": ["pinhole", "mcp"], "env": {}}'
    python3 tests/wide/mcp_client.py '{"mode": "legacy", "url": "http://127.0.0.1:8420/mcp", "token": "..."}'

It lists, reads, pages, makes mistakes and writes, against the stand-in of the tests. When a write waits for the person it
prints the question and goes on once a line comes on stdin. The client itself holds each result to the tool's schema.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack

import httpx2
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

REPO = {"owner": "pinhole-demo", "repo": "lantern"}
ISSUE = {**REPO, "title": "The lamp flickers"}


def server(plan):
    """Where the server is, as the client takes it."""
    if "command" in plan:
        command, *args = plan["command"]
        return StdioServerParameters(command=command, args=args, env=plan["env"])
    headers = {"authorization": f"Bearer {plan['token']}"}
    return streamable_http_client(plan["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=60))


def seen(result):
    """A tool's result, as plain values."""
    return {
        "error": bool(result.is_error),
        "text": "\n".join(block.text for block in result.content if block.type == "text"),
        "value": result.structured_content,
    }


async def every_tool(client):
    """The tools of every page."""
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools.extend(page.tools)
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def paged(client, tool, arguments):
    """The results of every page."""
    pages, next_page = [], {}
    while True:
        result = seen(await client.call_tool(tool, {**arguments, **next_page}))
        pages.append(result)
        if result["error"] or "next" not in result["value"] or len(pages) > 20:
            return pages
        next_page = {"next": result["value"]["next"]}


async def main(plan):
    asked = []

    async def elicited(_context, params):
        asked.append(getattr(params, "message", ""))
        return ElicitResult(action="accept", content={"yes": True})

    report = {}
    callback = elicited if plan.get("elicits") else None
    async with AsyncExitStack() as stack:
        client = Client(server(plan), mode=plan["mode"], elicitation_callback=callback)
        await stack.enter_async_context(client)
        report["version"] = str(client.session.protocol_version)
        tools = await every_tool(client)
        report["tools"] = {
            tool.name: {
                "read_only": tool.annotations.read_only_hint,
                "destructive": tool.annotations.destructive_hint,
                "has_output": tool.output_schema is not None,
            }
            for tool in tools
        }
        report["read"] = seen(await client.call_tool("github_get_repo", REPO))
        report["null"] = seen(await client.call_tool("github_list_issues", {**REPO, "state": None}))
        report["pages"] = await paged(client, "github_list_org_repos", {"org": plan["org"], "per_page": 1})
        report["unknown"] = seen(await client.call_tool("github_get_repo", {**REPO, "visibility": "all"}))
        report["missing"] = seen(await client.call_tool("github_get_repo", {"owner": "pinhole-demo"}))
        report["nothing"] = seen(await client.call_tool("github_get_repo"))
        try:
            await client.call_tool("github_no_such_op", {})
        except Exception as error:  # The kind is the client's; what it says is the server's.
            report["no_such_tool"] = str(error)
        report["asked"] = seen(await client.call_tool("github_create_issue", ISSUE))
        if report["asked"]["error"]:
            print(json.dumps({"waits": report["asked"]["text"]}), flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            other = {**ISSUE, "title": "Another"}
            report["other"] = seen(await client.call_tool("github_create_issue", other))
            report["written"] = seen(await client.call_tool("github_create_issue", ISSUE))
            report["again"] = seen(await client.call_tool("github_create_issue", ISSUE))
    report["elicited"] = asked
    print(json.dumps(report), flush=True)


asyncio.run(main(json.loads(sys.argv[1])))

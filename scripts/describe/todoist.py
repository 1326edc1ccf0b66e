#!/usr/bin/env python3
"""Makes an OpenAPI description of Todoist's own Python client, so that `pinhole manifest verify` can hold a manifest against it.

    python3 scripts/describe/todoist.py FOLDER > DESCRIPTION.json

Todoist's published description is in no package. Its client (PyPI `todoist-api-python`) says the same: each method has its
path, what it sends, how long and how large that may be, and the type that it answers with. FOLDER holds the unpacked package;
its files are parsed, never run. What the client leaves out is listed below, each with where it is said. Refuses a type that it
cannot read. Needs Python 3.9 and no package. Exit status: 0 done; 1 not.
"""

import ast
import json
import sys
from pathlib import Path

PACKAGE = "todoist_api_python"
VERBS = ("get", "post", "delete")
SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
TIMES = {"date": "date", "datetime": "date-time"}
# The client says only that these succeed; Todoist's Node client (npm `@doist/todoist-sdk` 11) reads a task out of the first.
ANSWERS = {"move_task": "Task"}
# What the Node client has and this one has not: `GET /user` with `CurrentUserSchema`, and three members of a task.
WHOLE, TEXT = {"type": "integer"}, {"type": "string"}
MAYBE = {"anyOf": [TEXT, {"type": "null"}]}
USER = {
    "id": TEXT, "email": TEXT, "full_name": TEXT, "lang": TEXT, "start_page": TEXT, "inbox_project_id": TEXT, "karma_trend": TEXT,
    "is_premium": {"type": "boolean"}, "premium_status": TEXT, "business_account_id": MAYBE, "avatar_big": MAYBE,
    "karma": {"type": "number"}, "date_format": WHOLE, "time_format": WHOLE, "weekly_goal": WHOLE, "daily_goal": WHOLE,
    "completed_count": WHOLE, "completed_today": WHOLE, "next_week": WHOLE, "start_day": WHOLE, "weekend_start_day": WHOLE,
    "days_off": {"type": "array", "items": WHOLE},
    "tz_info": {
        "type": "object",
        "properties": {"timezone": TEXT, "gmt_string": TEXT, "hours": WHOLE, "minutes": WHOLE, "is_dst": WHOLE},
    },
}
MORE = {"Task": {"user_id": TEXT, "checked": {"type": "boolean"}, "is_deleted": {"type": "boolean"}, "day_order": WHOLE}}
# A failure, and with which statuses: Todoist's guide to its API says both.
FAILED = ["400", "401", "403", "404", "429", "500", "503"]
FAILURE = {
    "error": TEXT, "error_code": WHOLE, "error_tag": TEXT, "http_code": WHOLE,
    "error_extra": {"type": "object", "additionalProperties": True},
}


class Unreadable(Exception):
    """A file, type or call that this program does not know how to read."""


class Package:
    """The package's modules, with the names that stand for types and paths."""

    def __init__(self, folder):
        root = Path(folder) / PACKAGE
        names = ("api.py", "models.py", "types.py", "_core/endpoints.py")
        self.api, self.models, types, endpoints = (ast.parse((root / name).read_text(encoding="utf-8")) for name in names)
        self.names = {}
        for tree in (types, self.models):
            self.names.update({node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)})
        self.paths = {}
        for node in endpoints.body:
            if isinstance(node, ast.Assign):
                self.paths[node.targets[0].id] = self.text(node.value)

    def text(self, node):
        """The text of a constant, of a name of one, or of an f-string, in which an arg becomes a placeholder."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.paths.get(node.id, f"{{{node.id}}}")
        if isinstance(node, ast.JoinedStr):
            return "".join(self.text(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values)
        raise Unreadable(f"cannot read the path `{ast.unparse(node)}`")

    def schema(self, node):
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        if isinstance(node, ast.Name):
            return self.named(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return {"anyOf": [self.schema(node.left), self.schema(node.right)]}
        if not isinstance(node, ast.Subscript):
            raise Unreadable(f"cannot read the type `{ast.unparse(node)}`")
        kind = ast.unparse(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if kind == "Annotated":
            return bounded(self.schema(inner[0]), inner[1:])
        if kind == "Literal":
            return {"type": "string", "enum": [one.value for one in inner]}
        if kind == "list":
            return {"type": "array", "items": self.schema(inner[0])}
        if kind in ("Union", "Optional"):
            parts = [self.schema(one) for one in inner]
            return {"anyOf": parts + ([{"type": "null"}] if kind == "Optional" else [])}
        if kind in ("DatePattern", "DateTimePattern", "UTCDateTimePattern"):
            return {"type": "string"}
        if kind in ("tuple", "dict"):
            return {}
        raise Unreadable(f"cannot read the type `{ast.unparse(node)}`")

    def named(self, name):
        if name in SCALARS:
            return {"type": SCALARS[name]}
        if name in TIMES:
            return {"type": "string", "format": TIMES[name]}
        return self.schema(self.names[name]) if name in self.names else {"$ref": f"#/components/schemas/{name}"}

    def schemas(self):
        """Every model: a field has the names by which the client takes it."""
        found = {}
        for model in (node for node in self.models.body if isinstance(node, ast.ClassDef)):
            fields = {}
            for line in model.body:
                if isinstance(line, ast.AnnAssign):
                    for name in aliases(line.annotation) or [line.target.id]:
                        fields[name] = self.schema(line.annotation)
            found[model.name] = {"type": "object", "properties": {**fields, **MORE.get(model.name, {})}}
        return found

    def operations(self):
        client = next(node for node in self.api.body if isinstance(node, ast.ClassDef) and node.name == "TodoistAPI")
        for method in client.body:
            calls = {node.func.id: node for node in ast.walk(method) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
            if "get_api_url" in calls:
                path = "/api/v1/" + self.text(calls["get_api_url"].args[0])
                yield path, *self.operation(method, calls, path)

    def operation(self, method, calls, path):
        given, paged = Given(self, method), calls.get("ResultsPaginator")
        verb = "get" if paged else next(verb for verb in VERBS if verb in calls)
        parameters = [{"name": name, "in": "path", **given.one(name)} for name in placeholders(path)]
        parameters += [{"name": name, "in": "query", **one} for name, one in given.members("params").items()]
        if paged:
            parameters.append({"name": "cursor", "in": "query", "schema": {"type": "string"}})
        described = {"parameters": parameters, "responses": {}}
        body = given.members("data")
        if body:
            required = [name for name, one in body.items() if one["required"]]
            schema = {"type": "object", "properties": {name: one["schema"] for name, one in body.items()}, "required": required}
            described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        answer = self.page(paged) if paged else self.named(ANSWERS.get(method.name, ast.unparse(method.returns)))
        # `bool`: the client asks for nothing but success.
        nothing = answer == {"type": "boolean"}
        described["responses"]["204" if nothing else "200"] = {} if nothing else json_of(answer)
        for status in FAILED:
            described["responses"][status] = json_of({"type": "object", "properties": FAILURE})
        return verb, described

    def page(self, call):
        field, kind = call.args[2].value, call.args[3]
        item = self.named(kind.value.id if isinstance(kind, ast.Attribute) else kind.id)
        return {"type": "object", "properties": {field: {"type": "array", "items": item}, "next_cursor": MAYBE}}


class Given:
    """What a method takes, and what it makes of it."""

    def __init__(self, package, method):
        args = method.args
        defaults = [None] * (len(args.args) - len(args.defaults)) + args.defaults + args.kw_defaults
        self.package, self.method = package, method
        self.args = {arg.arg: (arg.annotation, default is None) for arg, default in zip(args.args + args.kwonlyargs, defaults)}

    def one(self, name):
        annotation, required = self.args[name]
        return {"required": required, "schema": self.package.schema(annotation)}

    def members(self, name):
        """The members of `params` or `data`, each as the arg that it is made of."""
        for node in ast.walk(self.method):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Call):
                if ast.unparse(node.value.func) == "kwargs_without_none":
                    return {word.arg: self.member(word.value) for word in node.value.keywords}
            elif isinstance(node, ast.keyword) and node.arg == name and isinstance(node.value, ast.Dict):
                return {key.value: self.member(value) for key, value in zip(node.value.keys, node.value.values)}
        return {}

    def member(self, value):
        names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name) and node.id in self.args]
        if isinstance(value, ast.IfExp) and ".join" in ast.unparse(value):
            return {"required": False, "schema": {"type": "string"}}
        if isinstance(value, ast.Constant):
            return {"required": False, "schema": {"type": SCALARS[type(value.value).__name__]}}
        return self.one(names[0]) if names else {"required": False, "schema": {}}


def bounded(schema, marks):
    """A schema with the bounds that stand beside a type. A bound that is a program is read over."""
    bounds = {"MinLen": "minLength", "MaxLen": "maxLength", "Ge": "minimum", "Le": "maximum"}
    calls = [mark for mark in marks if isinstance(mark, ast.Call) and mark.func.id in bounds]
    return {**schema, **{bounds[call.func.id]: call.args[0].value for call in calls}}


def aliases(annotation):
    calls = [node for node in ast.walk(annotation) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Alias"]
    return [one.value for one in calls[0].keywords[0].value.elts] if calls else None


def placeholders(path):
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def json_of(schema):
    return {"content": {"application/json": {"schema": schema}}}


def main():
    if len(sys.argv) != 2:
        raise Unreadable("usage: todoist.py FOLDER")
    package = Package(sys.argv[1])
    paths = {}
    for path, verb, described in package.operations():
        paths.setdefault(path, {})[verb] = described
    if len(paths) < 25:
        raise Unreadable(f"only {len(paths)} paths were found")
    host = package.paths["API_URL"].removesuffix("/api/v1")
    user = {"parameters": [], "responses": {"200": json_of({"type": "object", "properties": USER})}}
    user["responses"].update({status: json_of({"type": "object", "properties": FAILURE}) for status in FAILED})
    paths["/api/v1/user"] = {"get": user}
    document = {"openapi": "3.1.0", "servers": [{"url": host}], "paths": paths, "components": {"schemas": package.schemas()}}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    try:
        main()
    except (Unreadable, OSError, SyntaxError, AttributeError, KeyError, IndexError, StopIteration) as error:
        sys.exit(f"describe-todoist: {error}")

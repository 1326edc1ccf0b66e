#!/usr/bin/env python3
"""Makes an OpenAPI description of HubSpot's own Python client, so that `pinhole manifest verify` can hold a manifest against it.

    python3 scripts/describe/hubspot.py FOLDER > DESCRIPTION.json

HubSpot's published descriptions are in no package. Its client (PyPI `hubspot-sdk`, generated from them) says the same: each
method has its path, its parameters and the type that it answers with. FOLDER holds the unpacked package; its files are
parsed, never run. What the types leave out is listed below, each with where it is said. Refuses a type that it cannot read.
Needs Python 3.9 and no package. Exit status: 0 done; 1 not.
"""

import ast
import json
import re
import sys
from pathlib import Path

PACKAGE = "hubspot_sdk"
VERBS = {"_get": "get", "_post": "post", "_patch": "patch", "_put": "put", "_delete": "delete", "_get_api_list": "get"}
# The resources that are read: those of the manifest. The package has some two hundred more.
RESOURCES = ["account/account.py", "crm/pipelines.py", *(f"crm/objects/{many}/{many}.py" for many in ("contacts", "companies", "deals"))]
# The client calls deals by the id of their type; HubSpot's guide to deals (2026-03) and the contacts' paths have the name.
TYPE_IDS = {"/0-3": "/deals"}
# Statuses of a success: HubSpot's reference says 201 for the creation of a record, and 200 for the rest.
CREATED = re.compile(r"^/crm/objects/[^/]+/[^/]+$")
FAILED = ["400", "401", "403", "404", "409", "429", "500"]
SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "datetime": "string", "date": "string"}
# A property without a value comes as null: the types of HubSpot's Node client (`@hubspot/api-client`) say so.
NULLABLE = [("SimplePublicObject", "properties"), ("SimplePublicObjectWithAssociations", "properties")]


class Unreadable(Exception):
    """A file, type or name that this program does not know how to read."""


class Package:
    """The package's modules, and the schemas of the classes that were asked for."""

    def __init__(self, folder):
        self.root = Path(folder) / PACKAGE
        self.trees = {}
        self.schemas = {}
        self.homes = {}

    def tree(self, file):
        if file not in self.trees:
            self.trees[file] = ast.parse(file.read_text(encoding="utf-8"))
        return self.trees[file]

    def home(self, file, name):
        """The file and class node of a name that a file uses: its own, or one that it imports from beside it."""
        for node in self.tree(file).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return file, node
        for node in ast.walk(self.tree(file)):
            if isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.home(self.imported(file, node), alias.name)
        raise Unreadable(f"{file.name} has no `{name}`")

    def module(self, file, name):
        """The file of a module that a file imports by its name."""
        for node in ast.walk(self.tree(file)):
            if isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    if alias.name == name:
                        return self.imported(file, node).parent / f"{name}.py"
        raise Unreadable(f"{file.name} imports no `{name}`")

    @staticmethod
    def imported(file, node):
        folder = file.parent
        for _ in range(node.level - 1):
            folder = folder.parent
        parts = (node.module or "").split(".") if node.module else []
        target = folder.joinpath(*parts)
        return target / "__init__.py" if target.is_dir() else target.with_suffix(".py")

    def ref(self, file, name):
        home, node = self.home(file, name)
        if self.homes.setdefault(name, home) != home:
            raise Unreadable(f"two classes are called `{name}`")
        if name not in self.schemas:
            self.schemas[name] = {}
            self.schemas[name].update(self.object(home, node))
        return {"$ref": f"#/components/schemas/{name}"}

    def object(self, file, node):
        schema = {"type": "object", "properties": {}, "required": []}
        for name, field, required in self.fields(file, node):
            schema["properties"][name] = field
            if required:
                schema["required"].append(name)
        return schema

    def fields(self, file, node):
        """The fields of a model or a typed dictionary: name on the wire, schema, and whether it must be there."""
        typed = any("TypedDict" in ast.unparse(base) for base in node.bases)
        for place, line in enumerate(node.body):
            if not isinstance(line, ast.AnnAssign):
                continue
            annotation, required = line.annotation, not typed and line.value is None
            if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Required":
                annotation, required = annotation.slice, True
            name = alias(line.value) or alias(annotation) or line.target.id
            schema = self.schema(file, annotation)
            yield name, said(schema, prose(node.body, place)), required

    def schema(self, file, node):
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        if isinstance(node, ast.Name):
            if node.id in SCALARS:
                return {"type": SCALARS[node.id]}
            return {} if node.id in ("object", "Any") else self.ref(file, node.id)
        if isinstance(node, ast.Attribute):
            return self.ref(self.module(file, node.value.id), node.attr)
        if not isinstance(node, ast.Subscript):
            raise Unreadable(f"{file.name}: cannot read the type `{ast.unparse(node)}`")
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        kind = ast.unparse(node.value)
        if kind == "Literal":
            return {"type": "string", "enum": [one.value for one in inner]}
        if kind in ("Annotated", "Required"):
            return self.schema(file, inner[0])
        if kind in ("List", "Iterable", "SequenceNotStr"):
            return {"type": "array", "items": self.schema(file, inner[0])}
        if kind == "Dict":
            return {"type": "object", "additionalProperties": self.schema(file, inner[1])}
        if kind == "Optional":
            return self.schema(file, inner[0])
        if kind == "Union":
            return {"anyOf": [self.schema(file, one) for one in inner]}
        raise Unreadable(f"{file.name}: cannot read the type `{ast.unparse(node)}`")


def alias(node):
    """The name on the wire, from `PropertyInfo(alias="…")` or `FieldInfo(alias="…")`."""
    calls = [] if node is None else [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    words = [word for call in calls for word in call.keywords if word.arg == "alias"]
    return words[0].value.value if words else None


def prose(body, place):
    after = body[place + 1] if place + 1 < len(body) else None
    text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    return " ".join(after.value.value.split()) if text else ""


def said(schema, words):
    """What a field's words add to its type: a largest number, and that a list may stand as one text."""
    largest = re.search(r"up to (\d+) objects", words)
    if largest and schema.get("type") == "integer":
        return {**schema, "maximum": int(largest.group(1))}
    if words.startswith("A comma separated list") and schema.get("type") == "array":
        return {"anyOf": [{"type": "string"}, schema]}
    return schema


def operations(package):
    """Every method of every resource that sends something: verb, path and description."""
    for file in (package.root / "resources" / name for name in RESOURCES):
        for node in package.tree(file).body:
            plain = isinstance(node, ast.ClassDef) and not node.name.startswith("Async") and "With" not in node.name
            for method in node.body if plain else []:
                for call in ast.walk(method):
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in VERBS:
                        yield operation(package, file, call)


def operation(package, file, call):
    verb = VERBS[call.func.attr]
    path = call.args[0] if isinstance(call.args[0], ast.Constant) else call.args[0].args[0]
    path, words = path.value, {word.arg: word.value for word in call.keywords}
    for type_id, name in TYPE_IDS.items():
        path = re.sub(re.escape(type_id) + r"(?=/|$)", name, path)
    placed = re.findall(r"\{([^{}]+)\}", path)
    parameters = [{"name": one, "in": "path", "required": True, "schema": {"type": "string"}} for one in placed]
    for name, schema, required in given(package, file, in_options(words.get("options"), "query")):
        parameters.append({"name": name, "in": "query", "required": required, "schema": schema})
    described = {"parameters": parameters, "responses": {}}
    if "body" in words:
        members = list(given(package, file, words["body"]))
        schema = {"type": "object", "properties": {name: one for name, one, _ in members}}
        schema["required"] = [name for name, _, required in members if required]
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    status = "201" if verb == "post" and CREATED.match(path) else "200"
    described["responses"][status] = answer(package, file, words)
    error = package.ref(package.root / "types" / "shared" / "error_data.py", "ErrorData")
    for status in FAILED:
        described["responses"][status] = {"content": {"application/json": {"schema": error}}}
    return verb, path, described


def in_options(options, name):
    words = options.keywords if isinstance(options, ast.Call) else []
    return next((word.value for word in words if word.arg == name), None)


def given(package, file, node):
    """The members that `maybe_transform({…}, module.Params)` sends, as `Params` describes them."""
    if not (isinstance(node, ast.Call) and isinstance(node.args[0], ast.Dict) and isinstance(node.args[1], ast.Attribute)):
        return
    keys = {key.value for key in node.args[0].keys}
    home, params = package.home(package.module(file, node.args[1].value.id), node.args[1].attr)
    python = [line.target.id for line in params.body if isinstance(line, ast.AnnAssign)]
    for name, field in zip(python, package.fields(home, params)):
        if name in keys:
            yield field


def answer(package, file, words):
    kind = words.get("page") or words.get("cast_to")
    if isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "SyncPage":
        item = package.schema(file, kind.slice)
        paging = package.ref(package.root / "types" / "shared" / "forward_paging.py", "ForwardPaging")
        schema = {"type": "object", "properties": {"results": {"type": "array", "items": item}, "paging": paging}}
    elif isinstance(kind, ast.Name) and kind.id not in ("NoneType", "object", "str", "BinaryAPIResponse"):
        schema = package.ref(file, kind.id)
    else:
        return {}
    return {"content": {"application/json": {"schema": schema}}}


def host(package):
    text = (package.root / "_client.py").read_text(encoding="utf-8")
    bases = set(re.findall(r"base_url = f?\"(https://[a-z.]+)\"", text))
    if len(bases) != 1:
        raise Unreadable(f"not one host: {sorted(bases)}")
    return bases.pop()


def main():
    if len(sys.argv) != 2:
        raise Unreadable("usage: hubspot.py FOLDER")
    package = Package(sys.argv[1])
    paths = {}
    for verb, path, described in operations(package):
        paths.setdefault(path, {})[verb] = described
    if len(paths) < 12:
        raise Unreadable(f"only {len(paths)} paths were found")
    for name, member in NULLABLE:
        values = package.schemas[name]["properties"][member]["additionalProperties"]
        package.schemas[name]["properties"][member]["additionalProperties"] = {"anyOf": [values, {"type": "null"}]}
    document = {"openapi": "3.1.0", "servers": [{"url": host(package)}], "paths": paths}
    document["components"] = {"schemas": package.schemas}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    try:
        main()
    except (Unreadable, OSError, SyntaxError, AttributeError, KeyError, IndexError) as error:
        sys.exit(f"describe-hubspot: {error}")

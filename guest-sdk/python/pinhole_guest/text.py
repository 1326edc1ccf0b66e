"""JSON as the contract has it: what Python's reader and writer let through besides is refused here.

Whole numbers keep their digits, whatever their length; fractions are doubles.
"""

import json


def _no_number(name):
    raise ValueError(f"{name} is not a number of JSON")


def from_json(text):
    """Reads JSON, from text or from bytes of UTF-8."""
    return json.loads(text, parse_constant=_no_number)


def to_json(value):
    """Writes JSON. Refuses a number that JSON has no word for."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))

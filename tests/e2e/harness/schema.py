"""The schemas of objects in JSON, and whether a value fits one. The build writes most of them;
docs/schema has some of what the command line makes itself."""
import json

import jsonschema

from harness.site import BUILD, ROOT


def _read(folder):
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


BY_HAND = _read(ROOT / "docs" / "schema")
WRITTEN = _read(BUILD / "schema")
SCHEMAS = BY_HAND | WRITTEN
_STORE = {f"{name}.json": schema for name, schema in SCHEMAS.items()}


def validator(kind):
    schema = SCHEMAS[kind]
    return jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver.from_schema(schema, store=_STORE))


def problems(kind, value):
    """What is wrong with a value of that kind, in words; empty: it fits."""
    return [f"{kind}: {error.json_path}: {error.message[:500]}" for error in validator(kind).iter_errors(value)]


def objects(schema):
    """Each schema of an object with keys of its own, in a file."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def keys_in(value):
    """The names of all keys in a value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_in(inner)

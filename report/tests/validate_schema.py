#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks JSON documents against the published schemas.

usage: validate_schema.py --program REPORT_SAMPLES    the documents that program writes into a folder
       validate_schema.py FILE...                     these documents

Exit code: 0 all valid, 1 one is not, 77 (skipped) when the module jsonschema is absent.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3 has no module jsonschema")
    sys.exit(77)

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)


def validators():
    out = {}
    for path in SCHEMAS.glob("*.schema.json"):
        schema = load(path)
        jsonschema.Draft202012Validator.check_schema(schema)
        out[schema["$id"]] = jsonschema.Draft202012Validator(schema)
    return out


def broken(document, required):
    """Copies of a document that must not validate: the check itself is checked."""
    extra = dict(document, surprise=1)
    short = {key: value for key, value in document.items() if key != required[-1]}
    return [extra, short]


def check(paths):
    by_schema = validators()
    failures = 0
    for path in paths:
        document = load(path)
        validator = by_schema[document["schema"]]
        errors = list(validator.iter_errors(document))
        for error in errors[:5]:
            print(f"{path.name}: {error.json_path}: {error.message[:200]}")
        failures += bool(errors)
        failures += sum(validator.is_valid(copy) for copy in broken(document, validator.schema["required"]))
    print(f"{len(paths)} documents, {failures} failures")
    return 1 if failures or not paths else 0


def main(arguments):
    if arguments[:1] != ["--program"]:
        return check([pathlib.Path(argument) for argument in arguments])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments[1], folder], check=True)
        return check(sorted(pathlib.Path(folder).glob("*.json")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

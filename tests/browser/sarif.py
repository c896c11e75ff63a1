#!/usr/bin/env python3
"""Checks a SARIF file against the rules of SARIF 2.1.0 for what culprit writes:
properties there are, those that must be, types, ranges, and what GitHub and
editors need besides.

usage: sarif.py FILE [SCHEMA]

With SCHEMA, the standard's own sarif-schema-2.1.0.json, the file is checked
against that as well (needs python3-jsonschema).
"""
import json
import re
import sys

TEXT, COUNT, NUMBER, BOOL = "text", "count", "number", "bool"
LEVELS = {"none", "note", "warning", "error"}


# Objects as sections 3.13 ff. of the standard have them: property -> what it
# is; "!" at the end of a name: must be there.
MESSAGE = {"text!": TEXT, "markdown": TEXT, "id": TEXT}
ARTIFACT = {"uri!": "uri", "uriBaseId": TEXT, "index": COUNT}
REGION = {"startLine!": "positive", "startColumn": "positive",
          "endLine": "positive", "endColumn": "positive", "snippet": MESSAGE}
PHYSICAL = {"artifactLocation!": ARTIFACT, "region!": REGION,
            "contextRegion": REGION}
LOGICAL = {"name!": TEXT, "fullyQualifiedName": TEXT, "kind": TEXT}
LOCATION = {"physicalLocation!": PHYSICAL, "logicalLocations": [LOGICAL],
            "message": MESSAGE}
STEP = {"location!": LOCATION, "importance": TEXT}
THREAD_FLOW = {"id": TEXT, "message": MESSAGE, "locations!": [STEP, 1]}
CODE_FLOW = {"message": MESSAGE, "threadFlows!": [THREAD_FLOW, 1]}
REPLACEMENT = {"deletedRegion!": REGION, "insertedContent": {"text": TEXT}}
FIX = {"description": MESSAGE, "artifactChanges!": [
    {"artifactLocation!": ARTIFACT, "replacements!": [REPLACEMENT, 1]}, 1]}
RESULT = {"ruleId!": TEXT, "ruleIndex": COUNT, "level": LEVELS, "rank": "rank",
          "message!": MESSAGE, "locations!": [LOCATION, 1],
          "partialFingerprints": "bag of text", "codeFlows": [CODE_FLOW],
          "fixes": [FIX, 1],
          "properties": "bag"}
RULE = {"id!": TEXT, "name": TEXT, "shortDescription": MESSAGE,
        "help": MESSAGE, "defaultConfiguration": {"level": LEVELS}}
DRIVER = {"name!": TEXT, "version": TEXT, "rules": [RULE]}
INVOCATION = {"executionSuccessful!": BOOL, "commandLine": TEXT,
              "workingDirectory": ARTIFACT}
RUN = {"tool!": {"driver!": DRIVER}, "automationDetails": {"id": TEXT},
       "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
       "originalUriBaseIds": "bases", "invocations": [INVOCATION],
       "results": [RESULT]}
LOG = {"$schema": "uri", "version!": {"2.1.0"}, "runs!": [RUN]}

URI = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?"
                 r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{2})*")


def scalar(value, kind):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return {TEXT: isinstance(value, str),
            COUNT: whole and value >= 0,
            "positive": whole and value >= 1,
            NUMBER: number,
            "rank": number and 0 <= value <= 100,
            BOOL: isinstance(value, bool),
            "uri": isinstance(value, str) and bool(URI.fullmatch(value)),
            "bag": isinstance(value, dict)}.get(kind)


def check(value, rule, where):
    if isinstance(rule, set):
        good = value in rule
    elif isinstance(rule, dict):
        check_object(value, rule, where)
        return
    elif isinstance(rule, list):
        check_list(value, rule, where)
        return
    elif rule == "bag of text":
        good = isinstance(value, dict) and all(
            isinstance(v, str) for v in value.values())
    elif rule == "bases":
        for name, base in value.items():
            check(base, ARTIFACT, f"{where}.{name}")
            assert base["uri"].endswith("/"), f"{where}.{name}: no / at the end"
        good = True
    else:
        good = scalar(value, rule)
    assert good, f"{where}: {value!r} is not {rule}"


def check_object(value, rule, where):
    assert isinstance(value, dict), f"{where}: no object"
    known = {name.rstrip("!"): kind for name, kind in rule.items()}
    for name in rule:
        assert not name.endswith("!") or name[:-1] in value, \
            f"{where}: no {name[:-1]}"
    for name, part in value.items():
        assert name in known, f"{where}: SARIF has no {name} here"
        check(part, known[name], f"{where}.{name}")


def check_list(value, rule, where):
    assert isinstance(value, list), f"{where}: no list"
    assert len(value) >= (rule[1] if len(rule) > 1 else 0), f"{where}: empty"
    for i, item in enumerate(value):
        check(item, rule[0], f"{where}[{i}]")


def check_run(run):
    """What types alone do not say."""
    rules = run["tool"]["driver"].get("rules", [])
    assert len({r["id"] for r in rules}) == len(rules), "a rule twice"
    seen = set()
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            artifact = location["physicalLocation"]["artifactLocation"]
            base = artifact.get("uriBaseId")
            assert base is None or base in run["originalUriBaseIds"]
            assert (base is None) == artifact["uri"].startswith("file:///"), \
                "relative to something, or absolute"
            region = location["physicalLocation"]["region"]
            if "endColumn" in region:
                assert region["endColumn"] > region["startColumn"]
        prints = result["partialFingerprints"]
        assert re.fullmatch(r"[0-9a-f]{16}:\d+", prints["primaryLocationLineHash"])
        seen.add((prints["culprit/v1"], prints["primaryLocationLineHash"]))
    assert len(seen) == len(run["results"]), "two results look the same"


def check_schema(log, path):
    import jsonschema
    with open(path, encoding="utf-8-sig") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    kind(schema, format_checker=jsonschema.FormatChecker()).validate(log)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        log = json.load(file)
    if len(sys.argv) > 2:
        check_schema(log, sys.argv[2])
    check(log, LOG, "log")
    for run in log["runs"]:
        check_run(run)
    print(sum(len(run["results"]) for run in log["runs"]), "results")


if __name__ == "__main__":
    main()

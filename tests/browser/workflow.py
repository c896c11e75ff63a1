#!/usr/bin/env python3
"""Checks a GitHub Actions workflow: that it is YAML of the shape GitHub takes,
that every option of culprit it uses exists, and that its shell scripts parse.

usage: workflow.py FILE
"""
import re
import subprocess
import sys

import yaml

TOP = {"name", "on", "permissions", "jobs", "env", "defaults", "concurrency"}
JOB = {"runs-on", "container", "steps", "needs", "if", "env", "strategy",
       "permissions", "timeout-minutes", "name"}
STEP = {"name", "id", "uses", "run", "with", "env", "if", "shell",
        "working-directory", "continue-on-error", "timeout-minutes"}
FUNCTIONS = {"failure", "always", "success", "cancelled"}
CONTEXTS = {"steps", "vars", "github", "env", "secrets", "runner", "job",
            "matrix", "needs"}
STRATEGY = {"matrix", "fail-fast", "max-parallel"}
problems = []


def check(good, text):
    if not good:
        problems.append(text)


def check_keys(thing, allowed, where):
    for key in thing:
        check(key in allowed, f"{where}: unknown key {key}")


def check_expression(text, ids, where):
    """Names of an `if`: functions and contexts that are there, steps before."""
    text = re.sub(r"'[^']*'", "''", text)
    for name in re.findall(r"\b([a-z]+)\(", text):
        check(name in FUNCTIONS, f"{where}: no function {name}()")
    for name, of in re.findall(r"\b([a-z]+)\.([A-Za-z_-]+)", text):
        if name == "steps":
            check(of in ids, f"{where}: no step {of} before it")
        elif not re.search(rf"\.{name}\b", text):
            check(name in CONTEXTS, f"{where}: no context {name}")


def options_of(command):
    out = subprocess.run(["culprit", command, "--help"], capture_output=True,
                         text=True, check=False).stdout
    return set(re.findall(r"--[a-z][a-z-]*", out))


def check_script(text, where):
    done = subprocess.run(["sh", "-n"], input=text, text=True,
                          capture_output=True, check=False)
    check(done.returncode == 0, f"{where}: {done.stderr}")
    for line in text.splitlines():
        match = re.match(r"\s*culprit ([a-z]+)(.*)", line)
        if not match:
            continue
        known = options_of(match[1])
        for option in re.findall(r"--[a-z][a-z-]*", match[2]):
            check(option in known, f"{where}: culprit {match[1]} has no {option}")


def check_step(step, ids, where):
    check_keys(step, STEP, where)
    check(("uses" in step) != ("run" in step), f"{where}: either uses or run")
    if "uses" in step:
        check(re.fullmatch(r"[\w.-]+/[\w./-]+@v?[\w.]+", step["uses"]),
              f"{where}: {step['uses']} is no owner/name@version")
    if "run" in step:
        check_script(step["run"], where)
    if "if" in step:
        check_expression(str(step["if"]), ids, where)
    for text in re.findall(r"\$\{\{(.*?)\}\}", str(step)):
        check_expression(text, ids, where)
    if "id" in step:
        ids.add(step["id"])


def check_strategy(job, jobs, where):
    """The matrix, and the jobs it waits for."""
    strategy = job.get("strategy", {})
    check_keys(strategy, STRATEGY, f"{where}, strategy")
    for name, values in strategy.get("matrix", {}).items():
        check(isinstance(values, list) and values,
              f"{where}: {name} of the matrix is no list")
    for name in re.findall(r"matrix\.([\w-]+)", str(job["steps"])):
        check(name in strategy.get("matrix", {}),
              f"{where}: the matrix has no {name}")
    needs = job.get("needs", [])
    for name in [needs] if isinstance(needs, str) else needs:
        check(name in jobs, f"{where}: needs {name}, which is no job")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        flow = yaml.safe_load(file)
    flow["on"] = flow.pop(True, flow.get("on"))  # YAML 1.1 reads `on` as true
    check_keys(flow, TOP, "workflow")
    check(flow["on"], "workflow: no event starts it")
    check(flow.get("jobs"), "workflow: no jobs")
    for name, job in flow["jobs"].items():
        check_keys(job, JOB, name)
        check("runs-on" in job, f"{name}: no runs-on")
        check_strategy(job, flow["jobs"], name)
        ids = set()
        for i, step in enumerate(job["steps"]):
            check_step(step, ids, f"{name}, step {i + 1}")
    for problem in problems:
        print(problem)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())

"""The seeded faults of subjects/, and a session of `culprit run` for each."""
import concurrent.futures
import fnmatch
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SUBJECTS = os.path.join(HERE, "../subjects")


def faults(chosen="*"):
    """Name of the subject, of the fault, and FILE:LINE,... of its lines."""
    for name in sorted(os.listdir(SUBJECTS)):
        table = os.path.join(SUBJECTS, name, "faults.tsv")
        if os.path.exists(table):
            with open(table, encoding="utf-8") as rows:
                for row in rows:
                    fault, _, lines, _ = row.rstrip("\n").split("\t")
                    if fnmatch.fnmatch(f"{name}/{fault}", chosen):
                        yield name, fault, lines


def compile_with(compiler, source, program, **env):
    files = [os.path.join(source, f) for f in os.listdir(source)
             if f.endswith(".c")]
    subprocess.run([compiler, "-std=c17", "-g", "-O0", "-w", "-I" + source, "-o",
                    program, *sorted(files), "-lm"], check=True,
                   env={**os.environ, **env})


def collect(build, work, name, fault, options):
    """Leaves the store of one faulty version in work/name/fault."""
    subject = os.path.abspath(os.path.join(SUBJECTS, name))
    place = os.path.join(work, name, fault)
    if os.path.exists(place + "/done"):
        return
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place + "/src")
    for f in os.listdir(subject):
        if f.endswith((".c", ".h")):
            shutil.copy(os.path.join(subject, f), place + "/src")
    with open(f"{subject}/faults/{fault}.patch", "rb") as patch:
        subprocess.run(["patch", "-s", "-p1", "-F0", "-d", place + "/src"],
                       stdin=patch, check=True)
    program = f"{place}/{name}"
    compile_with(build + "/culprit-cc", place + "/src", program,
                 CULPRIT_MODE="hits+returns")
    subprocess.run([build + "/culprit", "run", "-q", "-j", "1", "--timeout", "5",
                    "--store", place + "/store", "--exe", program,
                    "--reference", f"{work}/{name}/golden",
                    "--tests", subject + "/tests.txt", "--cwd", subject,
                    *options], stdout=subprocess.DEVNULL)
    with open(place + "/done", "w", encoding="utf-8"):
        pass


def collect_all(build, work, jobs, chosen, options):
    for name in {n for n, _, _ in chosen}:
        os.makedirs(f"{work}/{name}", exist_ok=True)
        if not os.path.exists(f"{work}/{name}/golden"):
            compile_with("clang-19", os.path.join(SUBJECTS, name),
                         f"{work}/{name}/golden")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda f: collect(build, work, f[0], f[1], options),
                      chosen))

"""gzip, lua and subjects/scheduler, built in each way to compare.

gzip and lua come from Debian's source packages (tools/fetch-source). gzip is
configured once, with plain clang. Then we compile its files ourselves, so that
every build has the same files and options.
"""
import collections
import concurrent.futures
import glob
import os
import shutil
import subprocess

OPTIONS = ["-O2", "-g", "-w"]
CULPRIT = ("culprit-cc", "culprit-instrument", "culprit-runtime.s")

# A way to build: the compiler command and the environment.
Way = collections.namedtuple("Way", "command environment")


def ways(build):
    culprit = os.path.join(build, "culprit-cc")

    def mode(name):
        return Way([culprit], {"CULPRIT_MODE": name, "CULPRIT_STRICT": "1"})
    return {
        "plain": Way(["clang-19"], {}),
        "hits": mode("hits"),
        "counts": mode("counts"),
        "returns": mode("hits+returns"),
        "profile": Way(["clang-19", "-fprofile-instr-generate"], {}),
        "gcc": Way(["gcc"], {}),
        "gcov": Way(["gcc", "--coverage"], {}),
    }


class Program:
    def __init__(self, name, folder, sources, options, libraries=()):
        self.name, self.folder = name, folder
        self.sources = sources  # relative to folder
        self.options, self.libraries = options, list(libraries)

    def compile_command(self, way, source, target):
        return [*way.command, *OPTIONS, *self.options, "-c", source, "-o", target]

    def build(self, way, path, newest):
        """Makes the executable `path` unless it is younger than its sources and
        than `newest`."""
        times = [os.path.getmtime(os.path.join(self.folder, s))
                 for s in self.sources]
        if os.path.exists(path) and os.path.getmtime(path) > max(newest, *times):
            return
        environment = {**os.environ, **way.environment}
        objects = path + ".objects"
        shutil.rmtree(objects, ignore_errors=True)
        os.makedirs(objects)

        def call(command):
            subprocess.run(command, cwd=self.folder, env=environment, check=True)

        def compile(source):
            target = os.path.join(objects, source.replace("/", "_")[:-2] + ".o")
            call(self.compile_command(way, source, target))
            return target
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            targets = list(pool.map(compile, self.sources))
        # Files in a folder are a library: the linker takes what it needs.
        library = [t for t, s in zip(targets, self.sources) if "/" in s]
        targets = [t for t in targets if t not in library]
        if library:
            targets.append(os.path.join(objects, "library.a"))
            call(["ar", "rc", targets[-1], *library])
        call([*way.command, "-o", path, *targets, *self.libraries])


def fetch(root, name, work):
    folder = os.path.join(work, "sources", name)
    subprocess.run([os.path.join(root, "tools/fetch-source"), name, folder],
                   check=True)
    return folder


def gzip(root, work):
    tree = os.path.join(work, "gzip-tree")
    if not os.path.exists(os.path.join(tree, "gzip")):
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(fetch(root, "gzip", work), tree, symlinks=True)
        with open(os.path.join(work, "gzip-tree.log"), "w") as log:
            subprocess.run(
                "./configure CC=clang-19 CFLAGS=-w --disable-dependency-tracking"
                " && make -C lib && make version.c version.h gzip",
                shell=True, cwd=tree, stdout=log, stderr=log, check=True)
    objects = sorted(glob.glob("*.o", root_dir=tree) +
                     glob.glob("lib/*.o", root_dir=tree))
    sources = [o.replace("libgzip_a-", "")[:-2] + ".c" for o in objects]
    return Program("gzip", tree, sources, ["-DHAVE_CONFIG_H", "-I.", "-Ilib"])


def lua(root, work):
    folder = os.path.join(fetch(root, "lua5.4", work), "src")
    # Debian's build generates this header.
    with open(os.path.join(work, "lua5.4-deb-multiarch.h"), "w") as header:
        header.write('#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')
    sources = sorted(set(glob.glob("*.c", root_dir=folder)) - {"luac.c"})
    return Program("lua", folder, sources,
                   ["-I" + work, "-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX"], ["-lm"])


def scheduler(root):
    return Program("scheduler", os.path.join(root, "subjects/scheduler"),
                   ["scheduler.c"], [])


def build_all(programs, build, work):
    """Builds every program in every way; returns {(program, way): path}."""
    newest = max(os.path.getmtime(os.path.join(build, name)) for name in CULPRIT)
    paths = {}
    for program in programs:
        for name, way in ways(build).items():
            path = os.path.join(work, f"{program.name}-{name}")
            program.build(way, path, newest)
            paths[program.name, name] = path
    return paths

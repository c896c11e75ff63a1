"""gzip, lua, SQLite, zstd, mawk and subjects/scheduler, built in each way to
compare.

All but the scheduler come from Debian's source packages (tools/fetch-source). What
has to be configured is, once, with plain clang. Then we compile the files ourselves,
so that every build has the same files and options.
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


def prepared(root, name, work, product, commands):
    """A copy of the package's source in which `commands` have made `product`."""
    tree = os.path.join(work, name + "-tree")
    if not os.path.exists(os.path.join(tree, product)):
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(fetch(root, name, work), tree, symlinks=True)
        with open(tree + ".log", "w") as log:
            subprocess.run(commands, shell=True, cwd=tree, stdout=log, stderr=log,
                           check=True)
    return tree


def gzip(root, work):
    tree = prepared(root, "gzip", work, "gzip",
                    "./configure CC=clang-19 CFLAGS=-w --disable-dependency-tracking"
                    " && make -C lib && make version.c version.h gzip")
    objects = sorted(glob.glob("*.o", root_dir=tree) +
                     glob.glob("lib/*.o", root_dir=tree))
    sources = [o.replace("libgzip_a-", "")[:-2] + ".c" for o in objects]
    return Program("gzip", tree, sources, ["-DHAVE_CONFIG_H", "-I.", "-Ilib"])


def sqlite(root, work):
    """SQLite and its own benchmark, speedtest1."""
    tree = prepared(root, "sqlite3", work, "speedtest1.c",
                    "./configure CC=clang-19 --disable-tcl --disable-readline && "
                    "make sqlite3.c && cp test/speedtest1.c .")
    return Program("sqlite", tree, ["speedtest1.c", "sqlite3.c"],
                   ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
                   ["-lm"])


def zstd(root, work):
    """The command, one thread, and the library, without assembler."""
    folder = fetch(root, "libzstd", work)
    sources = [source for part in ("common", "compress", "decompress",
                                   "dictBuilder")
               for source in sorted(glob.glob(f"lib/{part}/*.c",
                                              root_dir=folder))]
    sources += sorted(glob.glob("programs/*.c", root_dir=folder))
    return Program("zstd", folder, sources,
                   ["-DZSTD_DISABLE_ASM=1", "-DZSTD_LEGACY_SUPPORT=0",
                    "-DXXH_NAMESPACE=ZSTD_", "-Ilib", "-Ilib/common"])


def mawk(root, work):
    tree = prepared(root, "mawk", work, "mawk",
                    "./configure CC=clang-19 CFLAGS=-w && touch parse.c parse.h && "
                    "make mawk")
    sources = [o[:-2] + ".c" for o in sorted(glob.glob("*.o", root_dir=tree))
               if os.path.exists(os.path.join(tree, o[:-2] + ".c"))]
    return Program("mawk", tree, sources,
                   ["-DHAVE_CONFIG_H", "-DLOCAL_REGEXP", "-D_DEFAULT_SOURCE",
                    "-D_XOPEN_SOURCE=500", "-I."], ["-lm"])


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

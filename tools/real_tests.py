"""Generates tests for gzip, grep, sed and flex, for `culprit run --tests`, from the
files of their own source trees; always the same ones. They read files of one folder
and write only to standard output, so a mutant cannot damage anything."""
import glob
import os
import shutil
import subprocess


def copy_texts(tree, folder, patterns, most, count):
    """The first `count` files of at most `most` bytes that match."""
    names = []
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(tree, pattern))):
            if os.path.isfile(path) and 0 < os.path.getsize(path) <= most:
                name = f"t{len(names):02}.txt"
                shutil.copy(path, os.path.join(folder, name))
                names.append(name)
                if len(names) == count:
                    return names
    return names


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as out:
        out.write(data)
    return name


def noise(n, seed=1):
    """Bytes that do not compress."""
    data = bytearray()
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2**31
        data.append(seed >> 16 & 255)
    return bytes(data)


# --- gzip ---------------------------------------------------------------------

def gzip_files(tree, folder):
    return copy_texts(tree, folder, ["*.c", "*.h", "README*", "NEWS", "*.in",
                                     "doc/*"], 40000, 14) + [
        write(folder, "empty", b""), write(folder, "one", b"x"),
        write(folder, "noise", noise(9000)), write(folder, "run", b"a" * 70000),
        write(folder, "words", b"the quick brown fox " * 900),
        write(folder, "mixed", noise(3000) + b"abc" * 4000 + noise(500, 7)),
        write(folder, "bytes", bytes(range(256)) * 20)]


def gzip_archives(folder, golden, files):
    """Compressed files, sound ones and damaged ones."""
    sound, damaged = [], []
    for i, name in enumerate(files):
        data = subprocess.run(
            [golden, "-nc", f"-{i % 9 + 1}", name], cwd=folder,
            capture_output=True, check=True).stdout
        sound.append(write(folder, name + ".gz", data))
        for j, place in enumerate((2, 3, 8, len(data) // 2, len(data) - 6)):
            if i % 3 == j % 3:
                bad = bytearray(data)
                bad[place] ^= 1 << (i % 7)
                damaged.append(write(folder, f"{name}.{j}.bad", bytes(bad)))
        if i % 4 == 0:
            damaged.append(write(folder, name + ".cut", data[:len(data) * 2 // 3]))
    two = b"".join(open(os.path.join(folder, f), "rb").read() for f in sound[:2])
    sound.append(write(folder, "two.gz", two))
    damaged.append(write(folder, "trail.bad", two + b"garbage"))
    return sound, damaged


def gzip_tests(tree, golden, folder):
    files = gzip_files(tree, folder)
    sound, damaged = gzip_archives(folder, golden, files)
    lines = [f"-nc{level} <{name}" for name in files for level in (1, 4, 6, 9)]
    lines += [f"-dc <{name}" for name in sound]
    lines += [f"-t {name}" for name in sound[::3]]
    lines += [f"-l {name}" for name in sound[::2]]
    lines += [f"-lv <{name}" for name in sound[::5]]
    lines += [f"-dc <{name}" for name in damaged]
    lines += [f"-dcf <{name}" for name in files[::3] + damaged[::4]]
    lines += [f"-nc --rsyncable {name}" for name in files[::4]]
    return lines + [f"-dqc {name}" for name in damaged[::5]]


# --- grep ---------------------------------------------------------------------

PATTERNS = ["int", "^#", "a.*b", "[0-9][0-9]*", "\\<the\\>", "\\(.\\)\\1", "x*$",
            "[^a-z ]", "ret.rn", "\\.c", "s\\{2\\}", "[[:upper:]][[:lower:]]*"]
EXTENDED = ["(if|while) *\\(", "[a-f]{3,5}", "^.{30,40}$", "a?b+c*d", "(ab|a)(c|bcd)",
            "\\b[0-9]+\\b", "(a)(b)?\\1", "^(.*)=\\1$", "[]x]|[^]]{2}$", "()|x"]


def grep_tests(tree, golden, folder):
    names = copy_texts(tree, folder, ["*.h", "README*", "THANKS*", "src/*.c",
                                      "tests/*.txt"], 30000, 8)
    write(folder, "words", b"alpha\nbeta\n\ngamma delta\nAlpha BETA\nab=ab\nxx\n")
    write(folder, "binary", noise(300) + b"\nint x\n" + noise(100, 3))
    write(folder, "noeol", b"one int\ntwo")
    write(folder, "patterns", b"int\nchar\n^$\n")
    names += ["words", "noeol"]
    options = ["", "-c", "-n", "-v", "-i", "-o", "-w", "-x", "-b -o", "-A1 -n",
               "-B2", "-C1 -c", "-m3", "-L", "-l", "-q", "-in", "-vc", "-H"]
    lines = []
    for i, pattern in enumerate(PATTERNS):
        for j in range(7):
            option = options[(i * 7 + j * 3) % len(options)]
            name = names[(i + j) % len(names)]
            lines.append(f"{option} -e '{pattern}' {name}".strip())
    for i, pattern in enumerate(EXTENDED):
        for j in range(6):
            option = options[(i * 5 + j * 4 + 1) % len(options)]
            lines.append(f"-E {option} -e '{pattern}' "
                         f"{names[(2 * i + j) % len(names)]}")
    for i, word in enumerate(["int", ".c", "the", "*", "", "ret", "[", "x y"]):
        for option in ("", "-c", "-ow", "-ivn", "-x"):
            lines.append(f"-F {option} -e '{word}' {names[i % len(names)]}")
    lines += [f"{option} {names[i]} {names[i + 1]}" for i, option in enumerate(
        ["-f patterns", "-hf patterns", "-c int", "-l char", "-nH if", "-s x"])]
    return lines + ["int binary", "-a int binary", "-c int binary",
                    "-z x binary", "-e 'a\\{1' words", "-E '(' words", "[ words",
                    "-e a -e b words", "-E 'a{2,1}' words", "x nofile", "-P a words",
                    "-m1 -A2 a words", "-o '' words", "-T -n a words",
                    "--label=L -H a <words", "-ZL q words", "-y ALPHA words"]


# --- sed ----------------------------------------------------------------------

SCRIPTS = ["p", "d", "2d", "$d", "1,3p", "/int/d", "/a/,/e/p", "s/a/b/", "s/a/b/g",
           "s/a/b/2", "s/[a-z]*/<&>/", "s/\\(.\\)\\(.\\)/\\2\\1/g", "s/x*/-/g",
           "s/e/E/3g", "s/the/THE/Ip", "y/abc/xyz/", "=", "n;d", "$!N;P;D", "G",
           "H;$!d;x", "1!G;h;$!d", "l", "l 20", "a\\\nadded", "i\\\nbefore",
           "c\\\nchanged", "2,4c\\\nblock", "1~2d", "0~3p", "2,+2d", "/a/I,+1p",
           "5q", "3q7", "/int/Q", "s/^ *//;s/ *$//", ":a;s/^\\(x*\\)a/\\1xx/;ta",
           "/a/b;s/^/no /", "/a/!s/$/ none/", "{p;p}", "2{s/./X/g;p}",
           "s/./\\U&/;s/.$/\\L&/", "s/\\w\\+/\\u&/g", "N;N;s/\\n/+/g", "$=", "0,/a/d",
           "s/a\\|e/[&]/g", "/^$/d", "s/\\t/ /g", "z;s/^$/empty/", "x;p;x", "D",
           "1!{x;G;s/\\n/,/};h;$!d", "s,/,|,g", "s/a/\\n/;P;D", "e", "F", "w nowhere",
           "s/b*/x/2", "/x/,/x/{//!d}", "s/\\(a*\\)*/y/", "r words", "R words",
           "b end;d;:end;s/^/./", "T;s/a/b/;T x;p;:x", "s/a/b/;t;s/$/!/", "2,1p",
           "/a/,3p", "3,/a/p", "$!{h;d};x;G", "s/[0-9]\\{2,\\}/#/g"]


def sed_tests(tree, golden, folder):
    names = copy_texts(tree, folder, ["README*", "*.h", "BUGS", "AUTHORS",
                                      "THANKS", "sed/*.h"], 9000, 6)
    write(folder, "words", b"alpha\nbeta\n\ngamma delta\n  the End \nxaab\n\n12 345\n")
    write(folder, "noeol", b"a tab\there\nlast a")
    names += ["words", "noeol"]
    scripts = [s for s in SCRIPTS if s not in ("e", "w nowhere")]
    lines = []
    for i, script in enumerate(scripts):
        text = "-e '" + script.replace("\n", "' -e '") + "'"
        for j, option in enumerate(["", "-n", "-s"]):
            name = "words" if j == 0 else names[(i + j) % len(names)]
            more = f" {names[i % len(names)]}" if j == 2 else ""
            lines.append(f"{option} {text} {name}{more}".strip())
    for i, script in enumerate(["s/(a|e)+/<\\1>/g", "/(.)\\1/p", "s/^(.*) (.*)$/\\2 \\1/",
                                "s/a{2}/AA/", "s/[^,]+$/x/", "/^.?$/d"]):
        lines += [f"-E '{script}' {name}" for name in (names[i], "words")]
    return lines + ["-z s/a/b/ words", "-n '$p' words noeol", "-u p noeol",
                    "--posix s/a/b/ words", "-e 'q' -e 'p' words", "'}' words",
                    "'s/a/b' words", "'y/a/bc/' words", "'b nolabel' words",
                    "'s/a/b/gg' words", "-l 5 l words", "'k' words", "p nofile",
                    "--debug s/a/b/ words", "-n /a/= words", "'s/\\(/x/' words"]


# --- flex ---------------------------------------------------------------------

def flex_tests(tree, golden, folder):
    names = []
    for path in sorted(glob.glob(os.path.join(tree, "tests/*.l")) +
                       glob.glob(os.path.join(tree, "examples/**/*.l"),
                                 recursive=True)):
        if os.path.getsize(path) <= 8000:
            names.append(f"t{len(names):02}.l")
            shutil.copy(path, os.path.join(folder, names[-1]))
    bad = {"b0.l": "%%\n[a-  x;\n", "b1.l": "%%\na{3,1} ;\n%%\n", "b2.l": "%x\n%%\n",
           "b3.l": "%%\n(a ;\n", "b4.l": "%option nonsense\n%%\na ;\n",
           "b5.l": "%%\n<X>a ;\n", "b6.l": "%%\na|b* return 1;\na ;\n",
           "b7.l": "D [0-9]\n%%\n{D}+\\.{E} ;\n", "b8.l": "%%\n\"a ;\n",
           "b9.l": "%s A B\n%%\n<A,B>x/y ;\n<*>a$ ;\n^b{2,4} ;\n<<EOF>> ;\n"}
    for name, text in bad.items():
        write(folder, name, text.encode())
    options = ["", "-Cf", "-CF", "-Ce", "-Cm", "-C", "-i", "-8", "-7", "-B", "-d",
               "-I", "-L", "-s", "-X", "-Pzz", "-p", "-Ca", "-Cr"]
    lines = []
    for i, name in enumerate(names):
        for j in range(3):
            option = options[(3 * i + j * 5 + (j > 0)) % len(options)] if j else ""
            lines.append(f"-t {option} {name}".replace("  ", " "))
    return lines + [f"-t {option} {name}".replace("  ", " ")
                    for name in bad for option in ("", "-Cf", "-i", "-s")]


def make(name, tree, golden, folder):
    maker = {"gzip": gzip_tests, "grep": grep_tests, "sed": sed_tests,
             "flex": flex_tests}[name]
    return list(dict.fromkeys(maker(tree, golden, folder)))

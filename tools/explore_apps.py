"""PHP applications from Debian's packages, unpacked and set up in a separate
directory for `culprit web`, without installing anything. Used by
tools/eval-explore.

Each application is a function (work directory) -> App; the packages are fetched
by apt-get download.
"""
import os
import shutil
import subprocess
from collections import namedtuple

# root: document root; options: of culprit web; seed: text of a request list
App = namedtuple("App", "root options seed version")


def unpack(work, package):
    """The package's files below work/package; its version."""
    dest = os.path.join(work, "packages", package)
    if not os.path.isdir(dest):
        debs = os.path.join(work, "debs", package)
        os.makedirs(debs, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=debs, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deb = os.path.join(debs, sorted(os.listdir(debs))[-1])
        os.makedirs(dest)
        subprocess.run(["dpkg", "-x", deb, dest], check=True)
    deb = sorted(os.listdir(os.path.join(work, "debs", package)))[-1]
    return dest, deb.split("_")[1]


def fresh(work, name):
    root = os.path.join(work, "apps", name)
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    return root


def copy(source, dest):
    shutil.copytree(source, dest, symlinks=False, dirs_exist_ok=True,
                    ignore_dangling_symlinks=True)


def phpsysinfo(work, _subjects):
    files, version = unpack(work, "phpsysinfo")
    root = fresh(work, "phpsysinfo")
    copy(files + "/usr/share/phpsysinfo", root)
    shutil.copy(files + "/etc/phpsysinfo/phpsysinfo.ini", root)
    with open(root + "/read_config.php", encoding="utf-8") as text:
        config = text.read()
    with open(root + "/read_config.php", "w", encoding="utf-8") as text:
        text.write(config.replace("'/etc/phpsysinfo/phpsysinfo.ini'",
                                  "__DIR__ . '/phpsysinfo.ini'"))
    return App(root, [], None, version)


def adminer(work, subjects):
    """Its sources, on the tables of the school register."""
    files, version = unpack(work, "adminer")
    root = fresh(work, "adminer")
    for part in ("adminer", "externals"):
        copy(f"{files}/usr/share/adminer/{part}", f"{root}/{part}")
    for odd in ("sqlite.php", "designs.php", "plugin.php"):  # for developers
        path = f"{root}/adminer/{odd}"
        if os.path.exists(path):
            os.remove(path)
    seed = ("POST /adminer/index.php auth%5Bdriver%5D=server"
            "&auth%5Bserver%5D=localhost&auth%5Busername%5D=root"
            "&auth%5Bpassword%5D=x&auth%5Bdb%5D=register\n")
    # Asked to, it drops any database: ours that keeps states too.
    return App(root, ["--mariadb", f"register={subjects}/register/schema.sql",
                      "--destructive", "never"], seed, version)


DOKU_PRELOAD = """<?php
// Each worker has its own pages.
define('DOKU_CONF', dirname(__DIR__) . '/conf/');
if (!is_dir(getenv('DOKU_DATA')))
    system('cp -R ' . escapeshellarg(dirname(__DIR__, 2) . '/dokuwiki-data') .
        ' ' . escapeshellarg(getenv('DOKU_DATA')));
"""
DOKU_LOCAL = """<?php
$conf['savedir'] = getenv('DOKU_DATA');
$conf['useacl'] = 0;
$conf['title'] = 'wiki';
"""


def dokuwiki(work, _subjects):
    files, version = unpack(work, "dokuwiki")
    root = fresh(work, "dokuwiki")
    for name in os.listdir(files + "/usr/share/dokuwiki"):
        source = f"{files}/usr/share/dokuwiki/{name}"
        if os.path.isdir(source):
            copy(source, f"{root}/{name}")
        elif os.path.isfile(source):
            shutil.copy(source, root)
    for part in ("plugins", "tpl"):
        if os.path.islink(f"{root}/lib/{part}"):
            os.remove(f"{root}/lib/{part}")
        copy(f"{files}/var/lib/dokuwiki/lib/{part}", f"{root}/lib/{part}")
    copy(files + "/etc/dokuwiki", root + "/conf")
    for package in ("php-geshi", "libphp-simplepie", "php-phpseclib",
                    "php-random-compat"):
        lib, _ = unpack(work, package)
        copy(lib + "/usr/share", f"{work}/apps/dokuwiki-libraries")
    data = fresh(work, "dokuwiki-data")
    copy(files + "/var/lib/dokuwiki/data", data)
    os.remove(root + "/install.php")
    shutil.rmtree(root + "/bin")  # command line; its .htaccess denies it
    for name, text in (("inc/preload.php", DOKU_PRELOAD),
                       ("conf/local.php", DOKU_LOCAL),
                       ("conf/acl.auth.php", "*\t@ALL\t8\n"),
                       ("conf/users.auth.php", "")):
        with open(f"{root}/{name}", "w", encoding="utf-8") as out:
            out.write(text)
    libraries = f"{work}/apps/dokuwiki-libraries"
    path = f".:{libraries}/php:{libraries}/php-geshi"
    return App(root, ["--env", "DOKU_DATA=%w/data", "--state", "%w/data",
                      "--ini", f"include_path={path}"], None, version)


APPS = {"phpsysinfo": phpsysinfo, "adminer": adminer, "dokuwiki": dokuwiki}

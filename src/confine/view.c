// The view of a confined run: see view.h.
//
//   base/            a tmpfs, limited in size
//     root/          the view: "/" of the run
//     u/N, w/N       upper and work directory of overlay N
//
// A directory becomes an overlay unless something is mounted below it: the
// kernel refuses that in a user namespace, because an overlay would uncover what
// such a mount hides. So directories with mounts below are made anew ("/" always
// is one), and each of their entries is laid out in turn.
//
// Without root's rights only our own user is known in the namespace, and what
// belongs to others cannot be copied up: writing /home/me/x would fail for
// /home. So the way to places where users write is made in the upper layer
// beforehand (make_way).
#include "confine/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "confine/copy.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  SIZE_MOST = 1 << 30, // bytes that runs may write until a reset
  INODES_MOST = 200000,
};

typedef ARRAY(char *) PathList;

typedef struct {
  const ConfinePlan *plan;
  PathList mounts; // mount points of the namespace
  int overlays;
  Err *err;
} View;

// --- what is mounted --------------------------------------------------------

static int read_mounts(View *v) {
  FILE *f = setmntent("/proc/self/mounts", "re");
  if (!f)
    return err_set(v->err, "/proc/self/mounts: %s", strerror(errno));
  for (struct mntent *m; (m = getmntent(f));)
    array_push(&v->mounts, mem_strdup(m->mnt_dir));
  endmntent(f);
  return 0;
}

static bool is_below(const char *path, const char *dir) {
  size_t n = strlen(dir);
  return n == 1 ? path[1] != '\0' : !strncmp(path, dir, n) && path[n] == '/';
}

static bool has_mount_below(const View *v, const char *dir) {
  for (size_t i = 0; i < v->mounts.len; i++)
    if (is_below(v->mounts.items[i], dir))
      return true;
  return false;
}

// --- single mounts ----------------------------------------------------------

static char *inside(const char *path) { return mem_printf("root%s", path); }

static void make_read_only(const char *target) {
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
  syscall(SYS_mount_setattr, AT_FDCWD, target, AT_RECURSIVE, &attr,
          sizeof attr);
}

static int bind(const char *path, const char *target) {
  return mount(path, target, NULL, MS_BIND | MS_REC, NULL);
}

static int bind_read_only(const char *path, const char *target) {
  if (bind(path, target))
    return -1;
  make_read_only(target);
  return 0;
}

static void make_file(const char *target) {
  int fd = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0)
    close(fd);
}

// --- overlays ---------------------------------------------------------------

// Directories of `upper` for the way to `path`, which lies below `dir`, as far
// as it belongs to others.
static void make_way(const char *upper, const char *dir, const char *path) {
  size_t start = strlen(dir);
  for (size_t end = start; path[end];) {
    end += 1 + strcspn(path + end + 1, "/");
    char *real = mem_printf("%.*s", (int)end, path);
    struct stat st;
    bool is_dir = !lstat(real, &st) && S_ISDIR(st.st_mode);
    char *copy = mem_printf("%s%s", upper, real + start);
    if (is_dir && !mkdir(copy, 0700))
      chmod(copy, st.st_mode & 07777);
    free(copy);
    free(real);
    if (!is_dir)
      return;
  }
}

static void make_ways(const View *v, const char *upper, const char *dir) {
  static const char *const usual[] = {"/tmp", "/var/tmp", NULL};
  if (geteuid() == 0)
    return;
  for (const char *const *p = usual; *p; p++)
    if (is_below(*p, dir))
      make_way(upper, dir, *p);
  const char *home = getenv("HOME");
  if (home && *home == '/' && is_below(home, dir))
    make_way(upper, dir, home);
  if (v->plan->copied && is_below(v->plan->copied, dir))
    make_way(upper, dir, v->plan->copied);
}

static int overlay(View *v, const char *path, const char *target,
                   const struct stat *st) {
  int lower = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (lower < 0)
    return -1;
  int n = v->overlays++;
  char *upper = mem_printf("u/%d", n), *work = mem_printf("w/%d", n);
  char *options = mem_printf("lowerdir=/proc/self/fd/%d,upperdir=%s,"
                             "workdir=%s,userxattr",
                             lower, upper, work);
  int rc = mkdir(upper, 0700) || chmod(upper, st->st_mode & 07777) ||
           mkdir(work, 0700);
  if (!rc) {
    make_ways(v, upper, path);
    rc = mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV, options);
  }
  free(options);
  free(work);
  free(upper);
  close(lower);
  return rc ? -1 : 0;
}

// --- /dev -------------------------------------------------------------------

static void make_devices(void) {
  static const char *const devices[] = {"null",    "zero", "full", "random",
                                        "urandom", "tty",  "ptmx", NULL};
  static const char *const links[][2] = {
      {"/proc/self/fd", "root/dev/fd"},
      {"/proc/self/fd/0", "root/dev/stdin"},
      {"/proc/self/fd/1", "root/dev/stdout"},
      {"/proc/self/fd/2", "root/dev/stderr"},
  };
  for (const char *const *p = devices; *p; p++) {
    char *path = mem_printf("/dev/%s", *p), *target = inside(path);
    make_file(target);
    bind(path, target);
    free(target);
    free(path);
  }
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    if (symlink(links[i][0], links[i][1]))
      continue; // there already
  if (!mkdir("root/dev/pts", 0755))
    bind("/dev/pts", "root/dev/pts");
}

// --- /proc ------------------------------------------------------------------

// A process may write what is its own (a debugger does), not what is the
// machine's.
static void bind_proc(void) {
  static const char *const machine[] = {"/proc/sys", "/proc/sysrq-trigger",
                                        "/proc/irq", "/proc/bus", NULL};
  bind("/proc", "root/proc");
  for (const char *const *p = machine; *p; p++) {
    char *target = inside(*p);
    bind_read_only(*p, target);
    free(target);
  }
}

// --- the tree ---------------------------------------------------------------

static void lay_out(View *v, const char *path);

static void lay_entries(View *v, const char *dir) {
  DIR *d = opendir(dir);
  if (!d)
    return; // nor could the run have read it
  for (struct dirent *e; (e = readdir(d));) {
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
      continue;
    char *path = mem_printf("%s/%s", dir[1] ? dir : "", e->d_name);
    lay_out(v, path);
    free(path);
  }
  closedir(d);
}

static void lay_shared(View *v, const char *path) {
  if (strcmp(v->plan->scratch, path) && !is_below(v->plan->scratch, path))
    lay_out(v, path);
}

// Programs are built there, too. Objects that processes share are not files of the
// user's, and stay outside.
static void lay_shared_memory(View *v) {
  DIR *d = mkdir("root/dev/shm", 0777) || chmod("root/dev/shm", 01777)
               ? NULL
               : opendir("/dev/shm");
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_type == DT_DIR && *e->d_name != '.') {
      char *path = mem_printf("/dev/shm/%s", e->d_name);
      lay_shared(v, path);
      free(path);
    }
  if (d)
    closedir(d);
}

static void lay_devices(View *v) {
  make_devices();
  lay_shared_memory(v);
}

static void lay_directory(View *v, const char *path, const char *target,
                          const struct stat *st) {
  mkdir(target, 0700);
  chmod(target, st->st_mode & 07777);
  if (!strcmp(path, "/proc"))
    bind_proc();
  else if (!strcmp(path, "/sys"))
    bind_read_only(path, target);
  else if (!strcmp(path, "/dev"))
    lay_devices(v);
  else if (has_mount_below(v, path))
    lay_entries(v, path);
  else if (overlay(v, path, target, st))
    bind_read_only(path, target);
}

static void lay_out(View *v, const char *path) {
  struct stat st;
  if (lstat(path, &st))
    return;
  char *target = inside(path);
  if (S_ISLNK(st.st_mode)) {
    copy_link(path, target);
  } else if (S_ISDIR(st.st_mode)) {
    lay_directory(v, path, target, &st);
  } else if (S_ISREG(st.st_mode)) {
    make_file(target);
    bind_read_only(path, target);
  }
  free(target);
}

// --- what stays real --------------------------------------------------------

// Mounts the directory itself over its place in the view.
static int keep_real(View *v, const char *path, bool read_only) {
  char *target = inside(path);
  Err ignored;
  int rc = fs_mkdirs(target, &ignored);
  if (!rc)
    rc = read_only ? bind_read_only(path, target) : bind(path, target);
  if (rc)
    err_set(v->err, "cannot keep %s in the view: %s", path, strerror(errno));
  free(target);
  return rc;
}

static int keep_all(View *v, const char *const *list, bool read_only) {
  for (; list && *list; list++)
    if (keep_real(v, *list, read_only))
      return -1;
  return 0;
}

// --- all of it --------------------------------------------------------------

static int mount_base(const char *base, Err *err) {
  struct sysinfo info = {0};
  sysinfo(&info);
  unsigned long long size = (unsigned long long)info.totalram * info.mem_unit;
  size = size / 8 < SIZE_MOST ? size / 8 : SIZE_MOST;
  char *options =
      mem_printf("size=%llu,nr_inodes=%d,mode=755", size, INODES_MOST);
  int rc = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  if (!rc)
    rc = mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, options);
  free(options);
  if (rc)
    return err_set(err, "cannot mount a tmpfs: %s", strerror(errno));
  if (chdir(base) || mkdir("u", 0700) || mkdir("w", 0700) ||
      mkdir("root", 0755) || bind("root", "root"))
    return err_set(err, "cannot prepare the view: %s", strerror(errno));
  return 0;
}

static int turn_root(Err *err) {
  if (chdir("root") || syscall(SYS_pivot_root, ".", ".") ||
      umount2(".", MNT_DETACH) || chdir("/"))
    return err_set(err, "cannot change to the view: %s", strerror(errno));
  return 0;
}

int view_enter(const ConfinePlan *plan, const char *base, Err *err) {
  View v = {.plan = plan, .err = err};
  int rc = read_mounts(&v);
  if (!rc)
    rc = mount_base(base, err);
  if (!rc) {
    lay_entries(&v, "/");
    rc = v.overlays ? 0 : err_set(err, "no overlay can be mounted");
  }
  if (!rc)
    rc = keep_all(&v, plan->seen, true);
  if (!rc)
    rc = keep_real(&v, plan->scratch, false);
  if (!rc)
    rc = keep_all(&v, plan->writable, false);
  if (!rc)
    rc = turn_root(err);
  for (size_t i = 0; i < v.mounts.len; i++)
    free(v.mounts.items[i]);
  array_release(&v.mounts);
  return rc;
}

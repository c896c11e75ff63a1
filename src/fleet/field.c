// Runs from the field: see field.h.
#include "fleet/field.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "oracle/failure.h"
#include "program/runfile.h"
#include "runtime/format.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  LARGEST = 256 << 20, // bytes of a run file
  DEEPEST = 32,        // directories in each other
  REFUSALS = 1000,     // that are kept
};
static const uint64_t SAME_START = 1000000000; // ns between modules of a start

typedef struct {
  Collector *look; // knows the units, and stores nothing
  Collector *collector;
  char *label;
  uint64_t units; // a digest of them
} FieldVersion;

struct FieldRuns {
  Store *store;
  FieldOptions options;
  ARRAY(FieldVersion) versions;
  ARRAY(FieldCount) counts; // of the versions
  ARRAY(FieldRefusal) refusals;
  Hashmap refused; // paths
  FieldVersion *current;
  int64_t session; // of it
};

// A file of a directory.
typedef struct {
  char *name;
  XXH128_hash_t hash; // of its content
  unsigned char unit[16];
  uint32_t pid, ppid, session;
  uint64_t started, ended;
  size_t root; // the file of the process that was started
} FieldFile;

typedef ARRAY(FieldFile) FieldFiles;

// --- programs ---------------------------------------------------------------

static int digest_unit(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  (void)ids, (void)err;
  uint64_t *digest = ctx;
  *digest += XXH3_64bits(unit->id.bytes, sizeof unit->id.bytes);
  return 0;
}

static int assign(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  FieldRuns *f = ctx;
  return store_add_unit(f->store, f->session, unit, ids, err);
}

static int add_version(FieldRuns *f, const FieldProgram *p, Err *err) {
  FieldVersion v = {0};
  v.look = collector_new(digest_unit, &v.units);
  int rc = collector_add_program(v.look, p->path, err);
  if (!rc && !collector_units(v.look)) {
    char *reason = map_absence_reason(p->path);
    rc = err_set(err, "%s", reason);
    free(reason);
  }
  v.label =
      p->version ? mem_strdup(p->version) : mem_printf("%016" PRIx64, v.units);
  collector_seal(v.look);
  array_push(&f->versions, v);
  array_push(&f->counts, ((FieldCount){.version = v.label}));
  return rc;
}

int field_open(FieldRuns **out, Store *store, const FieldOptions *o, Err *err) {
  FieldRuns *f = mem_new(FieldRuns);
  f->store = store;
  f->options = *o;
  *out = f;
  for (size_t i = 0; i < o->nprograms; i++)
    if (add_version(f, &o->programs[i], err)) {
      field_close(f);
      *out = NULL;
      return -1;
    }
  return 0;
}

void field_close(FieldRuns *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->versions.len; i++) {
    collector_free(f->versions.items[i].look);
    collector_free(f->versions.items[i].collector);
    free(f->versions.items[i].label);
  }
  for (size_t i = 0; i < f->refusals.len; i++) {
    free(f->refusals.items[i].path);
    free(f->refusals.items[i].why);
  }
  array_release(&f->versions);
  array_release(&f->counts);
  array_release(&f->refusals);
  hashmap_release(&f->refused);
  free(f);
}

const FieldCount *field_counts(const FieldRuns *f, size_t *n) {
  *n = f->counts.len;
  return f->counts.items;
}

const FieldRefusal *field_refusals(const FieldRuns *f, size_t *n) {
  *n = f->refusals.len;
  return f->refusals.items;
}

// Each file once, however often it is looked at.
static void refuse(FieldRuns *f, const char *dir, const char *name,
                   const char *why) {
  char *path = mem_printf("%s/%s", dir, name);
  uint64_t at = f->refusals.len;
  if (hashmap_intern(&f->refused, path, strlen(path), at) == at &&
      at < REFUSALS)
    array_push(&f->refusals, ((FieldRefusal){path, mem_strdup(why)}));
  else
    free(path);
}

// --- sessions ---------------------------------------------------------------

// The session of a version: one that is there is continued, whoever made it.
static int begin_version(FieldRuns *f, FieldVersion *v, FieldCount *count,
                         const char *program, Err *err) {
  char *key = mem_printf("field\nversion=%s\nunits=%016" PRIx64 "\n", v->label,
                         v->units);
  int rc = session_extend(f->store, key, f->options.command, f->options.cwd,
                          &count->session, err);
  free(key);
  if (rc)
    return -1;
  f->session = count->session;
  v->collector = collector_new(assign, f);
  rc = collector_add_program(v->collector, program, err);
  collector_seal(v->collector);
  return rc;
}

// --- files ------------------------------------------------------------------

// Empty after `why` was set.
static const RunHeader *check_file(const Str *text, const char **why) {
  const RunHeader *h = (const RunHeader *)text->data;
  *why = NULL;
  if (text->len < sizeof *h)
    *why = "it is cut off";
  else if (h->magic != RUNFILE_MAGIC)
    *why = "it is not a run file";
  else if (h->version != RUNFILE_VERSION)
    *why = "it was made by another version of culprit-cc";
  else if (!h->nunits ||
           (text->len - sizeof *h) / sizeof(RunUnit) < h->nunits ||
           h->counters > text->len ||
           h->counters_size > text->len - h->counters)
    *why = "it is cut off";
  return *why ? NULL : h;
}

// On this machine, or one that has a process of that number by chance.
static bool may_run(const RunHeader *h) {
  return h->state == RUN_STARTED && !h->ended &&
         (!kill((pid_t)h->pid, 0) || errno == EPERM);
}

static void look_at_file(FieldRuns *f, int dir, const char *path,
                         const char *name, FieldFiles *out) {
  Err err = {0};
  Str text = {0};
  const char *why = err.text;
  int fd = fs_open_regular(dir, name, false, &err);
  if (fd >= 0) {
    int rc = fs_read_fd(fd, name, LARGEST, &text, &err);
    const RunHeader *h = rc ? NULL : check_file(&text, &why);
    if (h && !(f->options.waits && may_run(h))) {
      FieldFile file = {.name = mem_strdup(name),
                        .hash = XXH3_128bits(text.data, text.len),
                        .pid = h->pid,
                        .ppid = h->ppid,
                        .session = h->session,
                        .started = h->started,
                        .ended = h->ended};
      memcpy(file.unit, ((const RunUnit *)(h + 1))->id, sizeof file.unit);
      array_push(out, file);
    }
    close(fd);
  }
  if (why && *why)
    refuse(f, path, name, why);
  str_release(&text);
}

// --- which files are one run ------------------------------------------------

static int by_start(const void *a, const void *b) {
  const FieldFile *x = a, *y = b;
  if (x->started != y->started)
    return x->started < y->started ? -1 : 1;
  return strcmp(x->name, y->name);
}

// A module of a process that is known, or of one that it forked.
static bool belongs_to(const FieldFile *x, const FieldFile *known) {
  if (x->session != known->session)
    return false;
  if (x->pid == known->pid)
    return x->started - known->started <= SAME_START &&
           memcmp(x->unit, known->unit, sizeof x->unit) != 0;
  return x->ppid == known->pid && (!known->ended || x->started <= known->ended);
}

static void find_roots(FieldFiles *files) {
  Hashmap last = {0}; // process -> its newest file
  if (files->len)
    qsort(files->items, files->len, sizeof *files->items, by_start);
  for (size_t i = 0; i < files->len; i++) {
    FieldFile *x = &files->items[i];
    const uint32_t process[] = {x->pid, x->ppid};
    uint64_t known;
    x->root = i;
    for (int k = 0; k < 2 && x->root == i; k++)
      if (hashmap_get(&last, &process[k], sizeof *process, &known) &&
          belongs_to(x, &files->items[known]))
        x->root = files->items[known].root;
    hashmap_put(&last, &x->pid, sizeof x->pid, i);
  }
  hashmap_release(&last);
}

// --- runs -------------------------------------------------------------------

// The first version that knows every unit of the file.
static size_t find_version(const FieldRuns *f, int dir, const FieldFile *file) {
  Err ignored;
  Str text = {0};
  const char *why;
  size_t found = f->versions.len;
  int fd = fs_open_regular(dir, file->name, false, &ignored);
  const RunHeader *h =
      fd < 0 || fs_read_fd(fd, file->name, LARGEST, &text, &ignored)
          ? NULL
          : check_file(&text, &why);
  for (size_t i = 0; h && i < f->versions.len && found == f->versions.len;
       i++) {
    const RunUnit *units = (const RunUnit *)(h + 1);
    bool all = true;
    for (uint32_t u = 0; all && u < h->nunits; u++)
      all = collector_knows(f->versions.items[i].look, units[u].id);
    if (all)
      found = i;
  }
  if (fd >= 0)
    close(fd);
  str_release(&text);
  return found;
}

// A test's name: what its files hold.
static char *name_of(const FieldFiles *files, size_t root) {
  XXH128_hash_t sum = {0};
  for (size_t i = root; i < files->len; i++)
    if (files->items[i].root == root) {
      sum.low64 += files->items[i].hash.low64;
      sum.high64 += files->items[i].hash.high64;
    }
  return mem_printf("%016" PRIx64 "%016" PRIx64, sum.high64, sum.low64);
}

static int signal_of(const Run *run) {
  for (size_t i = 0; i < run->deaths.len; i++)
    if (text_starts(run->deaths.items[i].how, "SIG"))
      for (int s = 1; s < NSIG; s++) {
        const char *name = sigabbrev_np(s);
        if (name && !strcmp(run->deaths.items[i].how + 3, name))
          return s;
      }
  return 0;
}

static void judge(const FieldRuns *f, const FieldFile *root, Run *run) {
  const FieldOptions *o = &f->options;
  int signal = signal_of(run);
  Outcome end = {.end = END_SIGNAL, .status = -signal};
  run->status = -signal;
  run->verdict = signal ? VERDICT_FAIL : VERDICT_PASS;
  if (!root->ended && !signal)
    run_add_note(run, "how it ended was not recorded");
  if (o->judged)
    run->verdict = o->verdict;
  if (run->verdict == VERDICT_FAIL && signal)
    failure_add_end(run, &end, o->cwd, 0, 0);
  else if (run->verdict == VERDICT_FAIL)
    failure_add(run, "verdict", "", "reported", "reported as failing");
}

// Reads the files of a run and stores it.
static int store_run(FieldRuns *f, int dir, const FieldFiles *files,
                     size_t root, char *test, FieldVersion *v,
                     FieldCount *count, Err *err) {
  ARRAY(const char *) names = {0};
  const FieldFile *first = &files->items[root];
  Run run = {.test = test, .command = mem_strdup(v->label)};
  for (size_t i = root; i < files->len; i++)
    if (files->items[i].root == root)
      array_push(&names, files->items[i].name);
  f->session = count->session;
  int rc = collector_collect_files(v->collector, dir, names.items, names.len,
                                   &run, err);
  if (!rc) {
    if (first->ended > first->started)
      run.seconds = (double)(first->ended - first->started) * 1e-9;
    judge(f, first, &run);
    rc = store_add_run(f->store, count->session, &run, err);
    count->runs++;
    count->failing += run.verdict == VERDICT_FAIL;
  }
  run_release(&run);
  array_release(&names);
  return rc;
}

static int add_run(FieldRuns *f, int dir, const char *path,
                   const FieldFiles *files, size_t root, Err *err) {
  size_t at = find_version(f, dir, &files->items[root]);
  if (at == f->versions.len) {
    refuse(f, path, files->items[root].name,
           "it is of none of the programs given");
    return 0;
  }
  FieldVersion *v = &f->versions.items[at];
  FieldCount *count = &f->counts.items[at];
  if (!v->collector &&
      begin_version(f, v, count, f->options.programs[at].path, err))
    return -1;
  char *test = name_of(files, root);
  if (store_has_run(f->store, count->session, test)) {
    count->already++;
    free(test);
    return 0;
  }
  return store_run(f, dir, files, root, test, v, count, err);
}

static int add_files(FieldRuns *f, int dir, const char *path, FieldFiles *files,
                     Err *err) {
  int rc = 0;
  find_roots(files);
  for (size_t i = 0; !rc && i < files->len; i++)
    if (files->items[i].root == i)
      rc = add_run(f, dir, path, files, i, err);
  for (size_t i = 0; i < files->len; i++)
    free(files->items[i].name);
  array_release(files);
  return rc;
}

// --- directories ------------------------------------------------------------

static bool is_directory_at(int dir, const char *name) {
  struct stat st;
  return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static int add_directory(FieldRuns *f, const char *path, int depth, Err *err) {
  DIR *dir = opendir(path);
  if (!dir) {
    refuse(f, path, "", strerror(errno));
    return 0;
  }
  FieldFiles files = {0};
  ARRAY(char *) below = {0};
  for (struct dirent *e; (e = readdir(dir));) {
    if (text_ends(e->d_name, ".run"))
      look_at_file(f, dirfd(dir), path, e->d_name, &files);
    else if (e->d_name[0] != '.' && is_directory_at(dirfd(dir), e->d_name))
      array_push(&below, mem_printf("%s/%s", path, e->d_name));
  }
  int rc = add_files(f, dirfd(dir), path, &files, err);
  closedir(dir);
  for (size_t i = 0; i < below.len; i++) {
    if (!rc && depth < DEEPEST)
      rc = add_directory(f, below.items[i], depth + 1, err);
    free(below.items[i]);
  }
  array_release(&below);
  return rc;
}

int field_add(FieldRuns *f, const char *path, Err *err) {
  struct stat st;
  if (!stat(path, &st) && S_ISDIR(st.st_mode))
    return add_directory(f, path, 0, err);
  const char *base = path_base(path);
  char *dir = base == path ? mem_strdup(".")
                           : mem_printf("%.*s", (int)(base - path), path);
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  FieldFiles files = {0};
  int rc = 0;
  if (fd < 0) {
    refuse(f, dir, base, strerror(errno));
  } else {
    look_at_file(f, fd, dir, base, &files);
    rc = add_files(f, fd, dir, &files, err);
    close(fd);
  }
  free(dir);
  return rc;
}

int field_flush(FieldRuns *f, Err *err) {
  for (size_t i = 0; i < f->counts.len; i++)
    if (f->counts.items[i].session &&
        session_finish(f->store, f->counts.items[i].session, err))
      return -1;
  return 0;
}

// One start of a program: described, kept, compared. See program_start.h.
#include "capture/program_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/capture_format.h"
#include "util/fs.h"

#define START_MAGIC 0x3154524154534c43ull // "CLSTART1"

// --- memory -----------------------------------------------------------------

static void words_release(StartWords *w) {
  for (size_t i = 0; i < w->len; i++)
    free(w->items[i]);
  array_release(w);
}

void deed_release(StartDeed *d) {
  str_release(&d->out);
  str_release(&d->err);
  tree_release(&d->after);
}

void start_release(ProgramStart *s) {
  str_release(&s->name);
  str_release(&s->root);
  str_release(&s->cwd);
  words_release(&s->argv);
  words_release(&s->env);
  for (int i = 0; i < 3; i++) {
    str_release(&s->streams[i].path);
    str_release(&s->streams[i].data);
  }
  tree_release(&s->before);
  deed_release(&s->deed);
}

// --- comparing --------------------------------------------------------------

static bool same_text(const Str *a, const Str *b) {
  return a->len == b->len && (!a->len || !memcmp(a->data, b->data, a->len));
}

bool deed_same(const StartDeed *a, const StartDeed *b) {
  return a->status == b->status && a->in_offset == b->in_offset &&
         same_text(&a->out, &b->out) && same_text(&a->err, &b->err) &&
         tree_same(&a->after, &b->after);
}

uint64_t deed_hash(const StartDeed *d) {
  int64_t numbers[] = {d->status, d->in_offset, (int64_t)d->out.len,
                       (int64_t)d->err.len};
  uint64_t hash = bytes_hash(numbers, sizeof numbers, 0xcbf29ce484222325u);
  hash = bytes_hash(str_text(&d->out), d->out.len, hash);
  hash = bytes_hash(str_text(&d->err), d->err.len, hash);
  return tree_hash(&d->after, hash);
}

// --- on disk ----------------------------------------------------------------

static void put_words(Str *out, const StartWords *w) {
  uint64_t n = w->len - 1;
  bytes_put(out, &n, sizeof n);
  for (size_t i = 0; i < n; i++)
    text_put(out, w->items[i], strlen(w->items[i]));
}

static void put_str(Str *out, const Str *text) {
  text_put(out, str_text(text), text->len);
}

static void put_stream(Str *out, const StartStream *s) {
  uint32_t kind = (uint32_t)s->kind;
  bytes_put(out, &kind, sizeof kind);
  put_str(out, &s->path);
  bytes_put(out, &s->flags, sizeof s->flags);
  bytes_put(out, &s->offset, sizeof s->offset);
  bytes_put(out, &s->time, sizeof s->time);
  put_str(out, &s->data);
}

static void put_deed(Str *out, const StartDeed *d) {
  bytes_put(out, &d->status, sizeof d->status);
  bytes_put(out, &d->in_offset, sizeof d->in_offset);
  put_str(out, &d->out);
  put_str(out, &d->err);
  tree_put(&d->after, out);
}

int start_write(const ProgramStart *s, const char *path, Err *err) {
  Str out = {0};
  uint64_t magic = START_MAGIC;
  bytes_put(&out, &magic, sizeof magic);
  put_str(&out, &s->name);
  put_str(&out, &s->root);
  put_str(&out, &s->cwd);
  bytes_put(&out, &s->mask, sizeof s->mask);
  put_words(&out, &s->argv);
  put_words(&out, &s->env);
  bytes_put(&out, s->limits, sizeof s->limits);
  for (int i = 0; i < 3; i++)
    put_stream(&out, &s->streams[i]);
  tree_put(&s->before, &out);
  put_deed(&out, &s->deed);
  int rc = fs_write(path, str_text(&out), out.len, err);
  str_release(&out);
  return rc;
}

static bool take_words(const char **at, const char *end, StartWords *w) {
  uint64_t n = 0;
  bool good = bytes_take(at, end, &n, sizeof n);
  for (uint64_t i = 0; good && i < n; i++) {
    Str text = {0};
    good = text_take(at, end, &text);
    array_push(w, mem_strdup(str_text(&text)));
    str_release(&text);
  }
  array_push(w, NULL);
  return good;
}

static bool take_stream(const char **at, const char *end, StartStream *s) {
  uint32_t kind = STREAM_KINDS;
  bool good = bytes_take(at, end, &kind, sizeof kind) &&
              text_take(at, end, &s->path) &&
              bytes_take(at, end, &s->flags, sizeof s->flags) &&
              bytes_take(at, end, &s->offset, sizeof s->offset) &&
              bytes_take(at, end, &s->time, sizeof s->time) &&
              text_take(at, end, &s->data);
  s->kind = (StreamKind)kind;
  return good && kind < STREAM_KINDS;
}

static bool take_deed(const char **at, const char *end, StartDeed *d) {
  return bytes_take(at, end, &d->status, sizeof d->status) &&
         bytes_take(at, end, &d->in_offset, sizeof d->in_offset) &&
         text_take(at, end, &d->out) && text_take(at, end, &d->err) &&
         !tree_take(&d->after, at, end);
}

static bool take_start(const char **at, const char *end, ProgramStart *s) {
  uint64_t magic = 0;
  bool good = bytes_take(at, end, &magic, sizeof magic) &&
              magic == START_MAGIC && text_take(at, end, &s->name) &&
              text_take(at, end, &s->root) && text_take(at, end, &s->cwd) &&
              bytes_take(at, end, &s->mask, sizeof s->mask) &&
              take_words(at, end, &s->argv) && take_words(at, end, &s->env) &&
              bytes_take(at, end, s->limits, sizeof s->limits);
  for (int i = 0; good && i < 3; i++)
    good = take_stream(at, end, &s->streams[i]);
  return good && !tree_take(&s->before, at, end) &&
         take_deed(at, end, &s->deed) && *at == end;
}

int start_read(ProgramStart *s, const char *path, Err *err) {
  Str text = {0};
  int rc = fs_read_regular(path, 0, &text, err);
  const char *at = str_text(&text);
  if (!rc && !take_start(&at, at + text.len, s))
    rc = err_set(err, "%s is damaged", path);
  str_release(&text);
  return rc;
}

// --- describing -------------------------------------------------------------

static void copy_words(StartWords *to, char *const *from) {
  for (; *from; from++)
    array_push(to, mem_strdup(*from));
  array_push(to, NULL);
}

// The directory that the script made for itself where it was started, or the
// current one.
static void set_root(ProgramStart *s, const char *from) {
  const char *cwd = str_text(&s->cwd);
  size_t n = from ? strlen(from) : 0;
  str_add(&s->root, cwd);
  if (!n || strncmp(cwd, from, n) != 0 || cwd[n] != '/')
    return;
  size_t end = n + 1;
  while (cwd[end] && cwd[end] != '/')
    end++;
  str_clear(&s->root);
  str_addn(&s->root, cwd, end);
}

static bool find_device(dev_t device, StreamKind *out) {
  static const struct {
    unsigned minor;
    StreamKind kind;
  } known[] = {{3, STREAM_NULL}, {5, STREAM_ZERO}, {7, STREAM_FULL}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (major(device) == 1 && minor(device) == known[i].minor) {
      *out = known[i].kind;
      return true;
    }
  return false;
}

static int read_input(StartStream *s, Err *err) {
  int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
  int rc = fd < 0 ? err_set(err, "standard input: %s", strerror(errno))
                  : fs_read_fd(fd, "standard input", CAPTURE_STREAM_BYTES,
                               &s->data, err);
  if (fd >= 0)
    close(fd);
  if (!rc && s->data.len >= CAPTURE_STREAM_BYTES)
    rc = err_set(err, "standard input is too large");
  return rc;
}

// A file that its name still leads to, in the tree.
static bool is_inside(const ProgramStart *s, int fd, const struct stat *st,
                      StartStream *stream) {
  char link[64], path[PATH_MAX];
  struct stat named;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0)
    return false;
  path[n] = '\0';
  if (!path_lies_in(path, str_text(&s->root)) || stat(path, &named) ||
      named.st_dev != st->st_dev || named.st_ino != st->st_ino)
    return false;
  str_add(&stream->path, path);
  return true;
}

static int describe_file(ProgramStart *s, int fd, const struct stat *st,
                         Err *err) {
  StartStream *stream = &s->streams[fd];
  stream->offset = lseek(fd, 0, SEEK_CUR);
  stream->time = st->st_mtim;
  stream->kind = is_inside(s, fd, st, stream) ? STREAM_INSIDE : STREAM_FILE;
  return !fd && stream->kind == STREAM_FILE ? read_input(stream, err) : 0;
}

static int describe_stream(ProgramStart *s, int fd, Err *err) {
  StartStream *stream = &s->streams[fd];
  struct stat st, out;
  if (fstat(fd, &st))
    return 0; // it is closed
  stream->flags = fcntl(fd, F_GETFL);
  if (fd == 2 && !fstat(1, &out) && out.st_dev == st.st_dev &&
      out.st_ino == st.st_ino && !S_ISCHR(st.st_mode)) {
    stream->kind = STREAM_SAME;
    return 0;
  }
  if (S_ISREG(st.st_mode))
    return describe_file(s, fd, &st, err);
  if (S_ISFIFO(st.st_mode))
    stream->kind = STREAM_PIPE;
  else if (!S_ISCHR(st.st_mode) || !find_device(st.st_rdev, &stream->kind))
    return err_set(err, "a standard stream is no file, pipe or known device");
  return 0;
}

int start_describe(ProgramStart *s, const char *from, char **argv, Err *err) {
  extern char **environ;
  char cwd[PATH_MAX];
  if (!getcwd(cwd, sizeof cwd) || *cwd != '/')
    return err_set(err, "the current directory is not known");
  str_add(&s->cwd, cwd);
  set_root(s, from);
  s->mask = umask(0);
  umask(s->mask);
  copy_words(&s->argv, argv);
  copy_words(&s->env, environ);
  for (int i = 0; i < RLIM_NLIMITS; i++)
    getrlimit((__rlimit_resource_t)i, &s->limits[i]);
  int rc = 0;
  for (int fd = 0; fd < 3 && !rc; fd++)
    rc = describe_stream(s, fd, err);
  return rc;
}

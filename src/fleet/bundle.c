// Bundles: see bundle.h.
//
// Before compression: magic, version, then entries, each with a kind ('f' file,
// 'x' program, 'e' the end), the length of its name, its size, name, content.
#include "fleet/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "process/words.h"
#include "program/loaded.h"
#include "program/map.h"
#include "util/fs.h"
#include "util/mem.h"

enum { LEVEL = 3, NAME_MOST = 4096 };
static const uint64_t PACKED_MOST = 1u << 30; // bytes before compression

typedef struct {
  uint32_t kind, name_size;
  uint64_t size;
} EntryHead;

typedef struct {
  char magic[8];
  uint32_t version, unused;
} BundleHead;

// --- packing ----------------------------------------------------------------

static int add_entry(Str *out, char kind, const char *name, const void *data,
                     size_t size, Err *err) {
  EntryHead head = {(uint32_t)kind, (uint32_t)strlen(name), size};
  if (out->len + size > PACKED_MOST)
    return err_set(err, "the tests' directory has more than 1 GB; name a "
                        "smaller one with --cwd");
  str_addn(out, &head, sizeof head);
  str_add(out, name);
  str_addn(out, data, size);
  return 0;
}

static int add_file(Str *out, const char *path, const char *name, Err *err) {
  Str text = {0};
  int rc = fs_read(path, PACKED_MOST + 1, &text, err);
  if (!rc)
    rc = add_entry(out, fs_executable(path) ? 'x' : 'f', name, str_text(&text),
                   text.len, err);
  str_release(&text);
  return rc;
}

static bool is_left_out(const char *name) {
  return !strcmp(name, ".") || !strcmp(name, "..") ||
         !strcmp(name, ".culprit") || !strcmp(name, ".git");
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_tree(Str *out, const char *path, const char *name, Err *err);

static int add_below(Str *out, const char *path, const char *name, Err *err) {
  struct stat st;
  if (stat(path, &st))
    return 0; // a link that leads nowhere
  if (S_ISREG(st.st_mode))
    return add_file(out, path, name, err);
  return S_ISDIR(st.st_mode) && !lstat(path, &st) && S_ISDIR(st.st_mode)
             ? add_tree(out, path, name, err)
             : 0;
}

// In the order of names: the same files make the same bundle.
static int add_tree(Str *out, const char *path, const char *name, Err *err) {
  ARRAY(char *) names = {0};
  DIR *dir = opendir(path);
  if (!dir)
    return err_set(err, "%s: %s", path, strerror(errno));
  for (struct dirent *e; (e = readdir(dir));)
    if (!is_left_out(e->d_name))
      array_push(&names, mem_strdup(e->d_name));
  closedir(dir);
  if (names.len)
    qsort(names.items, names.len, sizeof *names.items, by_name);
  int rc = 0;
  for (size_t i = 0; i < names.len; i++) {
    char *full = mem_printf("%s/%s", path, names.items[i]);
    char *inside = mem_printf("%s/%s", name, names.items[i]);
    rc = rc ? rc : add_below(out, full, inside, err);
    free(inside);
    free(full);
    free(names.items[i]);
  }
  array_release(&names);
  return rc;
}

static int add_library(void *ctx, const char *path, Err *err) {
  ProgramMap map = {0};
  if (map_read(&map, path, err))
    return -1;
  size_t units = map.units.len;
  map_release(&map);
  char *name = mem_printf("lib/%s", path_base(path));
  int rc = units ? add_file(ctx, path, name, err) : 0;
  free(name);
  return rc;
}

static void add_line(Str *out, const char *key, const char *value) {
  str_addf(out, "%s ", key);
  words_quote(out, value);
  str_addc(out, '\n');
}

static void add_number(Str *out, const char *key, double value) {
  str_addf(out, "%s %.17g\n", key, value);
}

static int add_manifest(Str *out, const RunOptions *o, double timeout,
                        Err *err) {
  Str text = {0};
  add_line(&text, "exe", o->exe);
  add_number(&text, "timeout", timeout);
  add_number(&text, "timeout_given", o->timeout_given);
  add_number(&text, "max_output", (double)o->max_output);
  add_number(&text, "rerun", o->rerun);
  add_number(&text, "scratch", o->scratch);
  add_number(&text, "segments", o->segments);
  if (o->reference)
    add_line(&text, "reference", path_base(o->reference));
  if (o->expect)
    add_line(&text, "expect", "expect");
  if (o->oracle)
    add_line(&text, "oracle", o->oracle);
  if (o->failure_regex)
    add_line(&text, "failure_regex", o->failure_regex);
  int rc = add_entry(out, 'f', "manifest", text.data, text.len, err);
  str_release(&text);
  return rc;
}

static int add_named(Str *out, const char *folder, const char *path, Err *err) {
  char *name = mem_printf("%s/%s", folder, path_base(path));
  int rc = add_file(out, path, name, err);
  free(name);
  return rc;
}

static int add_all(Str *out, const RunOptions *o, double timeout, Err *err) {
  BundleHead head = {.version = BUNDLE_VERSION};
  memcpy(head.magic, BUNDLE_MAGIC, sizeof head.magic);
  str_addn(out, &head, sizeof head);
  if (add_manifest(out, o, timeout, err) ||
      add_named(out, "exe", o->exe, err) ||
      loaded_libraries(o->exe, add_library, out, err) ||
      add_file(out, o->tests, "tests", err) ||
      (o->reference && add_named(out, "reference", o->reference, err)) ||
      (o->expect && add_tree(out, o->expect, "expect", err)) ||
      add_tree(out, o->cwd, "cwd", err))
    return -1;
  return add_entry(out, 'e', "", "", 0, err);
}

int bundle_pack(const RunOptions *o, double timeout, Str *out, Err *err) {
  Str plain = {0};
  int rc = add_all(&plain, o, timeout, err);
  size_t room = ZSTD_compressBound(plain.len);
  char *packed = rc ? NULL : mem_alloc(room);
  size_t n = rc ? 0 : ZSTD_compress(packed, room, plain.data, plain.len, LEVEL);
  if (!rc && ZSTD_isError(n))
    rc = err_set(err, "cannot compress the bundle: %s", ZSTD_getErrorName(n));
  if (!rc)
    str_addn(out, packed, n);
  free(packed);
  str_release(&plain);
  return rc;
}

char *bundle_hash(const Str *packed) {
  XXH128_hash_t h = XXH3_128bits(str_text(packed), packed->len);
  return mem_printf("%016" PRIx64 "%016" PRIx64, h.high64, h.low64);
}

// --- unpacking --------------------------------------------------------------

static bool is_inside(const char *name) {
  if (!*name || *name == '/' || text_ends(name, "/"))
    return false;
  for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL) {
    size_t n = strcspn(p, "/");
    if (!n || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
      return false;
  }
  return true;
}

static int write_entry(const char *dir, const char *name, bool program,
                       const char *data, size_t size, Err *err) {
  char *path = mem_printf("%s/%s", dir, name);
  char *parent = mem_printf("%.*s", (int)(path_base(path) - path), path);
  int rc = fs_mkdirs(parent, err);
  int fd = rc ? -1
              : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     program ? 0755 : 0644);
  if (!rc && fd < 0)
    rc = err_set(err, "%s: %s", path, strerror(errno));
  for (size_t at = 0; !rc && at < size;) {
    ssize_t n = write(fd, data + at, size - at);
    if (n < 0)
      rc = err_set(err, "%s: %s", path, strerror(errno));
    else
      at += (size_t)n;
  }
  if (fd >= 0)
    close(fd);
  free(parent);
  free(path);
  return rc;
}

static int broken(Err *err) {
  return err_set(err, "the bundle is damaged; queue its tests again");
}

// Writes the entry at *at, and goes on to the next. 1: that was the end.
static int take_entry(const Str *plain, size_t *at, const char *dir, Err *err) {
  EntryHead head;
  char name[NAME_MOST];
  if (plain->len - *at < sizeof head)
    return broken(err);
  memcpy(&head, plain->data + *at, sizeof head);
  *at += sizeof head;
  if (head.kind == 'e')
    return 1;
  if (head.name_size >= sizeof name || plain->len - *at < head.name_size)
    return broken(err);
  memcpy(name, plain->data + *at, head.name_size);
  name[head.name_size] = '\0';
  *at += head.name_size;
  if (plain->len - *at < head.size || strlen(name) != head.name_size ||
      (head.kind != 'f' && head.kind != 'x') || !is_inside(name))
    return broken(err);
  *at += head.size;
  return write_entry(dir, name, head.kind == 'x', plain->data + *at - head.size,
                     head.size, err);
}

static int expand(const Str *packed, Str *plain, Err *err) {
  unsigned long long size = ZSTD_getFrameContentSize(packed->data, packed->len);
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
      size < sizeof(BundleHead) || size > PACKED_MOST + (1u << 20))
    return broken(err);
  char *buffer = mem_alloc(size);
  size_t n = ZSTD_decompress(buffer, size, packed->data, packed->len);
  if (!ZSTD_isError(n) && n == size)
    str_addn(plain, buffer, n);
  free(buffer);
  return plain->len == size ? 0 : broken(err);
}

static int take_all(const Str *plain, const char *dir, Err *err) {
  BundleHead head;
  memcpy(&head, plain->data, sizeof head);
  if (memcmp(head.magic, BUNDLE_MAGIC, sizeof head.magic))
    return broken(err);
  if (head.version != BUNDLE_VERSION)
    return err_set(err,
                   "the bundle has version %u, this culprit reads %u; use the "
                   "same culprit on all machines",
                   head.version, BUNDLE_VERSION);
  size_t at = sizeof head;
  int rc;
  do
    rc = take_entry(plain, &at, dir, err);
  while (!rc);
  return rc < 0 ? -1 : 0;
}

// Beside its place first: who finds `dir` finds all of it.
static int unpack_beside(const Str *plain, const char *dir, Err *err) {
  char *made = mem_printf("%s.XXXXXX", dir);
  int rc = mkdtemp(made) ? 0 : err_set(err, "%s: %s", made, strerror(errno));
  bool there = !rc;
  rc = rc ? rc : take_all(plain, made, err);
  if (!rc && rename(made, dir) && !fs_exists(dir))
    rc = err_set(err, "%s: %s", dir, strerror(errno));
  if (there)
    fs_remove_tree(made); // gone, unless that failed or another was faster
  free(made);
  return rc;
}

int bundle_unpack(const Str *packed, const char *hash, const char *dir,
                  Err *err) {
  Str plain = {0};
  char *found = bundle_hash(packed);
  int rc = 0;
  if (strcmp(found, hash) != 0)
    rc = err_set(err,
                 "the bundle is not the one that the tests were queued with "
                 "(%s, not %s): it is cut off, or of another build",
                 found, hash);
  else if (!fs_exists(dir))
    rc =
        expand(packed, &plain, err) || unpack_beside(&plain, dir, err) ? -1 : 0;
  str_release(&plain);
  free(found);
  return rc;
}

// --- reading ----------------------------------------------------------------

// Of a line of the manifest; NULL: the manifest has no such line.
static const char *value_of(Bundle *b, const char *manifest, const char *key) {
  size_t n = strlen(key);
  for (const char *line = manifest; *line;) {
    size_t size = strcspn(line, "\n");
    Words w;
    if (!strncmp(line, key, n) && line[n] == ' ') {
      char *text = arena_strndup(&b->arena, line, size);
      return words_parse(&w, text, &b->arena) && w.argc == 2 ? w.argv[1] : NULL;
    }
    line += size + (line[size] == '\n');
  }
  return NULL;
}

static double number_of(Bundle *b, const char *manifest, const char *key) {
  const char *value = value_of(b, manifest, key);
  return value ? strtod(value, NULL) : 0;
}

static void read_options(Bundle *b, const char *dir, const char *manifest) {
  RunOptions *o = &b->options;
  const char *reference = value_of(b, manifest, "reference");
  o->exe = arena_printf(&b->arena, "%s/exe/%s", dir, path_base(b->exe));
  o->tests = arena_printf(&b->arena, "%s/tests", dir);
  o->cwd = arena_printf(&b->arena, "%s/cwd", dir);
  if (reference)
    o->reference =
        arena_printf(&b->arena, "%s/reference/%s", dir, path_base(reference));
  if (value_of(b, manifest, "expect"))
    o->expect = arena_printf(&b->arena, "%s/expect", dir);
  o->oracle = value_of(b, manifest, "oracle");
  o->failure_regex = value_of(b, manifest, "failure_regex");
  o->timeout = b->timeout = number_of(b, manifest, "timeout");
  o->timeout_given = number_of(b, manifest, "timeout_given") > 0;
  o->max_output = (uint64_t)number_of(b, manifest, "max_output");
  o->rerun = number_of(b, manifest, "rerun") > 0;
  o->scratch = number_of(b, manifest, "scratch") > 0;
  o->segments = number_of(b, manifest, "segments") > 0;
}

int bundle_read(Bundle *b, const char *dir, Err *err) {
  Str manifest = {0};
  *b = (Bundle){0};
  char *path = mem_printf("%s/manifest", dir);
  int rc = fs_read(path, 0, &manifest, err);
  if (!rc)
    b->exe = value_of(b, str_text(&manifest), "exe");
  if (!rc && (!b->exe || number_of(b, str_text(&manifest), "timeout") <= 0))
    rc = err_set(err, "%s: it does not say how the tests run", path);
  if (!rc) {
    read_options(b, dir, str_text(&manifest));
    const char *lib = arena_printf(&b->arena, "%s/lib", dir);
    b->lib = fs_exists(lib) ? lib : NULL;
    char *cwd = mem_strdup(b->options.cwd);
    rc = fs_mkdirs(cwd, err); // of no file at all
    free(cwd);
  }
  free(path);
  str_release(&manifest);
  return rc;
}

void bundle_release(Bundle *b) { arena_release(&b->arena); }

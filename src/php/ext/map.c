// Writes the map of a script: see php_culprit.h and ../record_format.h. Each is
// written once, under another name first: readers and other workers see a whole
// map or none.
#include "php_culprit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct {
  unsigned char *bytes;
  size_t length, room;
  bool failed;
} buffer;

static void put_bytes(buffer *b, const void *bytes, size_t n) {
  if (b->room - b->length < n && !b->failed) {
    size_t room = (b->room + n) * 2;
    unsigned char *grown = realloc(b->bytes, room);
    b->failed = !grown;
    if (grown) {
      b->bytes = grown;
      b->room = room;
    }
  }
  if (b->failed)
    return;
  memcpy(b->bytes + b->length, bytes, n);
  b->length += n;
}

static void put(buffer *b, uint64_t v) {
  unsigned char bytes[10];
  size_t n = 0;
  do {
    bytes[n++] = (unsigned char)((v & 127) | (v > 127 ? 128 : 0));
    v >>= 7;
  } while (v);
  put_bytes(b, bytes, n);
}

static void put_text(buffer *b, const char *text, size_t n) {
  put(b, n);
  put_bytes(b, text, n);
}

// CULPRIT_NONE becomes 0.
static void put_block(buffer *b, uint32_t block) { put(b, block + 1u); }

static void put_function(buffer *b, const map_function *f) {
  put_text(b, f->name, strlen(f->name));
  put(b, f->line);
  put(b, f->nblocks);
  for (uint32_t i = 0; i < f->nblocks; i++)
    put(b, f->block_lines[i]);
  put(b, f->nedges);
  for (uint32_t i = 0; i < f->nedges; i++) {
    put_block(b, f->edges[i].from);
    put_block(b, f->edges[i].to);
  }
  put(b, f->nconditions);
  for (uint32_t i = 0; i < f->nconditions; i++) {
    put(b, f->conditions[i].line);
    put(b, f->conditions[i].kind);
    put(b, f->conditions[i].outcomes);
    put_block(b, f->conditions[i].block);
  }
  put(b, f->ncalls);
  for (uint32_t i = 0; i < f->ncalls; i++) {
    const map_call *c = &f->calls[i];
    put(b, c->line);
    put_text(b, c->callee, c->callee ? c->callee_length : 0);
    put(b, c->classes);
    put_block(b, c->block);
  }
}

static void put_statements(buffer *b, const culprit_map *m) {
  uint32_t line = 0;
  put(b, m->nstatements);
  for (uint32_t i = 0; i < m->nstatements; i++) {
    const map_statement *s = &m->statements[i];
    put(b, s->line - line);
    put(b, s->function);
    put(b, s->nblocks);
    for (uint32_t k = 0; k < s->nblocks; k++)
      put(b, s->blocks[k]);
    line = s->line;
  }
}

static void encode(buffer *b, const culprit_map *m) {
  PhpMapHeader h = {.magic = PHP_MAP_MAGIC,
                    .version = PHP_FORMAT_VERSION,
                    .nentities = m->nentities,
                    .source_hash = m->source_hash};
  memcpy(h.id, m->id, sizeof h.id);
  put_bytes(b, &h, sizeof h);
  put_text(b, m->path, m->path_length);
  put(b, m->nfunctions);
  for (uint32_t i = 0; i < m->nfunctions; i++)
    put_function(b, &m->functions[i]);
  put_statements(b, m);
  if (b->failed)
    return;
  h.size = b->length;
  h.checksum = XXH3_64bits_withSeed(b->bytes + sizeof h, b->length - sizeof h,
                                    h.source_hash);
  memcpy(b->bytes, &h, sizeof h);
}

// The ids of maps that are known to be there.
static HashTable known;
static bool has_known;

bool culprit_map_is_known(const culprit_map *m) {
  if (!has_known)
    zend_hash_init(&known, 64, NULL, NULL, 1);
  has_known = true;
  return zend_hash_str_exists(&known, (const char *)m->id, sizeof m->id);
}

void culprit_map_close(void) {
  if (has_known)
    zend_hash_destroy(&known);
  has_known = false;
}

static void remember(const culprit_map *m) {
  zval yes;
  ZVAL_TRUE(&yes);
  if (zend_hash_num_elements(&known) >= 100000) // a worker that lives long
    zend_hash_clean(&known);
  zend_hash_str_add(&known, (const char *)m->id, sizeof m->id, &yes);
}

static bool write_all(int fd, const buffer *b) {
  size_t done = 0;
  while (done < b->length) {
    ssize_t n = write(fd, b->bytes + done, b->length - done);
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

static bool write_file(const char *path, const buffer *b) {
  char other[MAXPATHLEN + 32];
  snprintf(other, sizeof other, "%s.%ld", path, (long)getpid());
  int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return false;
  bool good = write_all(fd, b);
  good = !close(fd) && good && !rename(other, path);
  if (!good)
    unlink(other);
  return good;
}

static void write_map(const char *path, const culprit_map *m) {
  buffer b = {0};
  encode(&b, m);
  if (!b.failed && write_file(path, &b))
    remember(m);
  else
    culprit_note("a map could not be written");
  free(b.bytes);
}

void culprit_map_write(const char *dir, const culprit_map *m) {
  char path[MAXPATHLEN], name[33];
  for (int i = 0; i < 16; i++)
    snprintf(name + 2 * i, 3, "%02x", m->id[i]);
  int n = snprintf(path, sizeof path, "%s/%s", dir, PHP_MAPS_DIR);
  if (n >= (int)sizeof path - 40)
    return;
  mkdir(path, 0777);
  snprintf(path + n, sizeof path - (size_t)n, "/%s.map", name);
  if (!access(path, R_OK))
    remember(m);
  else
    write_map(path, m);
}

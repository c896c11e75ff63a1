// The mapped record, and memory that lives as long as a request: see
// php_culprit.h and ../record_format.h.
//
// The file is mapped once a process, with room to grow: addresses stay the same
// while a request runs. What lies behind the end of the file is never touched;
// the file is extended with blocks that exist (a full disk must not be a SIGBUS
// in the application).
#include "php_culprit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ext/standard/php_string.h"

#define ROOM ((size_t)1 << 30)
#define FIRST_SIZE ((size_t)1 << 18)

culprit_globals culprit;

static size_t file_size;
static int fd = -1;
static pid_t owner;        // the process that opened fd
static HashTable files;    // path -> number, this request
static uint32_t nfiles;    // that have a number; some have two paths
static HashTable includes; // numbers of files, this request
static bool has_files;
static const char *notes[8];
static unsigned nnotes;

// --- the file ---------------------------------------------------------------

static void on_fork(void) { culprit.forked = true; }

static int open_file(const char *dir) {
  char path[MAXPATHLEN];
  if (snprintf(path, sizeof path, "%s/%s", dir, PHP_RECORD_FILE) >=
      (int)sizeof path)
    return -1;
  fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return -1;
  void *base = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, fd, 0);
  off_t end = lseek(fd, 0, SEEK_END);
  if (base == MAP_FAILED || end < 0) {
    close(fd);
    return fd = -1;
  }
  // Blocks of an old, perhaps sparse file are made sure of again.
  file_size = 0;
  culprit.base = base;
  culprit.header = base;
  if (!owner)
    pthread_atfork(NULL, NULL, on_fork);
  owner = getpid();
  return 0;
}

static bool extend(size_t size) {
  if (size <= file_size)
    return true;
  size_t want = file_size ? file_size : FIRST_SIZE;
  while (want < size)
    want *= 2;
  if (want > ROOM || posix_fallocate(fd, 0, (off_t)want))
    return false;
  file_size = want;
  return true;
}

static void close_file(void) {
  if (fd >= 0) {
    munmap(culprit.base, ROOM);
    close(fd);
  }
  fd = -1;
  culprit.base = NULL;
  culprit.nslots = 0;
}

int culprit_record_begin(const char *dir) {
  if (fd >= 0 && owner != getpid())
    close_file();
  if (fd < 0 && open_file(dir))
    return -1;
  if (!extend(FIRST_SIZE)) {
    close_file();
    return -1;
  }
  culprit.forked = false;
  memset(culprit.header, 0, sizeof *culprit.header);
  culprit.header->version = PHP_FORMAT_VERSION;
  culprit.header->used = sizeof *culprit.header;
  atomic_signal_fence(memory_order_seq_cst);
  culprit.header->magic = PHP_RECORD_MAGIC;
  culprit.nslots = 0;
  culprit.recording = true;
  zend_hash_init(&files, 16, NULL, NULL, 1);
  nfiles = 0;
  zend_hash_init(&includes, 16, NULL, NULL, 1);
  has_files = true;
  nnotes = 0;
  return 0;
}

void culprit_record_end(void) {
  if (culprit.base && !culprit.forked)
    culprit.header->finished = 1;
  culprit.nslots = 0;
  culprit.recording = false;
  if (has_files) {
    zend_hash_destroy(&files);
    zend_hash_destroy(&includes);
  }
  has_files = false;
}

// --- items ------------------------------------------------------------------

void *culprit_item(ItemTag tag, size_t size) {
  if (!culprit.recording || culprit.forked)
    return NULL;
  size = (size + 7) & ~(size_t)7;
  size_t at = culprit.header->used;
  if (size > UINT32_MAX || !extend(at + size)) {
    culprit_note("the record is full, what came later is missing");
    return NULL;
  }
  ItemHead *item = (ItemHead *)((char *)culprit.base + at);
  memset(item, 0, size);
  item->tag = tag;
  item->size = (uint32_t)size;
  return item;
}

void culprit_publish(void *item) {
  const ItemHead *head = item;
  size_t used = (size_t)((char *)item - (char *)culprit.base) + head->size;
  // The compiler must not move the stores of the item behind this one; the
  // kernel sees them in order.
  atomic_signal_fence(memory_order_seq_cst);
  culprit.header->used = used;
  culprit.nslots = (uint32_t)(used / 4) - FIRST_SLOT;
}

static void add_text(ItemTag tag, const char *text, size_t length) {
  ItemText *item = culprit_item(tag, sizeof *item + length);
  if (!item)
    return;
  item->length = (uint32_t)length;
  memcpy(item + 1, text, length);
  culprit_publish(item);
}

void culprit_note(const char *text) {
  for (unsigned i = 0; i < nnotes; i++)
    if (notes[i] == text)
      return;
  if (nnotes == sizeof notes / sizeof *notes)
    return;
  notes[nnotes++] = text;
  add_text(ITEM_NOTE, text, strlen(text));
}

void culprit_ref(ItemTag tag, uint32_t file) {
  ItemRef *item = culprit_item(tag, sizeof *item);
  if (!item)
    return;
  item->file = file;
  culprit_publish(item);
}

void culprit_include(uint32_t file) {
  zval yes;
  ZVAL_TRUE(&yes);
  if (zend_hash_index_add(&includes, file, &yes))
    culprit_ref(ITEM_INCLUDE, file);
}

// PHP's own names ("Command line code") and streams stay as they are.
static bool is_relative(const char *path, size_t length) {
  return length && path[0] != '/' && !memchr(path, ' ', length) &&
         !memchr(path, ':', length);
}

static const char *inside, *outside; // inside is "": nothing is renamed
static size_t inside_length;

void culprit_names_start(const char *from, const char *to) {
  inside = from ? from : "";
  outside = to ? to : "";
  inside_length = strlen(inside);
}

static bool begins_inside(const char *path) {
  return inside_length && !strncmp(path, inside, inside_length) &&
         (path[inside_length] == '/' || !path[inside_length]);
}

static const char *rename_path(const char *path, char *room) {
  char name[MAXPATHLEN];
  if (!begins_inside(path))
    return path;
  int n = snprintf(name, sizeof name, "%s%s", outside, path + inside_length);
  if (n < 0 || (size_t)n >= sizeof name)
    return path;
  return strcpy(room, name);
}

const char *culprit_absolute(const char *path, size_t length, char *room) {
  bool resolved = is_relative(path, length) && VCWD_REALPATH(path, room);
  return rename_path(resolved ? room : path, room);
}

zend_string *culprit_renamed(zend_string *message) {
  if (!inside_length || !strstr(ZSTR_VAL(message), inside))
    return zend_string_copy(message);
  return php_str_to_str(ZSTR_VAL(message), ZSTR_LEN(message), inside,
                        inside_length, outside, strlen(outside));
}

uint32_t culprit_file(const char *path, size_t length) {
  zval *known = zend_hash_str_find(&files, path, length);
  if (known)
    return (uint32_t)Z_LVAL_P(known);
  char resolved[MAXPATHLEN];
  const char *name = culprit_absolute(path, length, resolved);
  size_t name_length = name == path ? length : strlen(name);
  if (name != path)
    known = zend_hash_str_find(&files, name, name_length);
  zval number;
  if (known) {
    ZVAL_COPY_VALUE(&number, known);
  } else {
    size_t before = culprit.header->used;
    add_text(ITEM_FILE, name, name_length);
    if (culprit.header->used == before)
      return NO_FILE;
    ZVAL_LONG(&number, nfiles++);
    zend_hash_str_add(&files, name, name_length, &number);
  }
  if (name != path)
    zend_hash_str_add(&files, path, length, &number);
  return (uint32_t)Z_LVAL(number);
}

// --- memory -----------------------------------------------------------------

// Chunks are kept for the next request.
typedef struct chunk {
  struct chunk *next;
  size_t size, used;
} chunk;

#define CHUNK_SIZE ((size_t)1 << 16)

static chunk *chunks, *current;

static chunk *new_chunk(size_t size) {
  size_t want = size > CHUNK_SIZE ? size : CHUNK_SIZE;
  chunk *c = malloc(sizeof *c + want);
  if (!c)
    zend_error_noreturn(E_ERROR, "culprit: out of memory");
  c->size = want;
  c->used = 0;
  return c;
}

void *culprit_alloc(size_t size) {
  size = (size + 15) & ~(size_t)15;
  while (current && current->size - current->used < size && current->next) {
    current = current->next;
    current->used = 0;
  }
  if (!current || current->size - current->used < size) {
    chunk *c = new_chunk(size);
    c->next = NULL;
    *(current ? &current->next : &chunks) = c;
    current = c;
  }
  void *p = (char *)(current + 1) + current->used;
  current->used += size;
  return memset(p, 0, size);
}

// Large ones go back to the system.
void culprit_free_all(void) {
  chunk **at = &chunks;
  unsigned kept = 0;
  while (*at) {
    chunk *c = *at;
    if (c->size == CHUNK_SIZE && kept < 64) {
      kept++;
      at = &c->next;
      continue;
    }
    *at = c->next;
    free(c);
  }
  current = chunks;
  if (current)
    current->used = 0;
}

void culprit_record_close(void) {
  close_file();
  while (chunks) {
    chunk *next = chunks->next;
    free(chunks);
    chunks = next;
  }
  current = NULL;
}

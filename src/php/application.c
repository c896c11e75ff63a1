// The application on disk: see application.h.
#include "php/application.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

char *app_extension(Err *err) {
  char *path = path_of_part("culprit.so");
  if (fs_exists(path))
    return path;
  err_set(err,
          "%s, the extension for PHP, is missing: was culprit built without "
          "php8.2-dev?",
          path);
  free(path);
  return NULL;
}

char *app_code_root(const char *root) {
  static const char *const published[] = {"public",  "web",         "htdocs",
                                          "webroot", "public_html", "docroot"};
  const char *name = path_base(root);
  char *above =
      mem_printf("%.*s", (int)(name - root - (name - root > 1)), root);
  char *composer = mem_printf("%s/composer.json", above);
  bool is_part = fs_exists(composer);
  for (size_t i = 0; i < sizeof published / sizeof *published; i++)
    is_part |= !strcmp(name, published[i]);
  char *made = mem_strdup(is_part && *above ? above : root);
  free(composer);
  free(above);
  return made;
}

enum { SMALL_FILES = 1000, SMALL_BYTES = 64 << 20, SMALL_DEPTH = 100 };

bool app_is_small(const char *root) {
  char *roots[] = {(char *)root, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  size_t files = 0;
  off_t bytes = 0;
  bool small = true;
  for (FTSENT *e; walk && (e = fts_read(walk));) {
    if (e->fts_info == FTS_D && !strcmp(e->fts_name, ".culprit"))
      fts_set(walk, e, FTS_SKIP);
    files += e->fts_info != FTS_DP;
    bytes += e->fts_info == FTS_F ? e->fts_statp->st_size : 0;
    small = files <= SMALL_FILES && bytes <= SMALL_BYTES &&
            e->fts_level <= SMALL_DEPTH;
    if (!small)
      break;
  }
  if (walk)
    fts_close(walk);
  return small;
}

static int by_name(const FTSENT **a, const FTSENT **b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_script(const char *name) {
  return text_ends(name, ".php") || text_ends(name, ".inc") ||
         text_ends(name, ".phtml");
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t n) {
  return XXH3_64bits_withSeed(bytes, n, hash);
}

uint64_t app_hash(const char *root, const char *text, size_t len) {
  uint64_t hash = mix(0, text, len);
  char *roots[] = {(char *)root, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
  for (FTSENT *e; walk && (e = fts_read(walk));) {
    if (e->fts_info != FTS_F || !is_script(e->fts_name))
      continue;
    hash = mix(hash, e->fts_path, e->fts_pathlen);
    hash = mix(hash, &e->fts_statp->st_size, sizeof e->fts_statp->st_size);
    hash = mix(hash, &e->fts_statp->st_mtim, sizeof e->fts_statp->st_mtim);
  }
  if (walk)
    fts_close(walk);
  return hash;
}

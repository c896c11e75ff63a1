// Shared by the tests of src/php: a scratch directory, a worker to ask, dice.
// Included once by each, behind test.h.
#ifndef CULPRIT_TESTS_UNIT_PHP_H
#define CULPRIT_TESTS_UNIT_PHP_H

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "php/worker.h"
#include "util/fs.h"
#include "util/mem.h"

// Not every test needs all of them.
#define HELPER __attribute__((unused)) static

static Err err;

HELPER void check(int rc) {
  if (rc)
    fail_msg("%s", err.text);
}

// A directory of this test, removed by tidy().
static char scratch[64];

HELPER void begin(void) {
  strcpy(scratch, "/tmp/culprit-driver-XXXXXX");
  assert_non_null(mkdtemp(scratch));
}

HELPER void tidy(void) { fs_remove_tree(scratch); }

// The last sixteen names stay.
HELPER const char *in_scratch(const char *name) {
  static char names[16][256];
  static unsigned turn;
  char *out = names[turn++ % 16];
  snprintf(out, 256, "%s/%s", scratch, name);
  return out;
}

HELPER void put(const char *name, const char *text) {
  const char *path = in_scratch(name);
  char *dir = mem_strdup(path);
  *strrchr(dir, '/') = '\0';
  check(fs_mkdirs(dir, &err));
  check(fs_write(path, text, strlen(text), &err));
  free(dir);
}

HELPER bool holds(const char *name, const char *text) {
  Str s = {0};
  bool same =
      !fs_read(in_scratch(name), 0, &s, &err) && !strcmp(str_text(&s), text);
  str_release(&s);
  return same;
}

// The same numbers each time.
HELPER uint32_t dice(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

// --- a site
// -------------------------------------------------------------------

HELPER WebApp small_site(void) {
  put("root/index.php", "<?php echo 'front ', $_SERVER['REQUEST_URI'];");
  put("root/a/view.php", "<?php echo $_SERVER['PATH_INFO'] ?? 'none', ' ', "
                         "$_SERVER['PHP_SELF'], ' ', __FILE__;");
  put("root/a/index.html", "<p>a</p>");
  put("root/style.css", "p{}");
  put("root/empty/x.txt", "x");
  put("root/.htaccess", "secret");
  put("secret.txt", "secret");
  put("secret.d/x.php", "<?php echo 'secret';");
  symlink("../secret.txt", in_scratch("root/leak.txt"));
  symlink("../secret.d", in_scratch("root/leak.d"));
  symlink("style.css", in_scratch("root/alias.css"));
  return (WebApp){.root = in_scratch("root"), .timeout = 5};
}

// --- a worker, and what it answers
// --------------------------------------------

typedef struct {
  Worker *w;
  Arena arena;
  Exchange e;
} Bench;

HELPER void open_worker(Bench *b, const WebApp *s) {
  *b = (Bench){0};
  check(worker_open(&b->w, s, in_scratch("w"), &err));
}

HELPER void close_worker(Bench *b) {
  worker_close(b->w);
  arena_release(&b->arena);
}

HELPER const char *ask_with(Bench *b, const Request *r, const char *cookies) {
  check(worker_serve(b->w, r, cookies, &b->e, &b->arena, &err));
  return b->e.response.body;
}

HELPER const char *ask(Bench *b, const char *path) {
  Request r = {.method = "GET", .path = path, .query = "", .body = ""};
  return ask_with(b, &r, NULL);
}

#endif

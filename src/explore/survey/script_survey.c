// All PHP scripts of an application: see script_survey.h.
#include "explore/survey/script_survey.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "php/file_walk.h"
#include "php/record/php_record.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { SCRIPT_BYTES = 4 << 20 }; // larger ones are data

// --- the files --------------------------------------------------------------

static bool is_visible(void *ctx, const char *path, int depth) {
  (void)ctx;
  return !depth || *path_base(path) != '.';
}

static bool is_script(const FileWalkItem *item) {
  return S_ISREG(item->st.st_mode) && item->st.st_size <= SCRIPT_BYTES &&
         (text_ends(item->path, ".php") || text_ends(item->path, ".phtml")) &&
         !strchr(item->path, '\n');
}

static int list_scripts(ScriptSurvey *s, const char *root, Err *err) {
  FileWalk w = {.takes = is_visible, .tolerant = true};
  file_walk_add(&w, root);
  int rc = file_walk_run(&w, err);
  for (size_t i = 0; !rc && i < w.items.len; i++) {
    const FileWalkItem *item = &w.items.items[i];
    if (!is_script(item))
      continue;
    const char *below = arena_strdup(&s->arena, item->path + strlen(root));
    if (s->scripts.len < SURVEY_SCRIPTS)
      array_push(&s->scripts, (SurveyedScript){.path = below});
    else
      s->left_out++;
  }
  file_walk_release(&w);
  return rc;
}

// --- passwords --------------------------------------------------------------

// The function on this line that turns a password into a hash; NULL: none.
static const char *hash_on(const char *line) {
  static const char *const sure[] = {"password_verify", "crypt"};
  static const char *const maybe[] = {"md5", "sha1", "hash"};
  for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
    if (text_calls(line, sure[i]))
      return sure[i];
  bool password = strcasestr(line, "pass") || strcasestr(line, "pw");
  for (size_t i = 0; password && i < sizeof maybe / sizeof *maybe; i++)
    if (text_calls(line, maybe[i]))
      return maybe[i];
  return NULL;
}

static void find_hash(ScriptSurvey *s, const char *root, const char *below) {
  Str text = {0};
  Err ignored;
  char *path = mem_printf("%s%s", root, below);
  unsigned number = 0;
  char *rest = fs_read(path, SCRIPT_BYTES, &text, &ignored) ? NULL : text.data;
  for (char *line; !s->hashes && rest && (line = strsep(&rest, "\n"));) {
    number++;
    s->hash_function = hash_on(line);
    s->hashes = s->hash_function ? below : NULL;
    s->hash_line = number;
  }
  free(path);
  str_release(&text);
}

// --- their maps -------------------------------------------------------------

static SurveyedScript *find(ScriptSurvey *s, const char *below) {
  for (size_t lo = 0, hi = s->scripts.len; lo < hi;) {
    size_t mid = lo + (hi - lo) / 2;
    int order = strcmp(below, s->scripts.items[mid].path);
    if (!order)
      return &s->scripts.items[mid];
    *(order < 0 ? &hi : &lo) = order < 0 ? mid : mid + 1;
  }
  return NULL;
}

static SurveyedScript *script_of(ScriptSurvey *s, const char *root,
                                 const Unit *unit) {
  const char *below = path_below(unit->name, root);
  return below == unit->name ? NULL : find(s, unit->name + strlen(root));
}

static void count_statements(ScriptSurvey *s, SurveyedScript *script,
                             size_t n) {
  script->statements = n;
  s->statements += n;
}

static void take_unit(ScriptSurvey *s, const char *root, const Unit *unit) {
  SurveyedScript *script = script_of(s, root, unit);
  if (!script || script->compiled)
    return;
  script->compiled = true;
  script->unit = unit->id;
  count_statements(s, script, unit_statements(unit));
}

bool script_survey_take(ScriptSurvey *s, const char *root, const Unit *unit) {
  SurveyedScript *script = script_of(s, root, unit);
  if (!script)
    return false;
  size_t n = unit_statements(unit);
  if (!script->ran || n > script->statements) {
    s->statements -= script->statements;
    count_statements(s, script, n);
  }
  script->ran = script->compiled = true;
  return true;
}

static void take_map(ScriptSurvey *s, const char *root, const char *path) {
  Arena arena = {0};
  Unit unit;
  Err ignored;
  if (!php_map_read(path, &unit, &arena, &ignored))
    take_unit(s, root, &unit);
  arena_release(&arena);
}

static int read_maps(ScriptSurvey *s, const char *root, const char *maps,
                     Err *err) {
  DIR *d = opendir(maps);
  if (!d)
    return err_set(err, "%s: cannot be read", maps);
  for (struct dirent *e; (e = readdir(d));) {
    char *path = mem_printf("%s/%s", maps, e->d_name);
    if (text_ends(e->d_name, ".map"))
      take_map(s, root, path);
    free(path);
  }
  closedir(d);
  return 0;
}

static int by_path(const void *a, const void *b) {
  const SurveyedScript *x = a, *y = b;
  return strcmp(x->path, y->path);
}

int script_survey_make(ScriptSurvey *s, const char *root, Worker *worker,
                       const char *maps, double seconds, Err *err) {
  if (list_scripts(s, root, err))
    return -1;
  size_t n = s->scripts.len;
  if (n)
    qsort(s->scripts.items, n, sizeof *s->scripts.items, by_path);
  const char **paths = mem_array(const char *, n + 1);
  for (size_t i = 0; i < n; i++)
    paths[i] = s->scripts.items[i].path;
  for (size_t i = 0; i < n && !s->hashes; i++)
    find_hash(s, root, paths[i]);
  int rc = n ? worker_survey(worker, paths, n, seconds, err) : 0;
  free(paths);
  return rc ? -1 : read_maps(s, root, maps, err);
}

void script_survey_release(ScriptSurvey *s) {
  array_release(&s->scripts);
  arena_release(&s->arena);
}

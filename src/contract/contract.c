// Contracts of a translation unit: see contract.h.
#include "contract/contract.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compile/changed_file.h"
#include "contract/old_alloca.h"
#include "contract/overlay.h"
#include "util/escape.h"
#include "util/fs.h"

enum { FILES_MAX = 2000 };

// --- files ------------------------------------------------------------------

void contracts_dirs(const CcArgs *args, Args *dirs) {
  for (size_t i = 0; i < args->args.len; i++) {
    const char *a = args->args.items[i].text;
    if (args->args.items[i].role != ARG_FRONT)
      continue;
    bool separate = !strcmp(a, "-I") || !strcmp(a, "-iquote");
    if (separate && i + 1 < args->args.len)
      array_push(dirs, args->args.items[++i].text);
    else if (text_starts(a, "-I"))
      array_push(dirs, a + 2);
    else if (text_starts(a, "-iquote"))
      array_push(dirs, a + 7);
  }
}

static void add_file(Contracts *c, const char *path, const Args *dirs,
                     bool main_file);

// The file next to the one that includes it, as clang names it.
static char *beside(const char *includer, const char *name, size_t n) {
  size_t dir = (size_t)(path_base(includer) - includer);
  if (!dir)
    return mem_printf("./%.*s", (int)n, name);
  return mem_printf("%.*s%.*s", (int)dir, includer, (int)n, name);
}

static void add_include(Contracts *c, const char *includer, const char *name,
                        size_t n, bool quoted, const Args *dirs) {
  if (n && *name == '/') {
    char *path = mem_printf("%.*s", (int)n, name);
    add_file(c, path, dirs, false);
    free(path);
    return;
  }
  bool found = false;
  for (size_t i = 0; !found && i <= dirs->len; i++) {
    if (!i && !quoted)
      continue;
    char *path = i ? mem_printf("%s/%.*s", dirs->items[i - 1], (int)n, name)
                   : beside(includer, name, n);
    found = fs_exists(path);
    if (found)
      add_file(c, path, dirs, false);
    free(path);
  }
}

static const char *skip_blanks(const char *p) {
  while (*p == ' ' || *p == '\t')
    p++;
  return p;
}

static void add_includes(Contracts *c, const char *path, const char *text,
                         const Args *dirs) {
  for (const char *p = text; p && *p; p = strchr(p, '\n')) {
    p += *p == '\n';
    const char *at = skip_blanks(p);
    if (*at != '#')
      continue;
    at = skip_blanks(at + 1);
    if (!text_starts(at, "include"))
      continue;
    at = skip_blanks(at + 7);
    char close = *at == '"' ? '"' : *at == '<' ? '>' : 0;
    const char *end = close ? at + 1 + strcspn(at + 1, "\">\n") : NULL;
    if (end && *end == close)
      add_include(c, path, at + 1, (size_t)(end - at - 1), close == '"', dirs);
  }
}

static void add_file(Contracts *c, const char *path, const Args *dirs,
                     bool main_file) {
  char *full = path_absolute(path, NULL);
  uint64_t fresh = c->seen.len;
  bool known = hashmap_intern(&c->seen, full, strlen(full), fresh) != fresh;
  free(full);
  Str text = {0};
  Err ignored;
  if (known || fresh >= FILES_MAX ||
      fs_read(changed_file_of(path), 0, &text, &ignored)) {
    str_release(&text);
    return;
  }
  c->old_alloca |= old_alloca_suspected(str_text(&text));
  bool suspected = contract_suspected(str_text(&text), text.len);
  if (!suspected && !main_file) {
    add_includes(c, path, str_text(&text), dirs);
    str_release(&text);
    return;
  }
  ContractSource *s = mem_new(ContractSource);
  contract_scan(s, path, &text);
  contract_unit_add(&c->unit, s);
  add_includes(c, path, str_text(&s->text), dirs);
}

void contracts_open(Contracts *c, const char *source, const Args *dirs) {
  *c = (Contracts){0};
  add_file(c, source, dirs, true);
}

void contracts_close(Contracts *c) {
  contract_unit_release(&c->unit);
  hashmap_release(&c->seen);
}

bool contracts_found(const Contracts *c) {
  for (size_t i = 0; i < c->unit.sources.len; i++)
    if (contract_unit_checks(&c->unit, i) ||
        c->unit.sources.items[i]->diags.len)
      return true;
  return false;
}

// --- the overlay ------------------------------------------------------------

// Leaves out what messages since `known` are about. One that is about nothing
// any more speaks of what was left out already.
static int drop_refused(ContractSource *s, size_t known) {
  int dropped = 0;
  for (size_t i = known; i < s->diags.len; i++) {
    Diag *d = &s->diags.items[i];
    bool found = false;
    for (size_t k = 0; k < s->annotations.len && !found; k++) {
      Annotation *a = &s->annotations.items[k];
      found = a->kind != ANNOTATION_NONE && d->kind == DIAG_ERROR &&
              annotation_has(a, d->line, d->col) &&
              annotation_drop(a, d->line, d->col);
      if (found && !a->clauses.len && !a->logics.len)
        a->kind = ANNOTATION_NONE;
    }
    dropped += found;
    d->handled = !found && d->kind == DIAG_ERROR;
  }
  size_t n = known;
  for (size_t i = known; i < s->diags.len; i++)
    if (!s->diags.items[i].handled)
      s->diags.items[n++] = s->diags.items[i];
  s->diags.len = n;
  return dropped;
}

// A contract that cannot be checked at all is refused at its function.
static bool drop_contracts(ContractUnit *u) {
  bool any = false;
  for (size_t i = 0; i < u->refused.len; i++) {
    Annotation *a = u->refused.items[i];
    any |= a->kind != ANNOTATION_NONE;
    a->kind = ANNOTATION_NONE;
    a->clauses.len = 0;
  }
  u->refused.len = 0;
  return any;
}

static void rewrite_all(Contracts *c, Str *texts) {
  contract_unit_begin(&c->unit);
  for (size_t i = 0; i < c->unit.sources.len; i++) {
    texts[i].len = 0;
    if (contract_unit_checks(&c->unit, i))
      contract_unit_rewrite(&c->unit, i, &texts[i]);
  }
}

// Until nothing has to be left out any more.
static void rewrite_usable(Contracts *c, Str *texts) {
  size_t n = c->unit.sources.len;
  size_t *known = mem_array(size_t, n);
  for (bool again = true; again;) {
    for (size_t i = 0; i < n; i++)
      known[i] = c->unit.sources.items[i]->diags.len;
    rewrite_all(c, texts);
    again = drop_contracts(&c->unit);
    for (size_t i = 0; i < n; i++)
      again |= drop_refused(c->unit.sources.items[i], known[i]) > 0;
  }
  free(known);
}

int contracts_write(Contracts *c, const char *prefix, char **overlay,
                    Err *err) {
  Overlay o = {.prefix = prefix};
  size_t n = c->unit.sources.len;
  Str *texts = mem_array(Str, n);
  int rc = 0;
  rewrite_usable(c, texts);
  for (size_t i = 0; i < n; i++) {
    if (!rc && texts[i].len)
      rc = overlay_add(&o, c->unit.sources.items[i]->full, &texts[i], err);
    str_release(&texts[i]);
  }
  free(texts);
  *overlay = rc ? NULL : overlay_write(&o, err);
  return *overlay ? 0 : -1;
}

// --- messages ---------------------------------------------------------------

// The line and a caret below the column, tabs as they are.
static void show_line(const ContractSource *s, uint32_t line, uint32_t col,
                      Str *out) {
  const char *p = str_text(&s->text);
  for (uint32_t i = 1; p && i < line; i++)
    p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
  if (!p)
    return;
  size_t n = strcspn(p, "\r\n");
  str_addf(out, "%5u | ", line);
  for (size_t i = 0; i < n; i++)
    str_addc(out, p[i] != '\t' && iscntrl((unsigned char)p[i]) ? '?' : p[i]);
  str_add(out, "\n      | ");
  for (uint32_t i = 1; i < col && i <= n; i++)
    str_addc(out, p[i - 1] == '\t' ? '\t' : ' ');
  str_add(out, "^\n");
}

static void show_diag(const ContractSource *s, const Diag *d,
                      ContractTelling how, Str *out) {
  const char *kind = d->kind == DIAG_NOTE ? "note"
                     : how.strict         ? "error"
                                          : "warning";
  escape_add(out, s->path);
  str_addf(out, ":%u:%u: %s: ", d->line, d->col, kind);
  escape_add(out, d->text);
  if (d->kind == DIAG_ERROR && !how.strict)
    str_add(out, "; this is not checked");
  str_addc(out, '\n');
  show_line(s, d->line, d->col, out);
}

static int show_diags(const ContractSource *s, ContractTelling how, Str *out) {
  int errors = 0;
  size_t notes = 0;
  for (size_t i = 0; i < s->diags.len; i++) {
    const Diag *d = &s->diags.items[i];
    notes += d->kind == DIAG_NOTE;
    errors += d->kind != DIAG_NOTE && how.strict;
    if (d->kind != DIAG_NOTE || how.list)
      show_diag(s, d, how, out);
  }
  if (notes && !how.list) {
    escape_add(out, s->path);
    str_addf(out,
             ": note: %zu clause%s of contracts %s not checked at run time; "
             "-Wculprit-contract lists %s\n",
             notes, notes == 1 ? "" : "s", notes == 1 ? "is" : "are",
             notes == 1 ? "it" : "them");
  }
  return errors;
}

int contracts_messages(const Contracts *c, ContractTelling how, Str *out) {
  int errors = 0;
  for (size_t i = 0; i < c->unit.sources.len; i++)
    errors += show_diags(c->unit.sources.items[i], how, out);
  return errors;
}

// Is (line, col) inside one of the source's annotations?
static bool in_annotation(const ContractSource *s, uint32_t line,
                          uint32_t col) {
  for (size_t i = 0; i < s->annotations.len; i++)
    if (s->annotations.items[i].kind != ANNOTATION_NONE &&
        annotation_has(&s->annotations.items[i], line, col))
      return true;
  return false;
}

// "path:line:col: ..." about a contract: its source; NULL: about other code.
static const ContractSource *about(const Contracts *c, const char *message,
                                   uint32_t *line, uint32_t *col) {
  for (size_t i = 0; i < c->unit.sources.len; i++) {
    const ContractSource *s = c->unit.sources.items[i];
    size_t n = strlen(s->path);
    char *end;
    if (strncmp(message, s->path, n) || message[n] != ':')
      continue;
    *line = (uint32_t)strtoul(message + n + 1, &end, 10);
    if (*end != ':')
      continue;
    *col = (uint32_t)strtoul(end + 1, &end, 10);
    if (*end == ':' && in_annotation(s, *line, *col))
      return s;
  }
  return NULL;
}

// A line of clang's excerpt: "   12 | text" or "      | ^".
static bool is_excerpt(const char *line) {
  line += strspn(line, " ");
  line += strspn(line, "0123456789");
  return text_starts(line, " |") || text_starts(line, "|");
}

void contracts_translate(const Contracts *c, const char *messages, Str *out) {
  bool ours = false;
  while (*messages) {
    size_t n = strcspn(messages, "\n");
    n += messages[n] == '\n';
    uint32_t line, col;
    const ContractSource *s = about(c, messages, &line, &col);
    bool excerpt = is_excerpt(messages);
    if (!excerpt || !ours)
      str_addn(out, messages, n);
    if (s)
      show_line(s, line, col, out);
    ours = s || (ours && excerpt);
    messages += n;
  }
}

// --- what clang refuses -----------------------------------------------------

// Behind "path:line:col: error: "; NULL: the line is none.
static const char *error_text(const char *line, size_t n) {
  static const char mark[] = " error: ";
  const char *p = memmem(line, n, mark, sizeof mark - 1);
  return p ? p + sizeof mark - 1 : NULL;
}

// The line without the escapes that colour it.
static char *plain_line(const char *line, size_t n) {
  Str out = {0};
  for (size_t i = 0; i < n; i++) {
    if (line[i] == '\33')
      i += strcspn(line + i, "mK");
    else
      str_addc(&out, line[i]);
  }
  return out.len ? str_take(&out) : mem_strdup("");
}

// Ghost code stands at line 0: which of it is wrong is not known.
static int refuse_ghosts(Contracts *c, const char *line, const char *why) {
  int dropped = 0;
  for (size_t i = 0; i < c->unit.sources.len; i++) {
    ContractSource *s = c->unit.sources.items[i];
    size_t n = strlen(s->path);
    if (strncmp(line, s->path, n) || strncmp(line + n, ":0:", 3))
      continue;
    for (size_t k = 0; k < s->annotations.len; k++) {
      Annotation *a = &s->annotations.items[k];
      if (a->kind != ANNOTATION_GHOST)
        continue;
      if (!dropped++)
        array_push(&s->diags, (Diag){DIAG_ERROR, a->whole.line, a->whole.col,
                                     arena_strdup(&s->pool.arena, why), false});
      a->kind = ANNOTATION_NONE;
    }
  }
  return dropped;
}

static int refuse_line(Contracts *c, const char *line) {
  const char *text = error_text(line, strlen(line));
  uint32_t at, col;
  if (!text)
    return 0;
  ContractSource *s = (ContractSource *)about(c, line, &at, &col);
  if (!s)
    return refuse_ghosts(c, line, text);
  size_t known = s->diags.len;
  array_push(&s->diags, (Diag){DIAG_ERROR, at, col,
                               arena_strdup(&s->pool.arena, text), false});
  return drop_refused(s, known);
}

int contracts_refuse(Contracts *c, const char *messages) {
  int dropped = 0;
  while (*messages) {
    size_t n = strcspn(messages, "\n");
    char *line = plain_line(messages, n);
    dropped += refuse_line(c, line);
    free(line);
    messages += n + (messages[n] == '\n');
  }
  return dropped;
}

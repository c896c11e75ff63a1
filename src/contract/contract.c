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

int contracts_write(Contracts *c, const char *prefix, char **overlay,
                    Err *err) {
  Overlay o = {.prefix = prefix};
  int rc = 0;
  for (size_t i = 0; i < c->unit.sources.len && !rc; i++) {
    if (!contract_unit_checks(&c->unit, i))
      continue;
    Str text = {0};
    contract_unit_rewrite(&c->unit, i, &text);
    rc = overlay_add(&o, c->unit.sources.items[i]->full, &text, err);
    str_release(&text);
  }
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

static int show_diags(const ContractSource *s, Str *out) {
  static const char *const kinds[] = {
      [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_NOTE] = "note"};
  int errors = 0;
  for (size_t i = 0; i < s->diags.len; i++) {
    const Diag *d = &s->diags.items[i];
    errors += d->kind == DIAG_ERROR;
    escape_add(out, s->path);
    str_addf(out, ":%u:%u: %s: ", d->line, d->col, kinds[d->kind]);
    escape_add(out, d->text);
    str_addc(out, '\n');
    show_line(s, d->line, d->col, out);
  }
  return errors;
}

int contracts_messages(const Contracts *c, Str *out) {
  int errors = 0;
  for (size_t i = 0; i < c->unit.sources.len; i++)
    errors += show_diags(c->unit.sources.items[i], out);
  return errors;
}

// Is (line, col) inside one of the source's annotations?
static bool in_annotation(const ContractSource *s, uint32_t line,
                          uint32_t col) {
  for (size_t i = 0; i < s->annotations.len; i++) {
    const Annotation *a = &s->annotations.items[i];
    const Token *end = &array_last(&a->tokens);
    bool after =
        line > a->whole.line || (line == a->whole.line && col >= a->whole.col);
    bool before = line < end->line || (line == end->line && col <= end->col);
    if (a->kind != ANNOTATION_NONE && after && before)
      return true;
  }
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

// The failures of a response: see web_oracle.h.
#include "oracle/web_oracle.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "oracle/failure.h"
#include "oracle/fault_identity.h"
#include "oracle/query_places.h"
#include "oracle/text_origin.h"
#include "util/area.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { EXCERPT = 60, BETWEEN_MOST = 4 };

// --- severities -------------------------------------------------------------

static unsigned severity_bit(const char *word) {
  for (int s = 0; s < PHP_SEVERITIES; s++)
    if (!strcmp(word, php_severity_name((PhpSeverity)s)))
      return 1u << s;
  return !strcmp(word, "html")      ? WEB_HTML
         : !strcmp(word, "status")  ? WEB_STATUS
         : !strcmp(word, "all")     ? WEB_ALL
         : !strcmp(word, "default") ? WEB_DEFAULT
                                    : 0;
}

int web_severities_parse(const char *text, unsigned *out) {
  char *copy = mem_strdup(text), *rest = copy, *word;
  int rc = 0;
  *out = 0;
  while (!rc && (word = strsep(&rest, ","))) {
    unsigned bit = severity_bit(word);
    *out |= bit;
    rc = bit ? 0 : -1;
  }
  free(copy);
  return rc;
}

// --- faults of PHP ----------------------------------------------------------

// Our private server (php/state/app_state.h) knows no privileges, and so
// refuses statements about them: that is no failure of the application.
static bool is_of_our_server(const PhpFault *f) {
  return f->sql && strstr(f->message, " --skip-grant-tables ");
}

static char *make_place(const WebOracle *o, ExecutedText *x, const char *file,
                        uint32_t line) {
  if (!*file)
    return mem_strdup("");
  origin_template(x, &file, &line);
  return mem_printf("%s:%u", path_below(file, o->root), line);
}

// The failure that was just added gets these places; one that the run has shown
// before keeps its own.
static void give_places(Run *run, size_t before, FailurePlaces *places) {
  Failure f = {.places = *places};
  if (run->failures.len > before) {
    run->failures.items[before].places = *places;
    f.places = (FailurePlaces){0};
  }
  failure_release(&f);
  *places = (FailurePlaces){0};
}

// Several lines as one: a query may be laid out over many.
static void add_line(const char *text, Str *out) {
  for (const char *p = text; *p; p++) {
    if (*p == '\n') {
      str_addc(out, ' ');
      p += strspn(p, " \t\r\n") - 1;
    } else {
      str_addc(out, *p);
    }
  }
}

// "no such column: x [SELECT x FROM t] (list.php:8, sent in db.php:6)"
static char *fault_message(const WebOracle *o, ExecutedText *x,
                           const PhpFault *f, const char *place) {
  Str message = {0};
  char *sent = make_place(o, x, f->file, f->line);
  add_line(f->message, &message);
  if (f->sql) {
    str_add(&message, " [");
    add_line(f->sql, &message);
    str_addc(&message, ']');
  }
  if (*place)
    str_addf(&message, " (%s", place);
  if (*place && *sent && strcmp(sent, place) != 0)
    str_addf(&message, f->sql ? ", sent in %s" : ", reported in %s", sent);
  str_add(&message, *place ? ")" : "");
  free(sent);
  return str_take(&message);
}

// The places of the query that the fault is about, or of what it sent.
static void find_places(const PhpFault *f, const PhpFault *query,
                        const PhpRecord *record, ExecutedText *x,
                        FailurePlaces *out) {
  if (query)
    query_places(query, x, out);
  else if (f->sent.function)
    sent_places(f, record, x, out);
}

// `query`: the fault whose query it is about, perhaps itself; or NULL.
static void add_fault(const WebOracle *o, const PhpFault *f,
                      const PhpFault *query, const PhpRecord *record,
                      ExecutedText *x, Run *run) {
  const char *kind = php_severity_name(f->severity);
  FaultIdentity id;
  FailurePlaces places = {0};
  fault_identity(f, query, x, run->command ? run->command : "", &id);
  char *place = make_place(o, x, id.file, id.line);
  char *signature = mem_printf("%s: %s (%s)", kind, str_text(&id.shape), place);
  char *message = fault_message(o, x, f, place);
  size_t before = run->failures.len;
  failure_add(run, kind, place, signature, message);
  if (run->failures.len > before)
    find_places(f, query, record, x, &places);
  give_places(run, before, &places);
  fault_identity_release(&id);
  free(message);
  free(signature);
  free(place);
}

// The interpreter names the line where the script ended.
static void add_death(const PhpFault *f, ExecutedText *x, Run *run) {
  Str callers = {0};
  for (size_t i = 0; i < f->ncallers; i++) {
    PhpCaller c = f->callers[i];
    origin_template(x, &c.file, &c.line);
    if (*c.file)
      str_addf(&callers, "%u - %s\n", c.line, c.file);
  }
  PhpCaller at = {f->file, f->line};
  origin_template(x, &at.file, &at.line);
  Death death = {.file = mem_strdup(at.file),
                 .line = at.line,
                 .function = mem_strdup(""),
                 .how = mem_strdup("fatal error"),
                 .exact = true,
                 .callers =
                     callers.len ? mem_strdup(str_text(&callers)) : NULL};
  str_release(&callers);
  array_push(&run->deaths, death);
}

static bool is_shown(const WebOracle *o, const PhpFault *f) {
  return o->severities & 1u << f->severity && !f->silenced && !f->caught &&
         !is_of_our_server(f);
}

// The failed query that a fatal error follows from; NULL: none.
static const PhpFault *cause_of(const PhpRecord *record, size_t i) {
  const PhpFault *fatal = &record->faults[i];
  for (const PhpFault *f = fatal; f-- > record->faults;)
    if (f->sql && fault_follows_query(fatal, f))
      return f;
  return NULL;
}

// A failed query that is reported as such need not be reported as the end of
// the script, too.
static void add_faults(const WebOracle *o, const PhpRecord *record,
                       ExecutedText *x, Run *run) {
  for (size_t i = 0; i < record->nfaults; i++) {
    const PhpFault *f = &record->faults[i];
    if (!is_shown(o, f))
      continue;
    const PhpFault *query = f->sql                     ? f
                            : f->severity == PHP_FATAL ? cause_of(record, i)
                                                       : NULL;
    if (query == f || !query || !is_shown(o, query))
      add_fault(o, f, query, record, x, run);
    if (f->severity == PHP_FATAL && *f->file)
      add_death(f, x, run);
  }
}

// --- the output map ---------------------------------------------------------

const OutputPiece *web_piece_at(const PhpRecord *record, size_t offset) {
  size_t lo = 0, hi = record->npieces;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    const OutputPiece *p = &record->pieces[mid];
    if (offset < p->offset)
      hi = mid;
    else if (offset - p->offset >= p->length)
      lo = mid + 1;
    else
      return p;
  }
  return NULL;
}

uint32_t web_line_at(const OutputPiece *piece, const char *page,
                     size_t offset) {
  uint32_t line = piece->line;
  if (piece->kind != OUTPUT_TEMPLATE)
    return line;
  for (size_t i = piece->offset; i < offset; i++)
    line += page[i] == '\n';
  return line;
}

static WrittenByte written_byte(ExecutedText *x, const OutputPiece *piece,
                                const char *page, size_t offset) {
  WrittenByte w = {.is_literal = true};
  if (piece->kind == OUTPUT_PLAIN)
    w = origin_in_statement(x, piece->file, piece->line, page + piece->offset,
                            piece->length, offset - piece->offset);
  if (!w.line)
    w.line = web_line_at(piece, page, offset);
  return w;
}

uint32_t web_exact_line(ExecutedText *x, const OutputPiece *piece,
                        const char *page, size_t offset) {
  return written_byte(x, piece, page, offset).line;
}

// --- faults of the page -----------------------------------------------------

typedef struct {
  const WebOracle *oracle;
  const PhpRecord *record; // NULL: a static file
  const Response *response;
  ExecutedText *executed;
  Failure *failure;
} JudgedPage;

// The page from there on, to the end of its line; a NUL becomes U+FFFD, as in
// a browser.
static char *make_excerpt(const JudgedPage *p, size_t offset) {
  const char *text = p->response->body + offset;
  size_t n = p->response->body_len - offset;
  const char *end = memchr(text, '\n', n);
  if (end)
    n = (size_t)(end - text);
  if (n > EXCERPT)
    n = EXCERPT;
  while (n && n == EXCERPT && (text[n] & 0xc0) == 0x80)
    n--; // not in the middle of a character
  Str shown = {0};
  for (size_t i = 0; i < n; i++)
    str_add(&shown, text[i] ? (char[]){text[i], '\0'} : "\xef\xbf\xbd");
  char *made = mem_strdup(str_text(&shown));
  str_release(&shown);
  return made;
}

static bool has_place(const Failure *f, const char *file, uint32_t line) {
  for (size_t i = 0; i < f->places.len; i++)
    if (f->places.items[i].line == line &&
        !strcmp(f->places.items[i].file, file))
      return true;
  return false;
}

static void add_place(const JudgedPage *p, const HtmlPlace *at, size_t offset,
                      PlaceRole role, const TextOrigin *o) {
  if (has_place(p->failure, o->file, o->line))
    return;
  FailurePlace place = {.file = mem_strdup(o->file),
                        .line = o->line,
                        .statement = o->statement,
                        .role = role,
                        .what = mem_strdup(at->what ? at->what : ""),
                        .excerpt = make_excerpt(p, offset)};
  array_push(&p->failure->places, place);
}

// Where a page ends, text without a tag may be anything: a name, a number.
static bool explains(const JudgedPage *p, const HtmlPlace *at,
                     const TextOrigin *o, size_t from) {
  const char *text = p->response->body + from;
  return !at->what || strcmp(at->what, HTML_PAGE_ENDS) != 0 ||
         memchr(text + o->from, '<', o->to - o->from);
}

// A byte that is a value where it was printed: the literals that hold it.
static bool add_texts(const JudgedPage *p, const HtmlPlace *at, size_t offset,
                      size_t from, size_t to) {
  TextOrigins found = {0};
  origin_of_byte(p->executed, p->response->body + from, to - from,
                 offset - from, true, &found);
  bool any = false;
  for (size_t i = 0; i < found.len; i++)
    if (explains(p, at, &found.items[i], from)) {
      add_place(p, at, offset, PLACE_TEXT, &found.items[i]);
      any = true;
    }
  array_release(&found);
  return any;
}

static void add_written(const JudgedPage *p, const HtmlPlace *at, size_t offset,
                        const OutputPiece *piece) {
  TextOrigin o = {.file = ""};
  PlaceRole role = PLACE_OUTPUT;
  if (piece && piece->kind != OUTPUT_UNKNOWN) {
    o.file = piece->file;
    o.line = o.statement = web_line_at(piece, p->response->body, offset);
  }
  if (piece && piece->kind == OUTPUT_PLAIN &&
      piece->length <= p->response->body_len - piece->offset) {
    WrittenByte w = written_byte(p->executed, piece, p->response->body, offset);
    o.line = w.line;
    if (!w.is_literal &&
        add_texts(p, at, offset, piece->offset + w.from, piece->offset + w.to))
      role = PLACE_PRINTED;
  }
  add_place(p, at, offset, role, &o);
}

// Every piece that has part in the place: a tag may be put together by several
// statements.
static void add_places(const JudgedPage *p, const HtmlPlace *at) {
  size_t size = p->response->body_len;
  size_t offset = at->offset < size ? at->offset : size - 1;
  size_t end = at->length < size - offset ? offset + at->length : size;
  do {
    const OutputPiece *piece =
        p->record ? web_piece_at(p->record, offset) : NULL;
    add_written(p, at, offset, piece);
    offset = piece ? piece->offset + piece->length : end;
  } while (offset < end);
}

// The lines that wrote what comes right before the place where an element that
// is not closed should have been: its end tag is missing there. Blank text is
// nobody's.
static void add_between(const JudgedPage *p, const HtmlFault *fault) {
  const HtmlPlace *open = &fault->places[0], *missed = &fault->places[1];
  size_t last = p->failure->places.len + BETWEEN_MOST;
  const char *body = p->response->body;
  for (size_t at = missed->offset;
       at-- > open->offset + open->length && p->failure->places.len < last;) {
    if (isspace((unsigned char)body[at]))
      continue;
    const OutputPiece *piece = web_piece_at(p->record, at);
    if (!piece || piece->kind == OUTPUT_UNKNOWN)
      return;
    TextOrigin o = {.file = piece->file,
                    .line = web_exact_line(p->executed, piece, body, at),
                    .statement = web_line_at(piece, body, at)};
    size_t from = at;
    while (from > piece->offset && body[from - 1] != '\n')
      from--;
    add_place(p, &(HtmlPlace){.what = "before the missing end tag"}, from,
              PLACE_BETWEEN, &o);
    at = from;
  }
}

static bool misses_end(const JudgedPage *p, const HtmlFault *fault) {
  return p->record && fault->nplaces > 1 &&
         !strcmp(fault->key, "unclosed-element") &&
         fault->places[1].offset <= p->response->body_len;
}

static const char *main_file(const Failure *f) {
  return f->places.len ? f->places.items[0].file : "";
}

// "an element is not closed: h2 (view.php:18)"
static char *html_message(const HtmlFault *fault, const char *place) {
  Str text = {0};
  str_add(&text, fault->message);
  if (*fault->element && !strstr(fault->message, fault->element))
    str_addf(&text, ": %s", fault->element);
  if (*place)
    str_addf(&text, " (%s)", place);
  return str_take(&text);
}

static void add_html_fault(const JudgedPage *page, const HtmlFault *fault,
                           Run *run) {
  Failure f = {0};
  JudgedPage p = *page;
  p.failure = &f;
  for (size_t i = 0; i < fault->nplaces; i++)
    add_places(&p, &fault->places[i]);
  if (misses_end(&p, fault))
    add_between(&p, fault);
  const char *file = main_file(&f);
  char *place = make_place(p.oracle, p.executed, file,
                           *file ? f.places.items[0].line : 0);
  char *signature = mem_printf(
      "html: %s %s (%s)", html_identity_key(fault->key), fault->element, place);
  char *message = html_message(fault, place);
  size_t before = run->failures.len;
  failure_add(run, "html", place, signature, message);
  give_places(run, before, &f.places);
  free(place);
  free(signature);
  free(message);
}

// The Nu checker reads a file.
static int ask_nu(const WebOracle *o, const Response *r, HtmlFault **faults,
                  size_t *n, Arena *arena, Err *err) {
  Area area;
  if (area_open_temporary(&area, err))
    return -1;
  const char *path = arena_printf(arena, "%s/page.html", area.dir);
  int rc = fs_write(path, r->body, r->body_len, err);
  if (!rc)
    rc = html_nu(o->nu, path, faults, n, arena, err);
  area_close(&area);
  return rc;
}

static bool has_tag(const char *page, size_t n, const char *tag) {
  size_t length = strlen(tag);
  for (size_t i = 0; i + length <= n; i++)
    if (page[i] == '<' && !strncasecmp(page + i, tag, length))
      return true;
  return false;
}

// Is it about what is still open where the page ends?
static bool ends_open(const Response *r, const HtmlFault *fault) {
  size_t end = r->body_len;
  while (end && isspace((unsigned char)r->body[end - 1]))
    end--;
  for (size_t i = 0; i < fault->nplaces; i++)
    if (fault->places[i].offset + 1 >= end)
      return true;
  return false;
}

// Does the fault come from a script that died in the middle of a page? One that
// said why did; others end all their pages by exit.
static bool is_cut_off(ExecutedExit how, const Response *r,
                       const HtmlFault *fault) {
  bool ended = has_tag(r->body, r->body_len, "</body") ||
               has_tag(r->body, r->body_len, "</html");
  if (how == EXIT_NONE || ended)
    return false;
  return how == EXIT_SAYS ? ends_open(r, fault)
                          : !strcmp(fault->key, "truncated-page");
}

static int add_html(const WebOracle *o, const Exchange *x,
                    const PhpRecord *record, ExecutedText *executed, Run *run,
                    Arena *arena, Err *err) {
  const Response *r = &x->response;
  const char *type = headers_get(&r->headers, "Content-Type");
  if (html_is_binary(type, r->body, r->body_len))
    run_add_note(run,
                 "the response is declared as %s but is binary data; it was "
                 "not checked as HTML",
                 type);
  if (!html_is_page(type, r->body, r->body_len))
    return 0;
  HtmlFault *faults;
  size_t n;
  if (html_check(r->body, r->body_len, &o->html, &faults, &n, arena, err))
    return -1;
  JudgedPage page = {
      .oracle = o, .record = record, .response = r, .executed = executed};
  ExecutedExit how = n ? executed_exit(executed) : EXIT_NONE;
  for (size_t i = 0; i < n; i++)
    if (!is_cut_off(how, r, &faults[i]))
      add_html_fault(&page, &faults[i], run);
  if (!o->nu || n) // what we see ourselves need not be said twice
    return 0;
  if (ask_nu(o, r, &faults, &n, arena, err))
    return -1;
  for (size_t i = 0; i < n; i++)
    add_html_fault(&page, &faults[i], run);
  return 0;
}

// --- templates --------------------------------------------------------------

static void show_template(ExecutedText *x, FailurePlace *p) {
  const char *file = p->file, *same = p->file;
  uint32_t statement = p->statement;
  origin_template(x, &same, &statement);
  origin_template(x, &file, &p->line);
  if (file == p->file)
    return;
  p->statement = same == file ? statement : 0;
  free(p->file);
  p->file = mem_strdup(file);
}

static void show_templates(ExecutedText *x, Run *run) {
  for (size_t i = 0; i < run->failures.len; i++)
    for (size_t k = 0; k < run->failures.items[i].places.len; k++)
      show_template(x, &run->failures.items[i].places.items[k]);
}

const OutputPiece *web_shown_pieces(const PhpRecord *record,
                                    LiteralCache *literals, Arena *arena) {
  ExecutedText *x = executed_text(literals, record, arena);
  OutputPiece *shown = arena_array(arena, OutputPiece, record->npieces + 1);
  for (size_t i = 0; i < record->npieces; i++) {
    shown[i] = record->pieces[i];
    if (shown[i].file)
      origin_template(x, &shown[i].file, &shown[i].line);
  }
  return shown;
}

// --- all of it --------------------------------------------------------------

// A page that ends where the script did is not to blame for being unfinished.
static bool is_broken_off(const PhpRecord *record) {
  for (size_t i = 0; record && i < record->nfaults; i++) {
    const PhpFault *f = &record->faults[i];
    if (f->severity == PHP_FATAL && !f->caught && !f->silenced)
      return true;
  }
  return false;
}

static const char *script_of(const WebOracle *o, const PhpRecord *record) {
  return record && record->script ? path_below(record->script, o->root) : "";
}

static void add_end(const WebOracle *o, const Exchange *x,
                    const PhpRecord *record, Run *run) {
  const char *script = script_of(o, record);
  const char *how = x->how ? x->how : "ended";
  bool late = x->end == EXCHANGE_TIMEOUT;
  char *message =
      late ? mem_printf("no answer after %g s (%s)", o->timeout, script)
           : mem_printf("the PHP process died: %s (%s)", how, script);
  char *signature = late ? mem_printf("timeout (%s)", script)
                         : mem_printf("died: %s (%s)", how, script);
  failure_add(run, late ? "timeout" : "died", "", signature, message);
  free(message);
  free(signature);
}

static void add_status(const WebOracle *o, const Exchange *x,
                       const PhpRecord *record, ExecutedText *executed,
                       Run *run) {
  char *message =
      mem_printf("status %d (%s)", x->response.status, script_of(o, record));
  FailurePlaces places = {0};
  size_t before = run->failures.len;
  failure_add(run, "status", "", NULL, message);
  if (record && record->status && record->status->sent.function)
    sent_places(record->status, record, executed, &places);
  give_places(run, before, &places);
  free(message);
}

static bool is_said_to_be_page(const Response *r) {
  return html_is_page(headers_get(&r->headers, "Content-Type"), r->body,
                      r->body_len);
}

int web_judge(const WebOracle *o, const Exchange *x, const PhpRecord *record,
              LiteralCache *literals, Run *run, Arena *arena, Err *err) {
  ExecutedText *executed = executed_text(literals, record, arena);
  run->status = x->response.status;
  run->seconds = x->seconds;
  if (record)
    add_faults(o, record, executed, run);
  if (x->end != EXCHANGE_DONE)
    add_end(o, x, record, run);
  else if (o->severities & WEB_HTML && !x->response.cut &&
           !is_broken_off(record) &&
           add_html(o, x, record, executed, run, arena, err))
    return -1;
  if (x->response.cut && is_said_to_be_page(&x->response))
    run_add_note(run,
                 "the page is larger than %zu bytes (--max-page) and was "
                 "not checked as HTML",
                 x->response.body_len);
  if (!run->failures.len && o->severities & WEB_STATUS &&
      x->response.status >= 500)
    add_status(o, x, record, executed, run);
  show_templates(executed, run);
  run->verdict = run->failures.len ? VERDICT_FAIL : VERDICT_PASS;
  return 0;
}

// SARIF 2.1.0 (OASIS): what GitHub code scanning and editors read. A result per
// suspect, best first: error for the first place, warning for the first ten,
// note for the others. The first suspect of a failure carries a code flow: the
// lines that only the failing run executes, against the nearest passing one.
//
// Fingerprints are made of the failure, file, function and text of the line,
// not of its number: a result stays the same when lines move.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "report/json_out.h"
#include "report/report.h"
#include "report/tried.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

enum { SHOWN = 25, STEPS = 100 };

// --- places -----------------------------------------------------------------

static bool is_unreserved(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || (c && strchr("-._~/", c));
}

static void put_uri(const char *prefix, const char *path, FILE *out) {
  fprintf(out, "\"%s", prefix);
  for (const unsigned char *p = (const unsigned char *)path; *p; p++)
    fprintf(out, is_unreserved(*p) ? "%c" : "%%%02X", *p);
  fputc('"', out);
}

// What SRCROOT is.
static const char *source_root(const Report *r) {
  const char *project = r->suite->project;
  if (r->root)
    return r->root;
  return project && *project ? project : r->suite->cwd;
}

static const char *path_in_root(const Report *r, uint32_t source) {
  return path_below(r->suite->sources[source].path, source_root(r));
}

static void put_artifact(const Report *r, uint32_t source, FILE *out) {
  const char *path = path_in_root(r, source);
  fputs("\"artifactLocation\":{\"uri\":", out);
  put_uri(*path == '/' ? "file://" : "", path, out);
  fputs(*path == '/' ? "}" : ",\"uriBaseId\":\"SRCROOT\"}", out);
}

// How many UTF-16 code units the first n bytes of a line are.
static size_t utf16_units(const char *text, size_t n) {
  size_t units = 0;
  for (size_t i = 0; i < n;) {
    size_t bytes = utf8_length(text + i, n - i);
    units += bytes == 4 ? 2 : 1;
    i += bytes ? bytes : 1;
  }
  return units;
}

// Columns, if the line is there to count them in.
static void put_region(Report *r, const Entity *e, FILE *out) {
  const char *text;
  size_t n;
  fprintf(out, "\"region\":{\"startLine\":%u", e->line ? e->line : 1);
  bool known = sources_line(r->sources, e->source, e->line, &text, &n);
  if (known && e->col_lo && e->col_lo <= n && e->col_hi >= e->col_lo) {
    size_t last = e->col_hi < n ? e->col_hi : n;
    fprintf(out, ",\"startColumn\":%zu,\"endColumn\":%zu",
            utf16_units(text, e->col_lo - 1) + 1, utf16_units(text, last) + 1);
  }
  fputc('}', out);
}

static void put_location(Report *r, const Entity *e, const char *message,
                         FILE *out) {
  fputs("{\"physicalLocation\":{", out);
  put_artifact(r, e->source, out);
  fputc(',', out);
  put_region(r, e, out);
  fputc('}', out);
  const char *function = report_function(r->suite, e);
  if (*function) {
    fputs(",\"logicalLocations\":[{\"name\":", out);
    json_string(function, out);
    fputs(",\"kind\":\"function\"}]", out);
  }
  if (message) {
    fputs(",\"message\":{\"text\":", out);
    json_string(message, out);
    fputc('}', out);
  }
  fputc('}', out);
}

// --- head -------------------------------------------------------------------

// Each kind of failure is a rule. The first failure of the same kind:
static size_t first_of_kind(const Suite *suite, size_t failure) {
  size_t i = 0;
  while (strcmp(suite->failures[i].kind, suite->failures[failure].kind) != 0)
    i++;
  return i;
}

static size_t rule_of(const Suite *suite, size_t failure) {
  size_t first = first_of_kind(suite, failure), n = 0;
  for (size_t i = 0; i < first; i++)
    n += first_of_kind(suite, i) == i;
  return n;
}

// "html" becomes "SuspectForHtml": names of rules are words joined.
static void put_name(const char *kind, FILE *out) {
  Str name = {0};
  bool upper = true;
  str_add(&name, "SuspectFor");
  for (const char *p = kind; *p; p++) {
    bool word = isalnum((unsigned char)*p);
    if (word)
      str_addc(&name, upper ? (char)toupper((unsigned char)*p) : *p);
    upper = !word;
  }
  json_text("name", str_text(&name), out);
  str_release(&name);
}

static void put_rule(const char *kind, FILE *out) {
  Str text = {0};
  str_addf(&text, "culprit/%s", kind);
  fputs("{\"id\":", out);
  json_string(str_text(&text), out);
  put_name(kind, out);
  str_clear(&text);
  str_addf(&text, "A line that failing tests have in common (failure: %s).",
           kind);
  fputs(",\"shortDescription\":{\"text\":", out);
  json_string(str_text(&text), out);
  fputs("},\"help\":{\"text\":\"Suspected because failing runs execute it, or "
        "see a condition on it come out one way, more often than passing ones. "
        "`culprit why FILE:LINE` tells all there is to say about a line.\"},"
        "\"defaultConfiguration\":{\"level\":\"warning\"}}",
        out);
  str_release(&text);
}

static void put_rules(const Suite *suite, FILE *out) {
  bool first = true;
  fputs(",\"rules\":[", out);
  for (size_t i = 0; i < suite->nfailures; i++) {
    if (first_of_kind(suite, i) != i)
      continue;
    json_separator(&first, out);
    put_rule(suite->failures[i].kind, out);
  }
  fputc(']', out);
}

static void put_directory(const char *key, const char *dir, FILE *out) {
  fprintf(out, "\"%s\":{\"uri\":", key);
  Str path = {0};
  str_add(&path, dir);
  if (!text_ends(dir, "/"))
    str_addc(&path, '/');
  put_uri("file://", str_text(&path), out);
  fputc('}', out);
  str_release(&path);
}

static void begin(Report *r, FILE *out) {
  fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
        "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{"
        "\"name\":\"culprit\",\"version\":\"" CULPRIT_VERSION "\"",
        out);
  put_rules(r->suite, out);
  fputs("}},\n\"automationDetails\":{\"id\":\"culprit/\"},\"columnKind\":"
        "\"utf16CodeUnits\",\n\"originalUriBaseIds\":{",
        out);
  put_directory("SRCROOT", source_root(r), out);
  fputs("},\n\"invocations\":[{\"executionSuccessful\":true,\"commandLine\":",
        out);
  json_string(r->suite->command, out);
  fputc(',', out);
  put_directory("workingDirectory", r->suite->cwd, out);
  fputs("}],\n\"results\":[", out);
}

// --- results ----------------------------------------------------------------

static uint64_t add_hash(uint64_t seed, const char *text, size_t n) {
  return XXH3_64bits_withSeed(text, n, seed);
}

// The line as it is told apart: without the blanks around it.
static uint64_t line_hash(Report *r, const Entity *e, uint64_t seed) {
  const char *text;
  size_t n;
  if (!sources_line(r->sources, e->source, e->line, &text, &n))
    return add_hash(seed, "", 0) + e->line;
  while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
    n--;
  while (n && (*text == ' ' || *text == '\t'))
    text++, n--;
  return add_hash(seed, text, n);
}

// Which of the equal lines of its file this is; 1 if the file is not there.
static unsigned occurrence(Report *r, const Entity *e, uint64_t hash) {
  unsigned n = 1;
  Entity other = *e;
  const char *text;
  size_t length;
  if (!sources_line(r->sources, e->source, e->line, &text, &length))
    return 1;
  for (other.line = 1; other.line < e->line; other.line++)
    n += line_hash(r, &other, 0) == hash;
  return n;
}

static void put_fingerprints(Report *r, const Ranking *ranking, const Entity *e,
                             FILE *out) {
  const char *path = path_in_root(r, e->source);
  const char *function = report_function(r->suite, e);
  const char *signature = r->suite->failures[ranking->failure].signature;
  uint64_t line = line_hash(r, e, 0);
  uint64_t h = add_hash(line, path, strlen(path));
  h = add_hash(h, function, strlen(function));
  h = add_hash(h, signature, strlen(signature));
  fprintf(out,
          ",\"partialFingerprints\":{\"primaryLocationLineHash\":"
          "\"%016llx:%u\",\"culprit/v1\":\"%016llx\"}",
          (unsigned long long)line, occurrence(r, e, line),
          (unsigned long long)h);
}

static void add_message(const Report *r, const Ranking *ranking,
                        const Suspect *s, Str *text) {
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  EvidenceList evidence = {0};
  evidence_gather(r->suite, r->deaths, ranking, s, &evidence);
  str_add(text, "Suspect ");
  report_rank(s, text);
  str_addf(text, " of %zu for the failure \"%s\"", ranking->suspects.len,
           g->message);
  for (size_t i = 0; i < evidence.len; i++)
    str_addf(text, "%s%s", i ? "; " : ": ", evidence.items[i].text);
  str_addc(text, '.');
  evidence_release(&evidence);
}

static void put_step(Report *r, uint32_t entity, const char *message,
                     bool *first, FILE *out) {
  json_separator(first, out);
  fputs("{\"location\":", out);
  put_location(r, &r->suite->entities[entity], message, out);
  fputc('}', out);
}

static void begin_flow(const Str *message, FILE *out) {
  fputs(",\n\"codeFlows\":[{\"message\":{\"text\":", out);
  json_string(str_text(message), out);
  fputs("},\"threadFlows\":[{\"id\":\"nearest-passing-run\",\"locations\":[",
        out);
}

// The branches at which the run that `culprit near` found goes the other way.
static void put_branches(Report *r, const NearNote *n, const Suspect *s,
                         FILE *out) {
  Str text = {0};
  bool first = true;
  str_addf(&text,
           "It passes with: %s. Branches that went the other way:", n->command);
  begin_flow(&text, out);
  for (size_t i = 0; i < n->branches.len && i < STEPS; i++) {
    const NoteBranch *b = &n->branches.items[i];
    uint32_t at = note_statement(r->suite, b->file, b->line);
    str_clear(&text);
    report_branch(b, &text);
    if (at != ENTITY_NONE)
      put_step(r, at, str_text(&text), &first, out);
  }
  put_step(r, s->entity, "the first suspect", &first, out);
  fputs("]}]}]", out);
  str_release(&text);
}

// What the failing run does that the nearest passing test does not; then the
// suspect.
static void put_differences(Report *r, const Ranking *ranking, const Suspect *s,
                            FILE *out) {
  const NearTest *n = r->nearest ? &r->nearest[ranking->failure] : NULL;
  if (!n || !n->found)
    return;
  Str text = {0};
  bool first = true;
  str_addf(&text,
           "Test %s fails, test %s passes: %.1f %% of the lines in common.",
           r->suite->runs[n->failing].test, r->suite->runs[n->passing].test,
           100 * n->similarity);
  begin_flow(&text, out);
  for (size_t i = 0; i < n->only_failing.len && i < STEPS; i++)
    put_step(r, n->only_failing.items[i],
             "only the failing run executes this line", &first, out);
  for (size_t i = 0; i < n->only_passing.len && i < STEPS; i++)
    put_step(r, n->only_passing.items[i],
             "only the passing run executes this line", &first, out);
  put_step(r, s->entity, "the first suspect", &first, out);
  fputs("]}]}]", out);
  str_release(&text);
}

static void put_flow(Report *r, const Ranking *ranking, const Suspect *s,
                     FILE *out) {
  const char *signature = r->suite->failures[ranking->failure].signature;
  const NearNote *n = r->notes ? notes_find(r->notes, signature) : NULL;
  if (n)
    put_branches(r, n, s, out);
  else
    put_differences(r, ranking, s, out);
}

// --- fixes ------------------------------------------------------------------

// The length of a line without the line break that it may end with.
static size_t unbroken_length(const char *line, size_t n) {
  n -= n && line[n - 1] == '\n';
  n -= n && line[n - 1] == '\r';
  return n;
}

// Whole lines. Where lines come in their place, the last one keeps its line
// break, so that the last line of a file needs none.
static void put_replacement(const DiffEdit *e, FILE *out) {
  uint32_t first = e->first ? e->first : 1, after = first + e->deleted;
  char *text = mem_strdup(str_text(&e->inserted));
  fprintf(out, "{\"deletedRegion\":{\"startLine\":%u,\"startColumn\":1", first);
  if (e->deleted && e->inserted.len) {
    text[unbroken_length(text, e->inserted.len)] = '\0';
    size_t n = unbroken_length(e->last, e->last_length);
    fprintf(out, ",\"endLine\":%u,\"endColumn\":%zu}", after - 1,
            utf16_units(e->last, n) + 1);
  } else {
    fprintf(out, ",\"endLine\":%u,\"endColumn\":1}", after);
  }
  if (e->inserted.len) {
    fputs(",\"insertedContent\":{\"text\":", out);
    json_string(text, out);
    fputc('}', out);
  }
  fputc('}', out);
  free(text);
}

static void put_fix(const Report *r, const TryNote *n, const TriedChange *c,
                    uint32_t source, const DiffEdits *edits, FILE *out) {
  Str text = {0};
  bool first = true;
  str_add(&text, "Hint: ");
  tried_sentence(r, n, c, false, &text);
  fputs("{\"description\":{\"text\":", out);
  json_string(str_text(&text), out);
  fputs("},\"artifactChanges\":[{", out);
  put_artifact(r, source, out);
  fputs(",\"replacements\":[", out);
  for (size_t i = 0; i < edits->len; i++) {
    json_separator(&first, out);
    put_replacement(&edits->items[i], out);
  }
  fputs("]}]}", out);
  str_release(&text);
}

// The changes on this line that pass all tests. What is a fix to SARIF is a hint
// to us.
static void put_fixes(const Report *r, const Ranking *ranking, const Suspect *s,
                      FILE *out) {
  const TryNote *n = report_tried(r, ranking->failure);
  ChangeList changes = {0};
  bool first = true;
  if (n)
    tried_list(n, s->entity, &changes);
  for (size_t i = 0; i < changes.len; i++) {
    const TriedChange *c = changes.items[i];
    DiffEdits edits = {0};
    if (tried_survives(c) && c->diff && diff_edits(c->diff, &edits)) {
      fputs(first ? ",\n\"fixes\":[" : ",", out);
      first = false;
      put_fix(r, n, c, r->suite->entities[s->entity].source, &edits, out);
    }
    diff_edits_release(&edits);
  }
  if (!first)
    fputc(']', out);
  array_release(&changes);
}

static const char *level_of(const Suspect *s) {
  return s->rank_best == 1 ? "error" : s->rank_best <= 10 ? "warning" : "note";
}

static void put_result(Report *r, const Ranking *ranking, size_t i, FILE *out) {
  const Suspect *s = &ranking->suspects.items[i];
  const Entity at = report_entity(r, s), *e = &at;
  const char *kind = r->suite->failures[ranking->failure].kind;
  Str text = {0};
  str_addf(&text, "culprit/%s", kind);
  fputs("{\"ruleId\":", out);
  json_string(str_text(&text), out);
  fprintf(out, ",\"ruleIndex\":%zu,\"level\":\"%s\",\"rank\":",
          rule_of(r->suite, ranking->failure), level_of(s));
  json_number(100.0 / s->rank_best, out);
  str_clear(&text);
  add_message(r, ranking, s, &text);
  fputs(",\"message\":{\"text\":", out);
  json_string(str_text(&text), out);
  fputs("},\"locations\":[", out);
  put_location(r, e, NULL, out);
  fputc(']', out);
  put_fingerprints(r, ranking, e, out);
  if (!i)
    put_flow(r, ranking, s, out);
  put_fixes(r, ranking, s, out);
  fprintf(out, ",\"properties\":{\"failure\":%zu,\"rank\":%u,\"rankBest\":%u",
          ranking->failure + 1, s->rank, s->rank_best);
  json_double("score", s->score, out);
  fprintf(out, ",\"ef\":%u,\"ep\":%u,\"failing\":%u,\"passing\":%u}}", s->ef,
          s->ep, ranking->failing, ranking->passing);
  str_release(&text);
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_sarif, ranking);
  for (size_t i = 0; i < shown; i++) {
    sources_check(r->sources,
                  r->suite->entities[ranking->suspects.items[i].entity].source);
    fputs(r->printed++ ? ",\n" : "\n", out);
    put_result(r, ranking, i, out);
  }
}

static void end(Report *r, FILE *out) {
  (void)r;
  fputs("]}]}\n", out);
}

const ReportFormat report_sarif = {"sarif", SHOWN, begin,
                                   failure, end,   .nearest = true};

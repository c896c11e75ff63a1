// The text being written: see contract_writer.h.
#include "contract/contract_writer.h"

#include <string.h>

Emitter writer_emitter(ContractWriter *w, ContractSource *from,
                       const Tokens *tokens, EmitState state) {
  return (Emitter){.out = w->out,
                   .file = from == w->s ? NULL : from->path,
                   .text = str_text(&from->text),
                   .tokens = tokens->items,
                   .logic = &w->u->logic,
                   .state = state,
                   .pool = &from->pool,
                   .diags = &from->diags,
                   .unique = w->unique};
}

void writer_copy(ContractWriter *w, size_t at) {
  if (at > w->copied)
    str_addn(w->out, str_text(&w->s->text) + w->copied, at - w->copied);
  w->copied = at > w->copied ? at : w->copied;
}

// Goes on with the text at `at`, which is to keep its place.
void writer_resume(ContractWriter *w, size_t at) {
  const char *text = str_text(&w->s->text);
  uint32_t line = 1;
  size_t start = 0;
  for (size_t i = 0; i < at; i++)
    if (text[i] == '\n')
      line++, start = i + 1;
  str_addf(w->out, "\n#line %u\n", line);
  for (size_t i = start; i < at; i++)
    str_addc(w->out, text[i] == '\t' ? '\t' : ' ');
  w->copied = at;
}

// --- tables -----------------------------------------------------------------

static void add_string(Str *out, const char *text, size_t n) {
  str_addn(out, text, n);
  str_addc(out, '\0');
}

static void add_number(Str *out, uint32_t n) {
  str_addf(out, "%u", n);
  str_addc(out, '\0');
}

// A clause's text on one line.
static void add_clause_text(Str *out, const char *text, const Tokens *tokens,
                            const ContractExpr *n) {
  const Token *first = &tokens->items[n->first];
  const Token *last = &tokens->items[n->end - 1];
  bool blank = false;
  for (uint32_t i = first->at; i < last->at + last->len; i++) {
    char c = text[i] == '@' ? ' ' : text[i];
    bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space && blank)
      str_addc(out, ' ');
    if (!space)
      str_addc(out, c ? c : ' ');
    blank = space;
  }
  str_addc(out, '\0');
}

void writer_strings(Str *t, const ContractSource *s, const Annotation *a,
                    const char *function, const char *body, uint32_t line) {
  static const char *const kinds[CLAUSE_KINDS] = {
      "requires", "ensures", "assert", "invariant", "assigns", "variant"};
  add_string(t, function, strlen(function));
  add_string(t, body, strlen(body));
  add_string(t, s->full, strlen(s->full));
  add_number(t, line);
  for (size_t i = 0; i < a->clauses.len; i++) {
    const Clause *c = &a->clauses.items[i];
    const Token *at = &a->tokens.items[c->expr->first];
    add_string(t, kinds[c->kind], strlen(kinds[c->kind]));
    add_string(t, c->name, strlen(c->name));
    add_string(t, s->full, strlen(s->full));
    add_number(t, at->line);
    add_number(t, at->col);
    add_clause_text(t, str_text(&s->text), &a->tokens, c->expr);
  }
}

static void add_literal(Str *out, const Str *bytes) {
  str_addc(out, '"');
  for (size_t i = 0; i + 1 < bytes->len; i++) { // the literal adds the last NUL
    unsigned char c = (unsigned char)bytes->data[i];
    if (c >= ' ' && c < 127 && c != '"' && c != '\\' && c != '?')
      str_addc(out, (char)c);
    else
      str_addf(out, "\\%03o", c);
  }
  str_addc(out, '"');
}

void writer_table(ContractWriter *w, const char *name, const Str *strings) {
  str_addf(w->out,
           "static const struct { unsigned long magic; unsigned size, "
           "version; char text[%zu]; } %s __attribute__((section(\"%s\"), "
           "used, aligned(8))) = {0x%llxul, %zu, %u, ",
           strings->len, name, CONTRACT_SECTION,
           (unsigned long long)CONTRACT_MAGIC, strings->len, CONTRACT_VERSION);
  add_literal(w->out, strings);
  str_add(w->out, "};\n");
}

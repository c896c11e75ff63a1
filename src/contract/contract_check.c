// Turns contracts into code: see contract_check.h.
#include "contract/contract_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract_emit.h"
#include "contract/contract_prelude.h"

// --- the unit ---------------------------------------------------------------

static const Token *head_name(const ContractSource *s, const Head *h) {
  return &s->tokens.items[h->name];
}

void contract_unit_add(ContractUnit *u, ContractSource *s) {
  uint64_t number = u->sources.len;
  array_push(&u->sources, s);
  const char *text = str_text(&s->text);
  for (size_t i = 0; i < s->annotations.len; i++) {
    const Annotation *a = &s->annotations.items[i];
    for (size_t k = 0; k < a->logics.len; k++) {
      const Token *t = &a->tokens.items[a->logics.items[k].name];
      hashmap_put(&u->logic, text + t->at, t->len, number);
    }
  }
  for (size_t i = 0; i < s->heads.len; i++) {
    const Head *h = &s->heads.items[i];
    const Token *t = head_name(s, h);
    if (!h->definition)
      hashmap_put(&u->prototypes, text + t->at, t->len, number << 32 | i);
  }
}

void contract_unit_release(ContractUnit *u) {
  for (size_t i = 0; i < u->sources.len; i++) {
    contract_source_release(u->sources.items[i]);
    free(u->sources.items[i]);
  }
  array_release(&u->sources);
  hashmap_release(&u->logic);
  hashmap_release(&u->prototypes);
}

// The contract of a definition: its own, or that of its prototype.
typedef struct {
  ContractSource *source; // where it stands
  size_t number;
  const Head *head;
} Promise;

static bool find_promise(const ContractUnit *u, size_t source, const Head *h,
                         Promise *out) {
  ContractSource *s = u->sources.items[source];
  if (!h->definition)
    return false;
  *out = (Promise){s, source, h};
  if (h->contract >= 0)
    return true;
  const Token *t = head_name(s, h);
  uint64_t found;
  if (!hashmap_get(&u->prototypes, str_text(&s->text) + t->at, t->len, &found))
    return false;
  out->number = found >> 32;
  out->source = u->sources.items[out->number];
  out->head = &out->source->heads.items[(uint32_t)found];
  return true;
}

bool contract_unit_checks(const ContractUnit *u, size_t source) {
  const ContractSource *s = u->sources.items[source];
  Promise ignored;
  for (size_t i = 0; i < s->annotations.len; i++)
    if (s->annotations.items[i].kind != ANNOTATION_NONE)
      return true;
  for (size_t i = 0; i < s->heads.len; i++)
    if (find_promise(u, source, &s->heads.items[i], &ignored))
      return true;
  return false;
}

// --- writing ----------------------------------------------------------------

typedef struct {
  ContractUnit *u;
  size_t number;
  ContractSource *s; // the file being written
  Str *out;
  size_t copied; // bytes of its text
  uint32_t unique;
  ARRAY(const Head *) wrapped; // heads whose contracts are checked already
} Writer;

static Emitter emitter(Writer *w, ContractSource *from, const Tokens *tokens,
                       EmitState state) {
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

static void copy_to(Writer *w, size_t at) {
  if (at > w->copied)
    str_addn(w->out, str_text(&w->s->text) + w->copied, at - w->copied);
  w->copied = at > w->copied ? at : w->copied;
}

// Goes on with the text at `at`, which is to keep its place.
static void resume_at(Writer *w, size_t at) {
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

static void table_strings(Str *t, const ContractSource *s, const Annotation *a,
                          const char *function, const char *body,
                          uint32_t line) {
  static const char *const kinds[] = {"requires", "ensures", "assert",
                                      "invariant"};
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

static void add_table(Writer *w, const char *name, const Str *strings) {
  str_addf(w->out,
           "static const struct { unsigned long magic; unsigned size, "
           "version; char text[%zu]; } %s __attribute__((section(\"%s\"), "
           "used, aligned(8))) = {0x%llxul, %zu, %u, ",
           strings->len, name, CONTRACT_SECTION,
           (unsigned long long)CONTRACT_MAGIC, strings->len, CONTRACT_VERSION);
  add_literal(w->out, strings);
  str_add(w->out, "};\n");
}

// --- parameters -------------------------------------------------------------

static char *token_dup(const ContractSource *s, uint32_t i) {
  const Token *t = &s->tokens.items[i];
  return arena_strndup(&((ContractSource *)s)->pool.arena,
                       str_text(&s->text) + t->at, t->len);
}

static bool is(const ContractSource *s, uint32_t i, const char *mark) {
  return token_is(str_text(&s->text), &s->tokens.items[i], mark);
}

// The name that the declarator [first, end) declares, or NULL.
static const char *declared_name(const ContractSource *s, uint32_t first,
                                 uint32_t end) {
  uint32_t name = 0;
  int depth = 0;
  for (uint32_t i = first; i < end; i++) {
    const Token *t = &s->tokens.items[i];
    if (is(s, i, "__attribute__"))
      break;
    if (is(s, i, "[") && name)
      break;
    bool word = t->kind == TOK_WORD && !token_is_keyword(str_text(&s->text), t);
    bool pointer = depth == 1 && i > first && is(s, i - 1, "*");
    if (word && pointer) // (*name)(...)
      return token_dup(s, i);
    if (word && !depth && i > first)
      name = i;
    depth += is(s, i, "(") - is(s, i, ")");
  }
  return name ? token_dup(s, name) : NULL;
}

static bool is_void_list(const ContractSource *s, const Head *h) {
  return h->params >= h->params_end ||
         (h->params + 1 == h->params_end && is(s, h->params, "void"));
}

static const char *param_names(const ContractSource *s, const Head *h,
                               EmittedNames *out) {
  if (is_void_list(s, h))
    return NULL;
  uint32_t first = h->params;
  int depth = 0;
  for (uint32_t i = h->params; i <= h->params_end; i++) {
    bool end = i == h->params_end || (!depth && is(s, i, ","));
    if (is(s, i, "...") && i < h->params_end)
      return "the contract of a function with '...' is not supported";
    if (end) {
      const char *name = declared_name(s, first, i);
      if (!name)
        return "every parameter of a function with a contract needs a name";
      array_push(out, name);
      first = i + 1;
    }
    depth +=
        (is(s, i, "(") || is(s, i, "[")) - (is(s, i, ")") || is(s, i, "]"));
  }
  return NULL;
}

// --- functions --------------------------------------------------------------

typedef struct {
  Writer *w;
  Promise promise;
  const Annotation *a;
  const char *name;
  EmittedNames params;
  bool is_void;
  bool implicit; // it has no contract, only assertions inside
} Wrap;

static bool is_storage(const ContractSource *s, uint32_t i) {
  static const char *const words[] = {"static",   "extern",        "inline",
                                      "__inline", "__inline__",    "_Noreturn",
                                      "register", "__extension__", "noreturn"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (is(s, i, words[k]))
      return true;
  return false;
}

static uint32_t skip_group(const ContractSource *s, uint32_t i) {
  int depth = 0;
  do {
    depth +=
        (is(s, i, "(") || is(s, i, "[")) - (is(s, i, ")") || is(s, i, "]"));
    i++;
  } while (depth > 0 && s->tokens.items[i].kind != TOK_END);
  return i;
}

// The type it returns: what stands before its name, without storage class and
// attributes. NULL, or why that cannot be told.
static const char *add_result_type(Wrap *r) {
  ContractSource *s = r->promise.source;
  Emitter e = emitter(r->w, s, &s->tokens, EMIT_BEFORE);
  uint32_t words = 0;
  bool is_void = false;
  for (uint32_t i = r->promise.head->first; i < r->promise.head->name; i++) {
    if (is(s, i, "__attribute__") || is(s, i, "__attribute")) {
      i = skip_group(s, i + 1) - 1;
    } else if (is(s, i, "[")) {
      i = skip_group(s, i) - 1;
    } else if (is(s, i, "(")) {
      return "the contract of a function that returns a pointer to a function "
             "is not supported: use a typedef";
    } else if (!is_storage(s, i)) {
      emit_tokens(&e, i, i + 1);
      if (s->tokens.items[i].kind == TOK_WORD ||
          s->tokens.items[i].kind == TOK_MARK)
        words++, is_void = words == 1 && is(s, i, "void");
    }
  }
  r->is_void = is_void;
  return NULL;
}

static void own(Wrap *r, const char *text) { str_add(r->w->out, text); }

// "a, b"
static void add_names(Wrap *r, const char *prefix) {
  for (size_t i = 0; i < r->params.len; i++)
    str_addf(r->w->out, "%s%s%s", i ? ", " : "", prefix, r->params.items[i]);
}

static void call_body(Wrap *r) {
  str_addf(r->w->out, "%s(", r->name);
  add_names(r, "");
  own(r, ");\n");
}

// The parameters as a struct, which the runtime may look at and change.
static void add_arguments(Wrap *r) {
  own(r, "struct { ");
  for (size_t i = 0; i < r->params.len; i++)
    str_addf(r->w->out, "__typeof__(((void)0, %s)) %s; ", r->params.items[i],
             r->params.items[i]);
  own(r, "} __culprit_args = {");
  add_names(r, "");
  own(r, "};\n");
}

// What the wrapper does if nothing is to be checked.
static void return_body(Wrap *r) {
  own(r, r->is_void ? "" : "return ");
  call_body(r);
  own(r, r->is_void ? "return; }\n" : "}\n");
}

static void add_begin(Wrap *r) {
  str_addf(r->w->out,
           "static unsigned long __culprit_calls;\n"
           "struct __culprit_call __culprit_call = {&__culprit_calls, 0, "
           "{0}};\n"
           "if (!__culprit_contract_begin(&__culprit_contract_%s, "
           "&__culprit_args, sizeof __culprit_args, &__culprit_call)) {\n",
           r->name);
  return_body(r);
  own(r, "{\n");
  for (size_t i = 0; i < r->params.len; i++)
    str_addf(r->w->out,
             "__typeof__(__culprit_args.%s) %s = "
             "__culprit_args.%s;\n",
             r->params.items[i], r->params.items[i], r->params.items[i]);
}

static void add_clause(Wrap *r, Emitter *e, size_t k) {
  const Clause *c = &r->a->clauses.items[k];
  emit_own(e, "\nif (__culprit_asks(&__culprit_contract_%s, %zu)) ", r->name,
           k);
  emit_own(e, "__culprit_clause(&__culprit_contract_%s, %zu, ", r->name, k);
  if (c->behavior >= 0)
    emit_own(e, "!__culprit_assumes_%d || ", c->behavior);
  emit_own(e, "!!");
  emit_expr(e, c->expr);
  emit_own(e, ", &__culprit_call);\n");
}

static void add_enter(Wrap *r) {
  str_addf(r->w->out,
           "if (!__culprit_contract_enter(&__culprit_contract_%s, "
           "&__culprit_call)) {\n",
           r->name);
  return_body(r);
}

// A later requires may count on the earlier ones: the call ends at the first
// that is broken.
static void add_requires(Wrap *r, bool behaviors) {
  Emitter e = emitter(r->w, r->promise.source, &r->a->tokens, EMIT_BEFORE);
  for (size_t k = 0; k < r->a->clauses.len; k++) {
    const Clause *c = &r->a->clauses.items[k];
    if (c->kind != CLAUSE_REQUIRES || (c->behavior >= 0) != behaviors)
      continue;
    add_clause(r, &e, k);
    add_enter(r);
    e.placed = false;
  }
  r->w->unique = e.unique;
}

static void add_ensures(Wrap *r) {
  Emitter e = emitter(r->w, r->promise.source, &r->a->tokens, EMIT_AFTER);
  for (size_t k = 0; k < r->a->clauses.len; k++)
    if (r->a->clauses.items[k].kind == CLAUSE_ENSURES)
      add_clause(r, &e, k);
  r->w->unique = e.unique;
}

static void add_assumes(Wrap *r) {
  Emitter e = emitter(r->w, r->promise.source, &r->a->tokens, EMIT_BEFORE);
  for (size_t b = 0; b < r->a->behaviors.len; b++) {
    const Behavior *behavior = &r->a->behaviors.items[b];
    emit_own(&e, "\nint __culprit_assumes_%zu = 1", b);
    for (size_t i = 0; i < behavior->assumes.len; i++) {
      emit_own(&e, " && ");
      emit_expr(&e, behavior->assumes.items[i]);
    }
    emit_own(&e, ";\n");
  }
  r->w->unique = e.unique;
}

static void add_olds(Wrap *r) {
  Emitter e = emitter(r->w, r->promise.source, &r->a->tokens, EMIT_BEFORE);
  for (size_t k = 0; k < r->a->clauses.len; k++) {
    const Clause *c = &r->a->clauses.items[k];
    char when[40];
    snprintf(when, sizeof when, "__culprit_assumes_%d", c->behavior);
    if (c->kind == CLAUSE_ENSURES)
      emit_olds(&e, c->expr, &r->params, c->behavior >= 0 ? when : NULL);
  }
  emit_own(&e, "\n");
  r->w->unique = e.unique;
}

static void add_body(Wrap *r) {
  add_arguments(r);
  add_begin(r);
  add_requires(r, false);
  add_assumes(r);
  add_requires(r, true);
  add_olds(r);
  str_addf(r->w->out,
           "struct __culprit_active __culprit_active = "
           "{&__culprit_contract_%s, &__culprit_call, 0, 0};\n"
           "__culprit_contract_push(&__culprit_active);\n",
           r->name);
  own(r, r->is_void ? "" : "__auto_type __culprit_result = ");
  call_body(r);
  own(r, "__culprit_contract_pop(&__culprit_active);\n");
  add_ensures(r);
  str_addf(r->w->out,
           "__culprit_contract_end(&__culprit_contract_%s, "
           "&__culprit_call);\n",
           r->name);
  own(r, r->is_void ? "}\n" : "return __culprit_result;\n}\n");
}

static void refuse(Wrap *r, const char *why) {
  ContractSource *s = r->promise.source;
  const Token *t = head_name(s, r->promise.head);
  array_push(&s->diags, (Diag){DIAG_ERROR, t->line, t->col,
                               arena_strdup(&s->pool.arena, why)});
}

static void add_wrapper_table(Wrap *r) {
  Str strings = {0};
  char *body = mem_printf("__culprit_body_%s", r->name);
  char *table = mem_printf("__culprit_contract_%s", r->name);
  table_strings(&strings, r->promise.source, r->a, r->name, body,
                head_name(r->promise.source, r->promise.head)->line);
  add_table(r->w, table, &strings);
  str_release(&strings);
  free(body);
  free(table);
}

// Defined where the contract stands, unless the preprocessor leaves it out.
static void marker_name(Str *out, size_t source, int annotation) {
  str_addf(out, "__CULPRIT_CONTRACT_%zu_%d", source, annotation);
}

// Defined by every assertion of a function without a contract.
static void implicit_marker(Str *out, size_t source, size_t head) {
  str_addf(out, "__CULPRIT_ASSERTS_%zu_%zu", source, head);
}

static void wrap_marker(const Wrap *r) {
  const Promise *p = &r->promise;
  if (r->implicit)
    implicit_marker(r->w->out, p->number,
                    (size_t)(p->head - p->source->heads.items));
  else
    marker_name(r->w->out, p->number, p->head->contract);
}

// One prototype may have several definitions, in branches of #if.
static bool is_wrapped(const Writer *w, const Promise *p) {
  for (size_t i = 0; i < w->wrapped.len; i++)
    if (w->wrapped.items[i] == p->head)
      return true;
  return false;
}

static bool has_checks(const ContractSource *s, const Head *h) {
  for (size_t i = 0; i < s->checks.len; i++)
    if (&s->heads.items[s->checks.items[i].function] == h)
      return true;
  return false;
}

// What is to be wrapped, and by which contract; false: nothing.
static bool find_wrap(Wrap *r, const Head *h) {
  static const Annotation nothing = {.kind = ANNOTATION_FUNCTION};
  Writer *w = r->w;
  if (!find_promise(w->u, w->number, h, &r->promise)) {
    r->promise = (Promise){w->s, w->number, h};
    r->implicit = true;
    r->a = &nothing;
    return h->definition && has_checks(w->s, h);
  }
  r->a = &r->promise.source->annotations.items[r->promise.head->contract];
  return !is_wrapped(w, &r->promise);
}

static void add_wrapper(Writer *w, const Head *h) {
  Wrap r = {.w = w};
  size_t before = w->out->len;
  if (!find_wrap(&r, h))
    return;
  array_push(&w->wrapped, r.promise.head);
  ContractSource *s = r.promise.source;
  r.name = token_dup(s, r.promise.head->name);
  const char *why = param_names(s, r.promise.head, &r.params);
  str_add(w->out, "\n#ifdef ");
  wrap_marker(&r);
  contract_hush(w->out);
  add_wrapper_table(&r);
  str_add(w->out, "__attribute__((used, no_profile_instrument_function)) "
                  "static ");
  const char *why_type = add_result_type(&r);
  str_addf(w->out, " __culprit_wrap_%s(", r.name);
  Emitter e = emitter(w, s, &s->tokens, EMIT_BEFORE);
  emit_tokens(&e, r.promise.head->params, r.promise.head->params_end);
  own(&r, ") {\n");
  bool possible = !why && !why_type;
  if (possible)
    add_body(&r);
  else if (!r.implicit)
    refuse(&r, why ? why : why_type);
  own(&r, "}");
  contract_unhush(w->out);
  if (r.promise.number == w->number) { // a header may be included again
    str_add(w->out, "#undef ");
    wrap_marker(&r);
  }
  str_add(w->out, "\n#endif\n");
  if (!possible && r.implicit) // then its assertions stand alone
    w->out->len = before;
  array_release(&r.params);
}

// --- logic ------------------------------------------------------------------

static void logic_head(Emitter *e, const Logic *l) {
  const Token *name = &e->tokens[l->name];
  emit_own(e, "static " CONTRACT_OWN);
  if (l->type < l->type_end)
    emit_type(e, l->type, l->type_end);
  else
    emit_own(e, "_Bool");
  emit_own(e, " __culprit_logic_%.*s(", (int)name->len, e->text + name->at);
  if (l->params < l->params_end)
    emit_type(e, l->params, l->params_end);
  else
    emit_own(e, "void");
  emit_own(e, ")");
}

// All heads first: definitions may use each other.
static void add_logics(Writer *w, const Annotation *a) {
  Emitter e = emitter(w, w->s, &a->tokens, EMIT_INSIDE);
  contract_hush(w->out);
  for (size_t i = 0; i < a->logics.len; i++) {
    logic_head(&e, &a->logics.items[i]);
    emit_own(&e, ";\n");
  }
  for (size_t i = 0; i < a->logics.len; i++) {
    logic_head(&e, &a->logics.items[i]);
    emit_own(&e, " { return ");
    emit_expr(&e, a->logics.items[i].body);
    emit_own(&e, "; }\n");
  }
  w->unique = e.unique;
  contract_unhush(w->out);
}

// --- assertions -------------------------------------------------------------

static void add_checks(Writer *w, const Check *c) {
  const Annotation *a = &w->s->annotations.items[c->annotation];
  const Head *h = &w->s->heads.items[c->function];
  Str strings = {0};
  const char *name = token_dup(w->s, h->name);
  table_strings(&strings, w->s, a, name, name, head_name(w->s, h)->line);
  contract_hush(w->out);
  str_add(w->out, "#define ");
  implicit_marker(w->out, w->number, c->function);
  str_add(w->out, "\n({ ");
  add_table(w, "__culprit_contract_here", &strings);
  str_release(&strings);
  str_add(w->out, "if (__culprit_contract_on()) {");
  Emitter e = emitter(w, w->s, &a->tokens, EMIT_INSIDE);
  for (size_t k = 0; k < a->clauses.len; k++) {
    emit_own(&e, "\n__culprit_assert(&__culprit_contract_here, %zu, !!", k);
    emit_expr(&e, a->clauses.items[k].expr);
    emit_own(&e, ");\n");
  }
  w->unique = e.unique;
  str_add(w->out, "} (void)0; })");
  str_add(w->out, !c->expression ? ";" : c->empty ? ", 1" : ", ");
  contract_unhush(w->out);
}

// --- the file ---------------------------------------------------------------

static void write_annotation(Writer *w, size_t index) {
  const Annotation *a = &w->s->annotations.items[index];
  if (a->kind != ANNOTATION_FUNCTION && a->kind != ANNOTATION_LOGIC)
    return;
  copy_to(w, a->whole.at);
  if (a->kind == ANNOTATION_LOGIC) {
    add_logics(w, a);
  } else {
    str_add(w->out, "\n#define ");
    marker_name(w->out, w->number, (int)index);
  }
  resume_at(w, a->whole.at + (size_t)a->whole.len);
}

static void write_check(Writer *w, const Check *c) {
  const Annotation *a = &w->s->annotations.items[c->annotation];
  copy_to(w, c->at);
  add_checks(w, c);
  resume_at(w, a->loop ? c->at : c->at + (size_t)a->whole.len);
}

// Text that the preprocessor skipped has skipped our #line, too.
static void write_branch(Writer *w, const Token *directive) {
  size_t end = directive->at + (size_t)directive->len;
  uint32_t line = directive->line + 1;
  const char *text = str_text(&w->s->text);
  for (size_t i = directive->at; i < end; i++)
    line += text[i] == '\n';
  if (end >= w->s->text.len)
    return;
  copy_to(w, end + 1);
  str_addf(w->out, "#line %u\n", line);
}

// In the order of the text.
typedef struct {
  uint32_t at;
  enum { EDIT_ANNOTATION, EDIT_CHECK, EDIT_BRANCH } kind;
  size_t index;
} Edit;
typedef ARRAY(Edit) Edits;

static int by_place(const void *a, const void *b) {
  const Edit *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static void collect_edits(const ContractSource *s, Edits *out) {
  for (size_t i = 0; i < s->annotations.len; i++)
    array_push(out,
               (Edit){s->annotations.items[i].whole.at, EDIT_ANNOTATION, i});
  for (size_t i = 0; i < s->checks.len; i++)
    array_push(out, (Edit){s->checks.items[i].at, EDIT_CHECK, i});
  for (size_t i = 0; i < s->tokens.len; i++)
    if (s->tokens.items[i].kind == TOK_DIRECTIVE &&
        contract_ends_branch(s, &s->tokens.items[i]))
      array_push(out, (Edit){s->tokens.items[i].at, EDIT_BRANCH, i});
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_place);
}

static void write_edits(Writer *w) {
  Edits edits = {0};
  collect_edits(w->s, &edits);
  for (size_t i = 0; i < edits.len; i++) {
    const Edit *e = &edits.items[i];
    if (e->kind == EDIT_ANNOTATION)
      write_annotation(w, e->index);
    else if (e->kind == EDIT_CHECK)
      write_check(w, &w->s->checks.items[e->index]);
    else
      write_branch(w, &w->s->tokens.items[e->index]);
  }
  copy_to(w, w->s->text.len);
  array_release(&edits);
}

void contract_unit_rewrite(ContractUnit *u, size_t source, Str *out) {
  ContractSource *s = u->sources.items[source];
  Writer w = {.u = u, .number = source, .s = s, .out = out};
  str_add(out, contract_prelude);
  str_add(out, "#line 1\n");
  write_edits(&w);
  for (size_t i = 0; i < s->heads.len; i++)
    add_wrapper(&w, &s->heads.items[i]);
  array_release(&w.wrapped);
}

// Turns contracts into code: see contract_check.h.
#include "contract/contract_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/contract_frame.h"
#include "contract/contract_marks.h"
#include "contract/contract_prelude.h"
#include "contract/contract_writer.h"

// --- the unit ---------------------------------------------------------------

static const Token *head_name(const ContractSource *s, const Head *h) {
  return &s->tokens.items[h->name];
}

void contract_unit_add(ContractUnit *u, ContractSource *s) {
  uint64_t number = u->sources.len;
  array_push(&u->sources, s);
  const char *text = str_text(&s->text);
  for (size_t i = 0; i < s->heads.len; i++) {
    const Head *h = &s->heads.items[i];
    const Token *t = head_name(s, h);
    if (!h->definition)
      hashmap_put(&u->prototypes, text + t->at, t->len, number << 32 | i);
  }
}

// Parameters that are only compared with ==: a bit each, of all definitions of
// the name with as many parameters. True: some were more before.
static bool watch_logic(ContractUnit *u, const char *text, const Annotation *a,
                        bool first) {
  bool changed = false;
  for (size_t k = 0; k < a->logics.len; k++) {
    const Logic *l = &a->logics.items[k];
    const Token *t = &a->tokens.items[l->name];
    char key[128];
    uint64_t known = ~0ull, now = 0;
    int n =
        snprintf(key, sizeof key, "%.*s/%u=", (int)(t->len < 90 ? t->len : 90),
                 text + t->at, l->arity);
    if (!first)
      hashmap_get(&u->logic, key, (size_t)n, &known);
    TokenList names = {0};
    logic_params(text, a->tokens.items, l, &names);
    for (size_t i = 0; i < names.len && i < 64 && !first; i++)
      if (only_compared(&u->logic, text, a->tokens.items, l->body,
                        names.items[i]))
        now |= 1ull << i;
    array_release(&names);
    changed |= !first && (known & now) != known;
    hashmap_put(&u->logic, key, (size_t)n, first ? known : known & now);
  }
  return changed;
}

static bool watch_all(ContractUnit *u, bool first) {
  bool changed = false;
  for (size_t i = 0; i < u->sources.len; i++) {
    const ContractSource *s = u->sources.items[i];
    for (size_t k = 0; k < s->annotations.len; k++)
      changed |=
          watch_logic(u, str_text(&s->text), &s->annotations.items[k], first);
  }
  return changed;
}

static void know_logic(ContractUnit *u, const char *text, const Annotation *a) {
  for (size_t k = 0; k < a->logics.len; k++) {
    const Logic *l = &a->logics.items[k];
    const Token *t = &a->tokens.items[l->name];
    uint64_t labels = l->labels.len ? l->labels.len : 1;
    char key[128];
    int n = snprintf(key, sizeof key, "%.*s/%u",
                     (int)(t->len < 90 ? t->len : 90), text + t->at, l->arity);
    hashmap_put(&u->logic, text + t->at, t->len, labels);
    hashmap_put(&u->logic, key, (size_t)n, labels);
  }
}

void contract_unit_begin(ContractUnit *u) {
  hashmap_release(&u->logic);
  u->logic = (Hashmap){0};
  for (size_t i = 0; i < u->sources.len; i++) {
    const ContractSource *s = u->sources.items[i];
    for (size_t k = 0; k < s->annotations.len; k++)
      know_logic(u, str_text(&s->text), &s->annotations.items[k]);
  }
  watch_all(u, true);
  for (int i = 0; i < 100 && watch_all(u, false); i++)
    ;
}

void contract_unit_release(ContractUnit *u) {
  for (size_t i = 0; i < u->sources.len; i++) {
    contract_source_release(u->sources.items[i]);
    free(u->sources.items[i]);
  }
  array_release(&u->sources);
  array_release(&u->refused);
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
  ContractWriter *w;
  Promise promise;
  const Annotation *a;
  const char *name;
  EmittedNames params;
  bool is_void;
  bool implicit; // it has no contract, only assertions inside
  const Head *definition;
  bool state; // it keeps the memory before the call
} Wrap;

static bool is_storage(const ContractSource *s, uint32_t i) {
  static const char *const words[] = {
      "static",    "extern",   "inline",        "__inline", "__inline__",
      "_Noreturn", "register", "__extension__", "noreturn", NULL};
  return token_is_one_of(str_text(&s->text), &s->tokens.items[i], words);
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
// attributes. Returns NULL, or why it is not known.
static const char *add_result_type(Wrap *r) {
  ContractSource *s = r->promise.source;
  Emitter e = writer_emitter(r->w, s, &s->tokens, EMIT_BEFORE);
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
           "if (!__culprit_contract_begin(&__culprit_promise_%s, "
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

static Emitter wrap_emitter(Wrap *r, EmitState state) {
  Emitter e = writer_emitter(r->w, r->promise.source, &r->a->tokens, state);
  e.params = &r->params;
  return e;
}

static void end_emitter(Wrap *r, Emitter *e) {
  r->w->unique = e->unique;
  array_release(&e->bound);
}

static void add_clause(Wrap *r, Emitter *e, size_t k) {
  const Clause *c = &r->a->clauses.items[k];
  emit_own(e, "\nif (__culprit_asks(&__culprit_promise_%s, %zu)) ", r->name, k);
  emit_own(e, "__culprit_clause(&__culprit_promise_%s, %zu, ", r->name, k);
  if (c->behavior >= 0)
    emit_own(e, "!__culprit_assumes_%d || ", c->behavior);
  emit_own(e, "!!");
  emit_expr(e, c->expr);
  emit_own(e, ", &__culprit_call);\n");
}

static void add_enter(Wrap *r) {
  str_addf(r->w->out,
           "if (!__culprit_contract_enter(&__culprit_promise_%s, "
           "&__culprit_call)) {\n",
           r->name);
  return_body(r);
}

// A later requires may count on the earlier ones: the call ends at the first
// that is broken.
static void add_requires(Wrap *r, bool behaviors) {
  Emitter e = wrap_emitter(r, EMIT_BEFORE);
  for (size_t k = 0; k < r->a->clauses.len; k++) {
    const Clause *c = &r->a->clauses.items[k];
    bool of_one = c->behavior >= 0 || c->expr->kind == NODE_BEHAVIORS;
    if (c->kind != CLAUSE_REQUIRES || of_one != behaviors)
      continue;
    add_clause(r, &e, k);
    add_enter(r);
    e.placed = false;
  }
  end_emitter(r, &e);
}

static void add_ensures(Wrap *r) {
  Emitter e = wrap_emitter(r, EMIT_AFTER);
  for (size_t k = 0; k < r->a->clauses.len; k++)
    if (r->a->clauses.items[k].kind == CLAUSE_ENSURES)
      add_clause(r, &e, k);
    else if (r->a->clauses.items[k].kind == CLAUSE_ASSIGNS)
      emit_frame_check(&e, r->a, k, r->name);
  end_emitter(r, &e);
}

static void add_assumes(Wrap *r) {
  Emitter e = wrap_emitter(r, EMIT_BEFORE);
  for (size_t b = 0; b < r->a->behaviors.len; b++) {
    const Behavior *behavior = &r->a->behaviors.items[b];
    emit_own(&e, "\nint __culprit_assumes_%zu = 1", b);
    for (size_t i = 0; i < behavior->assumes.len; i++) {
      emit_own(&e, " && ");
      emit_expr(&e, behavior->assumes.items[i]);
    }
    emit_own(&e, ";\n");
  }
  end_emitter(r, &e);
}

static void add_olds(Wrap *r) {
  Emitter e = wrap_emitter(r, EMIT_BEFORE);
  for (size_t k = 0; k < r->a->clauses.len; k++) {
    const Clause *c = &r->a->clauses.items[k];
    char when[40];
    snprintf(when, sizeof when, "__culprit_assumes_%d", c->behavior);
    if (c->kind == CLAUSE_ENSURES)
      emit_olds(&e, c->expr, &r->params, c->behavior >= 0 ? when : NULL);
  }
  emit_own(&e, "\n");
  end_emitter(r, &e);
}

// The memory before the call, if clauses or the body's assertions ask for it.
static void add_state(Wrap *r) {
  Emitter e = wrap_emitter(r, EMIT_BEFORE);
  r->state =
      emit_needs_state(&e, r->a) || marks_need_state(r->w->s, r->definition);
  if (r->state) {
    emit_state(&e, r->a, r->w->s);
    emit_frames(&e, r->a);
  }
  emit_own(&e, "\n");
  end_emitter(r, &e);
}

static void add_body(Wrap *r) {
  add_arguments(r);
  add_begin(r);
  add_requires(r, false);
  add_assumes(r);
  add_requires(r, true);
  add_olds(r);
  add_state(r);
  str_addf(r->w->out,
           "struct __culprit_active __culprit_active = "
           "{&__culprit_promise_%s, &__culprit_call, 0, 0, %s, 0, 0ul",
           r->name, r->state ? "&__culprit_pre" : "0");
  for (size_t b = 0; b < r->a->behaviors.len && b < 64; b++)
    str_addf(r->w->out, " | (unsigned long)__culprit_assumes_%zu << %zu", b, b);
  own(r, "};\n__culprit_contract_push(&__culprit_active);\n");
  own(r, r->is_void ? "" : "__auto_type __culprit_result = ");
  call_body(r);
  own(r, "__culprit_contract_pop(&__culprit_active);\n");
  add_ensures(r);
  own(r, r->state ? "__culprit_state_close(&__culprit_pre);\n" : "");
  str_addf(r->w->out,
           "__culprit_contract_end(&__culprit_promise_%s, "
           "&__culprit_call);\n",
           r->name);
  own(r, r->is_void ? "}\n" : "return __culprit_result;\n}\n");
}

static void refuse(Wrap *r, const char *why) {
  ContractSource *s = r->promise.source;
  const Token *t = head_name(s, r->promise.head);
  array_push(&s->diags, (Diag){DIAG_WARNING, t->line, t->col,
                               arena_strdup(&s->pool.arena, why), false});
  array_push(&r->w->u->refused, (Annotation *)r->a);
}

static void add_wrapper_table(Wrap *r) {
  Str strings = {0};
  char *body = mem_printf("__culprit_body_%s", r->name);
  char *table = mem_printf("__culprit_promise_%s", r->name);
  writer_strings(&strings, r->promise.source, r->a, r->name, body,
                 head_name(r->promise.source, r->promise.head)->line);
  writer_table(r->w, table, &strings);
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
static bool is_wrapped(const ContractWriter *w, const Promise *p) {
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
  ContractWriter *w = r->w;
  if (!find_promise(w->u, w->number, h, &r->promise)) {
    r->promise = (Promise){w->s, w->number, h};
    r->implicit = true;
    r->a = &nothing;
    return h->definition && has_checks(w->s, h);
  }
  r->a = &r->promise.source->annotations.items[r->promise.head->contract];
  return !is_wrapped(w, &r->promise);
}

static void add_wrapper(ContractWriter *w, const Head *h) {
  Wrap r = {.w = w, .definition = h};
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
  Emitter e = writer_emitter(w, s, &s->tokens, EMIT_BEFORE);
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

// --- assertions -------------------------------------------------------------

static void add_checks(ContractWriter *w, const Check *c) {
  const Annotation *a = &w->s->annotations.items[c->annotation];
  const Head *h = &w->s->heads.items[c->function];
  Str strings = {0};
  const char *name = token_dup(w->s, h->name);
  writer_strings(&strings, w->s, a, name, name, head_name(w->s, h)->line);
  contract_hush(w->out);
  str_add(w->out, "#define ");
  implicit_marker(w->out, w->number, c->function);
  str_add(w->out, "\n({ ");
  writer_table(w, "__culprit_contract_here", &strings);
  str_release(&strings);
  str_add(w->out, "if (__culprit_contract_on()) {");
  Emitter e = writer_emitter(w, w->s, &a->tokens, EMIT_INSIDE);
  EmittedNames constants = {0};
  Promise p;
  MarkScope scope = {.w = w, .check = c, .a = a, .function = name};
  if (find_promise(w->u, w->number, h, &p))
    scope.contract = &p.source->annotations.items[p.head->contract];
  marks_constants(w->s, h, &constants);
  e.params = &constants;
  e.find_label = marks_find;
  e.context = &scope;
  marks_declare(&e, &scope);
  for (size_t k = 0; k < a->clauses.len; k++)
    marks_emit_clause(&e, &scope, k);
  array_release(&constants);
  array_release(&e.bound);
  w->unique = e.unique;
  str_add(w->out, "} (void)0; })");
  str_add(w->out, !c->expression ? ";" : c->empty ? ", 1" : ", ");
  contract_unhush(w->out);
}

// --- the file ---------------------------------------------------------------

// Code that only contracts see has no line: it is no statement.
static void write_ghost(ContractWriter *w, const Annotation *a) {
  const char *text = str_text(&w->s->text);
  const Token *end = &array_last(&a->tokens);
  bool label = token_is(text, &a->tokens.items[2], ":");
  writer_copy(w, a->whole.at);
  if (label)
    return;
  contract_hush(w->out);
  str_add(w->out, "#line 0\n");
  for (const Token *t = a->tokens.items + 1; t < end; t++)
    str_addf(w->out, "%.*s ", (int)t->len, text + t->at);
  contract_unhush(w->out);
  writer_resume(w, a->whole.at + (size_t)a->whole.len);
}

static void write_annotation(ContractWriter *w, size_t index) {
  const Annotation *a = &w->s->annotations.items[index];
  if (a->kind == ANNOTATION_GHOST && a->tokens.len > 2)
    write_ghost(w, a);
  if (a->kind != ANNOTATION_FUNCTION && a->kind != ANNOTATION_LOGIC)
    return;
  writer_copy(w, a->whole.at);
  if (a->kind == ANNOTATION_LOGIC) {
    writer_logics(w, a);
  } else {
    str_add(w->out, "\n#define ");
    marker_name(w->out, w->number, (int)index);
  }
  writer_resume(w, a->whole.at + (size_t)a->whole.len);
}

static void write_check(ContractWriter *w, const Check *c) {
  const Annotation *a = &w->s->annotations.items[c->annotation];
  writer_copy(w, c->at);
  add_checks(w, c);
  writer_resume(w, a->loop ? c->at : c->at + (size_t)a->whole.len);
}

static void write_mark(ContractWriter *w, const StateMark *m) {
  writer_copy(w, m->at);
  marks_emit(w, m);
  writer_resume(w, m->at);
}

// Text that the preprocessor skipped has skipped our #line, too.
static void write_branch(ContractWriter *w, const Token *directive) {
  size_t end = directive->at + (size_t)directive->len;
  uint32_t line = directive->line + 1;
  const char *text = str_text(&w->s->text);
  for (size_t i = directive->at; i < end; i++)
    line += text[i] == '\n';
  if (end >= w->s->text.len)
    return;
  writer_copy(w, end + 1);
  str_addf(w->out, "#line %u\n", line);
}

// In the order of the text.
typedef struct {
  uint32_t at;
  enum { EDIT_ANNOTATION, EDIT_CHECK, EDIT_BRANCH, EDIT_MARK } kind;
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
  for (size_t i = 0; i < s->marks.len; i++)
    array_push(out, (Edit){s->marks.items[i].at, EDIT_MARK, i});
  for (size_t i = 0; i < s->tokens.len; i++)
    if (s->tokens.items[i].kind == TOK_DIRECTIVE &&
        contract_ends_branch(s, &s->tokens.items[i]))
      array_push(out, (Edit){s->tokens.items[i].at, EDIT_BRANCH, i});
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_place);
}

static void write_edits(ContractWriter *w) {
  Edits edits = {0};
  collect_edits(w->s, &edits);
  for (size_t i = 0; i < edits.len; i++) {
    const Edit *e = &edits.items[i];
    if (e->kind == EDIT_ANNOTATION)
      write_annotation(w, e->index);
    else if (e->kind == EDIT_CHECK)
      write_check(w, &w->s->checks.items[e->index]);
    else if (e->kind == EDIT_MARK)
      write_mark(w, &w->s->marks.items[e->index]);
    else
      write_branch(w, &w->s->tokens.items[e->index]);
  }
  writer_copy(w, w->s->text.len);
  array_release(&edits);
}

void contract_unit_rewrite(ContractUnit *u, size_t source, Str *out) {
  ContractSource *s = u->sources.items[source];
  ContractWriter w = {.u = u, .number = source, .s = s, .out = out};
  marks_collect(s);
  str_add(out, contract_prelude);
  str_add(out, "#line 1\n");
  write_edits(&w);
  for (size_t i = 0; i < s->heads.len; i++)
    add_wrapper(&w, &s->heads.items[i]);
  array_release(&w.wrapped);
}

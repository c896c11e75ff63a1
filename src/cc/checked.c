// Compiling a source that has contracts: see checked.h.
#include "cc/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/escape.h"
#include "util/fs.h"

// The last option of a kind counts.
ContractTelling contract_telling(const CcArgs *args) {
  ContractTelling how = {.strict = getenv("CULPRIT_STRICT") &&
                                   !getenv("CULPRIT_LENIENT")};
  for (size_t i = 0; i < args->args.len; i++) {
    const char *a = args->args.items[i].text;
    if (!strcmp(a, "-Wculprit-contract"))
      how.list = true;
    else if (!strcmp(a, "-Wno-culprit-contract"))
      how.list = false;
    else if (!strcmp(a, "-Wculprit-contract-error"))
      how.strict = true;
    else if (!strcmp(a, "-Wno-culprit-contract-error"))
      how.strict = false;
  }
  return how;
}

typedef struct {
  Contracts *contracts;
  const char *prefix, *messages; // files
  CompileWith *compile;
  void *context;
  Str said; // what clang said last
  Err err;
} Attempt;

static int attempt(Attempt *a, const char *overlay) {
  Err ignored;
  int rc = a->compile(a->context, overlay, a->messages);
  a->said.len = 0;
  if (fs_read(a->messages, 0, &a->said, &ignored))
    a->said.len = 0;
  return rc;
}

// Once, with what is left of the contracts.
static int with_contracts(Attempt *a) {
  char *overlay = NULL;
  if (contracts_write(a->contracts, a->prefix, &overlay, &a->err))
    return 3;
  int rc = attempt(a, overlay);
  free(overlay);
  return rc;
}

// As if the comments were comments. If that works, the contracts were to blame.
static int without_contracts(Attempt *a, const char *source) {
  Str why = {0};
  const char *first = strstr(str_text(&a->said), "error: ");
  str_addn(&why, first ? first + 7 : "", first ? strcspn(first + 7, "\n") : 0);
  int rc = attempt(a, NULL);
  if (!rc)
    escape_printf(stderr,
                  "%s: warning: the contracts of this file are not checked: "
                  "%s\n",
                  source, str_text(&why));
  str_release(&why);
  return rc;
}

int compile_checked(Contracts *c, ContractTelling how, const char *source,
                    const char *prefix, const char *messages,
                    CompileWith *compile, void *context) {
  Attempt a = {.contracts = c,
               .prefix = prefix,
               .messages = messages,
               .compile = compile,
               .context = context};
  Str shown = {0};
  int rc = with_contracts(&a);
  while (rc && rc != 3 && contracts_refuse(c, str_text(&a.said)))
    rc = with_contracts(&a);
  if (rc == 3)
    escape_printf(stderr, "culprit-cc: %s: %s\n", source, a.err.text);
  else if (rc && !how.strict)
    rc = without_contracts(&a, source);
  if (rc != 3 && contracts_messages(c, how, &shown))
    rc = 1;
  contracts_translate(c, str_text(&a.said), &shown);
  fputs(str_text(&shown), stderr); // clang's colours stay
  str_release(&a.said);
  str_release(&shown);
  return rc;
}

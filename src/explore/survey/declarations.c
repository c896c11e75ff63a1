// Does a script only declare something? See declarations.h.
#include "explore/survey/declarations.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct {
  const char *at, *end;
  bool broken; // a bracket is never closed
} PhpText;

static bool at_word(const PhpText *t, const char *word) {
  size_t n = strlen(word);
  return (size_t)(t->end - t->at) >= n && !strncasecmp(t->at, word, n);
}

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

// Behind the next `mark`, or the end.
static void skip_behind(PhpText *t, const char *mark) {
  const char *found =
      memmem(t->at, (size_t)(t->end - t->at), mark, strlen(mark));
  t->at = found ? found + strlen(mark) : t->end;
}

static bool at_line_comment(const PhpText *t) {
  return at_word(t, "//") || (at_word(t, "#") && !at_word(t, "#["));
}

static void skip_line_comment(PhpText *t) {
  while (t->at < t->end && *t->at != '\n' && !at_word(t, "?>"))
    t->at++;
}

static void skip_string(PhpText *t) {
  char quote = *t->at++;
  for (; t->at < t->end && *t->at != quote; t->at++)
    if (*t->at == '\\' && t->at + 1 < t->end)
      t->at++;
  t->at += t->at < t->end;
}

// <<<NAME, <<<'NAME' up to the line that begins with the name.
static void skip_heredoc(PhpText *t) {
  t->at += 3;
  while (t->at < t->end && strchr(" \t'\"", *t->at))
    t->at++;
  const char *name = t->at;
  while (t->at < t->end && is_name(*t->at))
    t->at++;
  size_t n = (size_t)(t->at - name);
  while (t->at < t->end) {
    skip_behind(t, "\n");
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
      t->at++;
    if ((size_t)(t->end - t->at) >= n && !memcmp(t->at, name, n) &&
        !(t->at + n < t->end && is_name(t->at[n]))) {
      t->at += n;
      return;
    }
  }
}

// A comment, string, or text between ?> and <?php, or one byte.
static void skip_token(PhpText *t) {
  if (at_line_comment(t))
    skip_line_comment(t);
  else if (at_word(t, "/*"))
    skip_behind(t, "*/");
  else if (at_word(t, "<<<"))
    skip_heredoc(t);
  else if (at_word(t, "?>"))
    skip_behind(t, "<?");
  else if (*t->at == '\'' || *t->at == '"' || *t->at == '`')
    skip_string(t);
  else
    t->at++;
}

static void skip_blank(PhpText *t) {
  while (t->at < t->end)
    if (at_line_comment(t) || at_word(t, "/*"))
      skip_token(t);
    else if (isspace((unsigned char)*t->at) || *t->at == ';')
      t->at++;
    else
      return;
}

// From a bracket behind the one that closes it.
static void skip_brackets(PhpText *t) {
  size_t depth = 0;
  do {
    depth += strchr("([{", *t->at) != NULL;
    depth -= strchr(")]}", *t->at) != NULL;
    skip_token(t);
  } while (depth && t->at < t->end);
  t->broken |= depth > 0;
}

// Behind the `;` or the block that ends the statement.
static void skip_statement(PhpText *t) {
  while (t->at < t->end && *t->at != ';' && *t->at != '{')
    if (*t->at == '(' || *t->at == '[')
      skip_brackets(t);
    else
      skip_token(t);
  if (t->at < t->end && *t->at == '{')
    skip_brackets(t);
}

static bool takes_word(PhpText *t, const char *const *words) {
  for (; *words; words++) {
    size_t n = strlen(*words);
    if (!at_word(t, *words) || (t->at + n < t->end && is_name(t->at[n])))
      continue;
    return true;
  }
  return false;
}

// if (!defined('APP')) exit('no');  True: it was one.
static bool take_guard(PhpText *t) {
  static const char *const ifs[] = {"if", NULL}, *const ends[] = {"exit", "die",
                                                                  NULL};
  if (!takes_word(t, ifs))
    return false;
  t->at += 2;
  skip_blank(t);
  if (t->at == t->end || *t->at != '(')
    return false;
  skip_brackets(t);
  skip_blank(t);
  bool block = t->at < t->end && *t->at == '{';
  t->at += block;
  skip_blank(t);
  if (!takes_word(t, ends))
    return false;
  skip_statement(t);
  skip_blank(t);
  bool closed = block && t->at < t->end && *t->at == '}';
  t->at += closed;
  return block == closed;
}

// namespace app { ... }: what is in it counts.
static void enter_namespace(PhpText *t) {
  while (t->at < t->end && *t->at != ';' && *t->at != '{')
    t->at++;
  t->at += t->at < t->end;
}

// What may stand in front of a declaration, or at the end of a namespace.
static bool take_around(PhpText *t) {
  static const char *const spaces[] = {"namespace", NULL};
  if (takes_word(t, spaces))
    enter_namespace(t);
  else if (at_word(t, "#["))
    skip_behind(t, "]");
  else if (*t->at == '}')
    t->at++;
  else
    return take_guard(t);
  return true;
}

static bool take_declaration(PhpText *t, bool *any) {
  static const char *const code[] = {"abstract", "final",     "readonly",
                                     "class",    "interface", "trait",
                                     "enum",     "function",  NULL},
                           *const others[] = {"use", "declare", "const",
                                              "define", NULL};
  bool is_code = takes_word(t, code);
  if (!is_code && !takes_word(t, others))
    return take_around(t);
  *any |= is_code;
  skip_statement(t);
  return true;
}

// Only white space is left outside of PHP.
static bool ends_there(const PhpText *t) {
  const char *at = t->at;
  while (at < t->end && isspace((unsigned char)*at))
    at++;
  return at == t->end;
}

bool only_declares(const char *script, size_t n) {
  PhpText t = {script, script + n, false};
  bool any = false;
  if (!at_word(&t, "<?php"))
    return false;
  for (t.at += 5; skip_blank(&t), t.at < t.end;) {
    if (at_word(&t, "?>")) {
      t.at += 2;
      return any && !t.broken && ends_there(&t);
    }
    if (!take_declaration(&t, &any))
      return false;
  }
  return any && !t.broken;
}

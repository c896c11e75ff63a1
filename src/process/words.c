// Shell words: see words.h.
#include "process/words.h"

#include <ctype.h>
#include <string.h>

#include "util/array.h"

typedef struct {
  const char *at;
  Arena *arena;
  Str word;
  ARRAY(char *) argv;
  ARRAY(Redirect) redirects;
} Parser;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Unquoted, these mean something to a shell that we leave to it.
static bool is_special(char c) { return c && strchr("$`;|&*?[~(){}!\n", c); }

static bool ends_word(char c) {
  return c == '\0' || is_blank(c) || c == '<' || c == '>';
}

static bool single_quoted(Parser *p) {
  const char *end = strchr(++p->at, '\'');
  if (!end)
    return false;
  str_addn(&p->word, p->at, (size_t)(end - p->at));
  p->at = end + 1;
  return true;
}

static bool double_quoted(Parser *p) {
  for (p->at++; *p->at != '"'; p->at++) {
    if (*p->at == '\0' || *p->at == '$' || *p->at == '`')
      return false;
    if (*p->at == '\\') {
      if (!p->at[1] || p->at[1] == '\n')
        return false;
      if (strchr("$`\"\\", p->at[1]))
        p->at++;
    }
    str_addc(&p->word, *p->at);
  }
  p->at++;
  return true;
}

static bool escaped(Parser *p) {
  if (!p->at[1] || p->at[1] == '\n')
    return false;
  str_addc(&p->word, p->at[1]);
  p->at += 2;
  return true;
}

// Reads one word into p->word. False: not for us.
static bool read_word(Parser *p) {
  str_clear(&p->word);
  if (*p->at == '#' || ends_word(*p->at))
    return false;
  while (!ends_word(*p->at)) {
    bool ok = true;
    if (*p->at == '\'')
      ok = single_quoted(p);
    else if (*p->at == '"')
      ok = double_quoted(p);
    else if (*p->at == '\\')
      ok = escaped(p);
    else if (is_special(*p->at))
      return false;
    else
      str_addc(&p->word, *p->at++);
    if (!ok)
      return false;
  }
  return true;
}

static void skip_blanks(Parser *p) {
  while (is_blank(*p->at))
    p->at++;
}

// At ">&" or "N>&": M, a standard stream, and the end of the word.
static bool read_copy(Parser *p, int fd) {
  p->at++;
  skip_blanks(p);
  if (*p->at < '0' || *p->at > '2' || !ends_word(p->at[1]))
    return false;
  array_push(&p->redirects, (Redirect){REDIRECT_DUP, fd, *p->at - '0', NULL});
  p->at++;
  return true;
}

// At the operator; `fd` is the number before it, -1 for none.
static bool read_redirect(Parser *p, int fd) {
  RedirectMode mode = *p->at == '<' ? REDIRECT_READ : REDIRECT_WRITE;
  if (fd < 0)
    fd = mode == REDIRECT_READ ? 0 : 1;
  p->at++;
  if (mode == REDIRECT_WRITE && *p->at == '>') {
    mode = REDIRECT_APPEND;
    p->at++;
  } else if (mode == REDIRECT_WRITE && *p->at == '&') {
    return read_copy(p, fd);
  }
  skip_blanks(p);
  if (!read_word(p)) // also <<, <>, <&, >|
    return false;
  char *path = arena_strdup(p->arena, str_text(&p->word));
  array_push(&p->redirects, (Redirect){mode, fd, 0, path});
  return true;
}

static bool read_item(Parser *p) {
  if (*p->at == '<' || *p->at == '>')
    return read_redirect(p, -1);
  size_t digits = strspn(p->at, "0123456789");
  if (digits && (p->at[digits] == '<' || p->at[digits] == '>')) {
    if (digits > 1 || *p->at > '2')
      return false;
    p->at++;
    return read_redirect(p, p->at[-1] - '0');
  }
  if (!read_word(p))
    return false;
  array_push(&p->argv, arena_strdup(p->arena, str_text(&p->word)));
  return true;
}

static void take(Parser *p, Words *w) {
  w->argc = p->argv.len;
  w->argv = arena_array(p->arena, char *, w->argc + 1);
  if (w->argc)
    memcpy(w->argv, p->argv.items, w->argc * sizeof *w->argv);
  w->nredirects = p->redirects.len;
  w->redirects = arena_array(p->arena, Redirect, w->nredirects);
  if (w->nredirects)
    memcpy(w->redirects, p->redirects.items,
           w->nredirects * sizeof *w->redirects);
}

bool words_parse(Words *w, const char *line, Arena *arena) {
  Parser p = {.at = line, .arena = arena};
  bool ok = true;
  for (skip_blanks(&p); ok && *p.at; skip_blanks(&p))
    ok = read_item(&p);
  if (ok)
    take(&p, w);
  str_release(&p.word);
  array_release(&p.argv);
  array_release(&p.redirects);
  return ok;
}

static bool is_plain(char c) {
  return isalnum((unsigned char)c) || (c && strchr("_-+./,:=@%^", c));
}

void words_quote(Str *out, const char *word) {
  size_t plain = 0;
  while (is_plain(word[plain]))
    plain++;
  if (plain && !word[plain]) {
    str_add(out, word);
    return;
  }
  str_addc(out, '\'');
  for (const char *c = word; *c; c++) {
    if (*c == '\'')
      str_add(out, "'\\''");
    else
      str_addc(out, *c);
  }
  str_addc(out, '\'');
}

void words_quote_all(Str *out, char *const *argv) {
  for (size_t i = 0; argv[i]; i++) {
    if (i)
      str_addc(out, ' ');
    words_quote(out, argv[i]);
  }
}

bool words_is_shell_command(const char *name) {
  static const char *const names[] = {
      ".",       ":",       "[",        "alias",   "bg",      "break",
      "builtin", "case",    "cd",       "chdir",   "command", "continue",
      "coproc",  "declare", "dirs",     "disown",  "do",      "done",
      "echo",    "elif",    "else",     "enable",  "esac",    "eval",
      "exec",    "exit",    "export",   "false",   "fc",      "fg",
      "fi",      "for",     "function", "getopts", "hash",    "help",
      "if",      "in",      "jobs",     "kill",    "let",     "local",
      "popd",    "printf",  "pushd",    "pwd",     "read",    "readonly",
      "return",  "select",  "set",      "shift",   "source",  "test",
      "then",    "time",    "times",    "trap",    "true",    "type",
      "typeset", "ulimit",  "umask",    "unalias", "unset",   "until",
      "wait",    "while",   NULL};
  return strchr(name, '=') || text_is_one_of(name, names);
}

// Experiments on PHP scripts: which changes there are at a line, as text and as
// a diff; the words of a page; the files that the extension reads and writes.
#include "test.h"

#include <unistd.h>

#include "php/source/php_change.h"
#include "try/web/page_words.h"
#include "try/web/script_changes.h"
#include "util/fs.h"

// --- scripts ----------------------------------------------------------------

static bool is_word(char c) {
  return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

// Tokens of a text without comments, as far as the tests need them.
static size_t scan(const char *text, PhpToken *out) {
  static const char *const long_ones[] = {
      "===", "!==", "<=", ">=", "==", "!=", "&&", "||", "->", "++", NULL};
  size_t n = 0, end;
  uint32_t line = 1;
  for (size_t i = 0; text[i]; i = end) {
    PhpTokenKind kind = TOKEN_OTHER;
    end = i + 1;
    if (text[i] == '\'') {
      kind = TOKEN_STRING;
      end = (size_t)(strchr(text + end, '\'') - text) + 1;
    } else if (text[i] == '$' || is_word(text[i])) {
      while (is_word(text[end]))
        end++;
      static const char *const words[] = {"if", "while", "echo", "return"};
      kind = text[i] == '$' ? TOKEN_VARIABLE : TOKEN_NAME;
      for (size_t k = 0; k < 4; k++)
        if (strlen(words[k]) == end - i && !memcmp(text + i, words[k], end - i))
          kind = TOKEN_OTHER;
    } else if (text[i] >= '0' && text[i] <= '9') {
      end = i + strspn(text + i, "0123456789.");
      kind = TOKEN_NUMBER;
    } else if (!strncmp(text + i, "<?php", 5) || !strncmp(text + i, "?>", 2)) {
      end = i + strcspn(text + i, "p>") + 1;
      end += text[end] == 'h' ? 2 : 0;
    } else {
      for (const char *const *o = long_ones; *o; o++)
        if (end == i + 1 && !strncmp(text + i, *o, strlen(*o)))
          end = i + strlen(*o);
    }
    if (text[i] != ' ' && text[i] != '\n')
      out[n++] = (PhpToken){(uint32_t)i, (uint32_t)(end - i), line, kind};
    line += text[i] == '\n';
  }
  return n;
}

static const ScriptKinds all_kinds = {true, true, true};

typedef struct {
  PhpToken tokens[200];
  ScriptText script;
  ScriptChanges changes;
  Arena arena;
} ScriptWorld;

static void open_world(ScriptWorld *w, const char *text, uint32_t line,
                       ScriptKinds kinds) {
  *w = (ScriptWorld){0};
  w->script = (ScriptText){.text = text,
                           .size = strlen(text),
                           .tokens = w->tokens,
                           .ntokens = scan(text, w->tokens)};
  script_changes(&w->script, line, line, kinds, &w->changes, &w->arena);
}

static void close_world(ScriptWorld *w) {
  array_release(&w->changes);
  arena_release(&w->arena);
}

static const ScriptChange *find(const ScriptWorld *w, const char *words) {
  for (size_t i = 0; i < w->changes.len; i++)
    if (!strcmp(w->changes.items[i].words, words))
      return &w->changes.items[i];
  return NULL;
}

static void expect(const ScriptWorld *w, const char *words, const char *text) {
  Str out = {0};
  const ScriptChange *c = find(w, words);
  assert_non_null(c);
  script_change_apply(&w->script, c, &out);
  assert_string_equal(str_text(&out), text);
  str_release(&out);
}

TEST(comparisons_become_their_neighbours_first) {
  ScriptWorld w;
  open_world(&w, "<?php\nif ($a < $b) echo 1;\n", 2, all_kinds);
  expect(&w, "`<` to `<=`", "<?php\nif ($a <= $b) echo 1;\n");
  expect(&w, "`<` to `>`", "<?php\nif ($a > $b) echo 1;\n");
  assert_true(find(&w, "`<` to `<=`")->cost < find(&w, "`<` to `>`")->cost);
  assert_string_equal(find(&w, "`<` to `<=`")->kind, "compare");
  close_world(&w);
}

TEST(a_condition_is_still_evaluated_where_it_is_forced) {
  ScriptWorld w;
  open_world(&w, "<?php if (f($a) && $b) echo 1;", 1, all_kinds);
  expect(&w, "the condition negated", "<?php if (!(f($a) && $b)) echo 1;");
  expect(&w, "the condition is always true",
         "<?php if ((f($a) && $b) || true) echo 1;");
  expect(&w, "the condition is always false",
         "<?php if ((f($a) && $b) && false) echo 1;");
  expect(&w, "`&&` to `||`", "<?php if (f($a) || $b) echo 1;");
  close_world(&w);
}

TEST(a_loop_is_not_made_endless) {
  ScriptWorld w;
  open_world(&w, "<?php while ($a > 0) $a--;", 1, all_kinds);
  assert_null(find(&w, "the condition is always true"));
  assert_non_null(find(&w, "the condition is always false"));
  close_world(&w);
}

TEST(numbers_move_by_one_and_negative_ones_are_in_parentheses) {
  ScriptWorld w;
  open_world(&w, "<?php $x = $y - 5;", 1, all_kinds);
  expect(&w, "`5` to `6`", "<?php $x = $y - 6;");
  expect(&w, "`5` to `4`", "<?php $x = $y - 4;");
  expect(&w, "`5` to `(-5)`", "<?php $x = $y - (-5);");
  close_world(&w);
}

TEST(statements_and_calls_are_left_out) {
  ScriptWorld w;
  open_world(&w, "<?php\nf($a, g(1));\n$b = h($a);\n", 2, all_kinds);
  expect(&w, "without `f($a, g(1))`", "<?php\n;\n$b = h($a);\n");
  expect(&w, "`null` for the call of `g`",
         "<?php\nf($a, null);\n$b = h($a);\n");
  assert_null(find(&w, "`null` for the call of `h`"));
  close_world(&w);
}

TEST(a_tag_is_closed_removed_or_turned) {
  ScriptWorld w;
  open_world(&w, "<?php echo '<b>', $a, '<i class=\"x>';", 1, all_kinds);
  expect(&w, "`<b>` to `</b>`", "<?php echo '</b>', $a, '<i class=\"x>';");
  expect(&w, "without `<b>`", "<?php echo '', $a, '<i class=\"x>';");
  expect(&w, "a quote before the end of `<i class=\"x>`",
         "<?php echo '<b>', $a, '<i class=\"x\">';");
  expect(&w, "with `</b>`", "<?php echo '<b></b>', $a, '<i class=\"x>';");
  close_world(&w);
}

TEST(kinds_can_be_left_out) {
  ScriptWorld w;
  open_world(&w, "<?php if ($a < 5) f('<b>');", 1, (ScriptKinds){0});
  assert_non_null(find(&w, "`<` to `<=`"));
  for (size_t i = 0; i < w.changes.len; i++)
    assert_true(!strcmp(w.changes.items[i].kind, "compare") ||
                !strcmp(w.changes.items[i].kind, "condition"));
  close_world(&w);
}

TEST(no_change_adds_or_removes_a_line) {
  ScriptWorld w;
  const char *text = "<?php\nif ($a <\n5) f('<b>\n</b>', g($a,\n2));\n";
  for (uint32_t line = 1; line < 6; line++) {
    open_world(&w, text, line, all_kinds);
    for (size_t i = 0; i < w.changes.len; i++) {
      Str out = {0};
      size_t breaks = 0;
      script_change_apply(&w.script, &w.changes.items[i], &out);
      for (size_t k = 0; k < out.len; k++)
        breaks += out.data[k] == '\n';
      assert_int_equal(breaks, 5);
      str_release(&out);
    }
    close_world(&w);
  }
}

TEST(a_change_is_a_unified_diff) {
  ScriptWorld w;
  Str out = {0};
  open_world(&w, "<?php\n1;\n2;\n3;\nif ($a < 5)\n  f();", 5, all_kinds);
  script_change_diff(&w.script, find(&w, "`<` to `<=`"), "a.php", &out);
  assert_string_equal(str_text(&out), "--- a/a.php\n+++ b/a.php\n"
                                      "@@ -2,5 +2,5 @@\n 1;\n 2;\n 3;\n"
                                      "-if ($a < 5)\n+if ($a <= 5)\n   f();\n"
                                      "\\ No newline at end of file\n");
  str_release(&out);
  close_world(&w);
}

// --- words ------------------------------------------------------------------

static bool has_words(const char *base, const char *page) {
  PageWords a = {0}, b = {0};
  page_words(base, strlen(base), &a);
  page_words(page, strlen(page), &b);
  bool kept = page_words_kept(&a, &b);
  array_release(&a);
  array_release(&b);
  return kept;
}

TEST(words_stand_outside_of_tags_and_count_as_often_as_they_occur) {
  assert_true(has_words("<p>One two.", "<p class=x>two, <b>One</b> three</p>"));
  assert_false(has_words("<p>One one", "<p>One"));
  assert_false(has_words("<p>One two", "<p title=two>One"));
  assert_true(has_words("<p>at 12:30 id=7", "<p>at 12:31 id=8"));
  assert_true(has_words("", "<"));
}

// --- files of the extension ---------------------------------------------------

TEST(tokens_that_do_not_lie_in_the_text_are_refused) {
  char dir[] = "/tmp/test-tokens-XXXXXX";
  assert_non_null(mkdtemp(dir));
  char *path = mem_printf("%s/%016x.tokens", dir, 7);
  const PhpToken good[] = {{0, 5, 1, TOKEN_OTHER}, {5, 2, 1, TOKEN_NAME}};
  PhpToken bad[3][2];
  for (size_t i = 0; i < 3; i++)
    memcpy(bad[i], good, sizeof good);
  bad[0][1].length = 6; // behind the end
  bad[1][1].offset = 4; // in the one before
  bad[2][1].kind = TOKEN_KINDS;
  PhpTokens tokens;
  Err err = {0};
  assert_int_equal(fs_write(path, good, sizeof good, &err), 0);
  assert_int_equal(php_tokens_read(dir, 7, 10, &tokens, &err), 0);
  assert_int_equal(tokens.len, 2);
  array_release(&tokens);
  assert_int_equal(php_tokens_read(dir, 7, 6, &tokens, &err), -1);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(fs_write(path, bad[i], sizeof bad[i], &err), 0);
    assert_int_equal(php_tokens_read(dir, 7, 10, &tokens, &err), -1);
  }
  assert_int_equal(fs_write(path, good, sizeof good - 1, &err), 0);
  assert_int_equal(php_tokens_read(dir, 7, 10, &tokens, &err), -1);
  free(path);
  fs_remove_tree(dir);
}

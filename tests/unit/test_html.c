// Unit tests of the HTML oracle. The pages of tests/data/html carry what is to
// be found in them in a comment at their end:
//
//   <!-- options: enable=KEYS ignore=KEYS doctype no_explicit_end -->
//   <!-- expect: unclosed-element h2 @6:1 @7:1; stray-end-tag p @9:4 -->
//
// The comments are cut off before the page is checked; @LINE:COLUMN counts
// from 1, columns in bytes.
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "oracle/html/html_check.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/str.h"

// --- pages with their expectations -------------------------------------------

static void add_place(Str *out, const char *page, size_t offset) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset; i++) {
    column = page[i] == '\n' ? 1 : column + 1;
    line += page[i] == '\n';
  }
  str_addf(out, " @%zu:%zu", line, column);
}

// "key element @l:c @l:c; ..." or "none".
static void describe(Str *out, const char *page, size_t len,
                     const HtmlOptions *o) {
  Arena arena = {0};
  HtmlFault *faults;
  size_t n;
  Err err = {0};
  assert_int_equal(html_check(page, len, o, &faults, &n, &arena, &err), 0);
  for (size_t i = 0; i < n; i++) {
    str_addf(out, "%s%s", i ? "; " : "", faults[i].key);
    if (*faults[i].element)
      str_addf(out, " %s", faults[i].element);
    for (size_t k = 0; k < faults[i].nplaces; k++)
      add_place(out, page, faults[i].places[k].offset);
  }
  if (!n)
    str_add(out, "none");
  arena_release(&arena);
}

// Cuts "<!-- NAME: text -->" off the end of the page; its text, or NULL.
static char *cut_comment(Str *page, const char *name) {
  char *mark = mem_printf("<!-- %s: ", name), *found = NULL;
  for (char *p = page->data; (p = strstr(p, mark)); p++)
    found = p;
  char *text = NULL;
  if (found) {
    char *end = strstr(found, " -->");
    assert_non_null(end);
    char *start = found + strlen(mark);
    text = mem_printf("%.*s", (int)(end - start), start);
    page->len = found - page->data;
    *found = '\0';
  }
  free(mark);
  return text;
}

static void set_options(HtmlOptions *o, char *text) {
  for (char *word = text; word && (word = strtok(word, " ")); word = NULL)
    for (; word; word = strtok(NULL, " ")) {
      o->doctype |= strcmp(word, "doctype") == 0;
      o->no_explicit_end |= strcmp(word, "no_explicit_end") == 0;
      if (text_starts(word, "enable="))
        o->enable = word + 7;
      if (text_starts(word, "ignore="))
        o->ignore = word + 7;
    }
}

// Is the page as it says it is?
static bool page_as_expected(const char *path) {
  Str page = {0}, found = {0};
  Err err;
  HtmlOptions o = {0};
  assert_int_equal(fs_read(path, 0, &page, &err), 0);
  char *expected = cut_comment(&page, "expect");
  char *options = cut_comment(&page, "options");
  assert_non_null(expected);
  set_options(&o, options);
  describe(&found, page.data, page.len, &o);
  bool same = strcmp(str_text(&found), expected) == 0;
  if (!same)
    print_message("%s\n  expected %s\n  found    %s\n", path_base(path),
                  expected, str_text(&found));
  free(expected);
  free(options);
  str_release(&page);
  str_release(&found);
  return same;
}

TEST(each_page_has_the_faults_it_says_it_has) {
  struct dirent **names;
  int n = scandir(TEST_DATA "/html", &names, NULL, alphasort);
  size_t pages = 0, wrong = 0;
  for (int i = 0; i < n; i++) {
    char *path = mem_printf("%s/html/%s", TEST_DATA, names[i]->d_name);
    if (text_ends(path, ".html")) {
      pages++;
      wrong += !page_as_expected(path);
    }
    free(path);
    free(names[i]);
  }
  free(names);
  assert_true(pages >= 60);
  assert_int_equal(wrong, 0);
}

static char *faults_of(const char *page) {
  Str out = {0};
  describe(&out, page, strlen(page), &(HtmlOptions){0});
  return str_take(&out);
}

static void assert_faults(const char *page, const char *expected) {
  char *found = faults_of(page);
  assert_string_equal(found, expected);
  free(found);
}

TEST(a_carriage_return_does_not_move_positions) {
  assert_faults("<p>a\r\n<p>b\r<input type=\"txet\">\r\n",
                "bad-attribute-value input @2:6");
}

TEST(faults_are_told_in_the_order_of_the_page) {
  assert_faults("<div><i id=a>x</i></p><i id=a>y</i></b></div>",
                "stray-end-tag p @1:19; duplicate-id i @1:23 @1:6; "
                "stray-end-tag b @1:36");
}

TEST(a_message_holds_no_text_of_the_page) {
  Arena arena = {0};
  HtmlFault *a, *b;
  size_t n;
  Err err;
  const char *one = "<p><john@one.org>", *two = "<p><mary@two.org>";
  html_check(one, strlen(one), &(HtmlOptions){0}, &a, &n, &arena, &err);
  assert_int_equal(n, 1);
  html_check(two, strlen(two), &(HtmlOptions){0}, &b, &n, &arena, &err);
  assert_int_equal(n, 1);
  assert_string_equal(a->message, b->message);
  assert_string_equal(a->element, b->element);
  arena_release(&arena);
}

TEST(an_unknown_key_is_refused_with_its_name) {
  Arena arena = {0};
  HtmlFault *faults;
  size_t n;
  Err err;
  HtmlOptions o = {.ignore = "stray-end-tag, stray-ent-tag"};
  assert_int_equal(html_check("", 0, &o, &faults, &n, &arena, &err), -1);
  assert_non_null(strstr(err.text, "'stray-ent-tag'"));
  arena_release(&arena);
}

TEST(every_key_is_in_the_table_once_and_has_a_line) {
  for (const HtmlKey *k = html_keys; k->key; k++) {
    assert_true(strlen(k->doc) > 8);
    for (const HtmlKey *other = html_keys; other < k; other++)
      assert_string_not_equal(k->key, other->key);
  }
}

TEST(the_manual_lists_every_key) {
  Str manual = {0};
  Err err;
  const char *path = TEST_DATA "/../../docs/reference/html-oracle.md";
  assert_int_equal(fs_read(path, 0, &manual, &err), 0);
  for (const HtmlKey *k = html_keys; k->key; k++) {
    char *row = mem_printf("\n| `%s` | ", k->key);
    assert_non_null(strstr(manual.data, row));
    free(row);
  }
  str_release(&manual);
}

// --- any bytes ---------------------------------------------------------------

// libtidy reads in a process of its own, too slow for thousands of pages.
static const HtmlOptions everything = {
    .enable = "all", .doctype = true, .no_tidy = true};

// Runs a page through; places must lie in it, and the order must be right.
static size_t check_sane(const char *bytes, size_t len, const HtmlOptions *o) {
  Arena arena = {0};
  HtmlFault *faults;
  size_t n;
  Err err = {0};
  char *page = mem_dup(bytes, len); // to the byte: overruns show
  assert_int_equal(html_check(page, len, o, &faults, &n, &arena, &err), 0);
  assert_true(n <= HTML_FAULTS_MAX);
  for (size_t i = 0; i < n; i++) {
    assert_in_range(faults[i].nplaces, 1, HTML_PLACES_MAX);
    for (size_t k = 0; k < faults[i].nplaces; k++)
      assert_true(faults[i].places[k].offset + faults[i].places[k].length <=
                  len);
    if (i)
      assert_true(faults[i - 1].places->offset <= faults[i].places->offset);
  }
  arena_release(&arena);
  free(page);
  return n;
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525 + 1013904223;
  return (random_state >> 8) % n;
}

// "" stands for a NUL.
static const char *const pieces[] = {
    "<div>", "</div>", "<p>",  "</p>",       "<table>", "<tr>",     "</td>",
    "<a>",   "</a>",   "\"",   "'",          "<",       ">",        "<!--",
    "-->",   "<svg>",  "</b>", "<b>",        "<form>",  "<select>", "</html>",
    "\xff",  "=",      "&",    "<script>",   "<title>", "</body>",  "<li>",
    "/>",    "<td>",   "<i>",  "<template>", "",        " ",        "&#0;"};

// The attributes that html_value.c looks at, and values that are odd in one
// way or another.
static const char *const attributes[] = {
    "dir", "method", "type", "scope", "colspan", "size", "tabindex", "id"};
static const char *const values[] = {
    "", "ltr", "ltr rtl", "get", "-", "+1", "row ", " ", "x", "{{a}}", "9"};

static void mutate(Str *page) {
  for (uint32_t n = 1 + random_below(4); n; n--) {
    size_t at = random_below(page->len + 1);
    const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
    size_t cut = random_below(8), k = *piece ? strlen(piece) : 1;
    if (cut > page->len - at)
      cut = page->len - at;
    Str next = {0};
    str_addn(&next, page->data, at);
    str_addn(&next, piece, k);
    str_addn(&next, page->data + at + cut, page->len - at - cut);
    str_release(page);
    *page = next;
  }
}

static void read_page(const char *name, Str *page) {
  Err err;
  char *path = mem_printf("%s/html/%s.html", TEST_DATA, name);
  assert_int_equal(fs_read(path, 0, page, &err), 0);
  free(path);
}

TEST(a_page_cut_off_at_any_byte_is_read_to_its_end) {
  static const char *const names[] = {"good-optional-ends", "good-svg",
                                      "good-comments", "quote-in-value"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    Str page = {0};
    read_page(names[i], &page);
    for (size_t len = 0; len <= page.len; len++)
      check_sane(page.data, len, &everything);
    str_release(&page);
  }
}

TEST(mutated_pages_break_nothing) {
  static const char *const names[] = {
      "good-optional-ends", "good-svg",  "good-template", "good-script",
      "good-attributes",    "misnested", "div-in-table",  "nested-form"};
  for (int i = 0; i < 1500; i++) {
    Str page = {0};
    read_page(names[i % 8], &page);
    mutate(&page);
    check_sane(page.data, page.len, &everything);
    str_release(&page);
  }
}

// libtidy overflows its stack on some of these.
TEST(what_libtidy_does_to_itself_does_not_reach_us) {
  static const char page[] =
      "<title>t<-- expec<tr>t</t&able></\xc5"
      "abb<dl>le</h1></h1></h1></h1></h1></h1></h1></<math>h1></h1></h1>>"
      "</table></table></table></table><Tt<xmp>able>: no<nobr>ne ---->>\xc7";
  HtmlOptions tidy = {.enable = "all"};
  check_sane(page, sizeof page - 1, &tidy);
  Str good = {0};
  read_page("good-template", &good);
  for (int i = 0; i < 20; i++) {
    mutate(&good);
    check_sane(good.data, good.len, &tidy);
  }
  str_release(&good);
}

// One tag with attributes, values cut and stretched by NULs in every way.
static void add_tag(Str *page) {
  static const char *const names[] = {"p",  "td",     "input",  "form",
                                      "th", "button", "select", "textarea"};
  str_addf(page, "<%s", names[random_below(8)]);
  for (uint32_t n = random_below(4); n; n--) {
    const char *quote = (const char *[]){"", "'", "\""}[random_below(3)];
    str_addf(page, " %s=%s", attributes[random_below(8)], quote);
    for (uint32_t k = random_below(3); k; k--) {
      const char *v = values[random_below(sizeof values / sizeof *values)];
      str_addn(page, v, *v ? strlen(v) : 1);
    }
    str_add(page, quote);
  }
  str_add(page, random_below(8) ? ">" : "");
}

TEST(tags_with_any_values_break_nothing) {
  for (int i = 0; i < 3000; i++) {
    Str page = {0};
    for (uint32_t n = 1 + random_below(6); n; n--)
      add_tag(&page);
    check_sane(page.data, page.len, &everything);
    str_release(&page);
  }
}

TEST(pages_of_pieces_break_nothing) {
  for (int i = 0; i < 2000; i++) {
    Str page = {0};
    for (uint32_t n = random_below(60); n; n--) {
      const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
      str_addn(&page, piece, *piece ? strlen(piece) : 1);
    }
    check_sane(str_text(&page), page.len, &everything);
    html_is_page(i % 2 ? "text/html" : NULL, str_text(&page), page.len);
    str_release(&page);
  }
}

// Each would read behind the table of words.
TEST(a_value_that_begins_with_a_NUL_is_no_word) {
  for (size_t n = 1; n <= 4096; n *= 2) {
    Str page = {0};
    str_add(&page, "<!DOCTYPE html><p dir=\"");
    for (size_t i = 0; i < n; i++)
      str_addc(&page, '\0');
    str_add(&page, "\">x</p>");
    assert_int_equal(
        check_sane(page.data, page.len, &(HtmlOptions){.no_tidy = true}), 1);
    str_release(&page);
  }
}

TEST(random_bytes_break_nothing) {
  char bytes[400];
  for (int i = 0; i < 1000; i++) {
    size_t len = random_below(sizeof bytes);
    for (size_t k = 0; k < len; k++)
      bytes[k] =
          i % 2 ? "<>/=\"'!-& adpt"[random_below(14)] : (char)random_below(256);
    check_sane(bytes, len, &everything);
  }
}

TEST(checking_twice_gives_the_same) {
  Str page = {0};
  read_page("good-optional-ends", &page);
  for (int i = 0; i < 50; i++) {
    mutate(&page);
    Str a = {0}, b = {0};
    describe(&a, page.data, page.len, &everything);
    describe(&b, page.data, page.len, &everything);
    assert_string_equal(str_text(&a), str_text(&b));
    str_release(&a);
    str_release(&b);
  }
  str_release(&page);
}

// --- size --------------------------------------------------------------------

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

// One megabyte of the same, with time and stack to spare.
static size_t check_repeated(const char *piece, const char *then) {
  Str page = {0};
  while (page.len < 500000)
    str_add(&page, piece);
  while (page.len < 1000000)
    str_add(&page, then);
  double start = seconds();
  size_t n = check_sane(page.data, page.len, &everything);
  double took = seconds() - start;
  str_release(&page);
  if (took > 2)
    print_message("%s %s: %.1f s\n", piece, then, took);
  assert_true(took < 10);
  return n;
}

// The same with NULs behind each piece and at the end.
static void check_repeated_nulls(const char *piece) {
  Str page = {0};
  while (page.len < 500000)
    str_addn(&page, piece, strlen(piece) + 1);
  while (page.len < 1000000)
    str_addc(&page, '\0');
  double start = seconds();
  check_sane(page.data, page.len, &everything);
  assert_true(seconds() - start < 10);
  str_release(&page);
}

TEST(a_megabyte_of_unclosed_elements_is_one_fault) {
  HtmlOptions o = {0};
  Str page = {0};
  while (page.len < 1000000)
    str_add(&page, "<div>");
  assert_int_equal(check_sane(page.data, page.len, &o), 1);
  str_add(&page, "</body>");
  assert_int_equal(check_sane(page.data, page.len, &o), 1);
  str_release(&page);
}

TEST(no_repetition_takes_more_than_linear_time) {
  check_repeated("<b>", "</i>");
  check_repeated("<u>", "</u>");
  check_repeated("<a b=c><p>", "</a>");
  check_repeated("<table><tr><td>", "</table>");
  check_repeated("<title>", "<p>");
  check_repeated("<textarea>", "</form>");
  check_repeated("<!----!>", "<!--->");
  check_repeated("<a b='>", "<a b=\">");
  check_repeated("<p id=a a a>", "</p></p>");
  check_repeated("<u><i>", "</u>");
  check_repeated("<font size=1>x<p>", "<x>");
  check_repeated("<script><!--<script>", "</script>");
  check_repeated("<li><li><ul>", "<dt>&x;");
  check_repeated("< ", "<svg><g>");
  check_repeated("<p dir='x y'>", "<td scope=row scope=row scope=row>");
  check_repeated_nulls("<p dir=\"");
  check_repeated_nulls("<");
  check_repeated_nulls("x");
}

TEST(ten_megabytes_are_checked_in_seconds) {
  Str page = {0};
  str_add(&page, "<!DOCTYPE html><html><body><table>");
  for (int i = 0; page.len < 10000000; i++)
    str_addf(&page,
             "<tr id=r%d><td class=\"a\">cell %d</td><td><b>x</b></td>"
             "</tr>\n",
             i, i);
  str_add(&page, "</table></body></html>");
  double start = seconds();
  assert_int_equal(check_sane(page.data, page.len, &(HtmlOptions){0}), 0);
  assert_true(seconds() - start < 10);
  str_release(&page);
}

// --- what is a page ----------------------------------------------------------

static bool is_page(const char *type, const char *body) {
  return html_is_page(type, body, strlen(body));
}

TEST(a_content_type_decides_what_is_a_page) {
  assert_true(is_page("text/html", "<p>a"));
  assert_true(is_page("Text/HTML; charset=utf-8", "just text"));
  assert_true(is_page("application/xhtml+xml", "<html/>"));
  assert_false(is_page("text/plain", "<html>"));
  assert_false(is_page("text/htmlx", "<html>"));
  assert_false(is_page("application/json", "{}"));
  assert_false(is_page("image/png", "<html>"));
}

TEST(a_page_with_NULs_is_a_page_and_binary_data_is_none) {
  static const char page[] = "\0<!DOCTYPE html><p>a</p>";
  static const char text[] = "a\0<b>bold</b>";
  static const char image[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
  static const char wide[] = "<\0p\0>\0a\0";
  assert_true(html_is_page("text/html", page, sizeof page - 1));
  assert_true(html_is_page("text/html", text, sizeof text - 1));
  assert_false(html_is_binary("text/html", page, sizeof page - 1));
  assert_false(html_is_page("text/html", image, sizeof image - 1));
  assert_true(html_is_binary("text/html", image, sizeof image - 1));
  assert_true(html_is_binary("text/html", wide, sizeof wide - 1));
  assert_false(html_is_binary("image/png", image, sizeof image - 1));
  assert_false(html_is_binary(NULL, image, sizeof image - 1));
}

TEST(all_NULs_of_a_page_are_one_fault_with_their_places) {
  static const char page[] = "<p>a\0b</p><!-- \0 -->";
  Arena arena = {0};
  HtmlFault *faults;
  size_t n;
  Err err;
  assert_int_equal(html_check(page, sizeof page - 1, &(HtmlOptions){0}, &faults,
                              &n, &arena, &err),
                   0);
  assert_int_equal(n, 1);
  assert_string_equal(faults->key, "null-character");
  assert_int_equal(faults->nplaces, 2);
  assert_int_equal(faults->places[0].offset, 4);
  HtmlOptions ignored = {.ignore = "null-character"};
  html_check(page, sizeof page - 1, &ignored, &faults, &n, &arena, &err);
  assert_int_equal(n, 0);
  arena_release(&arena);
}

TEST(without_a_content_type_the_text_decides) {
  assert_true(is_page(NULL, "<!doctype html><p>a"));
  assert_true(is_page(NULL, "\xef\xbb\xbf\n<!-- c --> <HTML>"));
  assert_true(is_page("", "<div class=a>"));
  assert_true(is_page(NULL, "Warning: x in y\n<html><body>"));
  assert_true(is_page(NULL, "<?xml version='1.0'?><html>"));
  assert_false(is_page(NULL, "<?xml version='1.0'?><rss>"));
  assert_false(is_page(NULL, "<svg></svg>"));
  assert_false(is_page(NULL, "hello <b>world</b>"));
  assert_false(is_page(NULL, "body { color: red }"));
  assert_false(is_page(NULL, "{\"html\": \"<html>\"}"));
  assert_false(is_page(NULL, "<"));
}

TEST(nothing_and_binary_data_and_json_are_no_pages_whatever_their_type) {
  assert_false(html_is_page("text/html", "", 0));
  assert_false(is_page("text/html", " \r\n\t"));
  assert_false(html_is_page("text/html", "GIF89a\0x", 8));
  assert_false(is_page("text/html", "[{\"a\": \"<p>\"}]\n"));
}

// --- the Nu checker ----------------------------------------------------------

static char nu_dir[] = "/tmp/culprit-nu-XXXXXX";

// A program that prints `report`, and the page it is asked about.
static char *fake_nu(const char *report, const char *page, char **page_path) {
  Err err;
  strcpy(nu_dir + strlen(nu_dir) - 6, "XXXXXX");
  assert_non_null(mkdtemp(nu_dir));
  char *path = mem_printf("%s/vnu", nu_dir);
  char *script = mem_printf("#!/bin/sh\n"
                            "test \"$1 $2 $3\" = '--format json --stdout' &&\n"
                            "test -f \"$5\" || exit 3\n"
                            "cat <<'END'\n%s\nEND\n",
                            report);
  assert_int_equal(fs_write(path, script, strlen(script), &err), 0);
  assert_int_equal(chmod(path, 0700), 0);
  *page_path = mem_printf("%s/page.html", nu_dir);
  assert_int_equal(fs_write(*page_path, page, strlen(page), &err), 0);
  free(script);
  return path;
}

TEST(what_the_nu_checker_calls_an_error_is_a_fault_at_its_place) {
  const char *report =
      "Picked up JAVA_TOOL_OPTIONS: -x\n"
      "{\"messages\":[{\"type\":\"info\",\"message\":\"x\",\"lastLine\":1},"
      "{\"type\":\"error\",\"lastLine\":2,\"firstColumn\":5,\"lastColumn\":9,"
      "\"message\":\"Stray end tag \xe2\x80\x9ch2\xe2\x80\x9d near "
      "\xe2\x80\x9cSome Text\xe2\x80\x9d.\"}]}";
  char *page;
  char *vnu = fake_nu(report,
                      "<p>\n\xc3\xa4\xf0\x9f\x98\x80"
                      "b</h2>\n",
                      &page);
  Arena arena = {0};
  HtmlFault *faults;
  size_t n;
  Err err = {0};
  assert_int_equal(html_nu(vnu, page, &faults, &n, &arena, &err), 0);
  assert_int_equal(n, 1);
  assert_string_equal(faults->key, "nu");
  assert_string_equal(faults->element, "h2");
  assert_int_equal(faults->places->offset, 11); // of </h2>
  assert_int_equal(faults->places->length, 5);
  assert_null(strstr(faults->message, "Some Text"));
  assert_non_null(strstr(faults->message, "Stray end tag"));
  arena_release(&arena);
  fs_remove_tree(nu_dir);
  free(vnu);
  free(page);
}

TEST(a_nu_checker_that_is_none_is_an_error_with_a_remedy) {
  char *page;
  char *vnu = fake_nu("hello", "<p>", &page);
  Arena arena = {0};
  HtmlFault *faults;
  size_t n;
  Err err = {0};
  assert_int_equal(html_nu(vnu, page, &faults, &n, &arena, &err), -1);
  assert_non_null(strstr(err.text, "printed no JSON report"));
  unlink(vnu);
  assert_int_equal(html_nu(vnu, page, &faults, &n, &arena, &err), -1);
  assert_non_null(strstr(err.text, "install the Nu checker"));
  assert_int_equal(n, 0);
  arena_release(&arena);
  fs_remove_tree(nu_dir);
  free(vnu);
  free(page);
}

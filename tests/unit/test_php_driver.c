// Unit tests of the driver for PHP applications: request lists, HAR, FastCGI,
// cookies, paths, workers (with a real php-cgi), state (with a real MariaDB
// server, where there is one).
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "php/child.h"
#include "php/fastcgi.h"
#include "php/page.h"
#include "php/request.h"
#include "php/route.h"
#include "php/sql.h"
#include "php/state.h"
#include "php/talk.h"
#include "php/worker.h"
#include "util/fs.h"
#include "util/mem.h"

static Err err;

static void check(int rc) {
  if (rc)
    fail_msg("%s", err.text);
}

// A directory of this test, removed by tidy().
static char scratch[64];

static void begin(void) {
  strcpy(scratch, "/tmp/culprit-driver-XXXXXX");
  assert_non_null(mkdtemp(scratch));
}

static void tidy(void) { fs_remove_tree(scratch); }

// The last sixteen names stay.
static const char *in_scratch(const char *name) {
  static char names[16][256];
  static unsigned turn;
  char *out = names[turn++ % 16];
  snprintf(out, 256, "%s/%s", scratch, name);
  return out;
}

static void put(const char *name, const char *text) {
  const char *path = in_scratch(name);
  char *dir = mem_strdup(path);
  *strrchr(dir, '/') = '\0';
  check(fs_mkdirs(dir, &err));
  check(fs_write(path, text, strlen(text), &err));
  free(dir);
}

static bool holds(const char *name, const char *text) {
  Str s = {0};
  bool same =
      !fs_read(in_scratch(name), 0, &s, &err) && !strcmp(str_text(&s), text);
  str_release(&s);
  return same;
}

static int parse(const char *text, Requests *out, Arena *arena) {
  return request_list_parse("list", text, strlen(text), out, arena, &err);
}

static void refused(const char *text, const char *message) {
  Arena arena = {0};
  Requests out;
  assert_int_equal(parse(text, &out, &arena), -1);
  if (!strstr(err.text, message))
    fail_msg("'%s' does not say '%s'", err.text, message);
  arena_release(&arena);
}

// --- request lists
// ------------------------------------------------------------

TEST(a_list_holds_methods_paths_queries_bodies_headers_and_visitors) {
  Arena arena = {0};
  Requests r;
  check(parse("# a comment\r\n\r\n"
              "setup POST /login.php user=bob&pw=a b\r\n"
              "GET /view.php?topic=A#part\n"
              "\tAccept-Language: de\n"
              "  X-Empty:\n"
              "---\n---\n"
              "GET /",
              &r, &arena));
  assert_int_equal(r.len, 3);
  assert_true(r.items[0].setup);
  assert_string_equal(r.items[0].method, "POST");
  assert_string_equal(r.items[0].path, "/login.php");
  assert_string_equal(r.items[0].query, "");
  assert_string_equal(r.items[0].body, "user=bob&pw=a b");
  assert_int_equal(r.items[0].body_len, 15);
  assert_int_equal(r.items[0].line, 3);
  assert_false(r.items[1].setup);
  assert_string_equal(r.items[1].query, "topic=A");
  assert_int_equal(r.items[1].headers.len, 2);
  assert_string_equal(headers_get(&r.items[1].headers, "accept-language"),
                      "de");
  assert_string_equal(headers_get(&r.items[1].headers, "X-Empty"), "");
  assert_int_equal(r.items[1].visitor, 0);
  assert_int_equal(r.items[2].visitor, 1);
  assert_int_equal(r.items[2].headers.len, 0);
  arena_release(&arena);
}

TEST(a_list_says_what_is_wrong_and_where) {
  refused("", "list: no request");
  refused("---\n# nothing\n", "list: no request");
  refused("GET /a\nget /b\n", "list:2: no method");
  refused("GET\n", "list:1: no path");
  refused("setup\n", "list:1: no path");
  refused("GET http://host/a\n", "list:1: the path must begin with /");
  refused("  Accept: x\n", "list:1: a header (the line is indented) before");
  refused("GET /\n  no header\n", "list:2: an indented line is a header");
  refused("GET /\n  a b: c\n", "list:2: an indented line is a header");
  refused("GET /a\x01z\n", "list:1: a control character");
  refused("POST / @no-such-file\n", "list:1: body of the request");
  Arena arena = {0};
  Requests out;
  assert_int_equal(
      request_list_parse("list", "GET /\0x\n", 8, &out, &arena, &err), -1);
  arena_release(&arena);
}

TEST(a_body_may_be_a_file_beside_the_list_with_any_bytes) {
  Arena arena = {0};
  Requests r;
  begin();
  check(fs_write(in_scratch("b.bin"), "x\0y", 3, &err));
  put("list.txt", "POST /up.php @b.bin\n  Content-Type: a/b\nPOST / @@me\n");
  check(request_list_read(in_scratch("list.txt"), &r, &arena, &err));
  assert_int_equal(r.items[0].body_len, 3);
  assert_memory_equal(r.items[0].body, "x\0y", 3);
  assert_string_equal(r.items[1].body, "@me");
  arena_release(&arena);
  tidy();
}

TEST(the_text_of_a_request_reads_back_as_the_same_request) {
  static const char *const lines[] = {
      "GET /", "GET /a.php?x=1&y=%20", "POST /b.php user=bob&pw=x y",
      "PUT /c {\"a\": [1, 2]}", "POST /d @@handle"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    Arena arena = {0};
    Requests r;
    check(parse(lines[i], &r, &arena));
    char *text = request_text(&r.items[0]);
    assert_string_equal(text, lines[i]);
    free(text);
    arena_release(&arena);
  }
  Request binary = {.method = "POST",
                    .path = "/",
                    .query = "",
                    .body = "a\nb",
                    .body_len = 3};
  char *text = request_text(&binary);
  assert_string_equal(text, "POST / (3 bytes)");
  free(text);
}

// --- HAR
// ----------------------------------------------------------------------

static int har(const char *text, const char *host, Requests *out,
               Arena *arena) {
  return request_list_har("a.har", text, strlen(text), host, out, arena, &err);
}

static const char archive[] =
    "{\"log\": {\"version\": \"1.2\", \"entries\": ["
    "{\"request\": {\"method\": \"GET\", \"url\": \"data:text/plain,x\"}},"
    "{\"request\": {\"method\": \"GET\","
    "  \"url\": \"https://shop.test:8443/list?a=1#x\", \"headers\": ["
    "  {\"name\": \"Cookie\", \"value\": \"PHPSESSID=old\"},"
    "  {\"name\": \":path\", \"value\": \"/list\"},"
    "  {\"name\": \"If-None-Match\", \"value\": \"e\"},"
    "  {\"name\": \"Accept-Language\", \"value\": \"de\"}]}},"
    "{\"request\": {\"method\": \"GET\", \"url\": \"http://cdn.test/x.js\"}},"
    "{\"request\": {\"method\": \"POST\", \"url\": \"https://SHOP.test:8443\","
    "  \"headers\": [], \"postData\": {\"mimeType\": \"application/json\","
    "  \"text\": \"{\\\"n\\\": 1}\"}}},"
    "{\"request\": {\"method\": \"POST\","
    "  \"url\": \"https://shop.test:8443/f\", \"postData\": {"
    "  \"mimeType\": \"application/x-www-form-urlencoded\", \"params\": ["
    "  {\"name\": \"a b\", \"value\": \"1&2\"},"
    "  {\"name\": \"c\", \"value\": \"\\u00e4\"}]}}},"
    "{\"request\": {\"method\": \"POST\","
    "  \"url\": \"https://shop.test:8443/u\", \"postData\": {"
    "  \"mimeType\": \"multipart/form-data; boundary=XX\", \"params\": ["
    "  {\"name\": \"f\", \"fileName\": \"a.txt\","
    "   \"contentType\": \"text/plain\", \"value\": \"hi\"}]}}},"
    "{\"request\": {\"method\": \"POST\","
    "  \"url\": \"https://shop.test:8443/b\", \"postData\": {"
    "  \"mimeType\": \"a/b\", \"encoding\": \"base64\","
    "  \"text\": \"AAEC/w==\"}}}"
    "]}}";

TEST(a_har_gives_the_requests_to_its_first_host) {
  Arena arena = {0};
  Requests r;
  check(har(archive, NULL, &r, &arena));
  assert_int_equal(r.len, 5);
  assert_string_equal(r.items[0].path, "/list");
  assert_string_equal(r.items[0].query, "a=1");
  assert_int_equal(r.items[0].line, 2);
  assert_int_equal(r.items[0].headers.len, 1);
  assert_string_equal(headers_get(&r.items[0].headers, "Accept-Language"),
                      "de");
  assert_string_equal(r.items[1].path, "/");
  assert_string_equal(r.items[1].body, "{\"n\": 1}");
  assert_string_equal(headers_get(&r.items[1].headers, "content-type"),
                      "application/json");
  assert_string_equal(r.items[2].body, "a%20b=1%262&c=%C3%A4");
  assert_non_null(strstr(r.items[3].body, "--XX\r\nContent-Disposition: "
                                          "form-data; name=\"f\"; "
                                          "filename=\"a.txt\"\r\n"));
  assert_non_null(strstr(r.items[3].body, "\r\n\r\nhi\r\n--XX--\r\n"));
  assert_int_equal(r.items[4].body_len, 4);
  assert_memory_equal(r.items[4].body, "\0\1\2\xff", 4);
  check(har(archive, "cdn.test", &r, &arena));
  assert_int_equal(r.len, 1);
  assert_string_equal(r.items[0].path, "/x.js");
  arena_release(&arena);
}

TEST(a_broken_har_is_refused_with_its_place) {
  static const char *const bad[][2] = {
      {"{", "a.har:1: not JSON"},
      {"[]", "no log.entries"},
      {"{\"log\": {\"entries\": {}}}", "no log.entries"},
      {"{\"log\": {\"entries\": []}}", "no request to a web server"},
      {"{\"log\": {\"entries\": [1]}}", "log.entries[0].request: no method"},
      {"{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\"}}]}}",
       "log.entries[0].request: no url"},
      {"{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", "
       "\"url\": \"http://a/b\\nc\"}}]}}",
       "control characters"},
      {"{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\", "
       "\"url\": \"http://a/\", \"headers\": [{}]}}]}}",
       "a header without name"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Arena arena = {0};
    Requests r;
    assert_int_equal(har(bad[i][0], NULL, &r, &arena), -1);
    if (!strstr(err.text, bad[i][1]))
      fail_msg("'%s' does not say '%s'", err.text, bad[i][1]);
    arena_release(&arena);
  }
}

TEST(a_har_cut_or_changed_anywhere_is_read_within_bounds) {
  for (size_t n = 0; n < sizeof archive; n += 3) {
    Arena arena = {0};
    Requests r;
    char *copy = mem_dup(archive, sizeof archive);
    copy[n] = (char)(n * 37 + 1);
    request_list_har("a", archive, n, NULL, &r, &arena, &err);
    request_list_har("a", copy, sizeof archive - 1, NULL, &r, &arena, &err);
    free(copy);
    arena_release(&arena);
  }
}

// --- FastCGI
// ------------------------------------------------------------------

static void record(Str *s, int type, int id, const char *text, size_t n,
                   int padding) {
  unsigned char h[8] = {1,
                        (unsigned char)type,
                        (unsigned char)(id >> 8),
                        (unsigned char)id,
                        (unsigned char)(n >> 8),
                        (unsigned char)n,
                        (unsigned char)padding,
                        0};
  str_addn(s, h, 8);
  str_addn(s, text, n);
  for (int i = 0; i < padding; i++)
    str_addc(s, 'P');
}

static void answer(Str *s) {
  record(s, 6, 1, "Status: 404 Gone\r\n", 18, 6);
  record(s, 7, 1, "oops", 4, 0);
  record(s, 10, 0, "management", 10, 2);
  record(s, 6, 1, "X: 1\r\n\r\nbo", 10, 0);
  record(s, 6, 1, "dy", 2, 3);
  record(s, 6, 1, "", 0, 0);
  record(s, 3, 1, "\0\0\0\7\0abc", 8, 1);
}

// Feeds the bytes in pieces of `step`; returns how many were used.
static size_t feed(const Str *bytes, size_t step, FcgiReader *r, Page *page) {
  FcgiSink sink = {page, page_output, page_errors};
  size_t at = 0;
  *r = (FcgiReader){0};
  page_begin(page, 1000);
  while (at < bytes->len && !r->ended) {
    size_t n = bytes->len - at < step ? bytes->len - at : step, used;
    if (fcgi_feed(r, bytes->data + at, n, &used, &sink, &err))
      return SIZE_MAX;
    assert_true(used <= n);
    assert_true(used > 0);
    at += used;
  }
  return at;
}

TEST(an_answer_is_the_same_in_whatever_pieces_it_comes) {
  for (size_t step = 1; step < 120; step++) {
    Str s = {0};
    Page page = {0};
    FcgiReader r;
    Response out;
    Arena arena = {0};
    answer(&s);
    size_t whole = s.len;
    str_add(&s, "more");
    assert_int_equal(feed(&s, step, &r, &page), whole);
    assert_true(r.ended);
    assert_int_equal(r.status, 7);
    page_settle(&page, &out, &arena);
    assert_int_equal(out.status, 404);
    assert_string_equal(out.body, "body");
    assert_string_equal(out.errors, "oops");
    assert_int_equal(out.headers.len, 1);
    assert_string_equal(headers_get(&out.headers, "x"), "1");
    page_release(&page);
    str_release(&s);
    arena_release(&arena);
  }
}

TEST(records_that_are_not_fastcgi_are_refused) {
  static const struct {
    const char *bytes, *message;
  } bad[] = {{"HTTP/1.1 200 OK", "not FastCGI: record version 72"},
             {"\1\6\0\2\0\1\0\0x", "a request 2 that was not made"},
             {"\1\6\1\1\0\1\0\0x", "a request 257 that was not made"},
             {"\1\3\0\1\0\4\0\0abcd", "end record of 4 bytes"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Str s = {0};
    Page page = {0};
    FcgiReader r;
    str_addn(&s, bad[i].bytes, 9);
    assert_int_equal(feed(&s, 100, &r, &page), SIZE_MAX);
    if (!strstr(err.text, bad[i].message))
      fail_msg("'%s' does not say '%s'", err.text, bad[i].message);
    page_release(&page);
    str_release(&s);
  }
}

static uint32_t dice(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

TEST(twenty_thousand_hostile_answers_are_read_within_bounds) {
  uint32_t seed = 4711;
  Page page = {0};
  for (int round = 0; round < 20000; round++) {
    Str s = {0};
    FcgiReader r;
    Response out;
    Arena arena = {0};
    answer(&s);
    for (uint32_t n = 1 + dice(&seed) % 4; n--;)
      s.data[dice(&seed) % s.len] = (char)dice(&seed);
    s.len -= dice(&seed) % 8;
    feed(&s, 1 + dice(&seed) % s.len, &r, &page);
    page_settle(&page, &out, &arena);
    assert_int_equal(strlen(out.errors) <= s.len, 1);
    assert_in_range(out.status, 100, 999);
    str_release(&s);
    arena_release(&arena);
  }
  page_release(&page);
}

TEST(a_page_keeps_what_fits_and_says_that_it_is_cut) {
  Page page = {0};
  Response out;
  Arena arena = {0};
  page_begin(&page, 5);
  page_output(&page, "A: b\n\nabc", 9);
  page_output(&page, "def", 3);
  page_output(&page, "ghi", 3);
  page_settle(&page, &out, &arena);
  assert_true(out.cut);
  assert_string_equal(out.body, "abcde");
  page_begin(&page, 5);
  for (int i = 0; i < 100000; i++) // headers without end
    page_output(&page, "X: yyyy\r\n", 9);
  assert_true(page.head.len <= PAGE_HEADERS);
  assert_true(page.body.len <= 5);
  page_release(&page);
  arena_release(&arena);
}

TEST(parameters_longer_than_a_record_are_split) {
  Str pairs = {0}, out = {0};
  char *value = mem_alloc(200001);
  memset(value, 'v', 200000);
  fcgi_pair(&pairs, "NAME", value);
  assert_int_equal(pairs.len, 1 + 4 + 4 + 200000);
  assert_memory_equal(pairs.data, "\4\x80\3\x0d\x40NAME", 9);
  fcgi_params(&out, &pairs);
  size_t at = 0, total = 0, n;
  do { // types 4, lengths add up, an empty one last
    const unsigned char *h = (const unsigned char *)out.data + at;
    assert_int_equal(h[1], 4);
    n = (size_t)h[4] << 8 | h[5];
    total += n;
    at += 8 + n;
  } while (n);
  assert_int_equal(total, pairs.len);
  assert_int_equal(at, out.len);
  free(value);
  str_release(&pairs);
  str_release(&out);
}

// --- cookies
// ------------------------------------------------------------------

static void take(CookieJar *j, const char *path, const char *line) {
  Header h = {"set-cookie", line};
  Headers headers = {.items = &h, .len = 1};
  cookie_jar_take(j, path, &headers);
}

static void sends(const CookieJar *j, const char *path, const char *header) {
  Arena arena = {0};
  const char *got = cookie_jar_header(j, path, &arena);
  assert_string_equal(got ? got : "(none)", header);
  arena_release(&arena);
}

TEST(cookies_come_back_by_path_longest_first) {
  CookieJar *j = cookie_jar_new();
  sends(j, "/", "(none)");
  take(j, "/shop/cart.php", "a=1");
  take(j, "/shop/cart.php", "b=2; path=/; HttpOnly; Secure; SameSite=Lax");
  take(j, "/shop/cart.php", "c=3; Path=/shop/admin");
  sends(j, "/", "b=2");
  sends(j, "/shop", "a=1; b=2");
  sends(j, "/shop/x", "a=1; b=2");
  sends(j, "/shopping", "b=2");
  sends(j, "/shop/admin/x", "c=3; a=1; b=2");
  take(j, "/shop/cart.php", "a=4=5 ");
  sends(j, "/shop/x", "a=4=5; b=2");
  take(j, "/", "=x");
  take(j, "/", "novalue");
  take(j, "/", "");
  sends(j, "/", "b=2");
  cookie_jar_free(j);
}

TEST(cookies_end_by_age_and_by_date) {
  CookieJar *j = cookie_jar_new();
  take(j, "/", "a=1; Max-Age=100");
  take(j, "/", "b=1; expires=Wed, 09-Jun-2100 10:18:14 GMT");
  take(j, "/", "c=1; expires=Wed, 09 Jun 2100 10:18:14 GMT; Max-Age=0");
  take(j, "/", "d=1; expires=nonsense");
  take(j, "/", "e=1; expires=Wed, 09 Jun 2021 10:18:14 GMT");
  sends(j, "/", "a=1; b=1; d=1");
  take(j, "/", "b=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT");
  take(j, "/", "a=; Max-Age=-1");
  sends(j, "/", "d=1");
  cookie_jar_free(j);
}

TEST(a_jar_takes_what_an_attacker_sets) {
  CookieJar *j = cookie_jar_new();
  uint32_t seed = 99;
  for (int i = 0; i < 20000; i++) {
    char line[80], *p = line;
    for (uint32_t n = dice(&seed) % 60; n--;)
      *p++ = "ab=;,:/ -09GMTpath=expiresMax-Age\t\"\x80"[dice(&seed) % 36];
    *p = '\0';
    take(j, "/x/y", line);
  }
  Arena arena = {0};
  const char *all = cookie_jar_header(j, "/x/y", &arena);
  assert_true(!all || strlen(all) < 300 * 80);
  arena_release(&arena);
  cookie_jar_free(j);
}

// --- paths
// --------------------------------------------------------------------

static Site small_site(void) {
  put("root/index.php", "<?php echo 'front ', $_SERVER['REQUEST_URI'];");
  put("root/a/view.php", "<?php echo $_SERVER['PATH_INFO'] ?? 'none', ' ', "
                         "$_SERVER['PHP_SELF'], ' ', __FILE__;");
  put("root/a/index.html", "<p>a</p>");
  put("root/style.css", "p{}");
  put("root/empty/x.txt", "x");
  put("root/.htaccess", "secret");
  put("secret.txt", "secret");
  put("secret.d/x.php", "<?php echo 'secret';");
  symlink("../secret.txt", in_scratch("root/leak.txt"));
  symlink("../secret.d", in_scratch("root/leak.d"));
  symlink("style.css", in_scratch("root/alias.css"));
  return (Site){.root = in_scratch("root"), .timeout = 5};
}

static RouteKind find(const Site *site, const char *path, Route *r,
                      Arena *arena) {
  char *root = realpath(site->root, NULL);
  int rc = route_find(r, site, root, path, arena, &err);
  free(root);
  return rc ? (RouteKind)-1 : r->kind;
}

TEST(paths_find_files_scripts_directories_and_the_front_controller) {
  Arena arena = {0};
  Route r;
  begin();
  Site s = small_site();
  assert_int_equal(find(&s, "/style.css", &r, &arena), ROUTE_FILE);
  assert_int_equal(find(&s, "//a/./x/../view.php", &r, &arena), ROUTE_SCRIPT);
  assert_string_equal(r.script, "/a/view.php");
  assert_int_equal(find(&s, "/a/view.php/x/y", &r, &arena), ROUTE_SCRIPT);
  assert_string_equal(r.script, "/a/view.php");
  assert_string_equal(r.info, "/x/y");
  assert_int_equal(find(&s, "/a/view.php/", &r, &arena), ROUTE_SCRIPT);
  assert_string_equal(r.info, "/");
  assert_int_equal(find(&s, "/a", &r, &arena), ROUTE_DIRECTORY);
  assert_int_equal(find(&s, "/a/", &r, &arena), ROUTE_FILE);
  assert_string_equal(r.script, "/a/index.html");
  assert_int_equal(find(&s, "/", &r, &arena), ROUTE_SCRIPT);
  assert_int_equal(find(&s, "/empty/", &r, &arena), ROUTE_NOT_FOUND);
  assert_int_equal(find(&s, "/style.css/x", &r, &arena), ROUTE_NOT_FOUND);
  assert_int_equal(find(&s, "/nowhere", &r, &arena), ROUTE_NOT_FOUND);
  assert_int_equal(find(&s, "/a%2Fview.ph%70", &r, &arena), ROUTE_SCRIPT);
  assert_int_equal(find(&s, "/100%", &r, &arena), ROUTE_NOT_FOUND);
  s.front = "index.php";
  assert_int_equal(find(&s, "/nowhere", &r, &arena), ROUTE_SCRIPT);
  assert_string_equal(r.script, "/index.php");
  assert_string_equal(r.info, "");
  assert_int_equal(find(&s, "/empty/", &r, &arena), ROUTE_SCRIPT);
  assert_int_equal(find(&s, "/style.css", &r, &arena), ROUTE_FILE);
  arena_release(&arena);
  tidy();
}

TEST(no_path_leads_out_of_the_root) {
  static const char *const bad[] = {"/../secret.txt",
                                    "/a/../../secret.txt",
                                    "/%2e%2e/secret.txt",
                                    "/..%2fsecret.txt",
                                    "/%2E./secret.txt",
                                    "/style.css%00.php",
                                    "/leak.txt",
                                    "/leak.d/x.php",
                                    "/leak.d/",
                                    "/leak.d/x.php/info",
                                    "no-slash"};
  Arena arena = {0};
  Route r;
  begin();
  Site s = small_site();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if ((int)find(&s, bad[i], &r, &arena) != -1)
      fail_msg("%s was let through", bad[i]);
  assert_int_equal(find(&s, "/.htaccess", &r, &arena), ROUTE_DENIED);
  assert_int_equal(find(&s, "/alias.css", &r, &arena), ROUTE_FILE);
  s.follow_links = true;
  assert_int_equal(find(&s, "/leak.txt", &r, &arena), ROUTE_FILE);
  assert_int_equal(find(&s, "/leak.d/x.php", &r, &arena), ROUTE_SCRIPT);
  assert_int_equal((int)find(&s, "/../secret.txt", &r, &arena), -1);
  arena_release(&arena);
  tidy();
}

TEST(paths_made_at_random_never_leave_the_root) {
  static const char *const pieces[] = {
      "..", "/", "%2e",    "%2F",       "a",        ".",  "%00",
      "//", "%", "leak.d", "index.php", "view.php", "%2", "\\"};
  Arena arena = {0};
  uint32_t seed = 5;
  begin();
  Site s = small_site();
  char *root = realpath(s.root, NULL);
  for (int i = 0; i < 5000; i++) {
    Str path = {0};
    Route r = {0};
    str_addc(&path, '/');
    for (uint32_t n = dice(&seed) % 8; n--;)
      str_add(&path, pieces[dice(&seed) % 14]);
    if ((int)find(&s, path.data, &r, &arena) >= 0 && r.file) {
      char *real = realpath(r.file, NULL);
      assert_non_null(real);
      assert_true(text_starts(real, root));
      free(real);
    }
    str_release(&path);
  }
  free(root);
  arena_release(&arena);
  tidy();
}

// --- workers
// ------------------------------------------------------------------

typedef struct {
  Worker *w;
  Arena arena;
  Exchange e;
} Bench;

static void open_worker(Bench *b, const Site *s) {
  *b = (Bench){0};
  check(worker_open(&b->w, s, in_scratch("w"), &err));
}

static void close_worker(Bench *b) {
  worker_close(b->w);
  arena_release(&b->arena);
}

static const char *ask_with(Bench *b, const Request *r, const char *cookies) {
  check(worker_serve(b->w, r, cookies, &b->e, &b->arena, &err));
  return b->e.response.body;
}

static const char *ask(Bench *b, const char *path) {
  Request r = {.method = "GET", .path = path, .query = "", .body = ""};
  return ask_with(b, &r, NULL);
}

TEST(a_worker_serves_scripts_files_and_what_is_not_there) {
  Bench b;
  begin();
  Site s = small_site();
  open_worker(&b, &s);
  Str want = {0};
  str_addf(&want, "/x /a/view.php/x %s", in_scratch("root/a/view.php"));
  assert_string_equal(ask(&b, "/a/view.php/x"), want.data);
  assert_false(b.e.is_static);
  assert_int_equal(b.e.end, EXCHANGE_DONE);
  assert_null(b.e.how);
  assert_string_equal(ask(&b, "/style.css"), "p{}");
  assert_true(b.e.is_static);
  assert_string_equal(headers_get(&b.e.response.headers, "content-type"),
                      "text/css");
  ask(&b, "/a");
  assert_int_equal(b.e.response.status, 301);
  assert_string_equal(headers_get(&b.e.response.headers, "Location"), "/a/");
  ask(&b, "/none.php");
  assert_int_equal(b.e.response.status, 404);
  ask(&b, "/.htaccess");
  assert_int_equal(b.e.response.status, 403);
  Request post = {
      .method = "POST", .path = "/style.css", .query = "", .body = ""};
  ask_with(&b, &post, NULL);
  assert_int_equal(b.e.response.status, 405);
  Request out = {.method = "GET", .path = "/../x", .query = "", .body = ""};
  assert_int_equal(worker_serve(b.w, &out, NULL, &b.e, &b.arena, &err), -1);
  assert_non_null(strstr(err.text, "leads out of the root"));
  assert_null(worker_record(b.w)); // plain PHP
  str_release(&want);
  close_worker(&b);
  tidy();
}

TEST(forms_files_cookies_and_headers_reach_the_script) {
  static const char multipart[] =
      "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n7\r\n"
      "--B\r\nContent-Disposition: form-data; name=\"f\"; "
      "filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nfile!\r\n"
      "--B--\r\n";
  Bench b;
  begin();
  put("root/p.php",
      "<?php header('X-Out: yes'); http_response_code(201);"
      "echo json_encode([$_GET, $_POST, $_COOKIE, $_SERVER['HTTP_X_IN'] ?? '',"
      " isset($_FILES['f']) ? "
      "file_get_contents($_FILES['f']['tmp_name']) : '', getenv('MODE'),"
      " $_SERVER['MODE'] ?? '', ini_get('memory_limit')]);");
  const char *ini[] = {"memory_limit=77M", NULL};
  const char *env[] = {"MODE=test", NULL};
  Site s = {.root = in_scratch("root"), .ini = ini, .env = env};
  Header headers[] = {{"X-In", "in"}, {"Proxy", "evil"}};
  open_worker(&b, &s);
  Request r = {.method = "POST",
               .path = "/p.php",
               .query = "q=1&r[]=2",
               .body = "a=b+c",
               .body_len = 5};
  r.headers.items = headers;
  r.headers.len = 2;
  assert_string_equal(ask_with(&b, &r, "u=v; w=x"),
                      "[{\"q\":\"1\",\"r\":[\"2\"]},{\"a\":\"b c\"},"
                      "{\"u\":\"v\",\"w\":\"x\"},\"in\",\"\",\"test\","
                      "\"test\",\"77M\"]");
  assert_int_equal(b.e.response.status, 201);
  assert_string_equal(headers_get(&b.e.response.headers, "x-out"), "yes");
  Header type = {"Content-Type", "multipart/form-data; boundary=B"};
  Request up = {.method = "POST",
                .path = "/p.php",
                .query = "",
                .body = multipart,
                .body_len = sizeof multipart - 1};
  up.headers.items = &type;
  up.headers.len = 1;
  assert_string_equal(ask_with(&b, &up, NULL),
                      "[[],{\"n\":\"7\"},[],\"\",\"file!\",\"test\",\"test\","
                      "\"77M\"]");
  close_worker(&b);
  tidy();
}

TEST(a_worker_that_dies_or_hangs_is_an_answer_and_the_next_one_serves) {
  Bench b;
  begin();
  put("root/ok.php", "<?php echo 'fine';");
  put("root/kill.php", "<?php echo 'part'; while (ob_get_level()) "
                       "ob_end_flush(); flush(); "
                       "posix_kill(getmypid(), 11);");
  put("root/loop.php", "<?php while (1) ;");
  put("root/sleep.php", "<?php shell_exec('sleep 60 &'); sleep(60);");
  Site s = {.root = in_scratch("root"), .timeout = 0.3};
  open_worker(&b, &s);
  for (int i = 0; i < 2; i++) {
    assert_string_equal(ask(&b, "/kill.php"), "part");
    assert_int_equal(b.e.end, EXCHANGE_DIED);
    assert_string_equal(b.e.how, "SIGSEGV");
    assert_string_equal(ask(&b, "/ok.php"), "fine");
    ask(&b, "/loop.php");
    assert_int_equal(b.e.end, EXCHANGE_TIMEOUT);
    assert_true(b.e.seconds >= 0.3 && b.e.seconds < 3);
    assert_string_equal(ask(&b, "/ok.php"), "fine");
    ask(&b, "/sleep.php");
    assert_int_equal(b.e.end, EXCHANGE_TIMEOUT);
  }
  assert_string_equal(ask(&b, "/ok.php"), "fine");
  assert_int_equal(b.e.end, EXCHANGE_DONE);
  close_worker(&b);
  tidy();
}

TEST(a_hundred_megabyte_page_is_cut_and_a_page_without_end_is_stopped) {
  Bench b;
  begin();
  put("root/huge.php",
      "<?php for ($i = 0; $i < 1000; $i++) echo str_repeat('x', 100000);");
  put("root/endless.php", "<?php while (1) echo str_repeat('y', 100000);");
  put("root/ok.php", "<?php echo 'fine';");
  put("root/huge.txt", "0123456789");
  Site s = {.root = in_scratch("root"), .timeout = 3, .max_body = 5};
  open_worker(&b, &s);
  assert_string_equal(ask(&b, "/huge.php"), "xxxxx");
  assert_true(b.e.response.cut);
  assert_int_equal(b.e.end, EXCHANGE_DONE);
  assert_string_equal(ask(&b, "/ok.php"), "fine");
  assert_false(b.e.response.cut);
  assert_string_equal(ask(&b, "/huge.txt"), "01234");
  assert_true(b.e.response.cut);
  worker_close(b.w);
  s.timeout = 0.3;
  check(worker_open(&b.w, &s, in_scratch("w2"), &err));
  ask(&b, "/endless.php");
  assert_int_equal(b.e.end, EXCHANGE_TIMEOUT);
  assert_true(b.e.response.cut);
  assert_true(b.e.seconds < 2);
  close_worker(&b);
  tidy();
}

TEST(a_body_of_megabytes_goes_through_even_if_nobody_reads_it) {
  Bench b;
  begin();
  put("root/len.php", "<?php echo strlen(file_get_contents('php://input'));");
  put("root/ignore.php", "<?php echo str_repeat('z', 3000000);");
  Site s = {.root = in_scratch("root"), .timeout = 5};
  const char *ini[] = {"post_max_size=64M", NULL};
  s.ini = ini;
  open_worker(&b, &s);
  size_t n = 20 << 20;
  char *body = mem_alloc(n + 1);
  memset(body, 'b', n);
  Header type = {"Content-Type", "application/octet-stream"};
  Request r = {.method = "POST",
               .path = "/len.php",
               .query = "",
               .body = body,
               .body_len = n};
  r.headers.items = &type;
  r.headers.len = 1;
  assert_string_equal(ask_with(&b, &r, NULL), "20971520");
  r.path = "/ignore.php";
  ask_with(&b, &r, NULL);
  assert_int_equal(b.e.response.body_len, 3000000);
  assert_int_equal(b.e.end, EXCHANGE_DONE);
  r.path = "/len.php";
  r.body_len = 3;
  assert_string_equal(ask_with(&b, &r, NULL), "3");
  free(body);
  close_worker(&b);
  tidy();
}

TEST(sessions_live_in_the_session_directory_and_errors_are_told) {
  Bench b;
  begin();
  put("root/s.php", "<?php session_start(); echo ++$_SESSION['n'];");
  put("root/e.php", "<?php echo $nothing; error_log('logged');");
  Site s = {.root = in_scratch("root"), .session_dir = in_scratch("sess")};
  const char *ini[] = {"session.save_handler=files", NULL};
  s.ini = ini;
  open_worker(&b, &s);
  CookieJar *j = cookie_jar_new();
  Request r = {.method = "GET", .path = "/s.php", .query = "", .body = ""};
  for (int i = 0; i < 3; i++) {
    ask_with(&b, &r, cookie_jar_header(j, r.path, &b.arena));
    cookie_jar_take(j, r.path, &b.e.response.headers);
  }
  assert_true(text_ends(b.e.response.body, "3"));
  const char *id = cookie_jar_header(j, "/", &b.arena);
  Str file = {0};
  str_addf(&file, "sess/sess_%s", strchr(id, '=') + 1);
  assert_true(holds(file.data, "n|i:3;"));
  ask(&b, "/e.php");
  assert_non_null(strstr(b.e.response.body, "Undefined variable $nothing"));
  assert_non_null(strstr(b.e.response.errors, "Undefined variable $nothing"));
  assert_non_null(strstr(b.e.response.errors, "logged"));
  str_release(&file);
  cookie_jar_free(j);
  close_worker(&b);
  tidy();
}

static void cannot_open(Site s, const char *message) {
  Worker *w;
  assert_int_equal(worker_open(&w, &s, in_scratch("bad"), &err), -1);
  assert_null(w);
  if (!strstr(err.text, message))
    fail_msg("'%s' does not say '%s'", err.text, message);
}

TEST(what_is_no_php_or_no_root_or_no_session_directory_is_said_at_once) {
  begin();
  put("root/a.php", "");
  put("file", "");
  put("fake", "#!/bin/sh\necho 'I am a teapot' >&2; exit 3\n");
  put("noexec", "");
  put("silent", "#!/bin/sh\nexit 0\n");
  chmod(in_scratch("fake"), 0755);
  chmod(in_scratch("silent"), 0755);
  Site s = {.root = in_scratch("root")};
  s.php_cgi = in_scratch("nothing");
  cannot_open(s, "nothing: no program; install php8.2-cgi");
  s.php_cgi = in_scratch("noexec");
  cannot_open(s, "noexec: no program");
  s.php_cgi = in_scratch("fake");
  cannot_open(s, "exit status 3: I am a teapot");
  s.php_cgi = in_scratch("silent");
  cannot_open(s, "is no php-cgi that works: exit status 0");
  s.php_cgi = NULL;
  s.extension = in_scratch("no-culprit.so");
  cannot_open(s, "does not load our extension");
  s.extension = NULL;
  s.session_dir = in_scratch("file/below");
  cannot_open(s, "session directory");
  s.session_dir = NULL;
  s.root = in_scratch("nowhere");
  cannot_open(s, "document root");
  s.root = in_scratch("file");
  cannot_open(s, "not a directory");
  tidy();
}

TEST(a_fake_server_cannot_harm_us) {
  begin();
  put("root/a.php", "");
  put("liar", "#!/usr/bin/perl\n"
              "use Socket; open(my $s, '+<&=', 0);\n"
              "while (my $a = accept(my $c, $s)) { syswrite $c, "
              "\"HTTP/1.0 200 OK\\r\\n\\r\\nhello\"; sleep 1; close $c; }\n");
  chmod(in_scratch("liar"), 0755);
  Site s = {.root = in_scratch("root"), .php_cgi = in_scratch("liar")};
  cannot_open(s, "not FastCGI: record version 72");
  tidy();
}

TEST(a_scratch_directory_may_have_a_name_longer_than_a_socket) {
  Worker *w;
  char name[200];
  begin();
  put("root/a.php", "<?php echo 1;");
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  Site s = {.root = in_scratch("root")};
  check(worker_open(&w, &s, in_scratch(name), &err));
  worker_close(w);
  tidy();
}

// --- state: files
// -------------------------------------------------------------

static State *open_state(const char *const *files) {
  StatePlaces p = {.session_dir = in_scratch("sess"), .files = files};
  State *s;
  check(state_open(&s, &p, in_scratch("st"), &err));
  return s;
}

static uint32_t save(State *s) {
  uint32_t id;
  check(state_save(s, &id, &err));
  return id;
}

static void restore(State *s, uint32_t id, const char *last) {
  check(state_restore(s, id, &err));
  assert_string_equal(state_last(s), last);
}

TEST(files_come_back_and_equal_states_have_one_number) {
  begin();
  put("sess/sess_a", "one");
  put("data/deep/x", "x");
  const char *files[] = {in_scratch("data"), NULL};
  char *data = mem_strdup(files[0]);
  files[0] = data;
  State *s = open_state(files);
  assert_int_equal(save(s), 0);
  put("sess/sess_a", "two"); // the same size, in the same tick
  put("sess/sess_b", "new");
  uint32_t later = save(s);
  assert_int_not_equal(later, 0);
  restore(s, 0, "2 files, 0 tables");
  assert_true(holds("sess/sess_a", "one"));
  assert_false(fs_exists(in_scratch("sess/sess_b")));
  assert_int_equal(save(s), 0);
  restore(s, 0, "0 files, 0 tables");
  restore(s, later, "2 files, 0 tables");
  assert_true(holds("sess/sess_a", "two"));
  assert_true(holds("sess/sess_b", "new"));
  put("sess/sess_a", "one");
  unlink(in_scratch("sess/sess_b"));
  assert_int_equal(save(s), 0);
  assert_int_equal(state_restore(s, 77, &err), -1);
  state_close(s);
  free(data);
  tidy();
}

TEST(every_write_is_noticed_however_soon_it_follows) {
  begin();
  put("sess/f", "0000");
  State *s = open_state(NULL);
  for (int i = 1; i < 300; i++) {
    char text[16];
    snprintf(text, sizeof text, "%04d", i);
    int fd = open(in_scratch("sess/f"), O_WRONLY);
    assert_int_equal(pwrite(fd, text, 4, 0), 4);
    close(fd);
    if (i % 2)
      assert_int_equal(save(s), i / 2 + 1);
    restore(s, 0, "1 file, 0 tables");
    assert_true(holds("sess/f", "0000"));
  }
  state_close(s);
  tidy();
}

TEST(directories_links_and_modes_come_back_and_nothing_outside_is_touched) {
  begin();
  put("sess/d/e/f", "f");
  put("outside/precious", "kept");
  put("sess/plain", "plain");
  symlink("plain", in_scratch("sess/link"));
  State *s = open_state(NULL);
  fs_remove_tree(in_scratch("sess/d"));
  symlink(in_scratch("outside"), in_scratch("sess/d")); // a trap
  unlink(in_scratch("sess/link"));
  symlink("elsewhere", in_scratch("sess/link"));
  chmod(in_scratch("sess/plain"), 0600);
  fs_mkdirs(in_scratch("sess/more/dirs"), &err);
  mkfifo(in_scratch("sess/more/pipe"), 0600);
  check(state_restore(s, 0, &err));
  assert_true(holds("sess/d/e/f", "f"));
  assert_true(holds("outside/precious", "kept"));
  struct stat st;
  assert_int_equal(lstat(in_scratch("sess/d"), &st), 0);
  assert_true(S_ISDIR(st.st_mode));
  assert_int_equal(stat(in_scratch("sess/plain"), &st), 0);
  assert_int_not_equal(st.st_mode & 0777, 0600);
  assert_true(holds("sess/link", "plain"));
  assert_false(fs_exists(in_scratch("sess/more")));
  assert_int_equal(save(s), 0);
  state_close(s);
  tidy();
}

static void sqlite_do(const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(in_scratch("data/app.db"), &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL))
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  sqlite3_close(db);
}

static int sqlite_count(void) {
  sqlite3 *db;
  sqlite3_stmt *q;
  sqlite3_open(in_scratch("data/app.db"), &db);
  assert_int_equal(
      sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &q, NULL),
      SQLITE_OK);
  assert_int_equal(sqlite3_step(q), SQLITE_ROW);
  int n = sqlite3_column_int(q, 0);
  sqlite3_finalize(q);
  sqlite3_close(db);
  return n;
}

// A process that dies in the middle of a transaction of a WAL database.
static void die_writing(void) {
  pid_t pid = fork();
  if (pid == 0) {
    sqlite3 *db;
    sqlite3_open(in_scratch("data/app.db"), &db);
    sqlite3_exec(db, "PRAGMA journal_mode=WAL; INSERT INTO t VALUES (99);",
                 NULL, NULL, NULL);
    kill(getpid(), SIGKILL);
  }
  int status;
  waitpid(pid, &status, 0);
}

TEST(a_sqlite_database_comes_back_also_from_a_write_ahead_log) {
  begin();
  put("data/none", "");
  char *path = mem_strdup(in_scratch("data/app.db"));
  sqlite_do("PRAGMA journal_mode=WAL; CREATE TABLE t(x); "
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c "
            "WHERE n < 5000) INSERT INTO t SELECT n FROM c;");
  const char *files[] = {path, NULL};
  State *s = open_state(files);
  double worst = 0;
  for (int i = 0; i < 10; i++) {
    sqlite_do("INSERT INTO t SELECT x FROM t WHERE x < 50;");
    assert_int_equal(sqlite_count(), 5049);
    double from = now_seconds();
    check(state_restore(s, 0, &err));
    worst = now_seconds() - from > worst ? now_seconds() - from : worst;
    assert_int_equal(sqlite_count(), 5000);
  }
  print_message("restore of a SQLite file: %.2f ms at most\n", worst * 1e3);
  die_writing();
  assert_true(fs_exists(in_scratch("data/app.db-wal")));
  uint32_t wal = save(s);
  check(state_restore(s, 0, &err));
  assert_false(fs_exists(in_scratch("data/app.db-wal")));
  assert_int_equal(sqlite_count(), 5000);
  check(state_restore(s, wal, &err));
  assert_int_equal(sqlite_count(), 5001);
  state_close(s);
  free(path);
  tidy();
}

// --- state: MariaDB
// -----------------------------------------------------------

static bool no_server(void) {
  static const char *const names[] = {"mariadbd", "mysqld", NULL};
  char *path = child_find(names);
  free(path);
  return !path;
}

typedef struct {
  MariaDb *m;
  State *s;
} Database;

// As the application would: a connection for each request.
static Sql *log_in(const Database *d) {
  Sql *sql = sql_open(mariadb_socket(d->m), &err);
  assert_non_null(sql);
  check(sql_run(sql, &err, "USE app"));
  return sql;
}

// One server for all tests: making its data takes a second. Its directory has a
// name that is longer than a socket's may be.
static MariaDb *server;
static char server_dir[200];

static void stop_server(void) {
  mariadb_stop(server);
  server = NULL;
}

static void remove_server(void) {
  stop_server();
  *strrchr(server_dir, '/') = '\0';
  fs_remove_tree(server_dir);
}

static void start_server(void) {
  if (!*server_dir) {
    strcpy(server_dir, "/tmp/culprit-driver-db-XXXXXX");
    assert_non_null(mkdtemp(server_dir));
    size_t n = strlen(server_dir);
    server_dir[n++] = '/';
    memset(server_dir + n, 'n', sizeof server_dir - n - 1);
    atexit(remove_server);
  }
  if (!server)
    check(mariadb_start(&server, server_dir, &err));
}

static void begin_database(Database *d, const char *schema) {
  const char *databases[] = {"app", NULL};
  begin();
  put("schema.sql", schema);
  start_server();
  d->m = server;
  Sql *sql = sql_open(mariadb_socket(d->m), &err);
  assert_non_null(sql);
  check(sql_run(sql, &err, "DROP DATABASE IF EXISTS app"));
  sql_close(sql);
  check(mariadb_load(d->m, "app", in_scratch("schema.sql"), &err));
  StatePlaces p = {.mariadb_socket = mariadb_socket(d->m),
                   .databases = databases};
  check(state_open(&d->s, &p, in_scratch("st"), &err));
}

static void end_database(Database *d) {
  state_close(d->s);
  tidy();
}

static int try_to(Database *d, const char *statement) {
  Sql *sql = log_in(d);
  int rc = sql_run(sql, &err, "%s", statement);
  sql_close(sql);
  return rc;
}

static void act(Database *d, const char *statement) {
  check(try_to(d, statement));
}

// All values of a query, with blanks between them.
static void gives(Database *d, const char *query, const char *want) {
  Sql *sql = log_in(d);
  MYSQL_RES *rows = sql_rows(sql, &err, "%s", query);
  Str got = {0};
  if (!rows)
    fail_msg("%s", err.text);
  for (MYSQL_ROW r; (r = mysql_fetch_row(rows));)
    for (unsigned i = 0; i < mysql_num_fields(rows); i++)
      str_addf(&got, "%s%s", got.len ? " " : "", r[i] ? r[i] : "NULL");
  mysql_free_result(rows);
  sql_close(sql);
  if (strcmp(str_text(&got), want))
    fail_msg("%s: '%s' instead of '%s'", query, str_text(&got), want);
  str_release(&got);
}

static const char schema[] =
    "CREATE TABLE user (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(30) "
    "UNIQUE, score FLOAT, twice DOUBLE AS (score * 2));\n"
    "CREATE TABLE post (id INT AUTO_INCREMENT PRIMARY KEY, owner INT, text "
    "TEXT, FOREIGN KEY (owner) REFERENCES user (id) ON DELETE CASCADE);\n"
    "CREATE TABLE `odd-name``s` (k VARCHAR(10)) ENGINE=MyISAM;\n"
    "CREATE TABLE audit (what TEXT);\n"
    "CREATE TABLE watched (v INT);\n"
    "DELIMITER //\n"
    "CREATE TRIGGER watch AFTER INSERT ON watched FOR EACH ROW BEGIN INSERT "
    "INTO audit VALUES (CONCAT('v;', NEW.v)); END//\n"
    "DELIMITER ;\n"
    "INSERT INTO user (name, score) VALUES ('ann', 0.1), ('bob', 1e-7);\n"
    "INSERT INTO post (owner, text) VALUES (1, 'hi'), (2, NULL);\n"
    "INSERT INTO `odd-name``s` VALUES ('x'), ('x');\n"
    "INSERT INTO watched VALUES (1);\n";

TEST(only_dirty_tables_of_mariadb_are_restored_and_completely) {
  Database d;
  if (no_server())
    skip();
  begin_database(&d, schema);
  restore(d.s, 0, "0 files, 0 tables");
  act(&d, "INSERT INTO user (name, score) VALUES ('cy', 3)");
  uint32_t with_cy = save(d.s);
  restore(d.s, 0, "0 files, 1 table");
  gives(&d, "SELECT id, name, score, twice FROM user ORDER BY id",
        "1 ann 0.1 0.20000000298023224 2 bob 0.0000001 "
        "0.00000020000000233721948");
  act(&d, "INSERT INTO user (name, score) VALUES ('cy', 3)"); // id 3 again
  assert_int_equal(save(d.s), with_cy);
  restore(d.s, 0, "0 files, 1 table");
  act(&d, "DELETE FROM user WHERE id = 1"); // its posts too
  gives(&d, "SELECT count(*) FROM post", "1");
  restore(d.s, 0, "0 files, 2 tables");
  gives(&d, "SELECT owner, text FROM post ORDER BY id", "1 hi 2 NULL");
  assert_int_equal(try_to(&d, "INSERT INTO user (name) VALUES ('ann')"), -1);
  restore(d.s, 0, "0 files, 1 table"); // it took a number
  act(&d, "INSERT INTO user (name) VALUES ('dee')");
  gives(&d, "SELECT id FROM user WHERE name = 'dee'", "3");
  act(&d, "UPDATE `odd-name``s` SET k = 'y' LIMIT 1");
  restore(d.s, 0, "0 files, 2 tables");
  gives(&d, "SELECT k FROM `odd-name``s`", "x x");
  act(&d, "UPDATE user SET score = score * 1.0000002 WHERE id = 1");
  assert_int_not_equal(save(d.s), 0); // six digits would not show it
  restore(d.s, with_cy, "0 files, 1 table");
  gives(&d, "SELECT count(*) FROM user", "3");
  restore(d.s, 0, "0 files, 1 table");
  assert_int_equal(save(d.s), 0);
  end_database(&d);
}

TEST(tables_made_dropped_altered_or_truncated_and_triggers_come_back) {
  Database d;
  if (no_server())
    skip();
  begin_database(&d, schema);
  act(&d, "CREATE TABLE fresh (x INT)");
  act(&d, "DROP TABLE post");
  act(&d, "ALTER TABLE user ADD COLUMN mail TEXT, ALGORITHM=INSTANT");
  act(&d, "TRUNCATE TABLE `odd-name``s`");
  act(&d, "INSERT INTO watched VALUES (2)");
  act(&d, "DROP TRIGGER watch");
  uint32_t wild = save(d.s);
  check(state_restore(d.s, 0, &err));
  gives(&d, "SHOW TABLES", "audit odd-name`s post user watched");
  gives(&d, "SELECT count(*) FROM post", "2");
  gives(&d, "SELECT count(*) FROM `odd-name``s`", "2");
  gives(&d, "SELECT * FROM audit", "v;1");
  gives(&d,
        "SELECT count(*) FROM information_schema.COLUMNS WHERE "
        "TABLE_NAME = 'user' AND COLUMN_NAME = 'mail'",
        "0");
  act(&d, "INSERT INTO watched VALUES (3)");
  gives(&d, "SELECT * FROM audit", "v;1 v;3");
  act(&d, "DELETE FROM user WHERE id = 2"); // the foreign key is back
  gives(&d, "SELECT count(*) FROM post", "1");
  check(state_restore(d.s, wild, &err));
  gives(&d, "SHOW TABLES", "audit fresh odd-name`s user watched");
  gives(&d, "SELECT count(*) FROM `odd-name``s`", "0");
  gives(&d, "SELECT * FROM watched", "1 2");
  assert_int_equal(save(d.s), wild);
  check(state_restore(d.s, 0, &err));
  assert_int_equal(save(d.s), 0);
  end_database(&d);
}

TEST(rows_come_back_whatever_their_types_and_keys) {
  Database d;
  if (no_server())
    skip();
  begin_database(
      &d,
      "CREATE TABLE swap (id INT PRIMARY KEY, u INT UNIQUE, c CHAR(3));\n"
      "INSERT INTO swap VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, NULL);\n"
      "CREATE TABLE `pair` (`a,``b` INT, b BIGINT, v TEXT, PRIMARY KEY "
      "(`a,``b`, b));\n"
      "INSERT INTO pair VALUES (1, 1, 'x'), (1, 2, 'y');\n"
      "CREATE TABLE named (k VARCHAR(20) PRIMARY KEY, v INT);\n"
      "INSERT INTO named VALUES ('a', 1), ('b', 2);\n"
      "CREATE TABLE keys_only (id INT PRIMARY KEY);\n"
      "INSERT INTO keys_only VALUES (1), (5);\n"
      "CREATE TABLE types (id INT AUTO_INCREMENT PRIMARY KEY, b BLOB, f FLOAT, "
      "d DECIMAL(20,9), e ENUM('x','y'), s SET('p','q'), t TIMESTAMP NULL, "
      "y YEAR, n BIT(3), g GEOMETRY);\n"
      "INSERT INTO types VALUES (0, 'Ab', 0.1, 0.123456789, 'x', 'p,q', "
      "'2020-03-29 01:30:00', 1999, b'101', POINT(1, 2));\n"
      "CREATE TABLE large (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT);\n"
      "INSERT INTO large (v) SELECT REPEAT('z', 50) FROM seq_1_to_20000;\n");
  act(&d, "UPDATE swap SET u = NULL");
  act(&d, "UPDATE swap SET u = 20, c = 'A' WHERE id = 1");
  act(&d, "UPDATE swap SET u = 10 WHERE id = 2");
  act(&d, "INSERT INTO swap VALUES (4, 30, 'x')");
  act(&d, "UPDATE pair SET v = 'X'");
  act(&d, "DELETE FROM pair WHERE b = 2");
  act(&d, "UPDATE named SET k = 'A' WHERE k = 'a'");
  act(&d, "DELETE FROM keys_only WHERE id = 5");
  act(&d, "INSERT INTO keys_only VALUES (6)");
  act(&d, "UPDATE types SET b = 'AB', g = POINT(3, 4)");
  act(&d, "UPDATE large SET v = UPPER(v) WHERE id = 7777");
  act(&d, "DELETE FROM large WHERE id = 20000");
  uint32_t other = save(d.s);
  assert_int_not_equal(other, 0);
  for (int i = 0; i < 2; i++) {
    double from = now_seconds();
    restore(d.s, 0, "0 files, 6 tables");
    print_message("restore of 20,000 rows and more: %.1f ms\n",
                  (now_seconds() - from) * 1e3);
    gives(&d, "SELECT * FROM swap", "1 10 a 2 20 b 3 30 NULL");
    gives(&d, "SELECT * FROM pair", "1 1 x 1 2 y");
    gives(&d, "SELECT * FROM named", "a 1 b 2");
    gives(&d, "SELECT * FROM keys_only", "1 5");
    gives(&d, "SELECT b, f, d, e, s, t, y, n + 0, ST_AsText(g) FROM types",
          "Ab 0.1 0.123456789 x p,q 2020-03-29 01:30:00 1999 5 POINT(1 2)");
    gives(&d, "SELECT count(*), min(BINARY v) = REPEAT('z', 50) FROM large",
          "20000 1");
    assert_int_equal(save(d.s), 0);
    restore(d.s, other, "0 files, 6 tables");
    assert_int_equal(save(d.s), other);
    gives(&d, "SELECT k FROM named", "A b");
    gives(&d, "SELECT c FROM swap WHERE id = 1", "A");
  }
  end_database(&d);
}

TEST(three_dirty_tables_of_twenty_are_restored_within_fifty_milliseconds) {
  Database d;
  Str sql = {0};
  if (no_server())
    skip();
  for (int i = 0; i < 20; i++)
    str_addf(&sql,
             "CREATE TABLE t%d (id INT AUTO_INCREMENT PRIMARY KEY, a "
             "VARCHAR(50), b TEXT, n INT, KEY (n)); INSERT INTO t%d (a, b, n) "
             "SELECT seq, REPEAT('x', 100), seq FROM seq_1_to_300;\n",
             i, i);
  begin_database(&d, sql.data);
  double best = 1e9;
  for (int i = 0; i < 8; i++) {
    act(&d, "INSERT INTO t1 (a) VALUES ('new')");
    act(&d, "UPDATE t7 SET n = n + 1 WHERE id < 20");
    act(&d, "DELETE FROM t19 WHERE id = 300");
    double from = now_seconds();
    restore(d.s, 0, "0 files, 3 tables");
    best = now_seconds() - from < best ? now_seconds() - from : best;
  }
  print_message("restore of three tables: %.1f ms at best\n", best * 1e3);
  assert_true(best < 0.05);
  assert_int_equal(save(d.s), 0);
  str_release(&sql);
  end_database(&d);
}

TEST(a_query_that_outlives_its_worker_is_stopped_before_the_state_is_taken) {
  Database d;
  Bench b;
  if (no_server())
    skip();
  begin_database(&d, schema);
  put("root/slow.php",
      "<?php $db = new mysqli('localhost', 'any', 'thing', 'app');"
      "$db->query(\"INSERT INTO audit SELECT SLEEP(30)\");");
  put("root/open.php",
      "<?php $db = new PDO('mysql:host=localhost;dbname=app', 'u', 'p');"
      "$db->beginTransaction(); $db->exec(\"INSERT INTO audit VALUES ('x')\");"
      "echo $db->query('SELECT count(*) FROM audit')->fetchColumn();"
      "ob_end_flush(); flush(); posix_kill(getmypid(), 9);");
  Site s = {.root = in_scratch("root"),
            .timeout = 0.5,
            .mariadb_socket = mariadb_socket(d.m)};
  open_worker(&b, &s);
  ask(&b, "/slow.php");
  assert_int_equal(b.e.end, EXCHANGE_TIMEOUT);
  double from = now_seconds();
  assert_int_equal(save(d.s), 0);
  assert_true(now_seconds() - from < 5);
  assert_string_equal(ask(&b, "/open.php"), "2");
  assert_int_equal(b.e.end, EXCHANGE_DIED);
  check(state_restore(d.s, 0, &err));
  gives(&d, "SELECT * FROM audit", "v;1");
  close_worker(&b);
  end_database(&d);
}

TEST(a_persistent_connection_with_a_transaction_and_locks_is_ended) {
  Database d;
  Bench b;
  if (no_server())
    skip();
  begin_database(&d, schema);
  put("root/keep.php",
      "<?php $db = new PDO('mysql:host=localhost;dbname=app', 'u', 'p', "
      "[PDO::ATTR_PERSISTENT => true]); $db->exec('SET autocommit = 0');"
      "echo $db->exec(\"INSERT INTO audit VALUES ('x')\");"
      "$db->exec('LOCK TABLES user WRITE, audit WRITE');"
      "echo $db->exec(\"INSERT INTO user (name) VALUES ('zed')\");");
  Site s = {.root = in_scratch("root"),
            .timeout = 5,
            .mariadb_socket = mariadb_socket(d.m)};
  open_worker(&b, &s);
  for (int i = 0; i < 3; i++) {
    assert_string_equal(ask(&b, "/keep.php"), "11");
    double from = now_seconds();
    check(state_restore(d.s, 0, &err));
    assert_true(now_seconds() - from < 2);
    gives(&d, "SELECT * FROM audit", "v;1");
    gives(&d, "SELECT count(*) FROM user", "2");
  }
  assert_int_equal(save(d.s), 0);
  close_worker(&b);
  end_database(&d);
}

TEST(a_database_server_that_is_gone_is_told) {
  Database d;
  uint32_t id;
  if (no_server())
    skip();
  begin_database(&d, "CREATE TABLE t (x INT);\n");
  assert_true(mariadb_alive(d.m));
  assert_int_equal(mariadb_load(d.m, "app", in_scratch("none.sql"), &err), -1);
  put("bad.sql", "SELECT 1;\nSELECT nonsense;\n");
  assert_int_equal(mariadb_load(d.m, "app", in_scratch("bad.sql"), &err), -1);
  assert_non_null(strstr(err.text, "bad.sql"));
  assert_non_null(strstr(err.text, "nonsense"));
  Str pid = {0}, file = {0};
  str_addf(&file, "%s/mariadb.pid", server_dir);
  check(fs_read(file.data, 0, &pid, &err));
  str_release(&file);
  kill(atoi(pid.data), SIGKILL);
  for (int i = 0; i < 500 && mariadb_alive(d.m); i++)
    usleep(10000);
  assert_false(mariadb_alive(d.m));
  assert_int_equal(state_restore(d.s, 0, &err), -1);
  assert_non_null(strstr(err.text, "is gone"));
  assert_int_equal(state_save(d.s, &id, &err), -1);
  str_release(&pid);
  end_database(&d);
  stop_server();
}

TEST(a_server_that_was_killed_starts_again_in_a_directory_with_a_long_name) {
  Database d;
  if (no_server())
    skip();
  begin_database(&d, "CREATE TABLE t (x INT);\n"); // killed by the last test
  assert_true(strlen(server_dir) > 150);
  char *socket = mem_strdup(mariadb_socket(d.m));
  assert_true(fs_exists(socket));
  gives(&d, "SELECT count(*) FROM t", "0");
  end_database(&d);
  stop_server();
  *strrchr(socket, '/') = '\0';
  assert_false(fs_exists(socket));
  free(socket);
}

TEST(a_socket_that_nobody_listens_at_is_told) {
  const char *databases[] = {"app", NULL};
  State *s;
  begin();
  StatePlaces p = {.mariadb_socket = in_scratch("no.sock"),
                   .databases = databases};
  assert_int_equal(state_open(&s, &p, in_scratch("st"), &err), -1);
  assert_null(s);
  assert_non_null(strstr(err.text, "no.sock is gone"));
  tidy();
}

TEST(a_script_that_forks_does_not_confuse_the_next_answers) {
  Bench b;
  begin();
  put("root/fork.php", "<?php pcntl_fork(); echo 'two';");
  put("root/a.php", "<?php echo 'a';");
  put("root/b.php", "<?php echo 'b';");
  Site s = {.root = in_scratch("root"), .timeout = 5};
  open_worker(&b, &s);
  for (int i = 0; i < 5; i++) {
    ask(&b, "/fork.php");
    assert_string_equal(ask(&b, "/a.php"), "a");
    assert_string_equal(ask(&b, "/b.php"), "b");
  }
  close_worker(&b);
  tidy();
}

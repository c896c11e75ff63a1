// Unit tests of what goes over the wire to PHP applications and back: request
// lists, HAR, FastCGI, pages, cookies, paths.
#include "test.h"

#include "test_php.h"

#include "php/fastcgi.h"
#include "php/page.h"
#include "php/request.h"
#include "php/route.h"

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

TEST(lists_made_at_random_are_refused_or_make_sense) {
  static const char *const pieces[] = {
      "GET",  "POST",         " ",    "\t", "/",     "/a?b",       "\n",
      "\r\n", "setup ",       "---",  "#",  ":",     "X: y",       "@",
      "@@a",  "\x01",         "\x80", "  ", "GET /", "\nGET /x\n", "?",
      "%00",  "\xef\xbb\xbf", "="};
  uint32_t seed = 17;
  int good = 0;
  for (int i = 0; i < 20000; i++) {
    Str text = {0};
    Arena arena = {0};
    Requests r;
    if (i % 2)
      str_add(&text, "GET /");
    for (uint32_t n = dice(&seed) % 12; n--;)
      str_add(&text, pieces[dice(&seed) % 24]);
    if (!request_list_parse("list", str_text(&text), text.len, &r, &arena,
                            &err)) {
      good++;
      assert_true(r.len > 0);
      for (size_t k = 0; k < r.len; k++) {
        assert_int_equal(r.items[k].path[0], '/');
        assert_int_equal(strlen(r.items[k].body), r.items[k].body_len);
        assert_true(r.items[k].visitor <= k);
      }
    } else {
      assert_true(text_starts(err.text, "list:"));
    }
    str_release(&text);
    arena_release(&arena);
  }
  assert_true(good > 1000); // the dice reach both ends
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

static RouteKind find(const WebApp *app, const char *path, Route *r,
                      Arena *arena) {
  char *root = realpath(app->root, NULL);
  int rc = route_find(r, app, root, path, arena, &err);
  free(root);
  return rc ? (RouteKind)-1 : r->kind;
}

TEST(paths_find_files_scripts_directories_and_the_front_controller) {
  Arena arena = {0};
  Route r;
  begin();
  WebApp s = small_site();
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
  WebApp s = small_site();
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
  WebApp s = small_site();
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

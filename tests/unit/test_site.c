// Unit tests of the explorer's memory: ways and states (state_graph.h), hidden
// values that change (app_driver.h, php/fresh.h), what is kept on disk
// (checkpoint.h), strategies (web_strategy.h), sequences (reproduction.h).
#include "test.h"

#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "explore/app_driver.h"
#include "explore/checkpoint.h"
#include "explore/condition_outcomes.h"
#include "explore/explorer_internal.h"
#include "explore/odd_values.h"
#include "explore/reproduction.h"
#include "explore/state_graph.h"
#include "explore/survey/script_requests.h"
#include "explore/web_strategy.h"
#include "php/fresh.h"
#include "php/record/sql_tables.h"
#include "util/fs.h"

static char *scratch(void) {
  char *dir = strdup("/tmp/culprit-test-site-XXXXXX");
  assert_non_null(mkdtemp(dir));
  return dir;
}

static void reads(const Ask *a, const char *expected) {
  Arena arena = {0};
  Request r;
  ask_request(a, 1, &r, &arena);
  char *text = request_text(&r);
  assert_string_equal(text, expected);
  free(text);
  arena_release(&arena);
}

static uint32_t ask_in(StateGraph *a, uint32_t state, const char *path) {
  Arena arena = {0};
  MadeRequest asked = {.ask = ask_link(path, "", &arena), .state = state};
  uint32_t number = state_graph_add_request(a, &asked);
  arena_release(&arena);
  return number;
}

// --- ways -------------------------------------------------------------------

TEST(the_shortest_way_to_a_world_is_kept) {
  StateGraph a;
  StatePath path = {0};
  state_graph_init(&a);
  state_graph_begin(&a, 1);
  uint32_t one = state_graph_enter(&a, 2, NULL, 0, ask_in(&a, 0, "/one.php"));
  uint32_t two =
      state_graph_enter(&a, 3, NULL, one, ask_in(&a, one, "/two.php"));
  uint32_t far =
      state_graph_enter(&a, 4, NULL, two, ask_in(&a, two, "/far.php"));
  state_graph_path(&a, far, &path);
  assert_int_equal(path.len, 3);
  reads(&path.items[0].ask, "GET /one.php");
  reads(&path.items[2].ask, "GET /far.php");
  state_graph_shorten(&a, far, 0, ask_in(&a, 0, "/short.php"));
  state_graph_shorten(&a, far, two, ask_in(&a, two, "/long.php"));
  state_graph_path(&a, far, &path);
  assert_int_equal(path.len, 1);
  reads(&path.items[0].ask, "GET /short.php");
  assert_int_equal(state_graph_enter(&a, 4, NULL, 0, 1), far);
  array_release(&path);
  state_graph_release(&a);
}

TEST(cookies_are_those_of_the_whole_way) {
  Arena arena = {0};
  Header set[] = {{"Set-Cookie", "a=1; path=/"}, {"set-cookie", "b=2"}};
  Headers headers = {.items = set, .len = 2};
  const CookieHistory *c =
      cookie_history_take(cookie_history_start(), "/x/y.php", &headers, &arena);
  assert_string_equal(cookie_history_header(c, "/x/z.php", &arena),
                      "b=2; PHPSESSID=" SESSION_ID "; a=1");
  assert_string_equal(cookie_history_header(c, "/", &arena),
                      "PHPSESSID=" SESSION_ID "; a=1");
  arena_release(&arena);
}

// --- hidden values ----------------------------------------------------------

TEST(a_token_of_the_old_page_is_swapped_for_that_of_the_new_one) {
  Arena arena = {0};
  HiddenField then[] = {
      {"/p.php", "id", "7"}, {"/p.php", "t", "old1"}, {"/p.php", "t", "old2"}};
  HiddenField now[] = {
      {"/p.php", "id", "7"}, {"/p.php", "t", "new1"}, {"/p.php", "t", "new2"}};
  HiddenFields a = {then, 3}, b = {now, 3};
  Str names = {0};
  const ValueSwap *s = value_swaps_find(NULL, &a, &b, &names, &arena);
  assert_string_equal(str_text(&names), "t");
  Param params[] = {
      {.name = "id", .value = "7", .place = IN_BODY, .page = true},
      {.name = "t", .value = "old2", .place = IN_BODY, .page = true},
      {.name = "typed", .value = "old2", .place = IN_BODY}};
  Ask ask = {.post = true, .path = "/p.php", .params = params, .nparams = 3};
  Ask sent = value_swaps_apply(s, &ask, &arena);
  reads(&sent, "POST /p.php id=7&t=new2&typed=old2");
  Ask back = value_swaps_undo(s, &sent, &arena);
  reads(&back, "POST /p.php id=7&t=old2&typed=old2");
  str_release(&names);
  arena_release(&arena);
}

static Request post(const char *body, Header *headers, size_t n) {
  return (Request){.method = "POST",
                   .path = "/p.php",
                   .query = "",
                   .body = body,
                   .body_len = strlen(body),
                   .headers = {.items = headers, .len = n}};
}

TEST(a_list_takes_tokens_from_the_page_before) {
  Fresh f = {0};
  Arena arena = {0};
  static const char page[] =
      "<form method=post action=p.php><input type=hidden name=t value='a b&'>"
      "<input type=hidden name=id value=3></form>";
  Response res = {.body = page, .body_len = sizeof page - 1};
  Header fresh[] = {{FRESH_HEADER, "t"},
                    {"Content-Type", "multipart/form-data; boundary=x"}};
  Request r = post("t=old&id=9&tt=1", fresh, 1);
  fresh_note(&f, &r, &res);
  Request sent = fresh_apply(&f, &r, &arena);
  assert_string_equal(sent.body, "t=a%20b%26&id=9&tt=1");
  Request parts = post("--x\r\nContent-Disposition: form-data; name=\"t\"\r\n"
                       "\r\nold\r\n--x--\r\n",
                       fresh, 2);
  sent = fresh_apply(&f, &parts, &arena);
  assert_non_null(strstr(sent.body, "\r\n\r\na b&\r\n--x--"));
  Request plain = post("t=old", NULL, 0);
  sent = fresh_apply(&f, &plain, &arena);
  assert_string_equal(sent.body, "t=old");
  fresh_release(&f);
  arena_release(&arena);
}

// --- uploads ----------------------------------------------------------------

TEST(an_upload_is_multipart_and_its_content_fits_its_name) {
  Arena arena = {0};
  Param params[] = {{.name = "a\"b", .value = "1", .place = IN_BODY},
                    {.name = "f", .value = "x.gif", .place = IN_FILE},
                    {.name = "g", .value = "", .place = IN_FILE}};
  Ask ask = {.post = true, .path = "/up.php", .params = params, .nparams = 3};
  Request r;
  ask_request(&ask, 1, &r, &arena);
  const char *type = headers_get(&r.headers, "Content-Type");
  assert_non_null(strstr(type, "multipart/form-data; boundary="));
  assert_non_null(memmem(r.body, r.body_len, "GIF89a\1\0", 8));
  assert_non_null(memmem(r.body, r.body_len, "name=\"a%22b\"", 12));
  assert_non_null(memmem(r.body, r.body_len, "filename=\"\"", 11));
  arena_release(&arena);
}

TEST(the_order_of_values_makes_no_other_request) {
  Arena arena = {0};
  Str a = {0}, b = {0}, c = {0};
  Ask x = ask_link("/a.php", "p=1&q=2&l[]=1&l[]=2", &arena);
  Ask y = ask_link("/a.php", "q=2&l[]=1&p=1&l[]=2", &arena);
  Ask z = ask_link("/a.php", "p=1&q=2&l[]=2&l[]=1", &arena);
  ask_key(&x, true, &a);
  ask_key(&y, true, &b);
  ask_key(&z, true, &c);
  assert_string_equal(a.data, b.data);
  assert_string_not_equal(a.data, c.data);
  str_release(&a);
  str_release(&b);
  str_release(&c);
  arena_release(&arena);
}

// --- the queue --------------------------------------------------------------

TEST(a_full_queue_drops_what_would_come_last) {
  Queue q = {0};
  Arena arena = {0};
  QueueItem item = {.ask = ask_link("/first.php", "", &arena), .lucky = true};
  queue_add(&q, item);
  for (int i = 0; i < QUEUE_MOST + 5; i++) {
    const char *query = arena_printf(&arena, "n=%d", i);
    queue_add(&q, (QueueItem){.ask = ask_link("/n.php", query, &arena),
                              .origin = ORIGIN_LINK,
                              .last = true});
  }
  assert_true(q.items.len < QUEUE_MOST);
  assert_int_equal(q.items.len + q.dropped, QUEUE_MOST + 6);
  assert_true(queue_take(&q, NULL, &item));
  reads(&item.ask, "GET /first.php");
  queue_release(&q);
  arena_release(&arena);
}

TEST(a_full_queue_keeps_every_request_for_a_new_outcome) {
  OutcomeGoals g = {0};
  Queue q = {.goals = &g};
  Arena arena = {0};
  PhpCompare c = {.file = "a.php", .left = "a", .right = "b"};
  uint32_t goal = outcome_goals_aim(&g, &c);
  for (int i = 0; i < 2 * QUEUE_MOST; i++) {
    const char *query = arena_printf(&arena, "x=%d", i);
    queue_add(&q, (QueueItem){.ask = ask_link("/a.php", query, &arena),
                              .origin = ORIGIN_SOLVED,
                              .depth = 20,
                              .goal = i % 4 == 0 ? goal : 0});
  }
  size_t kept = 0;
  for (size_t i = 0; i < q.items.len; i++)
    kept += q.items.items[i].goal == goal;
  assert_int_equal(kept, QUEUE_MOST / 2);
  assert_true(q.dropped > 0);
  queue_release(&q);
  outcome_goals_release(&g);
  arena_release(&arena);
}

TEST(a_sort_that_shows_more_gets_more_turns_but_none_waits_for_ever) {
  Queue q = {0};
  Arena arena = {0};
  QueueItem item;
  unsigned taken[QUEUE_CLASSES] = {0};
  for (int i = 0; i < 200; i++) {
    char query[20];
    snprintf(query, sizeof query, "n=%d", i);
    queue_add(&q, (QueueItem){.ask = ask_link("/page.php", query, &arena),
                              .origin = ORIGIN_LINK});
    queue_add(&q, (QueueItem){.ask = ask_link("/solved.php", query, &arena),
                              .origin = ORIGIN_SOLVED});
  }
  for (int i = 0; i < 120; i++) {
    assert_true(queue_take(&q, NULL, &item));
    taken[item.class]++;
    queue_learn(&q, &item, item.class == QUEUE_PAGE ? 30 : 0, 0, 0);
  }
  assert_true(taken[QUEUE_PAGE] > 80);
  assert_in_range(taken[QUEUE_INPUT], 5, 40);
  queue_release(&q);
  arena_release(&arena);
}

TEST(a_parameter_nobody_sent_comes_before_another_value_of_a_known_one) {
  Queue q = {0};
  Arena arena = {0};
  QueueItem item;
  const char *queries[] = {"a=1", "a=2", "a=3", "new=1"};
  queue_note(&q, &(Ask){.path = "/i.php"}, 0, 0);
  Ask known = ask_link("/i.php", "a=0", &arena);
  queue_note(&q, &known, 0, 0);
  for (size_t i = 0; i < 4; i++)
    queue_add(&q, (QueueItem){.ask = ask_link("/i.php", queries[i], &arena),
                              .origin = ORIGIN_LINK});
  assert_true(queue_take(&q, NULL, &item));
  assert_string_equal(item.ask.params[0].name, "new");
  queue_release(&q);
  arena_release(&arena);
}

static Ask take_one(Queue *q) {
  QueueItem item;
  assert_true(queue_take(q, NULL, &item));
  return item.ask;
}

// ?1700000000, as pages put it behind a picture that must not be cached.
TEST(a_parameter_that_is_a_time_is_no_news_though_it_never_was_sent) {
  Queue q = {0};
  Arena arena = {0};
  for (int i = 0; i < 4; i++) {
    Ask clock = ask_link("/run.php",
                         arena_printf(&arena, "170000000%d&id=a", i), &arena);
    queue_add(&q, (QueueItem){.ask = clock, .origin = ORIGIN_LINK});
    take_one(&q);
  }
  Ask later = ask_link("/run.php", "1700000009&id=a", &arena);
  Ask other = ask_link("/run.php", "1700000009&id=b", &arena);
  queue_add(&q, (QueueItem){.ask = later, .origin = ORIGIN_LINK});
  queue_add(&q, (QueueItem){.ask = other, .origin = ORIGIN_LINK});
  Ask next = take_one(&q);
  reads(&next, "GET /run.php?1700000009&id=b");
  queue_release(&q);
  arena_release(&arena);
}

TEST(pages_where_the_users_own_requests_led_come_before_what_was_found) {
  Queue q = {0};
  Arena arena = {0};
  Ask page = ask_link("/users.php", "", &arena);
  Ask found = ask_link("/users.php", "sort=name", &arena);
  queue_add(&q, (QueueItem){.ask = page, .origin = ORIGIN_ENTRY});
  take_one(&q);
  queue_add(&q, (QueueItem){.ask = found, .origin = ORIGIN_LINK});
  queue_add(&q, (QueueItem){.ask = page, .state = 1, .early = true});
  Ask next = take_one(&q);
  reads(&next, "GET /users.php");
  queue_release(&q);
  arena_release(&arena);
}

TEST(what_is_asked_in_another_world_waits_for_conditions_with_one_outcome) {
  Queue q = {0};
  Arena arena = {0};
  QueueItem item;
  for (int i = 0; i < 2; i++) {
    queue_add(&q, (QueueItem){.ask = ask_link(i ? "/open.php" : "/shut.php", "",
                                              &arena)});
    assert_true(queue_take(&q, NULL, &item));
    queue_learn(&q, &item, 0, i ? 9 : 0, 0);
  }
  for (int i = 0; i < 2; i++)
    queue_add(&q, (QueueItem){.ask = ask_link(i ? "/open.php" : "/shut.php", "",
                                              &arena),
                              .state = 1,
                              .origin = ORIGIN_LINK});
  assert_true(queue_take(&q, NULL, &item));
  assert_string_equal(item.ask.path, "/open.php");
  assert_int_equal(item.class, QUEUE_AGAIN);
  queue_release(&q);
  arena_release(&arena);
}

static void add_after(Queue *q, const char *path, uint32_t state,
                      const Ask *way, Arena *arena) {
  queue_add(q, (QueueItem){.ask = ask_link(path, "", arena),
                           .state = state,
                           .origin = ORIGIN_LINK,
                           .way = way,
                           .written = 2});
}

TEST(after_a_change_what_reads_the_changed_table_comes_first) {
  static const char *const paths[] = {"/other.php", "/reader.php"};
  Queue q = {0};
  Arena arena = {0};
  QueueItem item;
  for (int i = 0; i < 2; i++) {
    queue_add(&q, (QueueItem){.ask = ask_link(paths[i], "", &arena)});
    assert_true(queue_take(&q, NULL, &item));
    queue_learn(&q, &item, 0, 0, i ? 3 : 4);
  }
  Ask edit = ask_link("/edit.php", "a=1", &arena);
  Ask drop = ask_link("/drop.php", "a=1", &arena);
  for (int i = 0; i < 2; i++)
    add_after(&q, paths[i], 1, &edit, &arena);
  assert_true(queue_take(&q, NULL, &item));
  assert_string_equal(item.ask.path, "/reader.php");
  add_after(&q, "/reader.php", 2, &edit, &arena);
  add_after(&q, "/reader.php", 3, &drop, &arena);
  assert_true(queue_take(&q, NULL, &item));
  assert_int_equal(item.state, 3); // after another kind of change
  queue_release(&q);
  arena_release(&arena);
}

static void uses(const char *sql, const char *reads, const char *writes) {
  SqlTables t = {0}, names = {0}, one = {0};
  sql_tables_add(&t, sql);
  sql_tables_add(&names, reads);
  sql_tables_add(&one, writes);
  assert_int_equal(t.read, names.read);
  assert_int_equal(t.written, one.read);
}

TEST(tables_of_a_query_are_found) {
  SqlTables t = {0};
  sql_tables_add(&t, "SELECT 'from x', 1");
  assert_int_equal(t.read | t.written, 0);
  sql_tables_add(&t, "FROM a JOIN b");
  assert_int_equal(__builtin_popcountll(t.read), 2);
  uses("SELECT * FROM a x, b AS y WHERE x.i IN (SELECT i FROM c ORDER BY d, e)",
       "FROM a JOIN b JOIN c", "");
  uses("insert into `a` (x) select y from shop.b left join \"c\" on 1",
       "FROM b JOIN c", "FROM a");
  uses("UPDATE a SET x = 'it\\'s from b'", "", "FROM a");
  uses("DELETE FROM a WHERE x = 1", "FROM a", "FROM a");
  uses("CREATE TABLE IF NOT EXISTS a (i INT)", "", "FROM a");
  uses("'", "", "");
  uses("FROM", "", "");
}

static void beside(Accounts *a, const char *page, const char *expected) {
  Arena arena = {0};
  Asks logins = {0};
  Str all = {0};
  Ask login = ask_link("/in.php", "", &arena);
  login = ask_with(&login, IN_BODY, "user", "frank", &arena);
  login = ask_with(&login, IN_BODY, "pw", "x", &arena);
  accounts_logins_beside(a, &login, page, strlen(page), &logins, &arena);
  for (size_t i = 0; i < logins.len; i++)
    str_addf(&all, "%s ", logins.items[i].params[0].value);
  assert_string_equal(str_text(&all), expected);
  str_release(&all);
  array_release(&logins);
  arena_release(&arena);
}

TEST(names_beside_that_of_a_user_are_tried) {
  Accounts a = {0};
  Arena arena = {0};
  static const char form[] =
      "<form action=/in.php method=post><input name=user><input name=pw "
      "type=password></form>";
  static const char page[] =
      "<table><tr><td>other</td></tr></table><table><tr><td>henry</td><td>not "
      "one</td><td class=c>role</td></tr><tr><td>frank</td><td>4</td></tr>"
      "<tr><td>grace</td></tr></table><ul><li>more</li></ul>";
  beside(&a, page, ""); // no login form was seen
  Links links = links_read(form, strlen(form), "/", "", &arena);
  accounts_note_forms(&a, &links);
  beside(&a, page, "henry grace ");
  beside(&a, page, ""); // once
  beside(&a, "<p>frank</p><p>lone</p>", "");
  beside(&a, "<table><td>frank<", "");
  beside(&a, "", "");
  accounts_release(&a);
  arena_release(&arena);
}

TEST(odd_values_are_of_nothing_absent_empty_or_markup) {
  Arena arena = {0};
  OddRequests odds = {0};
  Ask a = ask_link("/v.php", "id=3&q=two+words", &arena);
  odd_requests(&a, NULL, &odds, &arena);
  Str all = {0};
  for (size_t i = 0; i < odds.len; i++) {
    Request r;
    ask_request(&odds.items[i].ask, 1, &r, &arena);
    str_addf(&all, "%s\n", r.query);
  }
  assert_string_equal(str_text(&all), "id=3&q=%3Ci%3E%22x%27%26y\n"
                                      "id=987654321&q=two+words\n"
                                      "id=3&q=a+b\n"
                                      "q=two+words\n"
                                      "id=3\n"
                                      "id=3&q=\n");
  str_release(&all);
  array_release(&odds);
  arena_release(&arena);
}

TEST(texts_of_the_database_are_tried_whole_and_by_their_longest_word) {
  Arena arena = {0};
  OddTexts texts = {0};
  OddRequests odds = {0};
  PhpTerm terms[] = {
      {0},
      {.name = "DB.1.q", .value = php_string("Where is the printer?", 21)},
      {.name = "POST.q", .value = php_string("typed by a visitor", 18)},
      {.name = "DB.1.name", .value = php_string("Administrator", 13)}};
  PhpShadows sh = {.terms = terms, .nterms = 4};
  assert_null(odd_texts_next(&texts));
  odd_texts_learn(&texts, &sh);
  odd_texts_learn(&texts, &sh);
  assert_int_equal(texts.texts.len, 1);
  Ask a = ask_link("/s.php", "q=two+words", &arena);
  odd_requests(&a, odd_texts_next(&texts), &odds, &arena);
  reads(&odds.items[1].ask, "GET /s.php?q=Where+is+the+printer%3F");
  reads(&odds.items[4].ask, "GET /s.php?q=printer");
  array_release(&odds);
  odd_texts_release(&texts);
  arena_release(&arena);
}

TEST(good_values_of_other_fields_join_the_one_that_was_changed) {
  Arena arena = {0};
  GoodValues good = {0};
  Ask base = ask_link("/j.php", "name=w1&born=w2", &arena);
  Ask name = ask_with(&base, IN_QUERY, "name", "aa", &arena);
  Ask born = ask_with(&base, IN_QUERY, "born", "1.1.1900", &arena), both;
  assert_false(good_values_apply(&good, 7, &name, &base, &both, &arena));
  good_values_learn(&good, 7, &name, &base);
  assert_false(good_values_apply(&good, 8, &born, &base, &both, &arena));
  assert_true(good_values_apply(&good, 7, &born, &base, &both, &arena));
  reads(&both, "GET /j.php?name=aa&born=1.1.1900");
  good_values_release(&good);
  arena_release(&arena);
}

static bool scripts_of(const char *page, Asks *asks, Arena *arena) {
  return script_requests_find(page, strlen(page), "/a/p.php", "/nowhere", asks,
                              arena);
}

TEST(literal_requests_of_scripts_are_found) {
  Arena arena = {0};
  Asks asks = {0};
  assert_false(scripts_of("<p>fetch('x.php')</p><script>fetch('i.php?n=1');"
                          "fetch(\"/j.php\", {method: 'put', body: "
                          "JSON.stringify({n: 1, t: 'x\\y'})});"
                          "x.open('DELETE', 'k.php');open('GET');</script>",
                          &asks, &arena));
  assert_int_equal(asks.len, 3);
  reads(&asks.items[0], "GET /a/i.php?n=1");
  reads(&asks.items[1], "PUT /j.php {\"n\":1,\"t\":\"x\\\\y\"}");
  reads(&asks.items[2], "DELETE /a/k.php");
  array_release(&asks);
  arena_release(&arena);
}

TEST(requests_that_scripts_compute_are_only_noticed) {
  Arena arena = {0};
  Asks asks = {0};
  assert_true(
      scripts_of("<script>fetch('i.php?n=' + n)</script>", &asks, &arena));
  assert_true(
      scripts_of("<script>fetch(`i.php?n=${n}`)</script>", &asks, &arena));
  assert_true(scripts_of("<script>fetch(", &asks, &arena));
  assert_true(
      scripts_of("<script>d.innerHTML = '<form>'</script>", &asks, &arena));
  assert_false(
      scripts_of("<script>window.open('GE', f)</script>", &asks, &arena) &&
      asks.len);
  assert_int_equal(asks.len, 0);
  arena_release(&arena);
}

TEST(tries_of_something_odd_are_further_and_further_apart) {
  unsigned due = 0;
  for (uint64_t i = 0; i < 64; i++)
    due += odd_is_due('m', i);
  assert_int_equal(due, 4); // the 1st, 4th, 16th, 64th
  assert_true(odd_is_due('m', 0) && odd_is_due('m', 3) && odd_is_due('m', 15));
}

TEST(a_condition_is_open_until_all_its_outcomes_were_seen) {
  Entity e[] = {{.kind = ENTITY_CONDITION, .index = 0, .from = 0},
                {.kind = ENTITY_CONDITION, .index = 0, .from = 1},
                {.kind = ENTITY_CONDITION, .index = 0, .from = 2},
                {.kind = ENTITY_CONDITION, .index = 1, .from = 0},
                {.kind = ENTITY_CONDITION, .index = 1, .from = 1}};
  uint32_t ids[] = {10, 11, 12, 20, 21};
  Unit unit = {.entities = e, .nentities = 5};
  ConditionOutcomes o = {0};
  Bitset run = {0}, seen = {0};
  condition_outcomes_add(&o, &unit, ids);
  bitset_add(&run, 10);
  bitset_add(&run, 20);
  bitset_union(&seen, &run);
  assert_int_equal(condition_outcomes_one_sided(&o, &run, &seen), 2);
  bitset_add(&seen, 21);
  bitset_add(&seen, 11);
  assert_int_equal(condition_outcomes_one_sided(&o, &run, &seen), 1);
  bitset_add(&seen, 12);
  assert_int_equal(condition_outcomes_one_sided(&o, &run, &seen), 0);
  bitset_release(&run);
  bitset_release(&seen);
  condition_outcomes_release(&o);
}

TEST(a_score_comes_before_all_else) {
  Queue q = {.scored = true};
  Arena arena = {0};
  QueueItem item;
  queue_add(&q, (QueueItem){.ask = ask_link("/new.php", "", &arena),
                            .origin = ORIGIN_ENTRY,
                            .lucky = true,
                            .score = 40});
  queue_add(&q, (QueueItem){.ask = ask_link("/near.php", "", &arena),
                            .origin = ORIGIN_SOLVED,
                            .score = 41});
  queue_add(&q,
            (QueueItem){.ask = ask_link("/none.php", "", &arena), .score = -1});
  assert_true(queue_take(&q, NULL, &item));
  reads(&item.ask, "GET /near.php");
  assert_true(queue_take(&q, NULL, &item));
  reads(&item.ask, "GET /new.php");
  queue_release(&q);
  arena_release(&arena);
}

// --- strategies -------------------------------------------------------------

TEST(likeness_is_that_of_the_path_with_one_comparison_the_other_way) {
  StateGraph a;
  state_graph_init(&a);
  PathStep steps[6] = {{1, 0}, {2, 1}, {3, 1}, {4, 0}, {5, 1}, {6, 0}};
  MadeRequest asked = {.ask = {.path = "/a.php"}, .steps = steps, .nsteps = 6};
  uint32_t number = state_graph_add_request(&a, &asked);
  TargetFailure t = {.strategy = web_strategy_find("pcs"), .graph = &a};
  target_failure_set(&t, "fatal: x");
  assert_true(target_failure_add(&t, number));
  QueueItem item = {.origin = ORIGIN_SOLVED, .base = number, .step = 5};
  assert_float_equal(target_failure_score(&t, &item), 83.33, 0.01); // 5 of 6
  item.step = 2; // what comes behind it is expected to stay
  assert_float_equal(target_failure_score(&t, &item), 83.33, 0.01);
  PathStep others[6] = {{1, 0}, {2, 1}, {3, 0}, {4, 1}, {5, 0}, {7, 0}};
  asked.steps = others;
  item.base =
      state_graph_add_request(&a, &asked); // a passing one, with two in common
  item.step = 0;
  assert_float_equal(target_failure_score(&t, &item), 16.67, 0.01);
  item.step = 2; // as in the failing one
  assert_float_equal(target_failure_score(&t, &item), 50, 0.01);
  item.origin = ORIGIN_LINK;
  assert_true(target_failure_score(&t, &item) < 0);
  target_failure_set(&t, "fatal: y"); // another failure: nothing shows it yet
  assert_int_equal(t.failing.len, 0);
  target_failure_release(&t);
  state_graph_release(&a);
}

TEST(inputs_are_alike_by_the_values_they_share) {
  StateGraph a;
  Arena arena = {0};
  state_graph_init(&a);
  MadeRequest asked = {.ask = ask_link("/a.php", "p=1&q=2&r=3&s=4", &arena)};
  uint32_t number = state_graph_add_request(&a, &asked);
  TargetFailure t = {.strategy = web_strategy_find("is"), .graph = &a};
  target_failure_set(&t, "fatal: x");
  target_failure_add(&t, number);
  QueueItem item = {.ask = ask_link("/a.php", "p=1&q=2&r=3&s=5", &arena)};
  // script, state and three of four values: 5 of 6
  assert_float_equal(target_failure_score(&t, &item), 83.33, 0.01);
  assert_null(web_strategy_find("nearest"));
  target_failure_release(&t);
  state_graph_release(&a);
  arena_release(&arena);
}

// --- on disk ----------------------------------------------------------------

static const ExplorerOptions *options(void) {
  static ExplorerOptions o;
  o.strategy = web_strategy_find("is");
  return &o;
}

static void explorer_init(Explorer *e) {
  *e = (Explorer){.options = options()};
  e->target =
      (TargetFailure){.strategy = e->options->strategy, .graph = &e->graph};
  state_graph_init(&e->graph);
}

static void explorer_clear(Explorer *e) {
  state_graph_release(&e->graph);
  queue_release(&e->queue);
  outcome_goals_release(&e->goals);
  bitset_release(&e->lines);
  bitset_release(&e->conditions);
  for (size_t i = 0; i < e->failures.len; i++)
    free(e->failures.items[i].signature);
  array_release(&e->failures);
  array_release(&e->scripts_seen);
  hashmap_release(&e->signatures);
  hashmap_release(&e->units);
  array_release(&e->roles);
  accounts_release(&e->accounts);
  good_values_release(&e->good);
  odd_texts_release(&e->texts);
  target_failure_release(&e->target);
}

static void fill_learned(Explorer *m, uint32_t state, Arena *arena) {
  Ask in = ask_link("/in.php", "", arena);
  in = ask_with(&in, IN_BODY, "user", "ann", arena);
  in = ask_with(&in, IN_BODY, "pw", "x", arena);
  AccountForm form = {in, "pw", {"user", "mail"}, 1};
  accounts_add_form(&m->accounts, true, &form);
  form.nnames = 2;
  accounts_add_form(&m->accounts, false, &form);
  accounts_add_hash(&m->accounts,
                    &(HashCompare){.compare = {.kind = COMPARE_BRANCH,
                                               .held = true,
                                               .file = "/app/in.php",
                                               .line = 9,
                                               .right = "md5(POST.pw)"},
                                   .function = "md5",
                                   .ask = in});
  accounts_add_beside(&m->accounts, "ann\nbob");
  accounts_add_found(&m->accounts, &in);
  good_values_add(&m->good, 7, &(Param){"born", "1.1.1900", IN_BODY, 0, 0});
  odd_texts_add(&m->texts, "Where is the printer?", 21);
  m->texts.next = 3;
  explorer_add_role(m, state);
  m->logged_in = 2;
  m->graph.states.items[state].role = 5;
  m->graph.states.items[state].written = 1ull << 40;
  m->graph.requests.items[0].read = 1ull << 41;
}

static void learned_comes_back(const Explorer *b, Arena *arena) {
  const Accounts *a = &b->accounts;
  Asks logins = {0};
  accounts_logins_after(a, &a->registrations.items[0].ask, &logins, arena);
  assert_int_equal(logins.len, 1);
  reads(&logins.items[0], "POST /in.php user=ann&pw=x");
  array_release(&logins);
  assert_string_equal(a->registrations.items[0].names[1], "mail");
  assert_string_equal(a->hashes.items[0].function, "md5");
  assert_int_equal(a->hashes.items[0].compare.line, 9);
  assert_string_equal(a->beside.items[0], "ann\nbob");
  reads(&a->found.items[0], "POST /in.php user=ann&pw=x");
  assert_int_equal(b->good.items.items[0].page, 7);
  assert_string_equal(b->good.items.items[0].param.value, "1.1.1900");
  assert_string_equal(b->texts.texts.items[0], "Where is the printer?");
  assert_int_equal(b->texts.next, 3);
  assert_int_equal(b->roles.len, 1);
  assert_int_equal(b->roles.items[0], 1);
  assert_int_equal(b->logged_in, 2);
  assert_int_equal(b->graph.states.items[1].role, 5);
  assert_true(b->graph.states.items[1].written == 1ull << 40);
  assert_true(b->graph.requests.items[0].read == 1ull << 41);
}

static void fill(Explorer *m, Arena *arena) {
  HiddenField hidden = {"/a.php", "t", "abc"};
  PathStep step = {77, 1};
  Header cookie = {"Set-Cookie", "c=1"};
  Headers headers = {.items = &cookie, .len = 1};
  state_graph_begin(&m->graph, 99);
  MadeRequest asked = {.ask = ask_link("/a.php", "x=1&bare", arena),
                       .hidden = {&hidden, 1},
                       .steps = &step,
                       .nsteps = 1};
  uint32_t n = state_graph_add_request(&m->graph, &asked);
  const CookieHistory *c =
      cookie_history_take(cookie_history_start(), "/a.php", &headers, arena);
  uint32_t w = state_graph_enter(&m->graph, 100, c, 0, n);
  Ask form = ask_with(&asked.ask, IN_FILE, "f", "v.gif", arena);
  queue_add(&m->queue, (QueueItem){.ask = form,
                                   .state = w,
                                   .origin = ORIGIN_FORM,
                                   .last = true,
                                   .page = n});
  bitset_add(&m->lines, 5);
  bitset_add(&m->conditions, 700);
  explorer_add_failure(m, "html: y", 1);
  explorer_take_script(m, &(UnitId){{1, 2, 254}});
  target_failure_set(&m->target, "fatal: x");
  target_failure_add(&m->target, 1);
  fill_learned(m, w, arena);
}

TEST(what_is_kept_comes_back) {
  Arena arena = {0};
  Explorer a, b;
  Err err;
  char *dir = scratch(), *path = mem_printf("%s/exploration", dir);
  explorer_init(&a);
  fill(&a, &arena);
  ExploreWorker busy = {.busy = true,
                        .item = {.ask = ask_link("/busy.php", "", &arena)}};
  a.workers = &busy;
  a.nworkers = 1;
  assert_int_equal(checkpoint_write(&a, path, &err), 0);
  explorer_init(&b);
  assert_int_equal(checkpoint_read(&b, path, &err), 0);
  assert_int_equal(b.graph.states.len, 2);
  assert_string_equal(
      cookie_history_header(b.graph.states.items[1].cookies, "/", &arena),
      "PHPSESSID=" SESSION_ID "; c=1");
  reads(&b.graph.requests.items[0].ask, "GET /a.php?x=1&bare");
  assert_int_equal(b.graph.requests.items[0].steps[0].condition, 77);
  assert_string_equal(b.graph.requests.items[0].hidden.items[0].value, "abc");
  assert_int_equal(b.queue.items.len, 2);
  reads(&b.queue.items.items[0].ask, "GET /busy.php");
  assert_true(b.queue.items.items[1].last);
  assert_int_equal(b.queue.items.items[1].ask.params[2].place, IN_FILE);
  assert_true(bitset_has(&b.lines, 5) && bitset_has(&b.conditions, 700));
  assert_string_equal(b.failures.items[0].signature, "html: y");
  assert_int_equal(b.scripts_seen.items[0].bytes[2], 254);
  assert_string_equal(b.target.signature, "fatal: x");
  assert_int_equal(b.target.failing.len, 1);
  learned_comes_back(&b, &arena);
  // what was asked is not asked again
  assert_false(queue_add(
      &b.queue, (QueueItem){.ask = ask_link("/a.php", "x=1&bare", &arena)}));
  explorer_clear(&a);
  explorer_clear(&b);
  fs_remove_tree(dir);
  free(path);
  free(dir);
  arena_release(&arena);
}

static int read_bytes(const char *path, const Str *text) {
  Explorer m;
  Err err;
  explorer_init(&m);
  assert_int_equal(fs_write(path, text->data, text->len, &err), 0);
  int rc = checkpoint_read(&m, path, &err);
  if (rc)
    assert_true(*err.text);
  explorer_clear(&m);
  return rc;
}

// Makes the checksum fit, so that what is behind it is looked at.
static void seal(Str *text) {
  uint64_t sum = XXH3_64bits(text->data + 32, text->len - 32);
  memcpy(text->data + 24, &sum, sizeof sum);
}

TEST(any_damage_to_what_is_kept_is_refused_or_read_within_bounds) {
  Arena arena = {0};
  Explorer a;
  Err err;
  Str text = {0};
  char *dir = scratch(), *path = mem_printf("%s/exploration", dir);
  explorer_init(&a);
  fill(&a, &arena);
  assert_int_equal(checkpoint_write(&a, path, &err), 0);
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  assert_int_equal(read_bytes(path, &text), 0);
  for (size_t i = 0; i < text.len; i++) { // one byte is another
    Str bad = {0};
    str_addn(&bad, text.data, text.len);
    bad.data[i] = (char)(bad.data[i] ^ 0x5a);
    assert_int_equal(read_bytes(path, &bad), -1);
    if (i >= 32) {
      seal(&bad);
      read_bytes(path, &bad);
    }
    bad.len = i; // the rest is missing
    assert_int_equal(read_bytes(path, &bad), -1);
    if (i > 32) {
      seal(&bad);
      assert_int_equal(read_bytes(path, &bad), -1);
    }
    str_release(&bad);
  }
  explorer_clear(&a);
  str_release(&text);
  fs_remove_tree(dir);
  free(path);
  free(dir);
  arena_release(&arena);
}

// --- sequences --------------------------------------------------------------

// What was found out about another failure, without time for this one.
TEST(a_sequence_that_was_not_tried_takes_known_tokens_from_the_page) {
  StateGraph g;
  Arena arena = {0};
  Str fresh = {0};
  size_t none = 0;
  state_graph_init(&g);
  state_graph_begin(&g, 1);
  Ask form = ask_link("/form.php", "", &arena);
  form = ask_with(&form, IN_BODY, "token", "1f", &arena);
  form = ask_with_fresh(&form, 0, "1f", &arena);
  MadeRequest made = {.ask = form};
  uint32_t number = state_graph_add_request(&g, &made);
  str_add(&fresh, "token");
  Reproduction s =
      reproduction_make(NULL, &g, number, "s", &fresh, &none, 0, &arena);
  assert_int_equal(s.nsteps, 1);
  assert_false(s.tried);
  assert_string_equal(s.steps[0].fresh, "token");
  assert_string_equal(str_text(&fresh), "token");
  str_release(&fresh);
  state_graph_release(&g);
  arena_release(&arena);
}

TEST(a_sequence_is_written_as_a_list_and_for_curl) {
  Arena arena = {0};
  Err err;
  Str list = {0}, script = {0};
  char *dir = scratch(), *base = mem_printf("%s/failure-1", dir);
  Ask login = {.post = true, .path = "/login.php"};
  login = ask_with(&login, IN_BODY, "user", "it's", &arena);
  ReproductionStep steps[] = {{ask_link("/a.php", "", &arena), ""},
                              {login, "token"},
                              {ask_link("/b.php", "id=1&q=x", &arena), ""}};
  Reproduction s = {.steps = steps, .nsteps = 3, .shown = true};
  assert_int_equal(reproduction_write(&s, "fatal: no\na.php:3", base, &err), 0);
  char *txt = mem_printf("%s.txt", base), *sh = mem_printf("%s.sh", base);
  assert_int_equal(fs_read(txt, 0, &list, &err), 0);
  assert_int_equal(fs_read(sh, 0, &script, &err), 0);
  assert_string_equal(list.data, "# fatal: no\n# a.php:3\nsetup GET /a.php\n"
                                 "setup POST /login.php user=it%27s\n"
                                 "  Culprit-Fresh: token\n"
                                 "GET /b.php?id=1&q=x\n");
  assert_non_null(strstr(script.data, "fresh token |\n  ask -e \"$site/\" -H "
                                      "\"Origin: $site\" --data-binary @-"));
  assert_non_null(strstr(script.data, "\"$site\"'/b.php?id=1&q=x'"));
  assert_int_equal(access(sh, X_OK), 0);
  fs_remove_tree(dir);
  free(txt);
  free(sh);
  free(base);
  free(dir);
  str_release(&list);
  str_release(&script);
  arena_release(&arena);
}

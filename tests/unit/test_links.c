// Unit tests of exploring: where a page leads to (php/page_links.h), requests
// made of it (php/ask.h), input that decides comparisons
// (explore/solve/request_solver.h), and what is asked first
// (explore/request_queue.h).
#include "test.h"

#include <stdlib.h>

#include "explore/request_queue.h"
#include "explore/solve/request_solver.h"
#include "explore/survey/other_hosts.h"
#include "php/ask.h"
#include "php/page_links.h"
#include "php/record/record_format.h"

static Links read_page(const char *page, Arena *arena) {
  return links_read(page, strlen(page), NULL, "/a/list.php", "p=2", arena);
}

static void resolves(const char *address, const char *path, const char *query) {
  Arena arena = {0};
  const char *p, *q;
  assert_true(link_resolve(NULL, "/a/list.php", address, &p, &q, &arena));
  assert_string_equal(p, path);
  assert_string_equal(q, query);
  arena_release(&arena);
}

static void leads_nowhere(const char *address) {
  Arena arena = {0};
  const char *p, *q;
  assert_false(link_resolve(NULL, "/a/list.php", address, &p, &q, &arena));
  arena_release(&arena);
}

// The only ask, as a request's text.
static char *text_of(const Ask *a) {
  Arena arena = {0};
  Request r;
  ask_request(a, 1, &r, &arena);
  char *text = request_text(&r);
  arena_release(&arena);
  return text;
}

static void reads(const Ask *a, const char *expected) {
  char *text = text_of(a);
  assert_string_equal(text, expected);
  free(text);
}

static bool contains(const Asks *asks, const char *expected) {
  bool found = false;
  for (size_t i = 0; i < asks->len && !found; i++) {
    char *text = text_of(&asks->items[i]);
    found = !strcmp(text, expected);
    free(text);
  }
  return found;
}

// --- addresses --------------------------------------------------------------

TEST(an_address_is_resolved_against_the_page_it_stands_on) {
  resolves("view.php?id=3#top", "/a/view.php", "id=3");
  resolves("../b/./c.php", "/b/c.php", "");
  resolves("/x//y.php", "/x/y.php", "");
  resolves("?p=3", "/a/list.php", "p=3");
  resolves("../..", "/", "");
  resolves("../../../../etc/passwd", "/etc/passwd", "");
  resolves("http://localhost:8080/z.php?q", "/z.php", "q");
  resolves(" view.php ", "/a/view.php", "");
  resolves("my file.php", "/a/my%20file.php", "");
}

TEST(what_leaves_the_site_is_not_followed) {
  leads_nowhere("http://example.org/");
  leads_nowhere("//example.org/a.php");
  leads_nowhere("http://localhost.example.org/");
  leads_nowhere("mailto:a@example.org");
  leads_nowhere("javascript:void(0)");
  leads_nowhere("#top");
}

// --- pages ------------------------------------------------------------------

TEST(an_address_with_the_applications_own_name_stays_on_the_site) {
  Arena arena = {0};
  const char *p, *q,
      *page = "<a href='http://Shop.test/x'>a</a>"
              "<form action=//shop.test:8080/y?z=1></form>"
              "<a href='http://shop.testing/'>b</a>";
  Links links = links_read(page, strlen(page), "shop.test", "/", "", &arena);
  assert_int_equal(links.len, 2);
  assert_string_equal(links.items[0].path, "/x");
  assert_string_equal(links.items[1].path, "/y");
  assert_true(
      link_resolve("shop.test", "/", "http://localhost/u", &p, &q, &arena));
  assert_null(link_other_host("https://SHOP.test", "shop.test", &arena));
  assert_null(link_other_host("mailto:a@b", NULL, &arena));
  assert_null(link_other_host("b.php?u=http://c/", NULL, &arena));
  assert_string_equal(link_other_host("//a.b:1/c", NULL, &arena), "a.b");
  arena_release(&arena);
}

TEST(most_pages_tell_the_name_that_the_application_has) {
  Arena arena = {0};
  OtherHosts hosts = {0};
  const char *page = "<a href=http://a.b/1><a HREF='http://a.b/2'>"
                     "<form action=\"//a.b\"><a href='/own'>"
                     "<a href=http://c.d/>";
  const char *other = other_host_of(page, strlen(page), NULL, &arena);
  assert_string_equal(other, "a.b");
  assert_null(other_host_of(page, strlen(page), "a.b", &arena));
  other_hosts_note(&hosts, other, &arena);
  assert_string_equal(other_hosts_most(&hosts), "a.b");
  other_hosts_note(&hosts, NULL, &arena);
  assert_null(other_hosts_most(&hosts));
  assert_null(other_host_of("<a href=", 8, NULL, &arena));
  other_hosts_release(&hosts);
  arena_release(&arena);
}

TEST(links_frames_refreshes_and_scripts_are_found_in_the_order_of_the_page) {
  Arena arena = {0};
  Links l = read_page(
      "<meta http-equiv=Refresh content=\"5; url='next.php'\">"
      "<a href=one.php>1</a><iframe src=two.php></iframe>"
      "<script>if (x) window.location.href = \"three.php?a=1\";</script>"
      "<p onclick=\"location='four.php'\">x</p><img src=pic.png>",
      &arena);
  assert_int_equal(l.len, 5);
  assert_string_equal(l.items[0].path, "/a/next.php");
  assert_string_equal(l.items[1].path, "/a/one.php");
  assert_string_equal(l.items[2].path, "/a/two.php");
  assert_string_equal(l.items[3].path, "/a/three.php");
  assert_string_equal(l.items[3].query, "a=1");
  assert_string_equal(l.items[4].path, "/a/four.php");
  arena_release(&arena);
}

TEST(a_link_that_logs_out_or_deletes_comes_last) {
  Arena arena = {0};
  Links l = read_page("<a href=x.php>x</a><a href='x.php?do=delete'>x</a>"
                      "<a href=bye.php>Log out</a>",
                      &arena);
  assert_false(l.items[0].last);
  assert_true(l.items[1].last);
  assert_true(l.items[2].last);
  assert_true(link_ends_something("Kill (3)"));
  assert_false(link_ends_something("skills"));
  arena_release(&arena);
}

TEST(a_form_is_filled_in_with_its_defaults_buttons_and_options) {
  Arena arena = {0};
  Asks asks = {0};
  Links l = read_page(
      "<form method=POST action=save.php?x=1><input type=hidden name=tok "
      "value=abc><input name=id><select name=s><option value=u>U<option "
      "selected>V</select><input type=radio name=r value=1><input type=radio "
      "name=r value=2 checked><input type=checkbox name=c><button name=b "
      "value=ok>ok</button><button name=b value=no>no</button></form>",
      &arena);
  assert_int_equal(l.len, 1);
  assert_true(l.items[0].form && l.items[0].post);
  ask_form(&l.items[0], &asks, &arena);
  reads(&asks.items[0], "POST /a/save.php?x=1 tok=abc&id=1&s=V&r=2&b=ok");
  reads(&asks.items[1], "POST /a/save.php?x=1 tok=abc&id=&s=V&r=2&b=ok");
  assert_true(
      contains(&asks, "POST /a/save.php?x=1 tok=abc&id=1&s=u&r=2&b=ok"));
  assert_true(
      contains(&asks, "POST /a/save.php?x=1 tok=abc&id=1&s=V&r=1&b=ok"));
  assert_true(
      contains(&asks, "POST /a/save.php?x=1 tok=abc&id=1&s=V&r=2&c=on&b=ok"));
  assert_true(
      contains(&asks, "POST /a/save.php?x=1 tok=abc&id=1&s=V&r=2&b=no"));
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_form_without_action_goes_to_its_own_page) {
  Arena arena = {0};
  Links l = read_page("<form method=post><input name=n></form>"
                      "<form action=find.php?old=1><input name=q></form>",
                      &arena);
  Asks asks = {0};
  assert_string_equal(l.items[0].path, "/a/list.php");
  assert_string_equal(l.items[0].query, "p=2");
  ask_form(&l.items[1], &asks, &arena);
  reads(&asks.items[1], "GET /a/find.php?q=");
  array_release(&asks);
  arena_release(&arena);
}

TEST(fields_of_a_form_that_a_table_closed_still_belong_to_it) {
  Arena arena = {0};
  Links l = read_page("<table><form action=f.php><tr><td><input name=a></td>"
                      "</tr></form></table>",
                      &arena);
  assert_int_equal(l.len, 1);
  assert_int_equal(l.items[0].nfields, 1);
  arena_release(&arena);
}

// The forms of a page, all ways to fill them in.
static Asks fill_all(const char *page, Arena *arena) {
  Asks asks = {0};
  Links l = read_page(page, arena);
  for (size_t i = 0; i < l.len; i++)
    if (l.items[i].form)
      ask_form(&l.items[i], &asks, arena);
  return asks;
}

TEST(fields_outside_their_form_are_sent_with_it) {
  Arena arena = {0};
  Asks asks =
      fill_all("<input name=early value=1 form=f><form id=f "
               "action=a.php><input name=in value=2></form><textarea "
               "name=late form=f>3</textarea><form action=b.php><input "
               "name=x value=4 form=f><input name=y value=5 form=nobody>"
               "</form>",
               &arena);
  reads(&asks.items[0], "GET /a/a.php?early=1&in=2&late=3&x=4");
  assert_true(contains(&asks, "GET /a/b.php"));
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_button_may_send_the_form_elsewhere_and_otherwise) {
  Arena arena = {0};
  Asks asks = fill_all("<form action=a.php><input name=n value=1><input "
                       "type=submit><button formaction=b.php?q=2 "
                       "formmethod=post name=go value=x>b</button><button "
                       "formaction=http://example.org/>away</button></form>",
                       &arena);
  reads(&asks.items[0], "GET /a/a.php?n=1");
  assert_true(contains(&asks, "POST /a/b.php?q=2 n=1&go=x"));
  for (size_t i = 0; i < asks.len; i++)
    assert_true(text_starts(asks.items[i].path, "/a/"));
  array_release(&asks);
  arena_release(&arena);
}

TEST(each_button_is_pressed_also_one_without_a_name) {
  Arena arena = {0};
  Asks asks = fill_all("<form action=a.php><button name=b value=1>1</button>"
                       "<button>2</button><button name=b value=3>3</button>"
                       "<button type=button name=b value=4>4</button>"
                       "<input type=image name=i></form>",
                       &arena);
  reads(&asks.items[0], "GET /a/a.php?b=1");
  assert_true(contains(&asks, "GET /a/a.php"));
  assert_true(contains(&asks, "GET /a/a.php?b=3"));
  assert_false(contains(&asks, "GET /a/a.php?b=4"));
  assert_true(contains(&asks, "GET /a/a.php?i.x=1&i.y=1"));
  array_release(&asks);
  arena_release(&arena);
}

TEST(of_a_multiple_choice_none_each_and_all_are_sent) {
  Arena arena = {0};
  Asks asks = fill_all("<form action=a.php><select multiple name=m[]><option>u"
                       "<option value=v selected>V<option>w</select></form>",
                       &arena);
  reads(&asks.items[0], "GET /a/a.php?m[]=v");
  assert_true(contains(&asks, "GET /a/a.php"));
  assert_true(contains(&asks, "GET /a/a.php?m[]=u&m[]=v"));
  assert_true(contains(&asks, "GET /a/a.php?m[]=u&m[]=v&m[]=w"));
  array_release(&asks);
  arena_release(&arena);
}

TEST(what_is_disabled_is_not_sent) {
  Arena arena = {0};
  Asks asks = fill_all("<form action=a.php><input name=a value=1 disabled>"
                       "<fieldset disabled><input name=b value=2></fieldset>"
                       "<select name=c><option disabled>x<option>y</select>"
                       "</form>",
                       &arena);
  reads(&asks.items[0], "GET /a/a.php?c=y");
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_field_gets_what_its_type_wants) {
  Arena arena = {0};
  Asks asks = fill_all("<form action=a.php><input type=date name=d><input "
                       "type=email name=e><input type=number min=18 name=k>"
                       "<input type=time name=t><input type=number name=z>",
                       &arena);
  reads(&asks.items[0], "GET /a/a.php?d=2024-02-29&e=visitor%40example.org&"
                        "k=18&t=12%3A30&z=1");
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_base_moves_addresses_and_areas_and_frames_are_links) {
  Arena arena = {0};
  Links l = read_page("<base href=/x/y/><a href=a.php>a</a><map><area "
                      "href=b.php></map><iframe src=../c.php></iframe><form "
                      "action=d.php></form><form></form>",
                      &arena);
  assert_int_equal(l.len, 5);
  assert_string_equal(l.items[0].path, "/x/y/a.php");
  assert_string_equal(l.items[1].path, "/x/y/b.php");
  assert_string_equal(l.items[2].path, "/x/c.php");
  assert_string_equal(l.items[3].path, "/x/y/d.php");
  assert_string_equal(l.items[4].path, "/a/list.php");
  l = read_page("<frameset><frame src=f.php></frameset>", &arena);
  assert_int_equal(l.len, 1);
  assert_string_equal(l.items[0].path, "/a/f.php");
  arena_release(&arena);
}

TEST(any_bytes_are_a_page) {
  Arena arena = {0};
  unsigned seed = 7;
  for (int round = 0; round < 200; round++) {
    char page[400];
    for (size_t i = 0; i < sizeof page; i++) {
      seed = seed * 1103515245 + 12345;
      page[i] =
          "<>/=\"' aifnm\0\xff&?#:;form input select option"[seed >> 16 & 31];
    }
    links_read(page, sizeof page, NULL, "/", "", &arena);
  }
  arena_release(&arena);
}

// --- asks -------------------------------------------------------------------

TEST(a_query_survives_being_taken_apart) {
  Arena arena = {0};
  Ask a = ask_link("/v.php", "a=1+2&b=%26%3d&c[]=x&bare&=&d=", &arena);
  reads(&a, "GET /v.php?a=1+2&b=%26%3D&c[]=x&bare&=&d=");
  Ask b = ask_with(&a, IN_QUERY, "a", "\xc3\xa4", &arena);
  reads(&b, "GET /v.php?a=%C3%A4&b=%26%3D&c[]=x&bare&=&d=");
  arena_release(&arena);
}

TEST(a_value_in_the_body_makes_it_a_post) {
  Arena arena = {0};
  Ask a = ask_link("/v.php", "a=1", &arena);
  Ask b = ask_with(&a, IN_BODY, "b", "2", &arena);
  reads(&b, "POST /v.php?a=1 b=2");
  arena_release(&arena);
}

// --- comparisons ------------------------------------------------------------

static PhpCompare compared(CompareKind kind, const char *left,
                           const char *right) {
  return (PhpCompare){
      .kind = kind, .file = "/a.php", .line = 3, .left = left, .right = right};
}

TEST(a_compared_value_replaces_the_parameter_it_was_compared_with) {
  Arena arena = {0};
  Asks asks = {0};
  Ask a = ask_link("/l.php", "user=Wx7y&pw=wq2e", &arena);
  PhpCompare c = compared(COMPARE_EQUAL, " wx7y", "admin");
  request_solver_solve(NULL, &c, &a, &asks, &arena);
  assert_int_equal(asks.len, 1);
  reads(&asks.items[0], "GET /l.php?user=admin&pw=wq2e");
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_value_inside_the_compared_text_gets_its_part_of_the_other_side) {
  Arena arena = {0};
  Asks asks = {0};
  Ask a = ask_link("/l.php", "page=wx7y", &arena);
  PhpCompare c = compared(COMPARE_EQUAL, "inc/wx7y.php", "inc/home.php");
  PhpCompare other = compared(COMPARE_EQUAL, "inc/wx7y.php", "elsewhere");
  request_solver_solve(NULL, &c, &a, &asks, &arena);
  request_solver_solve(NULL, &other, &a, &asks, &arena);
  assert_int_equal(asks.len, 1);
  reads(&asks.items[0], "GET /l.php?page=home");
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_bound_is_tried_with_its_neighbours) {
  Arena arena = {0};
  Asks asks = {0};
  Ask a = ask_link("/l.php", "n=1", &arena);
  PhpCompare c = compared(COMPARE_LESS, "1", "10");
  request_solver_solve(NULL, &c, &a, &asks, &arena);
  assert_int_equal(asks.len, 3);
  assert_true(contains(&asks, "GET /l.php?n=9"));
  assert_true(contains(&asks, "GET /l.php?n=10"));
  assert_true(contains(&asks, "GET /l.php?n=11"));
  array_release(&asks);
  arena_release(&arena);
}

TEST(keys_that_were_looked_up_are_sent_together_and_each) {
  Arena arena = {0};
  Asks asks = {0};
  Ask a = ask_link("/l.php", "", &arena);
  PhpCompare c[] = {compared(COMPARE_ABSENT, "_GET", "id"),
                    compared(COMPARE_ABSENT, "_SESSION", "user"),
                    compared(COMPARE_ABSENT, "_POST", "year")};
  PhpShadows none = {0};
  PhpRecord record = {.compares = c, .ncompares = 3, .shadows = &none};
  absent_keys_add(&record, &a, &asks, &arena);
  assert_int_equal(asks.len, 3);
  reads(&asks.items[0], "GET /l.php?id=1");
  reads(&asks.items[1], "POST /l.php year=1");
  reads(&asks.items[2], "POST /l.php?id=1 year=1");
  array_release(&asks);
  arena_release(&arena);
}

TEST(a_comparison_is_open_until_both_outcomes_were_shown) {
  OutcomeGoals g = {0};
  PhpCompare c = compared(COMPARE_EQUAL, "a", "b");
  outcome_goals_show(&g, &c);
  assert_true(outcome_goals_one_sided(&g, &c));
  uint32_t goal = outcome_goals_aim(&g, &c);
  assert_int_equal(goal, outcome_goals_aim(&g, &c));
  assert_true(outcome_goals_is_open(&g, goal));
  c.held = true;
  outcome_goals_show(&g, &c);
  assert_false(outcome_goals_one_sided(&g, &c));
  assert_false(outcome_goals_is_open(&g, goal));
  c.held = false;
  assert_int_equal(outcome_goals_aim(&g, &c), 0);
  outcome_goals_release(&g);
}

// The goal of a comparison of its own.
static uint32_t new_goal(OutcomeGoals *g, unsigned line, const char *text) {
  PhpCompare c = compared(COMPARE_EQUAL, "a", text);
  c.line = line;
  outcome_goals_show(g, &c);
  return outcome_goals_aim(g, &c);
}

TEST(a_goal_comes_first_until_it_was_tried_in_vain) {
  OutcomeGoals g = {0};
  uint32_t goal = new_goal(&g, 1, "b");
  for (int i = 0; i < GOAL_TRIES; i++) {
    assert_true(outcome_goals_comes_first(&g, goal));
    outcome_goals_try(&g, goal);
  }
  assert_false(outcome_goals_comes_first(&g, goal));
  assert_true(outcome_goals_is_open(&g, goal));
  outcome_goals_release(&g);
}

TEST(goals_of_a_line_without_anything_new_do_not_come_first) {
  OutcomeGoals g = {0};
  uint32_t here = new_goal(&g, 1, "b"), there = new_goal(&g, 2, "b");
  for (int i = 0; i < GOAL_BARREN; i++)
    outcome_goals_learn(&g, here, 0);
  assert_false(outcome_goals_comes_first(&g, new_goal(&g, 1, "c")));
  assert_true(outcome_goals_comes_first(&g, there));
  outcome_goals_learn(&g, here, 1);
  assert_true(outcome_goals_comes_first(&g, new_goal(&g, 1, "d")));
  outcome_goals_release(&g);
}

// --- the queue --------------------------------------------------------------

static bool add(Queue *q, const char *path, const char *query, QueueItem item) {
  Arena arena = {0};
  item.ask = ask_link(path, query, &arena);
  bool added = queue_add(q, item);
  arena_release(&arena);
  return added;
}

static void takes(Queue *q, const char *expected) {
  QueueItem item;
  assert_true(queue_take(q, NULL, &item));
  reads(&item.ask, expected);
}

TEST(a_request_is_asked_once_in_the_same_world) {
  Queue q = {0};
  assert_true(add(&q, "/a.php", "x=1", (QueueItem){0}));
  assert_false(add(&q, "/a.php", "x=1", (QueueItem){.origin = ORIGIN_LINK}));
  assert_true(add(&q, "/a.php", "x=1", (QueueItem){.state = 1}));
  assert_true(add(&q, "/a.php", "x=2", (QueueItem){0}));
  queue_release(&q);
}

TEST(new_scripts_come_first_and_logouts_last) {
  Queue q = {0};
  QueueItem item;
  add(&q, "/out.php", "", (QueueItem){.origin = ORIGIN_LINK, .last = true});
  add(&q, "/a.php", "", (QueueItem){.origin = ORIGIN_ENTRY});
  takes(&q, "GET /a.php");
  add(&q, "/a.php", "x=1", (QueueItem){.origin = ORIGIN_LINK});
  add(&q, "/a.php", "x=2", (QueueItem){.origin = ORIGIN_SOLVED});
  add(&q, "/b.php", "", (QueueItem){.origin = ORIGIN_LINK});
  takes(&q, "GET /a.php?x=2"); // in turns with pages
  takes(&q, "GET /b.php");
  takes(&q, "GET /a.php?x=1");
  takes(&q, "GET /out.php");
  assert_false(queue_take(&q, NULL, &item));
  queue_release(&q);
}

// One script serves all pages.
TEST(pages_not_seen_yet_take_turns_with_new_outcomes) {
  OutcomeGoals g = {0};
  Queue q = {.goals = &g};
  QueueItem solved = {.origin = ORIGIN_SOLVED}, link = {.origin = ORIGIN_LINK};
  Arena arena = {0};
  Ask seen = ask_link("/", "page=a", &arena);
  queue_note(&q, &seen, 0, 0);
  for (unsigned i = 0; i < 3; i++) {
    solved.goal = new_goal(&g, i, "b");
    add(&q, "/", arena_printf(&arena, "page=a&x=%u", i), solved);
  }
  link.state = 1;
  add(&q, "/", "page=a", link);
  link.state = 0;
  add(&q, "/", "page=b", link);
  takes(&q, "GET /?page=a&x=0");
  takes(&q, "GET /?page=b");
  takes(&q, "GET /?page=a&x=1");
  takes(&q, "GET /?page=a&x=2");
  takes(&q, "GET /?page=a");
  queue_release(&q);
  outcome_goals_release(&g);
  arena_release(&arena);
}

TEST(a_request_for_a_new_outcome_comes_before_new_pages) {
  OutcomeGoals g = {0};
  Queue q = {.goals = &g};
  uint32_t one = new_goal(&g, 1, "b"), two = new_goal(&g, 1, "c");
  add(&q, "/new.php", "", (QueueItem){.origin = ORIGIN_ENTRY});
  for (int i = 0; i < 40; i++) // it becomes dear
    queue_note(&q, &(Ask){.path = "/a.php"}, 0, 0);
  QueueItem solved = {.origin = ORIGIN_SOLVED, .depth = 9};
  solved.goal = one;
  add(&q, "/a.php", "x=1", solved);
  solved.goal = two;
  add(&q, "/a.php", "x=2", solved);
  takes(&q, "GET /a.php?x=1");
  PhpCompare c = compared(COMPARE_EQUAL, "a", "c");
  c.line = 1;
  c.held = true;
  outcome_goals_show(&g, &c); // by whatever request
  takes(&q, "GET /new.php");
  takes(&q, "GET /a.php?x=2");
  queue_release(&q);
  outcome_goals_release(&g);
}

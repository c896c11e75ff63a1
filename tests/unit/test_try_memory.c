// What experiments came to, kept for `try --resume`: written, read again, and
// damaged.
#include "test.h"

#include <unistd.h>

#include "spectra.h"

#include "try/try_memory.h"
#include "try/web/web_memory.h"
#include "util/fs.h"

enum { BUILD = 77 };

static const Test test = {.name = "12", .line = "-n 3"};

static Experiment experiment(int64_t a) {
  return (Experiment){
      .unit = {{1, 2, 3}}, .site = 4, .change = CHANGE_SET, .a = a};
}

// The bytes that a write leaves.
static void written(int (*write)(const void *m, const char *path, uint64_t of,
                                 Err *err),
                    const void *m, Str *out) {
  char path[] = "/tmp/culprit-test-XXXXXX";
  Err err = {0};
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(write(m, path, BUILD, &err), 0);
  assert_int_equal(fs_read(path, 0, out, &err), 0);
  unlink(path);
}

// --- programs ---------------------------------------------------------------

static int write_runs(const void *m, const char *path, uint64_t of, Err *err) {
  return try_memory_write(m, path, of, err);
}

static TryResult result_of(int64_t i) {
  return (TryResult){.ran = true,
                     .passes = i & 1,
                     .end = END_EXIT,
                     .stops = (uint8_t)(i % RUN_STOPS),
                     .steps = (uint64_t)i * 1000,
                     .executed = 3,
                     .changed = 2,
                     .relations = 5};
}

static void fill_runs(TryMemory *m) {
  for (int64_t i = 0; i < 40; i++) {
    Experiment e = experiment(i);
    TryResult r = result_of(i);
    try_memory_add(m, try_memory_key(&test, &e), &r);
  }
}

TEST(runs_are_found_as_they_were) {
  TryMemory m = {0}, back = {0};
  Str text = {0};
  TryResult r;
  bool before = true;
  fill_runs(&m);
  written(write_runs, &m, &text);
  assert_int_equal(try_memory_parse(&back, str_text(&text), text.len, BUILD),
                   0);
  assert_int_equal(back.state, MEMORY_TAKEN);
  for (int64_t i = 0; i < 40; i++) {
    Experiment e = experiment(i);
    TryResult want = result_of(i);
    uint64_t key = try_memory_key(&test, &e);
    assert_true(try_memory_find(&m, key, &r, &before));
    assert_false(before);
    assert_true(try_memory_find(&back, key, &r, &before));
    assert_true(before);
    assert_int_equal(r.stops, want.stops);
    assert_int_equal(r.passes, want.passes);
    assert_int_equal(r.steps, want.steps);
    assert_int_equal(r.relations, want.relations);
  }
  str_release(&text);
  try_memory_release(&m);
  try_memory_release(&back);
}

TEST(another_test_or_experiment_is_not_known) {
  TryMemory m = {0};
  TryResult r;
  bool before;
  Experiment e = experiment(1), other = experiment(99);
  Test renamed = test, edited = test;
  renamed.name = "13";
  edited.line = "-n 4";
  fill_runs(&m);
  assert_true(try_memory_find(&m, try_memory_key(&test, &e), &r, &before));
  assert_false(try_memory_find(&m, try_memory_key(&test, &other), &r, &before));
  assert_false(try_memory_find(&m, try_memory_key(&renamed, &e), &r, &before));
  assert_false(try_memory_find(&m, try_memory_key(&edited, &e), &r, &before));
  assert_false(try_memory_find(&m, try_memory_key(&test, NULL), &r, &before));
  try_memory_release(&m);
}

// --- requests ---------------------------------------------------------------

static const PhpChange change = {
    .path = "/a.php", .hash = 5, .offset = 10, .length = 2, .with = "<="};

static int write_requests(const void *m, const char *path, uint64_t of,
                          Err *err) {
  return web_memory_write(m, path, of, err);
}

static uint64_t key_of(uint32_t i) {
  PhpChange c = change;
  c.offset = i;
  return web_memory_key("12", &c, false);
}

// Many pages are the same.
static void fill_requests(WebMemory *m) {
  for (uint32_t i = 0; i < 40; i++) {
    WebOutcome o = {.ran = true,
                    .status = 200 + (int)i,
                    .size = 1000,
                    .steps = (uint64_t)i << 40,
                    .stops = (uint8_t)(i % RUN_STOPS)};
    page_words("<p>one two</p>", 10 + i % 4, &o.words);
    for (uint32_t k = 0; k < i % 3; k++)
      array_push(&o.signatures, mem_printf("html: %u", k));
    web_memory_add(m, key_of(i), &o);
    web_outcome_release(&o);
  }
}

TEST(requests_are_found_as_they_were) {
  WebMemory m = {0}, back = {0};
  Str text = {0};
  bool before = false;
  fill_requests(&m);
  written(write_requests, &m, &text);
  assert_int_equal(web_memory_parse(&back, str_text(&text), text.len, BUILD),
                   0);
  assert_int_equal(back.state, MEMORY_TAKEN);
  assert_int_equal(back.records.len, 40);
  assert_true(back.words.len <= 4);
  for (uint32_t i = 0; i < 40; i++) {
    WebOutcome a, b;
    assert_true(web_memory_find(&m, key_of(i), &a, &before));
    assert_true(web_memory_find(&back, key_of(i), &b, &before));
    assert_true(before && b.ran);
    assert_int_equal(b.status, 200 + i);
    assert_int_equal(b.steps, (uint64_t)i << 40);
    assert_int_equal(b.stops, i % RUN_STOPS);
    assert_int_equal(b.size, 1000);
    assert_int_equal(b.signatures.len, i % 3);
    for (size_t k = 0; k < b.signatures.len; k++)
      assert_string_equal(a.signatures.items[k], b.signatures.items[k]);
    assert_int_equal(a.words.len, b.words.len);
    for (size_t k = 0; k < b.words.len; k++)
      assert_true(a.words.items[k] == b.words.items[k]);
    web_outcome_release(&a);
    web_outcome_release(&b);
  }
  str_release(&text);
  web_memory_release(&m);
  web_memory_release(&back);
}

TEST(what_identifies_a_request_is_its_test_its_change_and_its_visitor) {
  PhpChange c[5] = {change, change, change, change, change};
  c[0].path = "/b.php";
  c[1].hash++;
  c[2].offset++;
  c[3].length++;
  c[4].with = "<";
  uint64_t key = web_memory_key("12", &change, false);
  assert_true(key == web_memory_key("12", &change, false));
  assert_true(key != web_memory_key("12", &change, true));
  assert_true(key != web_memory_key("1", &change, false));
  for (size_t i = 0; i < 5; i++)
    assert_true(key != web_memory_key("12", &c[i], false));
}

// --- damage -----------------------------------------------------------------

TEST(what_other_programs_left_is_not_taken) {
  TryMemory m = {0}, back = {0};
  WebMemory web = {0}, web_back = {0};
  Str text = {0};
  fill_runs(&m);
  fill_requests(&web);
  written(write_runs, &m, &text);
  assert_int_equal(
      try_memory_parse(&back, str_text(&text), text.len, BUILD + 1), 0);
  assert_int_equal(back.state, MEMORY_OTHER);
  assert_int_equal(back.records.len, 0);
  assert_int_equal(
      web_memory_parse(&web_back, str_text(&text), text.len, BUILD), -1);
  web_memory_release(&web_back);
  str_clear(&text);
  written(write_requests, &web, &text);
  assert_int_equal(
      web_memory_parse(&web_back, str_text(&text), text.len, BUILD + 1), 0);
  assert_int_equal(web_back.state, MEMORY_OTHER);
  assert_int_equal(web_back.records.len, 0);
  str_release(&text);
  try_memory_release(&m);
  try_memory_release(&back);
  web_memory_release(&web);
  web_memory_release(&web_back);
}

// Reads damaged copies: cut short, or with wrong bytes.
static size_t read_damaged(const Str *right, bool web) {
  uint64_t seed = 42;
  size_t taken = 0;
  for (int round = 0; round < 20000; round++) {
    size_t size = draw(&seed, 3) ? right->len : draw(&seed, right->len);
    char *copy = mem_dup(right->data, size + 1);
    for (uint64_t n = draw(&seed, 4); n && size; n--)
      copy[draw(&seed, size)] = (char)draw(&seed, 256);
    TryMemory m = {0};
    WebMemory w = {0};
    taken += !(web ? web_memory_parse(&w, copy, size, BUILD)
                   : try_memory_parse(&m, copy, size, BUILD));
    for (size_t i = 0; i < w.records.len; i++) {
      WebOutcome o;
      bool before;
      if (web_memory_find(&w, w.records.items[i].key, &o, &before))
        web_outcome_release(&o);
    }
    try_memory_release(&m);
    web_memory_release(&w);
    free(copy);
  }
  return taken;
}

TEST(damaged_memories_are_read_without_harm) {
  TryMemory m = {0};
  WebMemory w = {0};
  Str text = {0};
  fill_runs(&m);
  fill_requests(&w);
  written(write_runs, &m, &text);
  assert_true(read_damaged(&text, false) > 1000);
  str_clear(&text);
  written(write_requests, &w, &text);
  assert_true(read_damaged(&text, true) > 1000);
  str_release(&text);
  try_memory_release(&m);
  web_memory_release(&w);
}

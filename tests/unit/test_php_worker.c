// Unit tests of PHP workers, with a real php-cgi and with impostors.
#include "test.h"

#include "test_php.h"

// --- workers
// ------------------------------------------------------------------

TEST(a_worker_serves_scripts_files_and_what_is_not_there) {
  Bench b;
  begin();
  WebApp s = small_site();
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

TEST(a_form_is_sent_from_a_page_of_the_same_site) {
  Bench b;
  begin();
  put("root/p.php", "<?php echo $_SERVER['HTTP_ORIGIN'] ?? '-', ' ',"
                    " $_SERVER['HTTP_REFERER'] ?? '-';");
  WebApp s = {.root = in_scratch("root")};
  open_worker(&b, &s);
  assert_string_equal(ask(&b, "/p.php"), "- -");
  Request post = {.method = "POST", .path = "/p.php", .query = "", .body = ""};
  assert_string_equal(ask_with(&b, &post, NULL),
                      "http://localhost http://localhost/p.php");
  Header own[] = {{"Host", "a.org:81"}, {"Origin", "http://b.org"}};
  post.headers = (Headers){.items = own, .len = 2};
  assert_string_equal(ask_with(&b, &post, NULL),
                      "http://b.org http://a.org:81/p.php");
  close_worker(&b);
  tidy();
}

TEST(uploads_are_not_among_the_temporary_files_that_are_state) {
  static const char multipart[] =
      "--B\r\nContent-Disposition: form-data; name=\"f\"; "
      "filename=\"x.txt\"\r\n\r\nfile!\r\n--B--\r\n";
  Bench b;
  begin();
  put("root/p.php", "<?php $at = dirname($_FILES['f']['tmp_name']);"
                    "echo is_dir($at), $at === sys_get_temp_dir() ? ' mixed' "
                    ": ' apart';");
  WebApp s = {.root = in_scratch("root")};
  open_worker(&b, &s);
  Header type = {"Content-Type", "multipart/form-data; boundary=B"};
  Request post = {.method = "POST",
                  .path = "/p.php",
                  .query = "",
                  .body = multipart,
                  .body_len = sizeof multipart - 1,
                  .headers = {.items = &type, .len = 1}};
  assert_string_equal(ask_with(&b, &post, NULL), "1 apart");
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
  WebApp s = {.root = in_scratch("root"), .ini = ini, .env = env};
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
  WebApp s = {.root = in_scratch("root"), .timeout = 0.3};
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
  WebApp s = {.root = in_scratch("root"), .timeout = 3, .max_body = 5};
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
  WebApp s = {.root = in_scratch("root"), .timeout = 5};
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
  WebApp s = {.root = in_scratch("root"), .session_dir = in_scratch("sess")};
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

static void cannot_open(WebApp s, const char *message) {
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
  WebApp s = {.root = in_scratch("root")};
  s.php_cgi = in_scratch("nothing");
  cannot_open(s, "nothing: no program; install php8.2-cgi");
  s.php_cgi = in_scratch("noexec");
  cannot_open(s, "noexec: no program");
  s.php_cgi = in_scratch("fake");
  cannot_open(s, "exit status 3: I am a teapot");
  s.php_cgi = in_scratch("silent");
  cannot_open(s, "is not a working php-cgi: exit status 0");
  s.php_cgi = NULL;
  s.extension = in_scratch("no-culprit.so");
  cannot_open(s, "does not load culprit's extension");
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
  WebApp s = {.root = in_scratch("root"), .php_cgi = in_scratch("liar")};
  cannot_open(s, "not FastCGI: record version 72");
  tidy();
}

// Answers every request as a php-cgi of that version would.
static void put_other_php(const char *version) {
  Str script = {0};
  str_addf(&script,
           "#!/usr/bin/perl\n"
           "use Socket; open(my $s, '+<&=', 0);\n"
           "my $t = \"Status: 404\\r\\nX-Powered-By: PHP/%s\\r\\n\\r\\nno\";\n"
           "while (my $a = accept(my $c, $s)) { sysread $c, my $b, 65536;\n"
           "syswrite $c, pack('CCnnCC', 1, 6, 1, length $t, 0, 0) . $t .\n"
           "pack('CCnnCC', 1, 6, 1, 0, 0, 0) . pack('CCnnCCNx4', 1, 3, 1, 8, 0,"
           " 0, 0); sleep 1; close $c; }\n",
           version);
  put("other", script.data);
  chmod(in_scratch("other"), 0755);
  str_release(&script);
}

TEST(a_php_of_another_version_than_the_extension_is_refused) {
  begin();
  put("root/a.php", "");
  put("culprit.so", "");
  put_other_php("7.4.33");
  WebApp s = {.root = in_scratch("root"),
              .php_cgi = in_scratch("other"),
              .extension = in_scratch("culprit.so")};
  cannot_open(s, "other is PHP/7.4.33, the extension is for PHP 8.2");
  tidy();
}

TEST(a_scratch_directory_may_have_a_name_longer_than_a_socket) {
  Worker *w;
  char name[200];
  begin();
  put("root/a.php", "<?php echo 1;");
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  WebApp s = {.root = in_scratch("root")};
  check(worker_open(&w, &s, in_scratch(name), &err));
  worker_close(w);
  tidy();
}

TEST(a_script_that_forks_does_not_confuse_the_next_answers) {
  Bench b;
  begin();
  put("root/fork.php", "<?php pcntl_fork(); echo 'two';");
  put("root/a.php", "<?php echo 'a';");
  put("root/b.php", "<?php echo 'b';");
  WebApp s = {.root = in_scratch("root"), .timeout = 5};
  open_worker(&b, &s);
  for (int i = 0; i < 5; i++) {
    ask(&b, "/fork.php");
    assert_string_equal(ask(&b, "/a.php"), "a");
    assert_string_equal(ask(&b, "/b.php"), "b");
  }
  close_worker(&b);
  tidy();
}

// Requests and what came back. A list of requests is a file, one a line:
//
//   # comment
//   setup POST /login.php user=bob&pw=x     made, but no test of its own
//   GET /view.php?topic=A
//     Accept-Language: de                   indented: one more header
//   ---                                     another visitor: fresh cookies and
//   GET /index.php                          fresh state
//
// METHOD PATH[?QUERY] [BODY]. A body is form data unless a Content-Type header
// says otherwise; `@FILE` is the bytes of a file beside the list, `@@` a body
// that begins with @. docs/reference/web-requests.md describes it.
// request_list_har reads the same from a browser's HAR file.
#ifndef CULPRIT_PHP_REQUEST_H
#define CULPRIT_PHP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *name, *value;
} Header;
typedef ARRAY(Header) Headers;

typedef struct {
  const char *method, *path, *query; // query: "" if there is none
  const char *body;
  size_t body_len;
  Headers headers;
  bool setup;
  bool login;       // --login: sent with all hidden fields of its form
  unsigned visitor; // 0, 1, ...: a `---` starts the next
  unsigned line;    // in the list
} Request;
typedef ARRAY(Request) Requests;

// Everything lies in `arena`, the arrays too (no array_release). Errors name
// file and line. request_list_read tells a HAR file by its opening brace and
// takes the requests to the host of its first entry.
int request_list_read(const char *path, Requests *out, Arena *arena, Err *err);
int request_list_parse(const char *name, const char *text, size_t len,
                       Requests *out, Arena *arena, Err *err);
// Requests to other hosts than `host` (NULL: that of the first entry) are left
// out, as are the headers that belong to the connection and the cookies of that
// day. Lines are the entries' numbers, from 1.
int request_list_har(const char *name, const char *text, size_t len,
                     const char *host, Requests *out, Arena *arena, Err *err);

// "POST /login.php user=bob&pw=x", as in a list. Caller frees.
char *request_text(const Request *r);

typedef struct {
  int status; // 200 if the script said nothing
  Headers headers;
  const char *body; // as the worker sent it
  size_t body_len;
  bool cut;           // longer than the limit: the rest was thrown away
  const char *errors; // what PHP wrote to FastCGI's standard error
} Response;

// The value of the first header of that name (any case), or NULL.
const char *headers_get(const Headers *h, const char *name);
// Is it a word as a method or a header's name must be?
bool is_token(const char *text, size_t n);

#endif

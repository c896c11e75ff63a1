// The variables of CGI/1.1 that a request gives to its script, as a web server
// sets them: REQUEST_URI, SCRIPT_FILENAME, HTTP_COOKIE, ...
#ifndef CULPRIT_PHP_PARAMS_H
#define CULPRIT_PHP_PARAMS_H

#include "php/request.h"
#include "php/route.h"
#include "util/str.h"

// Appends them to `pairs` in FastCGI's form.
void params_add(Str *pairs, const WebApp *app, const Route *route,
                const Request *r, const char *cookies);

#endif

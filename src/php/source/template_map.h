// Templates: which line of which template a compiled script came from, where
// the script says so. Failures, rankings and pages name the template then.
//
//   cache/3f/3f6c8a.php          page.twig
//   72  // line 9
//   73  echo "</ul>              9   </ul>
//   74  <p>some                  10  <p>some
//   78  // line 12
//   79  if ($context["bad"]) {   12  {% if bad %}
//
// Twig and Latte write the numbers of lines into comments. Smarty and Blade name
// the template only: its text stands in the script, and is found again in the
// template, in its order; code between two texts has the line where the first
// one ends. One row of a table per engine (template_map.c).
//
// Limits: code that an engine adds around the template keeps its own place.
// Where several tags of Smarty or Blade follow each other without any text
// between them, they all have the line of the first. Where a worker has a copy
// of the application (docs/guide/confine.md), the template named is the copy's.
#ifndef CULPRIT_PHP_SOURCE_TEMPLATE_MAP_H
#define CULPRIT_PHP_SOURCE_TEMPLATE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "php/source/php_change.h"
#include "util/arena.h"
#include "util/err.h"

typedef struct {
  const char *path;      // of the template, absolute
  const uint32_t *lines; // of the template, by line of the script; 0: none
  uint32_t nlines;
} TemplateMap;

// Is this script compiled from a template? NULL: it is not, or does not say
// from which. What `template` holds is in `arena`.
const TemplateMap *template_map_new(const char *text, const PhpTokens *tokens,
                                    Arena *arena);

// The line of the template; 0: there is none, or no map.
uint32_t template_line(const TemplateMap *m, uint32_t line);

// Reads the unit of a script (php_unit_read). If it is compiled from a template,
// its statements, blocks, edges, conditions and calls that have a line there
// stand in that file, and the text of such a statement is its place in the
// script, "PATH:LINE". A template may be compiled several times in a session,
// with another text each time: the script's own hash is then 0.
int template_unit_read(const char *maps, const UnitId *id, Unit *out,
                       Arena *arena, Err *err);

#endif

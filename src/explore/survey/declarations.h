// Does a script only declare something? Then it is no page: requested by itself
// it prints nothing, or dies because the class that it extends is not loaded.
//
//   <?php namespace app; use lib\Base;             only declarations
//   if (!defined('APP')) exit;
//   class Page extends Base { ... }
//
//   <?php class Page { ... } Page::show();         a page
//
// Declarations are namespace, use, declare, const, define, classes and the like,
// functions, attributes, and an `if` that ends a script which was requested by
// itself (its body is exit or die). Text outside of <?php ?> is a page unless it is
// white space. No parser: what it cannot tell is a page.
#ifndef CULPRIT_EXPLORE_SURVEY_DECLARATIONS_H
#define CULPRIT_EXPLORE_SURVEY_DECLARATIONS_H

#include <stdbool.h>
#include <stddef.h>

// A class, interface, trait, enum or function, and declarations only.
bool only_declares(const char *script, size_t n);

#endif

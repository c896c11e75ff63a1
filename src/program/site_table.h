// The sites of a build for experiments (runtime/try_format.h), as the program
// carries them.
//
//   SiteTable t;
//   site_table_read(&t, build.program, err);
//   for (size_t i = 0; i < t.sites.len; i++) ... t.sites.items[i].line
//   site_table_release(&t);
#ifndef CULPRIT_PROGRAM_SITE_TABLE_H
#define CULPRIT_PROGRAM_SITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "program/sections.h"
#include "runtime/try_format.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  char kind; // i, u, p, r: as in TrySite.names
  const char *name;
  bool fixed; // const
} SiteName;

typedef struct {
  UnitId unit;
  uint32_t number; // in its unit, from 1
  SiteKind kind;
  uint8_t op, width, flags;
  const char *file, *function, *text; // file: absolute
  uint32_t line, column;
  uint32_t operand, owner;
  int64_t value;
  const SiteName *names;
  size_t nnames;
} Site;

typedef struct {
  ARRAY(Site) sites; // by unit, in the order of its code
  Arena arena;       // owns the texts
} SiteTable;

// Fails if the program is none, or its table is damaged or of another version.
int site_table_read(SiteTable *t, const char *program, Err *err);
// The same from the section's bytes: the untrusted part. `path`: for messages.
int site_table_parse(SiteTable *t, Bytes section, const char *path, Err *err);
void site_table_release(SiteTable *t);

#endif

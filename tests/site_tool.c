// site_tool PROGRAM CACHE: makes the build for experiments and lists its sites,
// one a line: unit, number, kind, op, flags, line, column, operand, owner,
// value, text, names. The first line is the path of the build.
#include <stdio.h>

#include "program/site_table.h"
#include "program/trace_build.h"

static void print_site(const Site *s) {
  static const char *const kinds[SITE_KINDS] = {
      "other", "compare", "test",     "arith", "constant", "store", "return",
      "call",  "swap",    "argument", "index", "variable", "field"};
  for (size_t i = 0; i < sizeof s->unit.bytes; i++)
    printf("%02x", s->unit.bytes[i]);
  printf("\t%u\t%s\t%u\t%u\t%u\t%u\t%u\t%s\t%lld\t%s\t", s->number,
         kinds[s->kind], s->op, s->flags, s->line, s->column, s->operand,
         kinds[s->owner], (long long)s->value, s->text);
  for (size_t i = 0; i < s->nnames; i++)
    printf("%s%c:%s", i ? "," : "", s->names[i].kind, s->names[i].name);
  putchar('\n');
}

int main(int argc, char **argv) {
  Err err = {0};
  TraceBuild build;
  SiteTable table;
  if (argc != 3 || try_build(&build, argv[1], argv[2], &err) ||
      site_table_read(&table, build.program, &err)) {
    fprintf(stderr, "site_tool: %s\n", err.text);
    return 2;
  }
  puts(build.program);
  for (size_t i = 0; i < table.sites.len; i++)
    print_site(&table.sites.items[i]);
  site_table_release(&table);
  trace_build_release(&build);
  return 0;
}

// How a program was linked: see link_record.h. The object file is written by
// hand: one section, a name table, and the mark that the stack need not be
// executable.
#include "compile/link_record.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/fs.h"
#include "util/str.h"

static void add_string(Str *out, const char *text) {
  str_addn(out, text, strlen(text) + 1);
}

static void add_input_hash(Str *out, const char *path) {
  Str content = {0};
  Err ignored;
  if (!fs_read(path, 0, &content, &ignored)) {
    char hex[24];
    snprintf(hex, sizeof hex, "%016llx",
             (unsigned long long)XXH3_64bits(str_text(&content), content.len));
    add_string(out, path);
    add_string(out, hex);
  }
  str_release(&content);
}

static void collect(Str *out, const CcArgs *c) {
  char *cwd = getcwd(NULL, 0);
  add_string(out, cwd ? cwd : "");
  free(cwd);
  for (size_t i = 0; i < c->args.len; i++)
    add_string(out, c->args.items[i].text);
  add_string(out, "");
  for (size_t i = 0; i < c->args.len; i++)
    if (c->args.items[i].role == ARG_INPUT)
      add_input_hash(out, c->args.items[i].text);
}

static const char names[] = "\0" LINK_SECTION "\0.note.GNU-stack\0.shstrtab";

static Elf64_Word name_at(const char *name) {
  for (size_t i = 1; i < sizeof names; i += strlen(names + i) + 1)
    if (!strcmp(names + i, name))
      return (Elf64_Word)i;
  return 0;
}

static void add_object(Str *out, const Str *record) {
  enum { SECTIONS = 4 };
  size_t data = sizeof(Elf64_Ehdr), table = data + record->len;
  size_t headers = (table + sizeof names + 7) & ~(size_t)7;
  Elf64_Ehdr e = {.e_type = ET_REL,
                  .e_machine = EM_X86_64,
                  .e_version = EV_CURRENT,
                  .e_shoff = headers,
                  .e_ehsize = sizeof e,
                  .e_shentsize = sizeof(Elf64_Shdr),
                  .e_shnum = SECTIONS,
                  .e_shstrndx = SECTIONS - 1};
  memcpy(e.e_ident, ELFMAG, SELFMAG);
  e.e_ident[EI_CLASS] = ELFCLASS64;
  e.e_ident[EI_DATA] = ELFDATA2LSB;
  e.e_ident[EI_VERSION] = EV_CURRENT;
  Elf64_Shdr s[SECTIONS] = {{0},
                            {.sh_name = name_at(LINK_SECTION),
                             .sh_type = SHT_PROGBITS,
                             .sh_offset = data,
                             .sh_size = record->len,
                             .sh_addralign = 1},
                            {.sh_name = name_at(".note.GNU-stack"),
                             .sh_type = SHT_PROGBITS,
                             .sh_offset = table,
                             .sh_addralign = 1},
                            {.sh_name = name_at(".shstrtab"),
                             .sh_type = SHT_STRTAB,
                             .sh_offset = table,
                             .sh_size = sizeof names,
                             .sh_addralign = 1}};
  str_addn(out, &e, sizeof e);
  str_addn(out, record->data, record->len);
  str_addn(out, names, sizeof names);
  while (out->len < headers)
    str_addc(out, 0);
  str_addn(out, s, sizeof s);
}

int link_record_write(const char *path, const CcArgs *args, Err *err) {
  Str strings = {0}, record = {0}, object = {0};
  collect(&strings, args);
  LinkHeader h = {
      .magic = LINK_MAGIC, .size = strings.len, .version = LINK_VERSION};
  str_addn(&record, &h, sizeof h);
  str_addn(&record, strings.data, strings.len);
  add_object(&object, &record);
  int rc = fs_write(path, object.data, object.len, err);
  str_release(&strings);
  str_release(&record);
  str_release(&object);
  return rc;
}

// The sections of an ELF file: see sections.h.
#include "program/sections.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const Elf64_Shdr *section_table(Bytes file, size_t *n) {
  const Elf64_Ehdr *e = (const void *)file.data;
  if (file.size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
      e->e_ident[EI_CLASS] != ELFCLASS64 ||
      e->e_shentsize != sizeof(Elf64_Shdr))
    return NULL;
  if (e->e_shoff > file.size || e->e_shoff % _Alignof(Elf64_Shdr) ||
      (file.size - e->e_shoff) / sizeof(Elf64_Shdr) < e->e_shnum)
    return NULL;
  *n = e->e_shnum;
  return (const void *)(file.data + e->e_shoff);
}

static Bytes section_bytes(Bytes file, const Elf64_Shdr *s) {
  if (s->sh_type == SHT_NOBITS || s->sh_offset > file.size ||
      s->sh_size > file.size - s->sh_offset)
    return (Bytes){0};
  return (Bytes){file.data + s->sh_offset, s->sh_size};
}

Bytes section_find(Bytes file, const char *name, size_t *index) {
  size_t n = 0;
  const Elf64_Shdr *table = section_table(file, &n);
  const Elf64_Ehdr *e = (const void *)file.data;
  if (!table || e->e_shstrndx >= n)
    return (Bytes){0};
  Bytes names = section_bytes(file, &table[e->e_shstrndx]);
  size_t want = strlen(name) + 1;
  for (; *index < n; ++*index) {
    const Elf64_Shdr *s = &table[*index];
    if (s->sh_name >= names.size || names.size - s->sh_name < want ||
        memcmp(names.data + s->sh_name, name, want))
      continue;
    ++*index;
    return section_bytes(file, s);
  }
  return (Bytes){0};
}

int sections_open(const char *path, Bytes *out, Err *err) {
  // A run file names it, and a FIFO would never answer.
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat st;
  if (fd < 0 || fstat(fd, &st)) {
    if (fd >= 0)
      close(fd);
    return err_set(err, "%s: %m", path);
  }
  *out = (Bytes){0};
  if (S_ISREG(st.st_mode) && st.st_size > 0) {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED)
      *out = (Bytes){p, (size_t)st.st_size};
  }
  close(fd);
  return 0;
}

void sections_close(Bytes file) {
  if (file.data)
    munmap((void *)file.data, file.size);
}

bool section_exists(const char *path, const char *name) {
  Bytes file;
  Err ignored;
  size_t index = 0;
  if (sections_open(path, &file, &ignored))
    return false;
  bool found = section_find(file, name, &index).data;
  sections_close(file);
  return found;
}

static bool has_loader(Bytes file) {
  const Elf64_Ehdr *e = (const void *)file.data;
  if (file.size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
      e->e_ident[EI_CLASS] != ELFCLASS64 ||
      e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff > file.size ||
      e->e_phoff % _Alignof(Elf64_Phdr) ||
      (file.size - e->e_phoff) / sizeof(Elf64_Phdr) < e->e_phnum)
    return false;
  const Elf64_Phdr *p = (const void *)(file.data + e->e_phoff);
  for (size_t i = 0; i < e->e_phnum; i++)
    if (p[i].p_type == PT_INTERP)
      return true;
  return false;
}

bool program_is_dynamic(const char *path) {
  Bytes file;
  Err ignored;
  if (sections_open(path, &file, &ignored))
    return false;
  bool dynamic = has_loader(file);
  sections_close(file);
  return dynamic;
}

// What an executable file asks of the dynamic linker: see loadable.h.
#include "process/loadable.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// Sanitizers as shared libraries refuse to run if they are not loaded first.
static bool wants_to_be_first(const char *library) {
  const char *dot = strstr(library, ".so");
  return strstr(library, "libclang_rt.") ||
         (dot && dot - library > 3 && !memcmp(dot - 3, "san", 3));
}

static bool section_allows(Elf *elf, Elf_Scn *section, const GElf_Shdr *head) {
  Elf_Data *data = elf_getdata(section, NULL);
  size_t n = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
  GElf_Dyn entry;
  for (size_t i = 0; data && i < n && gelf_getdyn(data, (int)i, &entry); i++) {
    if (entry.d_tag != DT_NEEDED)
      continue;
    const char *name = elf_strptr(elf, head->sh_link, entry.d_un.d_val);
    if (!name || wants_to_be_first(name))
      return false;
  }
  return data;
}

// Exactly what is found in a dynamic section counts; none: refuse.
static bool libraries_allow(Elf *elf) {
  Elf_Scn *section = NULL;
  while ((section = elf_nextscn(elf, section))) {
    GElf_Shdr head;
    if (gelf_getshdr(section, &head) && head.sh_type == SHT_DYNAMIC)
      return section_allows(elf, section, &head);
  }
  return false;
}

static bool has_interpreter(Elf *elf) {
  size_t n = 0;
  GElf_Phdr head;
  if (elf_getphdrnum(elf, &n))
    return false;
  for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &head); i++)
    if (head.p_type == PT_INTERP)
      return true;
  return false;
}

static bool has_own_rights(const char *path) {
  struct stat st;
  return stat(path, &st) || (st.st_mode & (S_ISUID | S_ISGID)) ||
         getxattr(path, "security.capability", NULL, 0) >= 0;
}

bool loadable_with_preload(const char *path) {
  if (has_own_rights(path) || elf_version(EV_CURRENT) == EV_NONE)
    return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  bool yes = elf && elf_kind(elf) == ELF_K_ELF &&
             gelf_getclass(elf) == ELFCLASS64 && has_interpreter(elf) &&
             libraries_allow(elf);
  elf_end(elf);
  close(fd);
  return yes;
}

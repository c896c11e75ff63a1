// Where an instruction stands in the source: see place.h.
#include "plan/place.h"

#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"

static uint32_t add_source(Plan *p, const char *path) {
  uint64_t id = hashmap_intern(&p->paths, path, strlen(path), p->sources.len);
  if (id == p->sources.len) {
    SourceText text;
    source_text_load(&text, path);
    array_push(&p->texts, text);
    array_push(&p->sources, (Source){arena_strdup(&p->arena, path), text.hash});
  }
  return (uint32_t)id;
}

// `path` with `to` in place of `from`, which it begins with, if there is such a
// file; else itself. Takes path.
static char *moved(char *path, const char *from, size_t n, const char *to,
                   size_t m) {
  if (strncmp(path, from, n) != 0)
    return path;
  char *other = mem_printf("%.*s%s", (int)m, to, path + n);
  bool there = fs_exists(other);
  char *result = there ? path_absolute(other, NULL) : path;
  if (there)
    free(path);
  free(other);
  return result;
}

// Where the file really lies, if -ffile-prefix-map has renamed it. Takes path.
static char *unmap(const Plan *p, char *path) {
  for (size_t i = p->maps ? p->maps->len : 0; i-- > 0 && !fs_exists(path);) {
    const char *old = p->maps->items[i], *eq = strchr(old, '=');
    if (eq)
      path = moved(path, eq + 1, strlen(eq + 1), old, (size_t)(eq - old));
  }
  return path;
}

// Where -ffile-prefix-map says it lies, if it does. Takes path.
static char *map(const Plan *p, char *path) {
  for (size_t i = p->maps ? p->maps->len : 0; i-- > 0;) {
    const char *old = p->maps->items[i], *eq = strchr(old, '=');
    if (eq)
      path = moved(path, old, (size_t)(eq - old), eq + 1, strlen(eq + 1));
  }
  return path;
}

// A file that `#line` names: its name is relative to where the generator ran,
// which may be the directory of the generated file, `dir`, or one above. A name
// of another machine's is looked for beside it. Caller frees; NULL: none.
static char *find_named(const Plan *p, const char *name, const char *dir) {
  enum { LEVELS = 6 };
  char *at = mem_strdup(dir), *found = NULL;
  for (int i = 0; i < LEVELS && !found; i++) {
    found = unmap(p, path_absolute(name, at));
    char *slash = strrchr(at, '/');
    if (!fs_exists(found)) {
      free(found);
      found = NULL;
    }
    if (!slash || slash == at)
      break;
    *slash = '\0';
  }
  free(at);
  const char *base = path_base(name);
  return found || base == name ? found : find_named(p, base, dir);
}

// Takes path.
static char *resolve(const Plan *p, char *path, const char *name,
                     const char *dir) {
  path = unmap(p, path);
  if (fs_exists(path) || !p->name || name[0] == '<')
    return path;
  char *generated = path_absolute(p->name, dir);
  generated[path_base(generated) - generated - 1] = '\0';
  char *found = find_named(p, name, generated);
  free(generated);
  if (found)
    free(path);
  return found ? map(p, found) : path;
}

uint32_t place_source(Plan *p, LLVMMetadataRef file) {
  uint64_t id;
  if (hashmap_get(&p->files, &file, sizeof file, &id))
    return (uint32_t)id;
  unsigned dir_len = 0, name_len = 0;
  const char *dir = LLVMDIFileGetDirectory(file, &dir_len);
  const char *name = LLVMDIFileGetFilename(file, &name_len);
  char *dir_text = arena_strndup(&p->arena, dir, dir_len);
  char *name_text = arena_strndup(&p->arena, name, name_len);
  const char *where = *dir_text ? dir_text : NULL;
  char *path = resolve(p, path_absolute(name_text, where), name_text, where);
  id = add_source(p, path);
  free(path);
  hashmap_put(&p->files, &file, sizeof file, id);
  return (uint32_t)id;
}

bool place_of(Plan *p, LLVMValueRef inst, Place *out) {
  LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(inst);
  if (!loc || !LLVMDILocationGetLine(loc))
    return false;
  LLVMMetadataRef file = LLVMDIScopeGetFile(LLVMDILocationGetScope(loc));
  if (!file)
    return false;
  out->source = place_source(p, file);
  out->line = LLVMDILocationGetLine(loc);
  out->col_lo = out->col_hi = LLVMDILocationGetColumn(loc);
  return true;
}

const char *place_text(const Plan *p, const Place *place) {
  return source_text_at(&p->texts.items[place->source], place->line,
                        place->col_lo);
}

// Where the text of a line before a place ends, without blanks.
static size_t end_before(const char *line, size_t n) {
  while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
    n--;
  return n;
}

// Is the parenthesis at the end of line[0, n) that of `if (...)` or of a macro
// like it, and not a cast's?
static bool ends_head(const char *line, size_t n) {
  int depth = 0;
  while (n--) {
    depth += line[n] == ')' ? 1 : line[n] == '(' ? -1 : 0;
    if (!depth)
      break;
  }
  if (n == SIZE_MAX) // it begins on a line above
    return true;
  n = end_before(line, n);
  return n && (isalnum((unsigned char)line[n - 1]) || line[n - 1] == '_');
}

// Can a statement begin behind line[0, n)?
static bool statement_begins(const char *line, size_t n) {
  n = end_before(line, n);
  if (!n || strchr("{};", line[n - 1]))
    return true;
  if (line[n - 1] == ')')
    return ends_head(line, n);
  if (line[n - 1] == ':')
    return !memchr(line, '?', n);
  return n >= 4 && !strncmp(line + n - 4, "else", 4);
}

// A jump is a statement of its own where the source says so: break, continue,
// goto, return, or a macro that stands for one ("NEXT;"). Other jumps belong to
// the head of a loop, an if, or an operator; that behind an inner loop has the
// place of the last word in it: the x of "for (...) a[i] = x;".
static bool jump_is_statement(const Plan *p, const Place *place) {
  const char *text = place_text(p, place);
  static const char *const jumps[] = {"break", "continue", "goto", "return"};
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
    if (source_word_is(text, jumps[i]))
      return true;
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || text[n] == '_')
    n++;
  if (!n || text[n + strspn(text + n, " \t")] != ';')
    return false;
  return statement_begins(text - (place->col_lo - 1), place->col_lo - 1);
}

LLVMValueRef metadata_part(LLVMValueRef node, int k) {
  enum { MOST = 32 };
  LLVMValueRef parts[MOST];
  int n = LLVMGetMDNodeNumOperands(node);
  if (n <= k || n > MOST)
    return NULL;
  LLVMGetMDNodeOperands(node, parts);
  return parts[k];
}

bool is_debug_call(LLVMValueRef inst) {
  return LLVMIsADbgInfoIntrinsic(inst) != NULL;
}

bool place_of_statement(Plan *p, LLVMValueRef inst, Place *out) {
  LLVMOpcode op = LLVMGetInstructionOpcode(inst);
  if (op == LLVMAlloca || op == LLVMPHI || op == LLVMUnreachable ||
      is_debug_call(inst) || !place_of(p, inst, out))
    return false;
  const char *text = place_text(p, out);
  if (*text == '}')
    return false; // implicit return, end of a loop body
  if (op == LLVMBr && !LLVMIsConditional(inst))
    return jump_is_statement(p, out);
  return true;
}

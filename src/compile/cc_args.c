// Parses a compiler command line: see cc_args.h.
#include "compile/cc_args.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "compile/bitcode_format.h"
#include "util/fs.h"
#include "util/str.h"

// clang-format off
// Options whose value is the next argument, with the role of both.
static const struct {
  const char *name;
  ArgRole role;
} separate[] = {
    {"-I", ARG_FRONT},           {"-D", ARG_FRONT},
    {"-U", ARG_FRONT},           {"-include", ARG_FRONT},
    {"-imacros", ARG_FRONT},     {"-isystem", ARG_FRONT},
    {"-idirafter", ARG_FRONT},   {"-iquote", ARG_FRONT},
    {"-iprefix", ARG_FRONT},     {"-iwithprefix", ARG_FRONT},
    {"-iwithprefixbefore", ARG_FRONT}, {"-isysroot", ARG_FRONT},
    {"-include-pch", ARG_FRONT}, {"-MF", ARG_FRONT},
    {"-MT", ARG_FRONT},          {"-MQ", ARG_FRONT},
    {"-MJ", ARG_FRONT},          {"-Xpreprocessor", ARG_FRONT},
    {"-Xclang", ARG_FRONT},      {"-A", ARG_FRONT},
    {"-Xlinker", ARG_LINK},      {"-L", ARG_LINK},
    {"-l", ARG_LINK},            {"-T", ARG_LINK},
    {"-u", ARG_LINK},            {"-z", ARG_LINK},
    {"-e", ARG_LINK},            {"-rpath", ARG_LINK},
    {"-Xassembler", ARG_OPTION}, {"-target", ARG_OPTION},
    {"--target", ARG_OPTION},    {"--sysroot", ARG_OPTION},
    {"-B", ARG_OPTION},          {"-mllvm", ARG_OPTION},
    {"-arch", ARG_OPTION},       {"--param", ARG_OPTION},
    {"-aux-info", ARG_OPTION},   {"-G", ARG_OPTION},
};

static const char *const queries[] = {
    "-E",        "-S",         "-M",           "-MM",
    "-fsyntax-only", "-###",   "--version",    "-dumpversion",
    "-dumpmachine", "--help",  "-emit-llvm",   "-emit-ast",
    "--analyze", "-dM",        "-print-search-dirs", "-cc1",
    NULL};

static const char *const front_prefixes[] = {
    "-I", "-D", "-U", "-i", "-Wp,", "-std=", "--std=", "-M", "-C", "-P", "-H",
    "-ansi", "-pedantic", "-trigraphs", "-Xclang", "-nostdinc", "-undef",
    NULL};

static const char *const link_prefixes[] = {
    "-l",       "-L",      "-Wl,",    "-shared", "-static", "-pie",
    "-no-pie",  "-rdynamic", "-nostdlib", "-nodefaultlibs", "-nostartfiles",
    "-fuse-ld", "-T",      "-u",      "-z",      "-s",      "-r",
    "-static-libgcc", "-Bstatic", "-Bdynamic", "--ld-path",
    NULL};

// Options of gcc that say how it optimizes, reports or dumps, which clang does
// not know: what follows "-f" or "-fno-" begins so.
static const char *const gcc_alone[] = {
    "aggressive-loop-", "allocation-dce", "allow-store-data-races", "analyzer",
    "auto-inc-dec", "bit-tests", "branch-probabilities", "branch-target-load",
    "callgraph-info", "canonical-system-headers", "checking", "code-hoisting",
    "combine-stack-adj", "compare-debug", "compare-elim", "conserve-stack",
    "cprop-", "crossjumping", "cse-", "dce", "delayed-branch",
    "devirtualize-at-", "diagnostics-generate-patch",
    "diagnostics-plain-output", "diagnostics-show-caret",
    "diagnostics-show-cwe", "diagnostics-show-labels",
    "diagnostics-show-path-depths", "dse", "dump-", "early-inlining",
    "fold-simple-inlines", "forward-propagate", "function-cse", "gcse-",
    "gnu-unique", "graphite", "guess-branch-prob", "harden-",
    "hoist-adjacent-loads", "if-conversion", "indirect-inlining",
    "inline-atomics", "ipa-", "ira-", "isolate-erroneous-paths",
    "keep-static-functions", "large-source-files", "lifetime-dse",
    "limit-function-alignment", "live-patching", "live-range-", "loop-",
    "lra-", "mem-report", "merge-debug-strings", "move-loop-", "opt-info",
    "optimize-strlen", "partial-inlining", "peephole", "predictive-commoning",
    "printf-return-value", "profile-partial-training", "profile-reorder-",
    "ree", "reorder-blocks-", "reorder-functions", "rerun-", "reschedule-",
    "sched", "section-anchors", "sel-sched-", "selective-scheduling",
    "shrink-wrap", "simd-cost-model", "split-ivs", "split-loops", "split-paths",
    "split-wide", "ssa-", "stack-reuse", "stdarg-opt", "store-merging",
    "thread-jumps", "toplevel-reorder", "tree-", "unconstrained-commons",
    "var-tracking", "version-loops", "vpt", "working-directory",
    NULL};
// Some that begin so, clang knows.
static const char *const not_alone[] = {
    "tree-vectorize", "tree-slp-vectorize", "sched-interblock",
    NULL};
// clang-format on

#define COUNT(a) (sizeof(a) / sizeof *(a))

// --- response files ---------------------------------------------------------

// One word of a response file, quoted as a shell would; NULL at the end.
static char *next_word(const char **at) {
  const char *p = *at;
  while (isspace((unsigned char)*p))
    p++;
  if (!*p)
    return NULL;
  Str word = {0};
  for (char quote = 0; *p && (quote || !isspace((unsigned char)*p)); p++) {
    if (*p == '\\' && p[1])
      str_addc(&word, *++p);
    else if (quote && *p == quote)
      quote = 0;
    else if (!quote && (*p == '"' || *p == '\''))
      quote = *p;
    else
      str_addc(&word, *p);
  }
  *at = p;
  return str_take(&word);
}

static int expand(Args *out, const char *arg, int depth, Err *err) {
  if (*arg != '@' || !fs_exists(arg + 1)) {
    array_push(out, arg);
    return 0;
  }
  if (depth > 16)
    return err_set(err, "%s: response files include each other", arg);
  Str text = {0};
  if (fs_read(arg + 1, 0, &text, err))
    return -1;
  const char *at = str_text(&text);
  int rc = 0;
  for (char *word; !rc && (word = next_word(&at));)
    rc = expand(out, word, depth + 1, err); // words live as long as we do
  str_release(&text);
  return rc;
}

// --- roles ------------------------------------------------------------------

static bool is_c_language(const char *language) {
  return !strcmp(language, "c") || !strcmp(language, "cpp-output");
}

static bool is_c_file(const char *path) {
  return text_ends(path, ".c") || text_ends(path, ".i") ||
         text_ends(path, BITCODE_SUFFIX);
}

// To be precompiled.
static bool is_header(const char *path, const char *language) {
  return language ? text_ends(language, "-header") : text_ends(path, ".h");
}

// Probes of configure, CMake and Meson: compiled as the compiler alone would.
static bool is_probe(const char *path) {
  return text_starts(path_base(path), "conftest") ||
         strstr(path, "CMakeFiles/CMakeTmp/") ||
         strstr(path, "CMakeFiles/CMakeScratch/") ||
         strstr(path, "CMakeCCompilerId") || strstr(path, "meson-private/");
}

bool cc_args_gcc_alone(const char *a) {
  if (!text_starts(a, "-f"))
    return false;
  a += text_starts(a, "-fno-") ? 5 : 2;
  return text_starts_one_of(a, gcc_alone) && !text_starts_one_of(a, not_alone);
}

static void note_option(CcArgs *c, const char *a) {
  if (!strcmp(a, "-c"))
    c->compile_only = true;
  if (text_is_one_of(a, queries) || text_starts(a, "-print-"))
    c->passthrough = true;
  if (text_starts(a, "-O"))
    c->opt = a[2] ? (char)(a[2] == 'f' ? 'f' : a[2]) : '1';
  c->warnings_fail |= text_starts(a, "-Werror=");
  if (!strcmp(a, "-Werror") || !strcmp(a, "-Wno-error"))
    c->errors_all = !strcmp(a, "-Werror");
  c->pedantic |= !strcmp(a, "-pedantic-errors");
  if (!strcmp(a, "-MD") || !strcmp(a, "-MMD") || text_starts(a, "-Wp,-M"))
    c->depfile = true;
  if (text_starts(a, "-MF") || text_starts(a, "-Wp,-M"))
    c->depfile_named = true;
  if (text_starts(a, "-MT") || text_starts(a, "-MQ"))
    c->deptarget_named = true;
  if (!strcmp(a, "-m32") || !strcmp(a, "-mx32") || !strcmp(a, "-m16") ||
      text_starts(a, "--target") || !strcmp(a, "-target"))
    c->foreign_target = true;
  c->relocatable |= !strcmp(a, "-r") || !strcmp(a, "-Wl,-r");
  c->linker_script |= text_starts(a, "-T") || text_starts(a, "-Wl,-T");
  static const char *const maps[] = {"-ffile-prefix-map=",
                                     "-fdebug-prefix-map="};
  for (size_t i = 0; i < COUNT(maps); i++)
    if (text_starts(a, maps[i]))
      array_push(&c->prefix_maps, a + strlen(maps[i]));
}

// Lines come from debug information, in the object file itself.
static bool hides_lines(const char *a) {
  static const char *const options[] = {"-g0", "-ggdb0", "-gsplit-dwarf",
                                        "-gline-directives-only", NULL};
  return text_is_one_of(a, options) || text_starts(a, "-gsplit-dwarf=");
}

static ArgRole option_role(CcArgs *c, const char *a) {
  if (text_starts(a, "-flto") || text_starts(a, "-fno-lto") ||
      !strcmp(a, "-fwhole-program") || !strcmp(a, "-ffat-lto-objects")) {
    c->lto |= text_starts(a, "-flto");
    return ARG_DROP;
  }
  if (!strcmp(a, "-c") || hides_lines(a) || text_starts(a, "-save-temps"))
    return ARG_DROP;
  if (cc_args_gcc_alone(a)) {
    c->left_out = c->left_out ? c->left_out : a;
    return ARG_DROP;
  }
  if (text_starts(a, "-Wa,") || text_starts(a, "-mllvm"))
    return ARG_OPTION;
  if (text_starts_one_of(a, link_prefixes) && !text_starts(a, "-std") &&
      !text_starts(a, "-undef"))
    return ARG_LINK;
  if (text_starts_one_of(a, front_prefixes))
    return ARG_FRONT;
  return ARG_OPTION;
}

static void push(CcArgs *c, const char *text, ArgRole role) {
  array_push(&c->args, (Arg){text, role});
}

static void add_input(CcArgs *c, const char *path, const char *language) {
  bool is_c = language ? is_c_language(language) : is_c_file(path);
  push(c, path, is_c ? ARG_SOURCE : ARG_INPUT);
  c->ninputs++;
  c->nsources += is_c;
  c->probe |= is_c && is_probe(path);
  if (c->probe || is_header(path, language) ||
      (strcmp(path, "-") != 0 && !fs_exists(path)))
    c->passthrough = true;
}

static const ArgRole *role_of_separate(const char *a) {
  for (size_t i = 0; i < COUNT(separate); i++)
    if (!strcmp(a, separate[i].name))
      return &separate[i].role;
  return NULL;
}

int cc_args_parse(CcArgs *c, int argc, char **argv, Err *err) {
  *c = (CcArgs){.opt = '0'};
  Args all = {0};
  for (int i = 0; i < argc; i++)
    if (expand(&all, argv[i], 0, err))
      return -1;
  const char *language = NULL;
  for (size_t i = 0; i < all.len; i++) {
    const char *a = all.items[i];
    const char *value = i + 1 < all.len ? all.items[i + 1] : NULL;
    const ArgRole *role = role_of_separate(a);
    if ((role || !strcmp(a, "-o") || !strcmp(a, "-x")) && !value)
      c->passthrough = true; // clang says what is missing
    if (*a != '-' || !a[1]) {
      add_input(c, a, language);
    } else if (!strcmp(a, "-o") && value) {
      c->output = value;
      push(c, a, ARG_OUTPUT);
      push(c, value, ARG_OUTPUT);
      i++;
    } else if (text_starts(a, "-o") && a[2] && !text_starts(a, "-object")) {
      c->output = a + 2;
      push(c, a, ARG_OUTPUT);
    } else if (text_starts(a, "-x")) {
      language = a[2] ? a + 2 : value;
      push(c, a, ARG_LANGUAGE);
      if (!a[2] && value) {
        push(c, value, ARG_LANGUAGE);
        i++;
      }
      if (language && !strcmp(language, "none"))
        language = NULL;
    } else if (role && value) {
      note_option(c, a);
      push(c, a, *role);
      push(c, value, *role);
      i++;
    } else {
      note_option(c, a);
      push(c, a, option_role(c, a));
    }
  }
  array_release(&all);
  if (!c->ninputs)
    c->passthrough = true;
  return 0;
}

// --- compiling again --------------------------------------------------------

static bool hides_directory(const CcArgs *c) {
  static const char *const options[] = {
      "-ffile-compilation-dir=", "-fdebug-compilation-dir", NULL};
  for (size_t i = 0; i < c->args.len; i++)
    if (text_starts_one_of(c->args.items[i].text, options))
      return true;
  return false;
}

// Is it about depfiles? `pair`: its value is the next argument.
static bool is_about_depfile(const char *a, bool *pair) {
  static const char *const pairs[] = {"-MF", "-MT", "-MQ", "-MJ", NULL};
  *pair = text_is_one_of(a, pairs);
  return text_starts(a, "-M") || text_starts(a, "-Wp,-M");
}

void cc_args_front(const CcArgs *c, const char *source, Args *out) {
  if (!strcmp(source, "-") || text_ends(source, BITCODE_SUFFIX))
    return;
  const char *dir = hides_directory(c) ? "" : getcwd(NULL, 0);
  array_push(out, dir ? dir : ""); // lives as long as we do
  array_push(out, source);
  bool before = true; // the source: -x is for what follows it
  for (size_t i = 0; i < c->args.len; i++) {
    const Arg *arg = &c->args.items[i];
    bool pair;
    before = before && arg->text != source;
    if (is_about_depfile(arg->text, &pair) && arg->role == ARG_FRONT)
      i += pair;
    else if (arg->role == ARG_FRONT || (arg->role == ARG_LANGUAGE && before))
      array_push(out, arg->text);
  }
}

// culprit-instrument: the half of the compiler that needs LLVM. culprit-cc runs
// it between clang's front end and code generation:
//
//   clang -emit-llvm ... a.c -o a.bc
//   culprit-instrument count --runtime R.s --opt 2 a.bc -o a.out.bc
//   clang -x ir a.out.bc -c -o a.o
//
// `count` splits critical edges, plans (plan.h), embeds bitcode and map, counts
// (probe.h) and adds the runtime. `trace`, `close`, `try` and `mark` make other builds from the
// embedded bitcode, the other subcommands answer questions about it. Kept apart
// from culprit-cc because loading LLVM takes longer than many a compiler call
// that needs none of it.
#include <getopt.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "close/accesses.h"
#include "close/close_unit.h"
#include "close/pairs.h"
#include "close/relations.h"
#include "compile/bitcode_format.h"
#include "hook/hook_insert.h"
#include "instrument/boundaries.h"
#include "instrument/dependences.h"
#include "instrument/generate.h"
#include "instrument/link_table.h"
#include "instrument/marks.h"
#include "instrument/mutate.h"
#include "lower/lower.h"
#include "plan/contract_wrap.h"
#include "plan/map_write.h"
#include "plan/passes.h"
#include "plan/plan.h"
#include "plan/probe.h"
#include "program/map_format.h"
#include "trace/trace_code.h"
#include "trace/trace_insert.h"
#include "util/err.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/str.h"

typedef struct {
  const char *input, *output, *runtime;
  const char *mutate; // number of the mutant to plant, or NULL
  Str args;           // of code generation, each with its NUL
  Str front;          // how the source was compiled: bitcode_format.h
  CounterSize size;
  bool returns;
  char level;  // of -O
  bool object; // write machine code, not bitcode
  bool check;  // trace: record what replay is compared with
  bool plain;  // lower: without promotion
  bool stores; // lower, trace: without promotion, for a trace of its own
  bool fixed;  // close: for a program at a fixed place
  bool links;  // count: with a table of the unit's link-time constants
  uint32_t unit;
  const char *names;
  PrefixMaps maps;
} Options;

static LLVMModuleRef read_module(LLVMContextRef c, const char *path, Err *err) {
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  char *message = NULL;
  if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
    err_set(err, "%s: %s", path, message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  bool bad = LLVMParseBitcodeInContext2(c, buffer, &module);
  LLVMDisposeMemoryBuffer(buffer);
  if (bad) {
    err_set(err, "%s: not LLVM 19 bitcode", path);
    return NULL;
  }
  return module;
}

enum { LEVEL = 9 }; // of compression: above it takes many times as long

// The bitcode chunk of the unit, and the unit's identity: a hash of it.
static void pack_bitcode(LLVMModuleRef m, Plan *p, const Options *o, Str *out) {
  LLVMMemoryBufferRef bc = LLVMWriteBitcodeToMemoryBuffer(m);
  const char *data = LLVMGetBufferStart(bc);
  size_t size = LLVMGetBufferSize(bc);
  XXH128_hash_t hash = XXH3_128bits(data, size);
  memcpy(p->id.bytes, &hash, sizeof p->id.bytes);
  BitcodeHeader h = {.magic = BITCODE_MAGIC,
                     .full_size = size,
                     .args_size = o->args.len,
                     .front_size = o->front.len,
                     .returns = o->returns,
                     .mutant =
                         o->mutate ? strtoul(o->mutate, NULL, 10) + 1 : 0};
  memcpy(h.id, p->id.bytes, sizeof h.id);
  size_t bound = ZSTD_compressBound(size);
  void *packed = mem_alloc(bound);
  h.size = ZSTD_compress(packed, bound, data, size, LEVEL);
  if (!ZSTD_isError(h.size)) {
    str_addn(out, &h, sizeof h);
    str_addn(out, str_text(&o->args), o->args.len);
    str_addn(out, str_text(&o->front), o->front.len);
    str_addn(out, packed, h.size);
  }
  free(packed);
  LLVMDisposeMemoryBuffer(bc);
}

// Reading through a null pointer is a crash to be recorded, not a reason to
// take the code that leads there for impossible.
static void expect_null(LLVMModuleRef m) {
  LLVMContextRef c = LLVMGetModuleContext(m);
  static const char name[] = "null_pointer_is_valid";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                              LLVMCreateEnumAttribute(c, kind, 0));
}

// The runtime comes as assembly (tools/runtime-asm): translating that again in
// every object file costs a tenth of compiling it again.
static int add_runtime(LLVMModuleRef m, const char *path, Err *err) {
  Str text = {0};
  if (fs_read(path, 0, &text, err))
    return -1;
  LLVMAppendModuleInlineAsm(m, str_text(&text), text.len);
  str_release(&text);
  return 0;
}

// A part of the runtime that few units need; it lies beside the runtime.
static int add_part(LLVMModuleRef m, const char *runtime, const char *part,
                    Err *err) {
  char *path = mem_printf("%.*sculprit-%s.s",
                          (int)(path_base(runtime) - runtime), runtime, part);
  int rc = add_runtime(m, path, err);
  free(path);
  return rc;
}

static int add_contract_runtime(LLVMModuleRef m, const char *runtime,
                                Err *err) {
  if (!contract_is_used(m) || !runtime)
    return 0;
  return add_part(m, runtime, "contract", err);
}

// Boundaries between the tests of a test program.
static int add_segments(LLVMModuleRef m, const char *runtime, Err *err) {
  bool used;
  if (boundaries_insert(m, getenv("CULPRIT_SEGMENT"), &used, err))
    return -1;
  return used ? add_part(m, runtime, "segment", err) : 0;
}

static int find_mutants(LLVMModuleRef m, const Options *o, Plan *p,
                        Mutants *out, Err *err) {
  mutants_find(p, m, out);
  char *end;
  unsigned long n = strtoul(o->mutate, &end, 10);
  if (*end || end == o->mutate || n >= out->len)
    return err_set(err, "no mutant '%s': %s has 0 to %zu", o->mutate, p->name,
                   out->len ? out->len - 1 : 0);
  return 0;
}

static int list_mutants(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  (void)o;
  (void)err;
  Str text = {0};
  Mutants mutants = {0};
  mutants_find(p, m, &mutants);
  mutants_list(p, &mutants, &text);
  fputs(str_text(&text), stdout);
  array_release(&mutants);
  str_release(&text);
  return 0;
}

static int list_dependences(LLVMModuleRef m, const Options *o, Plan *p,
                            Err *err) {
  (void)o;
  (void)err;
  Str text = {0};
  dependences_write(p, m, &text);
  fputs(str_text(&text), stdout);
  str_release(&text);
  return 0;
}

// The input is embedded bitcode: its hash is the unit's identity.
static int identify(const Options *o, Plan *p, Err *err) {
  Str bitcode = {0};
  if (fs_read(o->input, 0, &bitcode, err))
    return -1;
  XXH128_hash_t hash = XXH3_128bits(str_text(&bitcode), bitcode.len);
  memcpy(p->id.bytes, &hash, sizeof p->id.bytes);
  str_release(&bitcode);
  return 0;
}

// Found by the hash of what the lowered IR is made from.
static int add_links(LLVMModuleRef m, const Options *o, Err *err) {
  Plan named = {0};
  if (identify(o, &named, err))
    return -1;
  links_add(m, named.id);
  return 0;
}

static int count(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  contract_wrap(m);
  if (passes_run(m, "function(break-crit-edges)", err))
    return -1;
  Str bitcode = {0}, map = {0};
  pack_bitcode(m, p, o, &bitcode);
  p->maps = &o->maps;
  plan_module(p, m, o->returns);
  Mutants mutants = {0};
  int rc = o->mutate ? find_mutants(m, o, p, &mutants, err) : 0;
  if (!rc && p->ncounters) {
    map_write(p, o->size, &map);
    if (o->links)
      rc = add_links(m, o, err);
    probe_insert(m, p, o->size);
    rc = rc ? rc : add_segments(m, o->runtime, err);
    expect_null(m);
    if (mutants.len)
      mutant_apply(&mutants.items[strtoul(o->mutate, NULL, 10)]);
    probe_add_section(m, "__culprit_map", MAP_SECTION, map.data, map.len);
    probe_add_section(m, "__culprit_bitcode", BITCODE_SECTION, bitcode.data,
                      bitcode.len);
    if (!rc && o->level != '0' && o->size == COUNTERS_HITS) {
      rc = passes_run(m, "function(mem2reg,loop(loop-rotate))", err);
      if (!rc)
        probe_hoist(m);
    }
    if (!rc)
      rc = add_runtime(m, o->runtime, err);
  }
  if (!rc)
    rc = add_contract_runtime(m, o->runtime, err);
  array_release(&mutants);
  str_release(&bitcode);
  str_release(&map);
  return rc;
}

static int trace(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  TraceCode code;
  if (identify(o, p, err) ||
      trace_code_init(&code, m, !o->stores, o->names, err))
    return -1;
  TraceOptions options = {.id = p->id, .number = o->unit, .check = o->check};
  int rc = trace_insert(&code, &options, err);
  trace_code_release(&code);
  return rc ? rc : add_contract_runtime(m, o->runtime, err);
}

// The plan keeps its statements, also one that a mutant leaves out.
static int plant(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  Mutants mutants = {0};
  int rc = find_mutants(m, o, p, &mutants, err);
  if (!rc)
    mutant_apply(&mutants.items[strtoul(o->mutate, NULL, 10)]);
  array_release(&mutants);
  return rc;
}

// Tests inside of the program have their boundaries, as in the normal build.
static int add_runtimes(LLVMModuleRef m, const char *runtime, Err *err) {
  int rc = add_segments(m, runtime, err);
  if (!rc)
    rc = add_runtime(m, runtime, err);
  return rc ? rc : add_contract_runtime(m, runtime, err);
}

static int close_build(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  CloseUnit unit;
  RelationSites sites = {0};
  p->maps = &o->maps;
  if (identify(o, p, err))
    return -1;
  plan_module(p, m, false);
  if (o->mutate && plant(m, o, p, err))
    return -1;
  if (!p->ncounters)
    return add_contract_runtime(m, o->runtime, err);
  close_unit_init(&unit, m, p);
  accesses_list(&unit);
  relations_plan(&unit, &sites);
  pairs_insert(&unit, &sites);
  relations_insert(&unit, &sites);
  close_unit_finish(&unit);
  expect_null(m);
  int rc = add_runtimes(m, o->runtime, err);
  close_unit_release(&unit);
  array_release(&sites);
  return rc;
}

// As a close build, it keeps the entities of lines, so that its runs can be told
// apart into tests; nothing is counted.
static int try_build(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  CloseUnit unit;
  HookSites sites = {0};
  Str table = {0};
  p->maps = &o->maps;
  if (identify(o, p, err))
    return -1;
  UnitId id = p->id;
  plan_module(p, m, false);
  if (o->mutate && plant(m, o, p, err))
    return -1;
  if (!p->ncounters)
    return add_contract_runtime(m, o->runtime, err);
  close_unit_init(&unit, m, p);
  hook_sites_find(&sites, m, p);
  hook_sites_write(&sites, p, &id, &table);
  hooks_insert(m, &sites, &id);
  close_unit_finish(&unit);
  LLVMStripModuleDebugInfo(m); // nobody needs it any more, and it takes time
  expect_null(m);
  probe_add_section(m, "__culprit_sites", TRY_SECTION, table.data, table.len);
  int rc = add_runtimes(m, o->runtime, err);
  close_unit_release(&unit);
  hook_sites_release(&sites);
  str_release(&table);
  return rc;
}

static int mark(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  (void)p;
  marks_insert(m, o->unit);
  return add_contract_runtime(m, o->runtime, err);
}

static int lower(LLVMModuleRef m, const Options *o, Plan *p, Err *err) {
  TraceCode code;
  Str out = {0};
  p->marking = true;
  p->maps = &o->maps;
  plan_module(p, m, o->returns);
  lower_keep_marks(m, p);
  int rc = identify(o, p, err);
  if (!rc && o->plain)
    trace_code_init_plain(&code, m);
  else if (!rc)
    rc = trace_code_init(&code, m, !o->stores, NULL, err);
  if (!rc) {
    rc = lower_module(&code, p, &out, err);
    trace_code_release(&code);
  }
  if (!rc)
    rc = fs_write(o->output, out.data, out.len, err);
  str_release(&out);
  return rc;
}

static int verify(LLVMModuleRef m, Err *err) {
  char *message = NULL;
  int rc = 0;
  if (getenv("CULPRIT_VERIFY") &&
      LLVMVerifyModule(m, LLVMReturnStatusAction, &message))
    rc = err_set(err, "internal error, broken module: %s", message);
  LLVMDisposeMessage(message);
  return rc;
}

static int write_module(LLVMModuleRef m, const char *path, Err *err) {
  if (LLVMWriteBitcodeToFile(m, path))
    return err_set(err, "%s: cannot be written", path);
  return 0;
}

// --- command line -----------------------------------------------------------

typedef struct {
  const char *name;
  int (*work)(LLVMModuleRef m, const Options *o, Plan *p, Err *err);
  const char *usage;
  bool runtime, output; // needs them
  bool builds;          // the module is the result, as bitcode or machine code
} Subcommand;

static const Subcommand subcommands[] = {
    {"count", count,
     "--runtime FILE [--mode hits|counts] [--returns] [--links] [--opt LEVEL]\n"
     "        [--mutate N] [--prefix-map FROM=TO]... [--arg ARG]... "
     "[--front ARG]...\n"
     "        [--object] INPUT -o OUTPUT",
     true, true, true},
    {"trace", trace,
     "[--runtime FILE] [--check] [--stores] [--unit N] [--names FILE]\n"
     "        [--opt LEVEL] [--object] INPUT -o OUTPUT",
     false, true, true},
    {"close", close_build,
     "--runtime FILE [--fixed] [--mutate N] [--prefix-map FROM=TO]...\n"
     "        [--opt LEVEL] [--object] INPUT -o OUTPUT",
     true, true, true},
    {"try", try_build,
     "--runtime FILE [--mutate N] [--prefix-map FROM=TO]... [--opt LEVEL] "
     "[--object]\n"
     "        INPUT -o OUTPUT",
     true, true, true},
    {"mark", mark,
     "[--runtime FILE] [--unit N] [--opt LEVEL] [--object] INPUT -o OUTPUT",
     false, true, true},
    {"lower", lower,
     "[--plain|--stores] [--returns] [--prefix-map FROM=TO]... INPUT -o OUTPUT",
     false, true, false},
    {"mutants", list_mutants, "INPUT", false, false, false},
    {"pdg", list_dependences, "INPUT", false, false, false},
};
enum { NSUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int usage(void) {
  for (size_t i = 0; i < NSUBCOMMANDS; i++)
    fprintf(stderr, "%s culprit-instrument %s %s\n",
            i ? "      " : "usage:", subcommands[i].name, subcommands[i].usage);
  fputs("culprit-cc runs this; it is not meant to be called by hand.\n",
        stderr);
  return 2;
}

static const Subcommand *find_subcommand(const char *name) {
  for (size_t i = 0; name && i < NSUBCOMMANDS; i++)
    if (!strcmp(name, subcommands[i].name))
      return &subcommands[i];
  return NULL;
}

static const struct option longs[] = {
    {"runtime", required_argument, NULL, 'r'},
    {"mode", required_argument, NULL, 'm'},
    {"returns", no_argument, NULL, 'v'},
    {"opt", required_argument, NULL, 'O'},
    {"prefix-map", required_argument, NULL, 'p'},
    {"arg", required_argument, NULL, 'a'},
    {"front", required_argument, NULL, 'F'},
    {"object", no_argument, NULL, 'b'},
    {"mutate", required_argument, NULL, 'u'},
    {"check", no_argument, NULL, 'c'},
    {"unit", required_argument, NULL, 'n'},
    {"names", required_argument, NULL, 'f'},
    {"plain", no_argument, NULL, 'P'},
    {"stores", no_argument, NULL, 'S'},
    {"links", no_argument, NULL, 'L'},
    {"fixed", no_argument, NULL, 'X'},
    {0}};

static CounterSize counter_size(const char *mode) {
  return !strcmp(mode, "counts") ? COUNTERS_COUNTS : COUNTERS_HITS;
}

static int take_option(Options *o, int opt) {
  // clang-format off
  switch (opt) {
  case 'o': o->output = optarg; return 0;
  case 'r': o->runtime = optarg; return 0;
  case 'm': o->size = counter_size(optarg); return 0;
  case 'v': o->returns = true; return 0;
  case 'O': o->level = *optarg; return 0;
  case 'p': array_push(&o->maps, optarg); return 0;
  case 'a': str_addn(&o->args, optarg, strlen(optarg) + 1); return 0;
  case 'F': str_addn(&o->front, optarg, strlen(optarg) + 1); return 0;
  case 'b': o->object = true; return 0;
  case 'u': o->mutate = optarg; return 0;
  case 'c': o->check = true; return 0;
  case 'n': o->unit = (uint32_t)strtoul(optarg, NULL, 10); return 0;
  case 'f': o->names = optarg; return 0;
  case 'P': o->plain = true; return 0;
  case 'S': o->stores = true; return 0;
  case 'L': o->links = true; return 0;
  case 'X': o->fixed = true; return 0;
  default: return -1;
  }
  // clang-format on
}

// argv[0] is the subcommand.
static int parse_options(Options *o, const Subcommand *sub, int argc,
                         char **argv) {
  *o = (Options){.size = COUNTERS_HITS, .level = '0'};
  for (int c; (c = getopt_long(argc, argv, "o:", longs, NULL)) != -1;)
    if (take_option(o, c))
      return -1;
  o->input = argv[optind];
  return o->input && (o->output || !sub->output) &&
                 (o->runtime || !sub->runtime)
             ? 0
             : -1;
}

static int write_build(LLVMModuleRef m, const Options *o, Err *err) {
  if (verify(m, err))
    return -1;
  return o->object ? generate_object(m, o->level, o->fixed, o->output, err)
                   : write_module(m, o->output, err);
}

int main(int argc, char **argv) {
  Options o;
  const Subcommand *sub = find_subcommand(argv[1]);
  if (!sub || parse_options(&o, sub, argc - 1, argv + 1))
    return usage();
  Err err = {0};
  Plan plan = {0};
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef m = read_module(context, o.input, &err);
  int rc = m ? sub->work(m, &o, &plan, &err) : -1;
  if (!rc && sub->builds)
    rc = write_build(m, &o, &err);
  if (rc)
    escape_printf(stderr, "culprit-cc: %s\n", err.text);
  plan_release(&plan);
  // The process ends here: taking a large module apart first would cost as
  // much as writing it did.
  fflush(NULL);
  _Exit(rc ? 3 : 0);
}

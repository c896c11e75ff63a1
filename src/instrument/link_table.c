// The table of link-time constants: see link_table.h.
#include "instrument/link_table.h"

#include <stdlib.h>

#include "plan/probe.h"
#include "runtime/links_format.h"
#include "trace/trace_code.h"

static LLVMValueRef number(LLVMContextRef c, uint64_t v) {
  return LLVMConstInt(LLVMInt64TypeInContext(c), v, false);
}

static LLVMValueRef unit_id(LLVMContextRef c, UnitId id) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(c);
  LLVMValueRef bytes[sizeof id.bytes];
  for (size_t i = 0; i < sizeof id.bytes; i++)
    bytes[i] = LLVMConstInt(i8, id.bytes[i], false);
  return LLVMConstArray2(i8, bytes, sizeof id.bytes);
}

static LLVMValueRef table(const TraceCode *code, LLVMContextRef c) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(c);
  size_t n = code->constants.len;
  LLVMValueRef *values = mem_array(LLVMValueRef, n + 1);
  for (size_t i = 0; i < n; i++)
    values[i] = trace_code_number(code, i);
  LLVMValueRef all = LLVMConstArray2(i64, values, n);
  free(values);
  return all;
}

void links_add(LLVMModuleRef m, UnitId id) {
  TraceCode code;
  trace_code_collect(&code, m);
  LLVMContextRef c = LLVMGetModuleContext(m);
  LLVMValueRef parts[4] = {number(c, LINKS_MAGIC), unit_id(c, id),
                           number(c, code.constants.len), table(&code, c)};
  LLVMValueRef record = LLVMConstStructInContext(c, parts, 4, false);
  LLVMValueRef g = LLVMAddGlobal(m, LLVMTypeOf(record), "__culprit_links");
  LLVMSetInitializer(g, record);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetSection(g, LINKS_SECTION);
  LLVMSetAlignment(g, 8);
  probe_keep(m, g);
  trace_code_release(&code);
}

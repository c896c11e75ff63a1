// Where the output of a run is first wrong: see wrong_byte.h.
#include "model/wrong_byte.h"

#include <inttypes.h>
#include <stdio.h>

static void write_byte(int byte, Str *out) {
  if (byte == BYTE_END)
    str_add(out, "- ");
  else
    str_addf(out, "%02x ", (unsigned)byte);
}

void wrong_byte_write(const WrongByte *b, const char *by, Str *out) {
  str_addf(out, "%" PRIu64 " ", b->offset);
  write_byte(b->expected, out);
  write_byte(b->printed, out);
  str_addf(out, "%u %s %s", b->line, by ? by : "-", b->source);
}

static bool read_byte(const char *text, int *out) {
  unsigned byte;
  *out = BYTE_END;
  if (text[0] == '-' && !text[1])
    return true;
  if (sscanf(text, "%x", &byte) != 1 || byte > UINT8_MAX)
    return false;
  *out = (int)byte;
  return true;
}

bool wrong_byte_read(const char *text, WrongByte *out) {
  char expected[3], printed[3], by[64];
  int end = 0;
  *out = (WrongByte){0};
  if (sscanf(text, "%" SCNu64 " %2s %2s %" SCNu32 " %63s %n", &out->offset,
             expected, printed, &out->line, by, &end) != 5 ||
      !end || !read_byte(expected, &out->expected) ||
      !read_byte(printed, &out->printed))
    return false;
  out->source = text + end;
  return out->expected != out->printed;
}

static void tell_byte(int byte, Str *out) {
  if (byte == BYTE_END)
    str_add(out, "the end of the output");
  else if (byte == '\n')
    str_add(out, "a line end");
  else if (byte == ' ')
    str_add(out, "a blank");
  else if (byte > ' ' && byte < 0x7f && byte != '`')
    str_addf(out, "`%c`", byte);
  else
    str_addf(out, "byte 0x%02x", (unsigned)byte);
}

void wrong_byte_tell(const WrongByte *b, Str *out) {
  if (b->printed != BYTE_END) {
    tell_byte(b->printed, out);
    str_add(out, " ");
  }
  str_add(out, "where ");
  tell_byte(b->expected, out);
  str_add(out, " was expected");
}

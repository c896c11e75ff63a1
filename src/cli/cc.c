// `culprit cc ...`: the same as culprit-cc, which lies next to this program.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli.h"
#include "util/fs.h"
#include "util/mem.h"

static int cc_main(int argc, char **argv) {
  (void)argc;
  char *self = path_of_self();
  char *cc = mem_printf("%s/culprit-cc", self);
  argv[0] = cc; // culprit-cc finds its parts from its own place, not from this
  execv(cc, argv);
  int status =
      cli_fail(EXIT_ENVIRONMENT, "%s: %s; build or install culprit again", cc,
               strerror(errno));
  free(cc);
  free(self);
  return status;
}

const Command cmd_cc = {"cc", "compile C (the same as culprit-cc)", cc_main};

# The entry points; Meson and Ninja do the work (see HACKING.md).
#
#   make             install what is missing (root), build into build/
#   make demo        localize a planted fault in subjects/scheduler
#   make demo-web    find and localize two faults of a PHP application
#   make check       all tests; ends with the line "N passed, N failed"
#   make check-real  gzip, grep and sed, built with culprit-cc, their own tests;
#                    DokuWiki and Adminer
#   make bench       speed and memory, as a table
#   make eval        methods on all subjects: docs/evaluation.md and
#                    docs/evaluation-web.md (minutes)
#   make eval-real   on mutants of gzip, grep, sed, flex (an hour)
#   make eval-input  tests needed by the strategies of `culprit input` (minutes)
#   make install     PREFIX=/usr/local DESTDIR=
#   make uninstall   likewise
#   make clean
PREFIX = /usr/local
DESTDIR =
BUILD = build
DEST = $(abspath $(DESTDIR))$(abspath $(PREFIX))
INSTALLED = bin/culprit bin/culprit-cc libexec/culprit/culprit-instrument \
  lib/culprit/culprit-runtime.s lib/culprit/culprit-trace.o \
  lib/culprit/culprit.so share/man/man1/culprit.1 \
  share/man/man1/culprit-cc.1

.PHONY: all setup-check setup-real setup-bench demo demo-web check check-real bench
.PHONY: setup-eval eval eval-real eval-input install uninstall clean

all:
	@tools/setup build
	@tools/build $(BUILD)

demo: all
	@tools/demo $(BUILD)

demo-web: all
	@tools/demo-web $(BUILD)

check: setup-check
	@tests/check $(BUILD)

check-real: setup-real
	@tests/real/run $(BUILD)
	@tests/real/php $(BUILD)

bench: setup-bench
	@bench/run $(BUILD)

eval: setup-eval
	@tools/eval $(BUILD)
	@tools/eval-web $(BUILD)

eval-real: setup-eval
	@tools/eval-real $(BUILD)

eval-input: setup-eval
	@tools/eval-input $(BUILD)

setup-check setup-real setup-bench setup-eval: all
	@tools/setup $(subst setup-,,$@)

install: all
	meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	DESTDIR=$(abspath $(DESTDIR)) meson install -C $(BUILD) --quiet

uninstall:
	rm -f $(addprefix $(DEST)/,$(INSTALLED))
	-rmdir $(DEST)/libexec/culprit $(DEST)/lib/culprit

clean:
	rm -rf $(BUILD)

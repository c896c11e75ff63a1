# The entry points; Meson and Ninja do the work (see HACKING.md).
#
#   make             build into build/; as root, install missing packages
#   make demo        localize a planted fault in subjects/scheduler
#   make demo-web    find and localize two faults of a PHP application
#   make check       all tests; ends with the line "N passed, N failed"
#   make check-fast  units, cases and a test of every command: before a commit
#   make check-machines  the machine-sensitive tests under other conditions:
#                    library routines, memory, environment, load
#   make check-real  gzip, grep and sed, built with culprit-cc, their own tests;
#                    DokuWiki and Adminer
#   make bench       speed and memory, as a table
#   make eval        methods on all subjects: docs/evaluation/suites.md and
#                    docs/evaluation/web.md (minutes)
#   make eval-real   on mutants of gzip, grep, sed, flex (an hour)
#   make eval-try    what experiments bring on all subjects: docs/evaluation/try.md
#                    (an hour)
#   make eval-input  tests needed by the strategies of `culprit input` (minutes)
#   make eval-made   rankings of made tests, of the suite, and of both (minutes)
#   make eval-near   reports of `culprit near` on all subjects (half an hour)
#   make flips       negate every branch of the test corpus, and run the result:
#                    docs/internals/trace.md
#   make solvers     the same, with every query of every path checked by Z3 (a
#                    quarter of an hour)
#   make encodings   check the encoding of `culprit spec` against all subjects
#                    with contracts (minutes)
#   make install     PREFIX=/usr/local DESTDIR=
#   make uninstall   likewise
#   make deb         a Debian package in build/deb
#   make clean
PREFIX = /usr/local
DESTDIR =
BUILD = build
DEST = $(abspath $(DESTDIR))$(abspath $(PREFIX))
INSTALLED = bin/culprit bin/culprit-cc libexec/culprit lib/culprit \
  share/man/man1/culprit.1 share/man/man1/culprit-*.1 \
  share/bash-completion/completions/culprit.bash \
  share/zsh/site-functions/_culprit

.PHONY: all setup-check setup-real setup-bench demo demo-web check check-fast check-machines check-real bench
.PHONY: setup-eval eval eval-real eval-try eval-input eval-made eval-near flips solvers encodings install uninstall deb clean

all:
	@tools/setup build
	@tools/build $(BUILD)

demo: all
	@tools/demo $(BUILD)

demo-web: all
	@tools/demo-web $(BUILD)

check: setup-check
	@tests/check $(BUILD)

check-fast: setup-check
	@tests/check $(BUILD) --fast

check-machines: setup-check
	@tests/check $(BUILD) --machines

check-real: setup-real
	@tests/real/run $(BUILD)
	@tests/real/shards $(BUILD)
	@tests/real/postgres $(BUILD)
	@tests/real/php $(BUILD)

bench: setup-bench
	@bench/run $(BUILD)

eval: setup-eval
	@tools/eval $(BUILD)
	@tools/eval-web $(BUILD)

eval-real: setup-eval
	@tools/eval-real $(BUILD)

eval-try: setup-eval
	@tools/eval-try $(BUILD) --kinds --by-program --fixes --write docs/evaluation/try.md

flips: setup-check
	@tests/flips --build $(BUILD) --write docs/internals/trace.md

solvers: setup-check
	@tests/flips --build $(BUILD) --all --runs 1 --faults 1 --write docs/internals/trace.md

encodings: setup-check
	@tests/encodings --build $(BUILD)

eval-input: setup-eval
	@tools/eval-input $(BUILD)

eval-made: setup-eval
	@tools/eval-made $(BUILD)

eval-near: setup-eval
	@tools/eval-near $(BUILD)

setup-check setup-real setup-bench setup-eval: all
	@tools/setup $(subst setup-,,$@)

install: all
	meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	DESTDIR=$(abspath $(DESTDIR)) meson install -C $(BUILD) --quiet

uninstall:
	rm -rf $(addprefix $(DEST)/,$(INSTALLED))

deb: all
	@tools/setup deb
	@debian/rules binary > $(BUILD)/deb.log 2>&1 || { tail -20 $(BUILD)/deb.log; exit 1; }
	@debian/rules clean >> $(BUILD)/deb.log 2>&1
	@ls $(BUILD)/deb/*.deb

clean:
	rm -rf $(BUILD)

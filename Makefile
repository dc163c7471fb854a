# SPDX-License-Identifier: BSD-3-Clause
# The front door: `make help` lists the targets.

CC ?= cc
PREFIX ?= /usr/local
# Debian and its family look for libraries in a folder of their architecture.
LIBDIR ?= $(PREFIX)/lib$(if $(filter /usr,$(PREFIX)),$(addprefix /,$(shell $(CC) -print-multiarch)))
INCLUDEDIR ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR ?= $(LIBDIR)/cmake/librpma
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DESTDIR ?=

CARGO ?= cargo
CMAKE ?= cmake
CTEST ?= ctest
OBJCOPY ?= objcopy
INSTALL ?= install

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SONAME := librpma.so.0
BUILD := build
SOURCES := $(shell find src rdma-sys/src -type f) $(wildcard build.rs rdma-sys/build.rs Cargo.* \
	rdma-sys/Cargo.toml)
HEADER_TOOL := $(wildcard tools/header/*.* tools/header/src/*)
TEST_BUILD := $(BUILD)/cabi-tests
DIST := $(BUILD)/librpma-$(VERSION).tar.xz
CONFIG := $(addprefix $(BUILD)/,librpma.pc librpma-config.cmake librpma-config-version.cmake)
MAN_SOURCES := man/generate man/page.lua man/page.man man/librpma.7.md $(wildcard man/examples/*.c)

# Two builds in different folders are the same: debug information names neither folder. Encoded, the
# flags end at a character that no folder's name has; RUSTFLAGS would end at a space.
NONE :=
SPACE := $(NONE) $(NONE)
END := $(shell printf '\037')
USER_RUSTFLAGS := $(or $(CARGO_ENCODED_RUSTFLAGS),$(subst $(SPACE),$(END),$(strip $(RUSTFLAGS))))
REMAP_HERE := --remap-path-prefix=$(CURDIR)=/usr/src/librpma-$(VERSION)
REMAP_CARGO := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/usr/src/cargo

# rustc would link a cdylib without symbol versions, so it makes the archive and cc the library.
# -z defs: nothing may be missing when a program loads it. -z noseparate-code saves the padding
# between code and constants (8 KB), where the linker knows it, and -nostartfiles what C++ and
# profilers would need (0.5 KB), but for crtendS.o, which ends the unwind tables.
NO_PADDING := $(shell flag=-Wl,-z,noseparate-code; \
	$(CC) $(LDFLAGS) -shared -nostdlib $$flag -o /dev/null -x c /dev/null 2>/dev/null && echo $$flag)
SO_LDFLAGS := -shared -Wl,-soname,$(SONAME) -Wl,--version-script=src/librpma.map \
	-Wl,--no-undefined-version -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack \
	$(NO_PADDING) -Wl,--gc-sections -nostartfiles -static-libgcc

all: $(BUILD)/librpma.so $(BUILD)/librpma.a $(CONFIG) ## build the library into build/

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# cargo decides by itself what has to be compiled again. The archive that it makes has all of Rust's
# core library in it: what is left is one object with what the library needs, in which only the C
# functions are global.
$(BUILD)/librpma.a: export CARGO_ENCODED_RUSTFLAGS := \
	$(if $(USER_RUSTFLAGS),$(USER_RUSTFLAGS)$(END))$(REMAP_HERE)$(END)$(REMAP_CARGO)
$(BUILD)/librpma.a: $(SOURCES) src/librpma.map
	@mkdir -p $(BUILD)
	+$(CARGO) build --release --locked --message-format json-render-diagnostics > $(BUILD)/cargo.json
	sed -n 's/^[[:space:]]*\(rpma_[a-z0-9_]*\);/\1/p' src/librpma.map > $(BUILD)/librpma.symbols
	$(CC) -r -nostdlib -o $(BUILD)/librpma.o $$(sed 's/^/-Wl,-u,/' $(BUILD)/librpma.symbols) \
		"$$(sed -n 's|.*"\([^"]*/librpma\.a\)".*|\1|p' $(BUILD)/cargo.json)"
	$(OBJCOPY) --keep-global-symbols=$(BUILD)/librpma.symbols $(BUILD)/librpma.o
	rm -f $@
	$(AR) rcsD $@ $(BUILD)/librpma.o
	rm $(BUILD)/librpma.o $(BUILD)/librpma.symbols $(BUILD)/cargo.json

# The tool runs here, for whatever machine the library is.
$(BUILD)/librpma.h: $(SOURCES) $(HEADER_TOOL)
	@mkdir -p $(BUILD)
	+env -u CARGO_BUILD_TARGET $(CARGO) run --locked --manifest-path tools/header/Cargo.toml \
		--target-dir $(BUILD)/header > $@.new
	mv $@.new $@

# libdl has dlsym up to glibc 2.33, and nothing from then on.
$(BUILD)/$(SONAME): $(BUILD)/librpma.a src/librpma.map
	$(CC) $(SO_LDFLAGS) $(LDFLAGS) -o $@ -Wl,--whole-archive $(BUILD)/librpma.a \
		-Wl,--no-whole-archive -Wl,--as-needed -libverbs -lrdmacm -ldl \
		$$($(CC) -print-file-name=crtendS.o)

$(BUILD)/librpma.so: $(BUILD)/$(SONAME)
	ln -sf $(SONAME) $@

# Always made anew: `make` and `make install` may be called with different folders.
$(CONFIG): $(BUILD)/%: pkgconfig/%.in FORCE
	@mkdir -p $(BUILD)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' \
		-e 's|@INCLUDEDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR))|' \
		-e "s|@LIBDIR_FROM_CMAKEDIR@|$$(realpath -m --relative-to=$(CMAKEDIR) $(LIBDIR))|" \
		-e "s|@INCLUDEDIR_FROM_CMAKEDIR@|$$(realpath -m --relative-to=$(CMAKEDIR) $(INCLUDEDIR))|" \
		$< > $@

header: $(BUILD)/librpma.h ## regenerate include/librpma.h from the sources
	cp $< include/librpma.h

demo: ## run the remote log of examples/ on the C library and on this one
	tools/install-packages demo
	@$(MAKE) --no-print-directory all
	reference=$$(tools/fetch-reference) && \
	RPMA_REFERENCE_INCLUDE=$$reference/usr/include \
	RPMA_REFERENCE_LIB=$$(dirname "$$reference"/usr/lib/*/librpma.so.0) \
	examples/demo

# Writes a summary beside CTest's own, whether tests fail or not.
RUN_CTEST = status=0; rm -f $(TEST_BUILD)/tests.xml; \
	$(CTEST) --test-dir $(TEST_BUILD) --output-on-failure --output-junit tests.xml $(1) || status=$$?; \
	tools/slowest-tests $(TEST_BUILD)/tests.xml && exit $$status

check: ## run all tests, for about 20 minutes; installs the packages they need
	@echo 'make check: takes about 20 minutes on two cores; make test has the quick ones of the tests'
	tools/install-packages check
	@$(MAKE) --no-print-directory all test-programs
	@$(MAKE) --no-print-directory check-header
	$(CARGO) test --workspace --locked
	$(call RUN_CTEST,--parallel 2)

test: ## run the tests without the labels guest, valgrind, packages and arch, in two minutes once they are built
	tools/install-packages test
	@$(MAKE) --no-print-directory all test-programs
	@$(MAKE) --no-print-directory check-header
	$(CARGO) test --workspace --locked
	$(call RUN_CTEST,--parallel 2 --label-exclude '^(guest|valgrind|packages|arch)$$')

ARCH ?= arm64 ppc64el s390x riscv64

check-arch: ## cross-build for ARCH=arm64, ppc64el, s390x or riscv64, or all, and run the tests over the stand-in
	tools/install-packages check
	for architecture in $(ARCH); do cabi-tests/arch/check $$architecture all || exit; done

miri: ## run the tests of threads under Miri (needs a nightly toolchain with Miri)
	@$(CARGO) +nightly miri --version >/dev/null 2>&1 || { \
		echo 'Miri is missing: rustup toolchain install nightly --component miri,rust-src' >&2; exit 1; }
	MIRIFLAGS="$${MIRIFLAGS--Zmiri-tree-borrows}" $(CARGO) +nightly miri test --lib --locked scenarios::

test-programs: all ## build what ctest runs
	reference=$$(tools/fetch-reference) && \
	$(CMAKE) -S cabi-tests -B $(TEST_BUILD) -DRPMA_REFERENCE="$$reference"
	$(CMAKE) --build $(TEST_BUILD) --parallel $$(nproc) -- --no-print-directory

soak: ## the long forms of the tests of hard use, up to half an hour
	tools/install-packages soak
	@$(MAKE) --no-print-directory all test-programs
	$(CTEST) --test-dir $(TEST_BUILD) -C soak -L soak-long --output-on-failure

lint: ## formatting, lints and documentation of the Rust sources, as CI has them
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path tools/header/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy --manifest-path tools/header/Cargo.toml --target-dir $(BUILD)/header --locked \
		-- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --document-private-items

check-header: $(BUILD)/librpma.h ## fail when include/librpma.h is not what the sources give
	diff -u include/librpma.h $(BUILD)/librpma.h

man: ## make the manual pages
	tools/install-packages man
	@$(MAKE) --no-print-directory $(BUILD)/man/man7/librpma.7

# Written last, so it stands for all of them.
$(BUILD)/man/man7/librpma.7: include/librpma.h Cargo.toml $(MAN_SOURCES)
	man/generate $(BUILD)/man
	@echo 'read them with MANPATH=$(abspath $(BUILD)/man): man librpma'

install: all ## install library, header, librpma.pc and CMake package (DESTDIR, PREFIX, LIBDIR)
	$(INSTALL) -d "$(DESTDIR)$(LIBDIR)" "$(DESTDIR)$(INCLUDEDIR)" "$(DESTDIR)$(PKGCONFIGDIR)" \
		"$(DESTDIR)$(CMAKEDIR)" "$(DESTDIR)$(DATADIR)/librpma"
	$(INSTALL) -m 644 $(BUILD)/$(SONAME) $(BUILD)/librpma.a "$(DESTDIR)$(LIBDIR)"
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/librpma.so"
	$(INSTALL) -m 644 include/librpma.h "$(DESTDIR)$(INCLUDEDIR)"
	$(INSTALL) -m 644 $(BUILD)/librpma.pc "$(DESTDIR)$(PKGCONFIGDIR)"
	$(INSTALL) -m 644 $(filter %.cmake,$(CONFIG)) "$(DESTDIR)$(CMAKEDIR)"
	$(INSTALL) -m 644 valgrind/librpma.supp "$(DESTDIR)$(DATADIR)/librpma"

install-man: man ## install the manual pages (MANDIR)
	$(INSTALL) -d "$(DESTDIR)$(MANDIR)/man3" "$(DESTDIR)$(MANDIR)/man7"
	$(INSTALL) -m 644 $(BUILD)/man/man3/*.3 "$(DESTDIR)$(MANDIR)/man3"
	$(INSTALL) -m 644 $(BUILD)/man/man7/librpma.7 "$(DESTDIR)$(MANDIR)/man7"

dist: ## make the source tarball in build/: it builds without network
	tools/dist $(BUILD)

# -d, and rustup's home: dpkg knows nothing of a compiler by rustup.
deb: ## make the Debian packages in build/
	tools/install-packages deb
	@$(MAKE) --no-print-directory dist
	rm -rf $(BUILD)/deb
	mkdir $(BUILD)/deb
	cp $(DIST) $(BUILD)/deb/rpma_$(VERSION).orig.tar.xz
	tar -C $(BUILD)/deb -xf $(DIST)
	cp -r debian $(BUILD)/deb/librpma-$(VERSION)
	cd $(BUILD)/deb/librpma-$(VERSION) && unset MAKEFLAGS && \
		RUSTUP_HOME="$${RUSTUP_HOME:-$$HOME/.rustup}" dpkg-buildpackage -us -uc -d
	mv $(BUILD)/deb/*_* $(BUILD)
	rm -rf $(BUILD)/deb

# In a folder of its own: rpm's macros take no path with a space.
rpm: ## make the RPM packages in build/rpm/
	tools/install-packages rpm
	@$(MAKE) --no-print-directory dist
	unset MAKEFLAGS && folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
		cp $(DIST) "$$folder" && \
		rpmbuild -ba $(if $(wildcard /etc/debian_version),--nodeps) --define "_topdir $$folder" \
			--define "_sourcedir $$folder" rpm/librpma.spec && \
		rm -rf $(BUILD)/rpm && mkdir $(BUILD)/rpm && mv "$$folder"/RPMS "$$folder"/SRPMS $(BUILD)/rpm

bench: ## measure both libraries, write build/bench/report.md
	tools/install-packages bench
	@$(MAKE) --no-print-directory all test-programs
	reference=$$(tools/fetch-reference) && benches/bench \
		--reference "$$(ls "$$reference"/usr/lib/*/librpma.so.0)" --ours $(BUILD)/librpma.so.0 \
		--programs $(TEST_BUILD)/benches --out $(BUILD)/bench

# A folder of the user's own (CARGO_TARGET_DIR) may hold other things.
clean: ## remove everything that was built
	rm -rf $(BUILD) target

FORCE:

.PHONY: FORCE all bench check check-arch check-header clean deb demo dist header help install install-man lint \
	man miri rpm soak test test-programs

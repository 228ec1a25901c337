# SPDX-License-Identifier: MIT
# Install, uninstall, source archive.

BINDIR := $(DESTDIR)$(PREFIX)/bin
# lib64 and lib/x86_64-linux-gnu are possible, too
LIB ?= lib
LIBDIR := $(DESTDIR)$(PREFIX)/$(LIB)
INCLUDEDIR := $(DESTDIR)$(PREFIX)/include
MANDIR := $(DESTDIR)$(PREFIX)/share/man/man1
PYTHONDIR ?= $(PREFIX)/lib/python3/dist-packages
# the same folder as pip makes, for importlib.metadata and pip check
PYTHON_INFO = $(abspath $(DESTDIR)$(PYTHONDIR)/nanobragg-$(VERSION:-dev=.dev0).dist-info)
COMPDIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
DOCDIR := $(DESTDIR)$(PREFIX)/share/doc/nanobragg
# The licence of nanobragg, and that of the tables of water and air, which are compiled in.
NOTICES := LICENSE golden_data/detectors/tables/NOTICE

# The loader finds libraries in /usr and /usr/local (after ldconfig, which install runs for root);
# programs that use a library elsewhere must contain its folder.
RPATH := $(if $(filter /usr /usr/local,$(PREFIX)),, -Wl,-rpath,$${libdir})

# The man page and the completion are made from the program's table of options.
$B/nanobragg.1: $B/nanobragg mk/help_pages.py
	$(call say,GEN  $@)
	$(Q)$(PYTHON) mk/help_pages.py man $< >$@
$B/nanobragg.bash: $B/nanobragg mk/help_pages.py
	$(call say,GEN  $@)
	$(Q)$(PYTHON) mk/help_pages.py bash $< >$@
$B/nanobragg.pc: mk/nanobragg.pc.in src/nanobragg/build.h $B/flags
	$(Q)sed -e 's|@VERSION@|$(VERSION)|' \
	    -e 's|@LIBS_PRIVATE@|$(LIBS) $(if $(HAVE_OPENMP),-fopenmp)|' $< >$@

# Symbols for a debugger, seven times as large as the code, stay in the build folder.
STRIP ?= $(patsubst %gcc,%strip,$(filter %-gcc,$(CC)))
STRIPPED := $(if $(filter release,$(FLAVOR)),$(or $(STRIP),strip),:)

install-texts: $B/nanobragg.1 $B/nanobragg.bash $B/nanobragg.pc

.PHONY: install install-texts uninstall installcheck docs site dist
install: all install-texts $(if $(PY_INCLUDE),install-python) ## to PREFIX (/usr/local), under DESTDIR; with the Python package
	install -d $(BINDIR) $(LIBDIR)/pkgconfig $(LIBDIR)/cmake/nanobragg $(INCLUDEDIR)/nanobragg $(MANDIR) $(COMPDIR) $(DOCDIR)
	install -m 755 $B/nanobragg $(BINDIR)/nanobragg
	install -m 644 $(STATIC) $(LIBDIR)/libnanobragg.a
	install -m 755 $(SHARED) $(LIBDIR)/libnanobragg.so.$(SOVERSION)
	$(STRIPPED) --strip-unneeded $(BINDIR)/nanobragg $(LIBDIR)/libnanobragg.so.$(SOVERSION)
	$(STRIPPED) -g $(LIBDIR)/libnanobragg.a
	ln -sfn libnanobragg.so.$(SOVERSION) $(LIBDIR)/libnanobragg.so
	install -m 644 src/nanobragg.h $(INCLUDEDIR)/nanobragg.h
	install -m 644 src/nanobragg/*.h $(INCLUDEDIR)/nanobragg
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIB@|$(LIB)|' -e 's|@RPATH@|$(RPATH)|' \
	    $(if $(DESTDIR),-e '/^Libs.private/s| -L[^ ]*||g') $B/nanobragg.pc >$(LIBDIR)/pkgconfig/nanobragg.pc # not this machine's folders
	chmod 644 $(LIBDIR)/pkgconfig/nanobragg.pc
	install -m 644 mk/nanobraggConfig.cmake $(LIBDIR)/cmake/nanobragg/nanobraggConfig.cmake
	sed -e 's|@VERSION@|$(VERSION)|' mk/nanobraggConfigVersion.cmake.in \
	    >$(LIBDIR)/cmake/nanobragg/nanobraggConfigVersion.cmake
	chmod 644 $(LIBDIR)/cmake/nanobragg/nanobraggConfigVersion.cmake
	install -m 644 $B/nanobragg.1 $(MANDIR)/nanobragg.1
	install -m 644 $B/nanobragg.bash $(COMPDIR)/nanobragg
	install -m 644 $(NOTICES) $(DOCDIR)
	$(if $(DESTDIR)$(RPATH),,-[ "$$(id -u)" -ne 0 ] || ldconfig)

uninstall: ## remove what install wrote
	rm -f $(BINDIR)/nanobragg $(LIBDIR)/libnanobragg.a $(LIBDIR)/libnanobragg.so \
	    $(LIBDIR)/libnanobragg.so.$(SOVERSION) $(LIBDIR)/pkgconfig/nanobragg.pc \
	    $(INCLUDEDIR)/nanobragg.h $(MANDIR)/nanobragg.1 $(COMPDIR)/nanobragg
	rm -f $(addprefix $(DOCDIR)/,$(notdir $(NOTICES)))
	-rmdir $(DOCDIR) 2>/dev/null
	rm -rf $(INCLUDEDIR)/nanobragg $(LIBDIR)/cmake/nanobragg
	rm -rf $(addprefix $(DESTDIR)$(PYTHONDIR)/,nanobragg nanobragg_program.py) $(PYTHON_INFO) # of install-python

# LIBRARY_PATH is set because the pkg-config file of a staged library does not have CUDA's folder
installcheck: all ## install under build/, build a program against it, uninstall
	@rm -rf $B/stage
	@$(MAKE) --no-print-directory install DESTDIR=$(CURDIR)/$B/stage PREFIX=/usr >/dev/null
	@CC='$(CC)' $(if $(CUDA_HOME),LIBRARY_PATH=$(CUDA_HOME)/lib64) bash tests/lint/install.sh $(CURDIR)/$B/stage /usr \
	    $(MAKE) --no-print-directory uninstall DESTDIR=$(CURDIR)/$B/stage PREFIX=/usr
	@rm -rf $B/home
	@$(MAKE) --no-print-directory install PREFIX=$(CURDIR)/$B/home LIB=lib64 >/dev/null
	@CC='$(CC)' LIB=lib64 bash tests/lint/install.sh '' $(CURDIR)/$B/home \
	    $(MAKE) --no-print-directory uninstall PREFIX=$(CURDIR)/$B/home LIB=lib64

docs: $B/nanobragg ## write docs/options.md, tables of contents and the drawings; then the site
	$(PYTHON) mk/help_pages.py markdown $< >docs/options.md.new && mv docs/options.md.new docs/options.md
	NANOBRAGG=$(CURDIR)/$< $(PYTHON) docs/images/frames.py docs/images
	$(PYTHON) plans/data_way.py >plans/data_way.svg
	$(PYTHON) tests/lint/contents.py --write
	@$(MAKE) --no-print-directory site

site: python ## the documents as a site, build/gcc-release/site/index.html; warnings are errors (sh mk/packages.sh docs)
	@PYTHONPATH=$B/python $(PYTHON) mk/site/api.py $B/site-src
	@PYTHONPATH=$B/python NB_VERSION=$(VERSION) $(PYTHON) -m sphinx -q -W --keep-going -c mk/site \
	    -d $B/site-doctrees $B/site-src $B/site
	@echo 'The site: $B/site/index.html'

.PHONY: gallery
gallery: $B/nanobragg ## docs/pictures, each by the command that stands above it in docs/gallery.md (a minute)
	@NANOBRAGG=$< $(PYTHON) mk/gallery.py

install-python: python ## the Python package, to PYTHONDIR (PREFIX/lib/python3/dist-packages)
	for file in $(PY_FILES) nanobragg/_build.py nanobragg/__init__.pyi nanobragg/$(notdir $(PY_MODULE)); do \
	    install -D -m 644 $B/python/$$file $(DESTDIR)$(PYTHONDIR)/$$file || exit 1; done
	$(STRIPPED) --strip-unneeded $(DESTDIR)$(PYTHONDIR)/nanobragg/$(notdir $(PY_MODULE))
	install -m 644 $B/python/nanobragg_program.py $(DESTDIR)$(PYTHONDIR)
	install -d $(PYTHON_INFO)
	cd mk && $(PYTHON) -B -c 'import wheel_nanobragg as w; print(w.metadata())' >$(PYTHON_INFO)/METADATA
	chmod 644 $(PYTHON_INFO)/METADATA

# --- packages -------------------------------------------------------------------------------------
DIST ?= dist
DEBIAN := $B/deb/nanobragg-$(VERSION)
.PHONY: dist deb install-python late-sonames release
dist: ## dist/nanobragg-VERSION.tar.gz, the source archive, of the last commit (DIST=another folder)
	@mkdir -p $(DIST)
	@cd mk && $(PYTHON) -B -c 'import wheel_nanobragg as w; print(w.build_sdist("$(abspath $(DIST))"))'

# dpkg-buildpackage runs in a folder of links to this tree, so that it uses files that are already built.
deb: python install-texts ## dist/*.deb: program, library, headers, Python package, for every GPU (debhelper, dh-python)
	@rm -rf $B/deb && mkdir -p $(DEBIAN) $(DIST)
	@ln -s $(addprefix $(CURDIR)/,$(wildcard *)) $(DEBIAN)
	@sh mk/deb.sh $(DEBIAN) $(VERSION)
	+@cd $(DEBIAN) && CUDA_ARCH='$(CUDA_CHOSEN)' dpkg-buildpackage -d -nc -b -us -uc >../log 2>&1 || { tail -n 30 ../log && exit 1; }
	@mv -v $B/deb/*.deb $(DIST)

late-sonames: # prints sonames of libraries that are loaded when needed (mk/packaging/debian/rules)
	@echo $(foreach l,TIFF HDF5 FFTW XRAYLIB,$($l_SONAME))

release: ## dist/release: all that can be uploaded, of the last commit, built and tried in bare roots (root, debootstrap; mk/release.sh)
	@PYTHON='$(PYTHON)' CUDA='$(CUDA)' CUDA_ARCH='$(CUDA_ARCH)' bash mk/release.sh $(DIST)/release

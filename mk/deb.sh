#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the folder debian/ of the source package: mk/packaging/debian with version, date, licences, and build-depends.
# usage: mk/deb.sh FOLDER VERSION      (DEB_MAINTAINER='Name <address>' for an upload)
set -eu
out=$1/debian version=$(echo "$2" | sed "s/-dev$/~dev/")
maintainer=${DEB_MAINTAINER:-nanobragg packagers <packagers@nanobragg.invalid>}
mkdir -p "$1"
rm -rf "$out"
cp -r mk/packaging/debian "$out"
sed -i -e "s/@MAINTAINER@/$maintainer/" -e "s/@BUILD@/$(sh mk/packages.sh --list build)/" "$out/control"
printf 'nanobragg (%s-1) unstable; urgency=low\n\n  * See docs/changes.md of the source.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -r src/nanobragg/build.h)" >"$out/changelog"

# stanza FILES LICENCE-FILE LICENCE-NAME COMMENT: prints a paragraph of debian/copyright on files
stanza() {
    printf '\nFiles: %s\n' "$1"
    sed -nE 's/^Copyright \(c\) /Copyright: /p' "$2"
    echo "License: $3"
    [ -z "$4" ] || echo "Comment: $4"
}
# text LICENCE-NAME FILE FIRST-WORD LAST-WORDS: prints the paragraph with the text of a licence
text() {
    printf '\nLicense: %s\n' "$1"
    sed -n "/^$3/,/$4/p" "$2" | sed -e 's/^$/./' -e 's/^/ /'
}
{
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    stanza '*' LICENSE Expat ''
    stanza 'golden_data/detectors/tables/*' golden_data/detectors/tables/NOTICE Expat \
        'tables of water and air of the nanoBragg suite, compiled in'
    stanza 'golden_data/structure_factors/reflections/*.mtz' golden_data/structure_factors/LICENSE-fmodel Expat ''
    stanza 'golden_data/real/ceo2/*' golden_data/real/ceo2/LICENCE BSD-3-clause ''
    printf '\nFiles: golden_data/real/lcysteine/*\nCopyright: 2019, Ben Williams, Richard Gildea, Graeme Winter\nLicense: CC-BY-4.0\n'
    printf '\nFiles: golden_data/real/thaumatin_still/*\nCopyright: 2019, DLS I24 staff\nLicense: CC-BY-4.0\n'
    text Expat LICENSE Permission SOFTWARE.$
    text BSD-3-clause golden_data/real/ceo2/LICENCE Redistribution 'SUCH DAMAGE'
    text CC-BY-4.0 golden_data/real/LICENCE-CC-BY-4.0 Attribution 'contacted at creativecommons.org'
} >"$out/copyright"

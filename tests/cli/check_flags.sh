#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every flag of the program has a row in flags.tsv (a flag that is always refused: in
# bad_inputs.tsv), the program knows every flag of contract_flags.txt, and docs/options.md
# is the output of the program.
# usage: NANOBRAGG=program tests/cli/check_flags.sh
set -u
export LC_ALL=C
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# expect_empty NAME FILE: ok if FILE, a list of flags that break the rule NAME, is empty.
expect_empty() {
    if [ -s "$2" ]; then
        sed "s/^/# $1: /" "$2"
        echo "not ok $1"
        failed=1
    else
        echo "ok $1"
    fi
}

help_in() { "${PYTHON:-python3}" ../../mk/help_pages.py "$1" "$NANOBRAGG"; }

help_in flags | sort -u >"$work/known" || failed=1
[ "$(wc -l <"$work/known")" -ge 145 ] || { echo "not ok flags-listed" && failed=1; }

# Print the flags in the last column of a table; --flag counts as -flag.
typed() {
    grep -v '^#' "$1" | awk -F '\t' 'NR > 1 { print $NF }' | tr ' ' '\n' | sed 's/^--/-/' |
        grep '^-' | sort -u
}
typed flags.tsv >"$work/typed"
help_in markdown | sed -n 's/^| `-\([^ `]*\).*| refused: .*/-\1/p' | sort >"$work/refused"
typed bad_inputs.tsv | comm -12 - "$work/refused" >>"$work/typed"
sort -u "$work/typed" | comm -13 - "$work/known" >"$work/never"
expect_empty every-flag-is-exercised "$work/never"

grep -v '^#' contract_flags.txt | tr ' ' '\n' | sort -u | comm -23 - "$work/known" >"$work/missing"
expect_empty every-flag-of-the-contract-exists "$work/missing"

help_in markdown | diff - ../../docs/options.md >"$work/diff"
expect_empty docs-options-md-is-current "$work/diff"
grep -o -- '`-[A-Za-z0-9_-]*' ../../docs/options.md | cut -c2- | sort -u | comm -13 - "$work/known" >"$work/absent"
expect_empty docs-options-md-has-every-flag "$work/absent"

help_in bash >"$work/completion" && bash -n "$work/completion" 2>"$work/syntax"
expect_empty bash-completion-parses "$work/syntax"

# The shell completion offers file names, words or flags, whichever the flag takes.
cat >"$work/complete.sh" <<'EOF'
. "$1"
ask() { COMP_WORDS=(nanobragg "$@") COMP_CWORD=$#; _nanobragg; echo "${COMPREPLY[*]}"; }
[ "$(ask -precision d)" = double ] || echo "-precision d: $(ask -precision d)"
[ "$(ask --pivot s)" = sample ] || echo "--pivot s: $(ask --pivot s)"
[ "$(ask -N 5 -detpixels_)" = "-detpixels_f -detpixels_s" ] || echo "$(ask -N 5 -detpixels_)"
[ "$(ask -N '')" = "" ] || echo "a number got $(ask -N '')"
[ "$(ask -hkl "$1")" = "$1" ] || echo "-hkl: $(ask -hkl "$1")"
EOF
bash "$work/complete.sh" "$work/completion" >"$work/wrong" 2>&1
expect_empty bash-completion-completes "$work/wrong"

help_in man >"$work/nanobragg.1"
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww "$work/nanobragg.1" 2>&1 >/dev/null | head -5 >"$work/troff"
    expect_empty man-page-formats "$work/troff"
else
    echo "skip man-page-formats # no groff"
fi
cut -c2- "$work/known" | sed 's/-/\\\\-/g' | while read -r name; do
    grep -qE -- "-$name([, ]|\$)" "$work/nanobragg.1" || echo "$name"
done >"$work/undocumented"
expect_empty man-page-has-every-flag "$work/undocumented"
exit $failed

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The benchmark's driver (tests/bench): its quick cases run and print a row; times are not
# judged. tests/run.sh sets NB_BUILD; by hand: NB_BUILD=build/gcc-release bash
# tests/check/test_lab.sh
set -u
cd "${NB_SOURCE:-$(dirname "$0")/../..}" || exit 1
bench=${NB_BUILD:?}/tests/bench/bench
failed=0

# runs NAME PATTERN WORDS...: expects that the case succeeds and that a line matches.
runs() {
    local name=lab-$1 pattern=$2 text
    shift 2
    if text=$("$bench" "$@" 2>&1) && grep -qE "$pattern" <<<"$text"; then
        echo "ok $name"
    else
        echo "# $(tail -n 2 <<<"$text")"
        echo "not ok $name"
        failed=1
    fi
}

runs list '^kernels '
runs host '^\| nb_sim_pullback, nine \| [0-9.]+ \|' host -pixels 16 -repeats 1
runs host-flags '^\| nb_sim_set, misset \|' host -pixels 16 -repeats 1 -cell '50 50 50 90 90 90'
runs resolve '^\| no files \| [0-9.]+ \|' resolve -repeats 5
runs derive '^\| orientation \| 3 \| 16 \|' derive orientation -pixels 16 -repeats 1
runs noise '^\| 256 \| all, fibre \|' noise -pixels 16 -repeats 1
runs choose '^\| square, 1e-3 \| 1 \|' choose 1
runs factors '^cpu ms: parse' factors golden_data/structure_factors/models/1aki.pdb 8
for case in device spots derive noise host; do
    runs "$case-on-cuda" '^(skip|\||#)' $case -device cuda -repeats 1 -pixels 64 nosuchcase
done
if "$bench" nosuch >/dev/null 2>&1; then
    echo "not ok lab-unknown-case"
    failed=1
else
    echo "ok lab-unknown-case"
fi
exit $failed

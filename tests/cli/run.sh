#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Run the program: refusals (bad_inputs.tsv), the effect of every flag (flags.tsv),
# signals. NB_REDUCED=1: refusals only. tests/run.sh runs the other checks of this folder.
# usage: NANOBRAGG=program tests/cli/run.sh
set -u
export LC_ALL=C
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) NANOBRAGG=$PWD/$NANOBRAGG ;; esac
export NANOBRAGG
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

pass() { echo "ok $1"; }
miss() {
    echo "# $1: $2"
    echo "not ok $1"
    failed=1
}

. ./fixtures.sh

# Print names of all files in a folder, with sizes and times of their last change.
snapshot() { (cd "$1" && find . -type d -printf '%p\n' -o -printf '%p %s %C@\n' | sort); }

# run_in FOLDER ARGS [SECONDS]: evaluates the words of ARGS; writes stdout and stderr to
# $work and sets $status. SECONDS: limit of processor time.
run_in() {
    local folder=$1 seconds=${3:-}
    eval "set -- $2" # the tables quote as the shell does
    (cd "$folder" && { [ -z "$seconds" ] || ulimit -t "$seconds"; } &&
        "$NANOBRAGG" "$@" </dev/null >"$work/stdout" 2>"$work/stderr")
    status=$?
}

# lacks_gemmi ARGS: true if ARGS need gemmi and this build has none.
gemmi_there=$("$NANOBRAGG" -version | grep '^ *gemmi  *yes')
lacks_gemmi() {
    [ -z "$gemmi_there" ] || return 1
    # shellcheck disable=SC2016
    case $1 in sf* | *'$M'* | *'$R'* | *-cif* | *-pdb* | *-mtz* | *-spacegroup* | *.mtz* | *.cif* | *.pdb*) ;; *) return 1 ;; esac
}

# refuses ID STATUS TEXT ARGS: the program must refuse ARGS within $refusal seconds of
# processor time, with one error line that contains TEXT.
refuses() {
    local id=$1 expected=$2 text=$3 args=$4 dir=$work/fixtures
    if lacks_gemmi "$args"; then
        echo "skip $id # built without gemmi"
        return
    fi
    run_in "$dir" "$args" "$refusal"
    if [ -n "${NB_REDUCED:-}" ] && grep -q 'needs the Python package' "$work/stderr"; then
        echo "skip $id # this build has no Python package"
    elif [ "$status" -ne "$expected" ]; then
        miss "$id" "exit status $status, not $expected: $(tail -n 1 "$work/stderr")"
    elif [ "$(grep -vc '^nanobragg: note: ' "$work/stderr")" -ne 1 ] ||
        ! grep -q '^nanobragg: error: ' "$work/stderr"; then
        miss "$id" "not one line 'nanobragg: error: ...': $(cat "$work/stderr")"
    elif ! grep -v '^nanobragg: note: ' "$work/stderr" | grep -qF -- "$text"; then
        miss "$id" "no '$text' in: $(cat "$work/stderr")"
    elif ! snapshot "$dir" | cmp -s - "$work/before"; then
        miss "$id" "a file was made or changed: $(snapshot "$dir" | diff "$work/before" - | tail -n 2)"
        snapshot "$dir" >"$work/before"
    else
        pass "$id"
    fi
}

refusal=2 # in seconds
[ -z "${NB_REDUCED:-}" ] || refusal=60
make_fixtures "$work/fixtures" || { echo "not ok fixtures" && exit 1; }
snapshot "$work/fixtures" >"$work/before"
while IFS=$'\t' read -r id expected text args; do
    case $id in \#* | id) continue ;; esac
    refuses "refuse-$id" "$expected" "$text" "$args"
done <bad_inputs.tsv

# Without arguments the program prints a short usage on standard error.
(cd "$work" && "$NANOBRAGG" >stdout 2>stderr)
[ $? -eq 2 ] && grep -q '^usage: nanobragg' "$work/stderr" && [ ! -s "$work/stdout" ] &&
    pass usage-without-arguments || miss usage-without-arguments "$(head -n 2 "$work/stderr")"

# If the program cannot write its text, it fails.
if [ -w /dev/full ]; then
    "$NANOBRAGG" -help >/dev/full 2>"$work/stderr"
    [ $? -eq 1 ] && grep -q 'standard output' "$work/stderr" &&
        pass full-disk || miss full-disk "$(cat "$work/stderr")"
else
    echo "skip full-disk # no /dev/full"
fi
[ -n "${NB_REDUCED:-}" ] && exit $failed

. ./signals.sh
. ./threads.sh
. ./flags.sh
exit $failed

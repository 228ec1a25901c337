# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by run.sh: runs the args of every row of flags.tsv and checks the result.
#
# Columns: id, kind, expected, args. The kind states what the run must give:
#   json    -show_config prints each key=value[,value...] of `expected` (numbers to 1e-9)
#   same    the float image equals, byte for byte, the image with the flags in `expected`
#   differ  the float image differs from the image with the flags in `expected`
#   stdout, stderr  this output contains the text `expected`
#   files   exactly the files in `expected` are made;    ends    the run succeeds

# json_value FILE KEY: prints the value of KEY without list brackets and quotes.
json_value() {
    tr -d ' \t\n' <"$1" | awk -v key="\"$2\":" '{
        at = index($0, key)
        if (!at) { print "(no such key)"; exit }
        rest = substr($0, at + length(key))
        if (substr(rest, 1, 1) == "[") { sub(/\].*/, "", rest); rest = substr(rest, 2) }
        else if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); sub(/".*/, "", rest) }
        else sub(/[,}].*/, "", rest)
        print rest }'
}

# alike A B: true if two lists are equal: numbers to 1e-9 (relative), others as text.
alike() {
    awk -v a="$1" -v b="$2" 'BEGIN {
        n = split(a, x, ","); if (split(b, y, ",") != n) exit 1
        number = "^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$"
        for (i = 1; i <= n; i++) {
            if (x[i] == y[i]) continue
            if (x[i] !~ number || y[i] !~ number) exit 1
            d = x[i] - y[i]; if (d < 0) d = -d
            m = y[i] < 0 ? -y[i] : y[i]
            if (!(d <= 1e-9 * m + 1e-15)) exit 1
        } }'
}

check_json() {
    local pair got
    for pair in $1; do
        got=$(json_value "$work/stdout" "${pair%%=*}")
        alike "$got" "${pair#*=}" || { echo "${pair%%=*} is $got, not ${pair#*=}" && return; }
    done
}

# check_images DIR KIND ARGS: renders the image of ARGS and compares it with that in DIR.
check_images() {
    local other=$work/other
    rm -rf "$other" && cp -a "$work/fixtures" "$other"
    run_in "$other" "$3"
    [ "$status" -eq 0 ] || { echo "the other flags failed: $(cat "$work/stderr")" && return; }
    [ -s "$1/floatimage.bin" ] || { echo "no float image" && return; }
    cmp -s "$1/floatimage.bin" "$other/floatimage.bin"
    case $2$? in
    same0 | differ1) ;;
    same*) echo "another image than with: $3" ;;
    differ*) echo "the same image as with: $3" ;;
    esac
}

check_files() {
    local made
    made=$( (cd "$2" && find . -type f | sed 's|^\./||' | sort) |
        comm -13 <(cd "$work/fixtures" && find . -type f | sed 's|^\./||' | sort) - | paste -sd ' ')
    [ "${made:--}" = "$1" ] || echo "made '$made', not '$1'"
}

accepts() {
    local id=$1 kind=$2 expected=$3 args=$4 dir=$work/case wrong=
    rm -rf "$dir" && cp -a "$work/fixtures" "$dir"
    [ "$kind" != json ] || args="$args -show_config"
    run_in "$dir" "$args"
    if [ "$status" -ne 0 ]; then
        miss "$id" "exit status $status: $(tail -n 1 "$work/stderr")"
        return
    fi
    case $kind in
    json) wrong=$(check_json "$expected") ;;
    same | differ) wrong=$(check_images "$dir" "$kind" "$expected") ;;
    stdout | stderr) grep -qF -- "$expected" "$work/$kind" ||
        wrong="no '$expected' in $kind: $(head -n 3 "$work/$kind")" ;;
    files) wrong=$(check_files "$expected" "$dir") ;;
    ends) ;;
    *) wrong="unknown kind $kind in flags.tsv" ;;
    esac
    if [ -n "$wrong" ]; then miss "$id" "$wrong"; else pass "$id"; fi
}

json_there=1
"$NANOBRAGG" -detpixels 4 -show_config >/dev/null 2>&1 || json_there=
while IFS=$'\t' read -r id kind expected args; do
    case $id in \#* | id) continue ;; esac
    if lacks_gemmi "$args"; then
        echo "skip flag-$id # built without gemmi"
    elif [ "$kind" = json ] && [ -z "$json_there" ]; then
        echo "skip flag-$id # this build has no -show_config"
    else
        accepts "flag-$id" "$kind" "$expected" "$args"
    fi
done <flags.tsv

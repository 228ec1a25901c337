# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by run.sh: an interrupted render stops soon, prints one line and leaves no file.

interrupt() {
    local id=$1 signal=$2 dir=$work/signal pid status
    rm -rf "$dir" && mkdir "$dir"
    (cd "$dir" && exec "$NANOBRAGG" -detpixels 1000 -oversample 200 -quiet 2>"$work/stderr") &
    pid=$!
    until [ "$(awk '{ print $14 + $15 }' /proc/$pid/stat 2>/dev/null || echo 99)" -gt 40 ]; do sleep 0.05; done # in clock ticks
    kill "-$signal" "$pid"
    wait "$pid"
    status=$?
    if [ "$status" -eq 130 ] && grep -q '^nanobragg: error: interrupted' "$work/stderr" &&
        [ -z "$(ls -A "$dir")" ]; then
        pass "$id"
    else
        miss "$id" "exit status $status, files '$(ls -A "$dir")', $(cat "$work/stderr")"
    fi
}

# An interrupted series ends with status 130 and leaves finished frames only; -resume
# makes the other frames.
interrupt_series() {
    local id=$1 signal=$2 dir=$work/signal pid status left
    local flags="-detpixels 80 -oversample 8 -N 5 -cell 100 -default_F 100 -osc 1 -frames 60 -threads 1"
    flags="$flags -seed 1 -quiet -output s_%02d.img"
    rm -rf "$dir" && mkdir "$dir"
    # shellcheck disable=SC2086
    (cd "$dir" && exec "$NANOBRAGG" $flags 2>"$work/stderr") &
    pid=$!
    until [ -e "$dir/s_02.img" ] || ! kill -0 "$pid"; do sleep 0.05; done
    kill "-$signal" "$pid"
    wait "$pid"
    status=$?
    left=$(cd "$dir" && find . -type f ! -name 's_[0-9][0-9].img' ! -name s_series.img.resume)
    (cd "$dir" && cksum s_[0-9][0-9].img) >"$work/finished"
    # shellcheck disable=SC2086
    if [ "$status" -ne 130 ] || ! grep -q 'interrupted: .*-resume' "$work/stderr" || [ -n "$left" ]; then
        miss "$id" "exit status $status, left '$left', $(cat "$work/stderr")"
    elif [ -e "$dir/s_60.img" ] || ! (cd "$dir" && "$NANOBRAGG" $flags -resume) >"$work/stdout" 2>&1; then
        miss "$id" "not stopped, or not resumed: $(cat "$work/stdout")"
    elif ! (cd "$dir" && [ -e s_60.img ] && cksum s_[0-9][0-9].img | head -n "$(wc -l <"$work/finished")" |
        cmp -s - "$work/finished"); then
        miss "$id" "finished frames changed, or the rest is missing"
    else
        pass "$id"
    fi
}

interrupt_series series-stops-on-SIGTERM TERM
interrupt_series series-stops-on-SIGHUP HUP
man=$("${PYTHON:-python3}" ../../mk/help_pages.py man "$NANOBRAGG" | sed -n '/^.SH EXIT STATUS/,$p')
help=$("$NANOBRAGG" -help | tail -n 3)
missing=
for word in SIGINT SIGTERM SIGHUP resume; do
    grep -q "$word" <<<"$man" || missing="$missing $word"
    grep -q "$word" <<<"$help" || missing="$missing $word"
done
[ -z "$missing" ] && pass status-130-is-explained || miss status-130-is-explained "not told:$missing"

interrupt stop-on-SIGTERM TERM
# A shell without job control starts background programs with SIGINT ignored, and this
# program keeps that. So job control is switched on.
set -m
interrupt stop-on-SIGINT INT
set +m

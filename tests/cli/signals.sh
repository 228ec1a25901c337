# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by run.sh: an interrupted render stops soon, says so in one line and leaves no file.

interrupt() {
    local id=$1 signal=$2 dir=$work/signal pid status
    rm -rf "$dir" && mkdir "$dir"
    (cd "$dir" && exec "$NANOBRAGG" -detpixels 3000 -oversample 60 -quiet 2>"$work/stderr") &
    pid=$!
    sleep 0.7
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

interrupt stop-on-SIGTERM TERM
# Without job control a shell has its background programs ignore SIGINT, and ours obeys.
set -m
interrupt stop-on-SIGINT INT
set +m

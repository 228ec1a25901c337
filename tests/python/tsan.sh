#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests the Python package of a build with clang's thread sanitizer: eight objects at
# once, one object from eight threads. Python is not instrumented, but the sanitizer sees
# its lock (the GIL), and Archer reports OpenMP to the sanitizer. The runtime library is
# GCC's, for clang's crashes if loaded before a program (LD_PRELOAD).
# usage: tests/python/tsan.sh BUILD PYTHON (make tsan-python)
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1 python=$2
runtime=$(gcc -print-file-name=libtsan.so) archer=$(clang -print-resource-dir)/../../libarcher.so
for file in "$runtime" "$archer"; do
    [ -e "$file" ] || {
        echo "skip python-tsan # $(basename "$file") is not here (libtsan2, libomp-dev)"
        exit 0
    }
done
run() {
    timeout 300 env LD_PRELOAD="$(readlink -f "$runtime")" OMP_TOOL_LIBRARIES="$archer" TSAN_OPTIONS=exitcode=0 \
        PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 "$python" tests/python/tsan.py "$@"
}
# Count reports, except one kind: libomp takes locks that other threads made, which the
# sanitizer does not know.
count() {
    awk 'BEGIN { RS = "==================" }
        /WARNING: ThreadSanitizer/ && !/#0 pthread_mutex_lock [^\n]*\n *#1 <null> <null> \(libomp/ { n++ }
        END { print n + 0 }' "$1"
}
log=$build/tsan-python.log
run >"$log" 2>&1
status=$?
run --race >"$log.race" 2>&1
races=$(count "$log") on_purpose=$(count "$log.race")
grep -hE '^(8|one|images) ' "$log" | sed 's/^/# /'
grep -h SUMMARY "$log" | sed 's/^/# /'
if [ $status != 0 ] || [ "$races" != 0 ]; then
    echo "not ok python-tsan: exit status $status, $races reports ($log)"
elif [ "$on_purpose" = 0 ]; then
    echo "not ok python-tsan: a race on purpose was not reported ($log.race)"
else
    echo "ok python-tsan # $on_purpose reports of a race on purpose"
    exit 0
fi
exit 1

# SPDX-License-Identifier: MIT
# For the scripts beside this one, which read it with `.`: noise files compared.

# Pixels of 16 bits that differ, after headers of any length: differ A B PIXELS
differ() {
    cmp -s <(tail -c $(($3 * 2)) "$1") <(tail -c $(($3 * 2)) "$2") && echo 0 && return
    cmp -l <(tail -c $(($3 * 2)) "$1") <(tail -c $(($3 * 2)) "$2") 2>/dev/null |
        awk '{ p = int(($1 - 1) / 2); if (p != last || NR == 1) n++; last = p } END { print n + 0 }'
}

# The fluence that gives the brightest pixel 60000 photons; nothing where it is not the flags':
# bright MAX FLAGS
bright() {
    awk -v max="$1" -v flags="$2" 'BEGIN {
        if (flags ~ /-flux|-beamsize|-exposure/) exit
        fluence = 125932015286227086360700780544
        if (match(flags, /-fluence [^ ]+/)) fluence = substr(flags, RSTART + 9, RLENGTH - 9)
        printf "-fluence %.15g\n", fluence * 60000 / max }'
}

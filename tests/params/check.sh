#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A build with -DNB_TEST_PARAM has one more row in the table of parameters and one more
# field in nb_config. Every reader of the table must include the row without another line
# of code.
# usage: check.sh BUILD (make param-check builds it)
set -u
build=$1
export LC_ALL=C
root=$PWD
program=$root/$build/nanobragg
words=$PWD/$build/tests/fuzz/replay_words
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

ok() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then
        echo "ok param-$name"
    else
        echo "not ok param-$name # $*"
        failed=1
    fi
}

# has TEXT COMMAND...: expects that the command prints the text.
has() {
    local text=$1
    shift
    "$@" >out 2>&1
    grep -qF -- "$text" out
}

# refuses TEXT COMMAND...: expects exit status 2 and the text.
refuses() {
    local text=$1
    shift
    "$@" >out 2>&1
    [ $? -eq 2 ] && grep -qF -- "$text" out
}

X="-default_F 100 -cell 100 -N 5 -detpixels 8 -seed 1 -device cpu -quiet"
help_in() { "${PYTHON:-python3}" "$root/mk/help_pages.py" "$1" "$program"; }
differ() { [ -s "$1" ] && [ -s "$2" ] && ! cmp -s "$1" "$2"; }

ok help has "-test_param, -test_synonym t" "$program" -help
ok help-topic has "a parameter for tests [furlong]" "$program" -help test_param
ok man has '\-test_param' help_in man
ok options-md has '| `-test_param t` `-test_synonym` [furlong] |' help_in markdown
ok completion has ' -test_param' help_in bash
ok command-line has '"test_param":	2.5' "$program" $X -test_synonym 2.5 -show_config
ok limits refuses "-test_param 11: the value must be at least 0 and at most 10 (furlong)" \
    "$program" $X -test_param 11
ok suggestion refuses "did you mean -test_param?" "$program" $X -test_parm 1
ok header-written has NANOBRAGG_TEST_PARAM=2.5 "$program" $X -test_param 2.5 -intfile -
"$program" $X -test_param 2.5 -intfile h.img >/dev/null 2>&1
ok header-read has '"test_param":	2.5' "$program" $X -img h.img -show_config
printf '{"test_param": 3}\n{"test_param": 4}\n' >good.jobs
ok jobs "$program" $X -jobs good.jobs -output j_%d.img
ok jobs-apply has NANOBRAGG_TEST_PARAM=4 cat j_2.img
printf '{"test_param": 30}\n' >bad.jobs
ok jobs-limits refuses "-test_param 30: the value must be" \
    "$program" $X -jobs bad.jobs -output j_%d.img

# The fingerprint of -resume is in the data files; the parameter itself changes no pixel.
data_of() { "$program" $X -stills 2 -hdf5 "$1_master.h5" -test_param "$2" && mv "$1"_data_*.h5 "$1.h5"; }
export SOURCE_DATE_EPOCH=0
data_of a 1 && data_of b 1 && data_of c 2
if "$program" -version | grep -q '^  HDF5 *yes'; then
    ok fingerprint-same cmp a.h5 b.h5
    ok fingerprint-other differ a.h5 c.h5
else
    echo "skip param-fingerprint # no HDF5 in this build"
fi

mkdir corpus
printf '%s\n' -test_param 5 >corpus/good_param
printf '%s\n' -test_param 50 >corpus/bad_param
ok fuzz-words "$words" corpus

cat >lib.c <<'END'
#include <stdio.h>
#include <string.h>

#include "nanobragg.h"

int main(void)
{
    nb_config *cfg;
    nb_error err;
    nb_sim *sim;
    char text[40];
    if (nb_config_create(&cfg, &err) || nb_config_set(cfg, "test_synonym", "7", &err) ||
        nb_config_get(cfg, "test_param", text, sizeof text, &err) || strcmp(text, "7"))
        return 1;
    if (nb_config_set_number(cfg, "test_param", 10.5, &err) != NB_ERR_INPUT ||
        !strstr(err.message, "-test_param 10.5"))
        return 2;
    return nb_sim_create(cfg, NULL, &sim, &err) != NB_OK;
}
END
ok library-builds ${CC:-gcc} -DNB_TEST_PARAM -I"$OLDPWD/src" lib.c -o lib -L"$OLDPWD/$build" -lnanobragg \
    -Wl,-rpath,"$OLDPWD/$build"
ok library ./lib
exit $failed

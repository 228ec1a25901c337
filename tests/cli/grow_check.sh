#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nb_config may grow: a program that was compiled with other headers than the library.
set -u
cd "${TMPDIR:?}" || exit 1
[ -f "$NB_BUILD/libnanobragg.so" ] || { echo "skip grow # $NB_BUILD has no libnanobragg.so" && exit 0; }
failed=0

ok() {
    local name=$1
    shift
    if "$@" >out 2>&1; then
        echo "ok grow-$name"
    else
        sed 's/^/# /' out
        echo "not ok grow-$name"
        failed=1
    fi
}

cat >program.c <<'END'
#include <nanobragg.h>
#include <stdio.h>
#include <string.h>

/* A page behind the configuration that nobody may touch. */
static struct { nb_config cfg; unsigned char fence[65536]; } of;
static float image[8 * 8];

int main(int argc, char **argv)
{
    nb_error err = {0};
    nb_sim *sim = NULL;
    nb_config copy;
    memset(&of, 0x5a, sizeof of);
    nb_config_defaults(&of.cfg);
    for (size_t i = 0; i < sizeof of.fence; i++)
        if (of.fence[i] != 0x5a)
            return 3;
    of.cfg.cell_count = 1;
    of.cfg.cell[0] = 100;
    of.cfg.default_F = 100;
    of.cfg.detpixels[0] = of.cfg.detpixels[1] = 8;
    of.cfg.seed = (nb_seed){1, 5};
    snprintf(of.cfg.device, sizeof of.cfg.device, "cpu");
#ifdef NB_TEST_PARAM
    if (argc > 1 && !strcmp(argv[1], "field"))
        of.cfg.test_param = 5;
#endif
    if ((argc > 1 && !strcmp(argv[1], "name") && nb_config_set(&of.cfg, "test_param", "5", &err)) ||
        nb_sim_create(&of.cfg, NULL, &sim, &err))
        return fprintf(stderr, "%s\n", err.message), 2;
    copy = *nb_sim_config(sim);
    copy.N[0] = copy.N[1] = copy.N[2] = 5;
    if (nb_sim_change(sim, &copy, &err) || nb_sim_render(sim, image, NULL, &err))
        return fprintf(stderr, "%s\n", err.message), 2;
    nb_sim_free(sim);
    return fwrite(image, sizeof image, 1, stdout) != 1;
}
END

# compile NAME HEADERS FLAGS...
compile() {
    local name=$1 headers=$2
    shift 2
    ${CC:-cc} -std=c11 "$@" -I"$headers" program.c -L"$NB_BUILD" -lnanobragg -Wl,-rpath,"$NB_BUILD" -o "$name"
}
same_image() { "$@" >image && cmp image expected.bin; }
refused() {
    local text=$1
    shift
    "$@" >image 2>message
    [ $? -eq 2 ] && grep -F "$text" message
}

"$NANOBRAGG" -cell 100 -default_F 100 -detpixels 8 -seed 5 -N 5 -device cpu -floatfile expected.bin \
    -noint -nopgm -nonoise >/dev/null 2>&1
# Headers of an older version: today's without the last member of 0.3.0, whose 8 bytes are room.
mkdir older && cp -r "$NB_SOURCE/src/nanobragg" "$NB_SOURCE/src/nanobragg.h" older
room=$(sed -n '/^#else/,/^#endif/s/^#define NB_CONFIG_ROOM //p' older/nanobragg/config.h)
sed -i -e '/const struct nb_arrays \*arrays;/,/\*\//d' \
    -e "/^#else/,/^#endif/s/ROOM $room/ROOM $((room + 1))/" older/nanobragg/config.h
ok older-has-less test "$(grep -c 'arrays;' older/nanobragg/config.h)" -eq 0
ok older-builds compile older_program older
ok older-same-image same_image ./older_program
# Headers of a later version have one parameter more.  What the library does not know is refused, and nothing else.
ok newer-builds compile newer_program "$NB_SOURCE/src" -DNB_TEST_PARAM
ok newer-same-image same_image ./newer_program
ok newer-field refused "nb_config: a member is set that nanobragg" ./newer_program field
ok newer-name refused "unknown parameter 'test_param'" ./newer_program name
exit $failed

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by run.sh: idle threads sleep, unless OMP_WAIT_POLICY is set (src/cli/common.c).

# waits ID POLICY ENVIRONMENT...: OpenMP must report this OMP_WAIT_POLICY.
waits() {
    local id=$1 policy=$2
    shift 2
    (cd "$work" && env -u OMP_WAIT_POLICY OMP_DISPLAY_ENV=true "$@" "$NANOBRAGG" $X $NOFILES \
        >"$work/stdout" 2>"$work/stderr")
    if grep -Eq "OMP_WAIT_POLICY *= *'$policy'" "$work/stderr"; then
        pass "$id"
    else
        miss "$id" "$(grep WAIT_POLICY "$work/stderr")"
    fi
}

if grep -Eq 'IS_CLANG|OPENMP_ARCHIVE' "${NB_BUILD:?}/config.mk"; then
    waits wait-passive PASSIVE
    waits wait-as-the-user-says ACTIVE OMP_WAIT_POLICY=active
else
    echo 'skip wait-passive # gcc without libgomp.a: OpenMP reads the environment before us'
fi

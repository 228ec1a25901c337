#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every structure and style check, prints the faults, and fails if there is a fault.
set -u
cd "$(dirname "$0")/../.." || exit 1
said=$(mktemp -d) || exit 1
trap 'rm -rf "$said"' EXIT
begun=0

# check NAME COMMAND...: runs a check beside others, one for each processor.
check() {
    local name=$1
    shift
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    begun=$((begun + 1))
    if "$@"; then echo "ok lint-$name"; else echo "not ok lint-$name"; fi >"$said/$begun" 2>&1 &
}

sources() { find src cuda tests -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' | sort; }

format() {
    local wrong
    wrong=$(sources | xargs -r "${CLANG_FORMAT:-clang-format}" --dry-run -Werror 2>&1 |
        grep -oE '^[^ :]+:[0-9]+:[0-9]+: error' | cut -d: -f1 | sort | uniq -c)
    [ -z "$wrong" ] && return 0
    echo "$wrong" | sed 's/^ *\([0-9]*\) \(.*\)/    \2: \1 places (make format)/'
    return 1
}

# The library may not print or exit; the program may.
silent() {
    local file found=0
    for file in $(find src/*/ -name '*.[ch]' -o -name '*.cc' | grep -vE "^src/(cli|python)/"); do
        sed -E 's,/\*.*\*/,,; s,/\*.*,,; s,^ \*.*,,; s,"([^"\\]|\\.)*","",g' "$file" |
            grep -nE '\b(printf|puts|putchar|perror|exit|abort|_exit)\(|\b(stdout|stderr)\b' |
            sed "s|^|    $file:|" | grep -v 'hdf5_lib.c:.* _exit(status);' && found=1 # this call is allowed, because it runs while the process ends
    done
    return $found
}

# nb_sim has few members: inputs, model, engine and a few others. A member that one of
# these parts needs belongs to that part.
small_sim() {
    local members
    members=$(sed -n '/^struct nb_sim {/,/^};/p' src/sim/sim.h | tr '\n' ' ' |
        sed 's,/\*[^*]*\*/,,g' | grep -o '[;,]' | wc -l)
    [ "$members" -ge 5 ] && [ "$members" -le 21 ] && return 0
    echo "    src/sim/sim.h: nb_sim has $((members - 1)) members, at most 20"
    return 1
}

# One file reads HDF5, because it checks type, size and number of points of all data.
hdf5_reads() {
    ! grep -rnE '\bH5\([AD]read(_chunk)?\)' src cuda --include='*.[ch]*' |
        grep -vE '^src/io/hdf5/hdf5_(get\.c|lib\.h):' | sed 's/^/    /' | grep .
}

# The rows of the table have the rules for numbers that are not set. Files that complete a
# configuration, from headers or for a series, ask the rows by NB_VALUE and NB_GIVEN; all
# other files read the settings that nb_resolve made.
fallbacks() {
    ! { grep -nE '\bnb_or\(|\bisnan\([^)]*\b(cfg|config)(->|\.)' -r src cuda --include='*.[ch]*' | grep -v '^src/params/'
        grep -nE '\bNB_(VALUE|VALUE_OR|GIVEN)\(' -r src cuda --include='*.[ch]*' |
            grep -vE '^src/(params/|io/image/smv_read|series/(frames|stored_images|inputs|single_frame|vary|vary_apply)|inputs/(detector_file|files|geometry_file|image|image_header|load|named_detector|factor_tables)\.|outputs/picture\.|sim/(advice|derive_set|detector_of|resolve|build)\.)'
    } | sed 's/^/    /' | grep .
}

# Settings are made in one file, and all other files only read them. The targets of two
# pointers (arrays, detector) may change.
settings_are_read_only() {
    ! grep -nE '\bvalue\.[A-Za-z_.]+(\[[^]]*\])* *([-+*/|&]?=[^=]|\+\+|--)|\b(snprintf|memcpy|memset|strcpy)\(&?[A-Za-z_.>-]*(settings|all|cfg)(->|\.)value\.' \
        -r src --include='*.[ch]' | grep -vE '^src/(params/resolve\.c|python/)|value\.(arrays|detector) = ' | sed 's/^/    /' | grep .
}

# Only these files write the configuration of a simulation, before its settings are made
# (tests/unit/test_set.c compares both after each kind of call).
configurations_are_written_first() {
    ! grep -rnE '\b(sim|clone|copy)->cfg(\.[A-Za-z_]+(\[[^]]*\])*)? *([-+*/|&]?=[^=]|\+\+|--)' src --include='*.[ch]' |
        grep -vE '^src/sim/(clone|derive_set|set|sim)\.c:' | sed 's/^/    /' | grep .
}

# The public list and the shape's row name a crystal shape; all other code asks the row.
shapes() {
    ! grep -rnE '\bNB_SHAPE_[A-Z]+\b' src cuda | grep -vE '^src/(nanobragg/config|physics/shapes)\.h:' |
        grep -vE '\bNB_SHAPE_(COUNT|SMOOTH|HD)\b' | sed 's/^/    /' | grep .
}

# One file is in C++: it calls gemmi, which has no C interface.
one_cxx_file() {
    ! find src tests -name '*.cc' -o -name '*.cpp' -o -name '*.cxx' -o -name '*.hpp' |
        grep -vx src/io/structure/gemmi.cc | sed 's/^/    /' | grep .
}

# Every timed case is a row of tests/bench/bench.c; other files of the folder have no main.
one_bench() {
    ! grep -lwE '^(int )?main' tests/bench/*.c | grep -vx tests/bench/bench.c | sed 's/^/    /' | grep .
}

# Only the registry names a backend.  The table of parameters has the words of -device for
# users; tests/unit/test_options.c compares them with the backends.
registry() {
    ! grep -rni cuda src --include='*.[ch]' |
        grep -vE '^src/render/registry\.c:|"auto \| cpu \| cuda \| cuda:N \| cuda:all"' |
        sed 's/^/    /' | grep .
}

# Only its file and its list name a path; other files get it from the list. Paths have no
# numbers.
paths() {
    local path found=0
    for path in $(grep -rhoE '^const nb_path nb_[a-z_]+ =' src cuda | grep -oE 'nb_(cuda_)?path_[a-z_]+'); do
        [ "$(grep -rlw "$path" src cuda tests | wc -l)" = 2 ] && continue
        grep -rnw "$path" src cuda tests | sed 's/^/    /'
        found=1
    done
    grep -rnE '\bNB_PATH_[A-Z]+' src cuda tests --include='*.[ch]' --include='*.cu' --include='*.cuh' |
        grep -vE 'NB_PATH_MAX|NB_PLAN_PATH_H' | sed 's/^/    /' | grep . && found=1
    return $found
}

# Only its file and the list of formats (io/image/writer.h) name a format of image files.
# Its writer may be named in the rows of output files and with pictures.
formats() {
    local names
    names=$(sed -nE 's/^#define NB_FORMATS\(X\) (.*)/\1/p' src/io/image/writer.h |
        grep -oE '\w+\)' | tr -d ')' | paste -sd'|')
    ! grep -rnE "\bnb_format_($names)\b|&nb_writer_[a-z]" src cuda --include='*.[ch]*' |
        grep -vE '^src/(io/image/|inputs/files\.c:|outputs/picture\.c:)' | sed 's/^/    /' | grep .
}

# Measured data: the README names each file, each file has a known format, each folder has
# its licence, and all files together are small.
real_data() {
    local folder=golden_data/real file found=0
    for file in $(git ls-files -co --exclude-standard "$folder"); do
        case $file in
        */README.md | */LICENCE | */LICENCE-CC-BY-4.0 | */LICENCE_definition.yml | *.expt | *.mtz | *.h5 | *.tsv | *.cif | *.cbf.gz | *.pdb.gz | *.py) ;;
        *) echo "    $file: not of a known format" && found=1 ;;
        esac
        grep -qF "\`$(basename "$file")\`" "$folder/README.md" || [ "$file" = "$folder/README.md" ] ||
            { echo "    $file: not named in $folder/README.md" && found=1; }
    done
    for file in "$folder"/*/; do
        compgen -G "${file}LICENCE*" >/dev/null || { echo "    $file: no licence" && found=1; }
    done
    [ "$(du -sb "$folder" | cut -f1)" -le 2000000 ] || { echo "    $folder: more than 2 MB" && found=1; }
    return $found
}

exports() {
    diff <(cat src/nanobragg/*.h | grep -oE '\bnb_[a-z_]+\(' | tr -d '(' | sort -u) \
        <(grep -oE '^ +nb_[a-z_]+;' mk/libnanobragg.map | tr -d ' ;' | sort -u)
}

# A page of the site describes each function of the library.
api_pages() {
    local folder status
    folder=$(mktemp -d)
    PYTHONPATH=mk/site "${PYTHON:-python3}" -B -c 'import api, sys; api.headers(sys.argv[1])' "$folder" &&
        diff <(cat "$folder"/*.rst | grep '^.. c:function::' | grep -oE '\bnb_[a-z_0-9]+\(' | tr -d '(' | sort -u) \
            <(grep -oE '^ +nb_[a-z_0-9]+;' mk/libnanobragg.map | tr -d ' ;' | sort -u)
    status=$?
    rm -rf "$folder"
    return $status
}

static_analysis() {
    cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --suppress=unusedStructMember \
        --suppressions-list=tests/lint/cppcheck.txt --error-exitcode=1 -j 2 \
        -DNB_HAVE_OPENMP=1 -i src/python src
}

if command -v cppcheck >/dev/null; then # the longest begins first
    check cppcheck static_analysis
else
    echo "skip lint-cppcheck # cppcheck is not installed"
fi
check headers bash tests/lint/headers.sh
check format format
check includes "${PYTHON:-python3}" tests/lint/includes.py
check numbers "${PYTHON:-python3}" tests/lint/numbers.py
check circles "${PYTHON:-python3}" tests/lint/circles.py "${BUILD:-build/gcc-release}"
check functions "${PYTHON:-python3}" tests/lint/functions.py
check facts "${PYTHON:-python3}" tests/lint/facts.py src/outputs/report.c src/outputs/factor_report.c
check formulas "${PYTHON:-python3}" tests/lint/formulas.py
check contents "${PYTHON:-python3}" tests/lint/contents.py
check text "${PYTHON:-python3}" tests/lint/text.py
check comments "${PYTHON:-python3}" tests/lint/comments.py
check flag-names "${PYTHON:-python3}" tests/lint/flag_names.py
check recipes "${PYTHON:-python3}" tests/lint/recipes.py
check silent-library silent
check small-sim small_sim
check hdf5-reads hdf5_reads
check fallbacks fallbacks
check shapes shapes
check settings-are-read-only settings_are_read_only
check configurations-are-written-first configurations_are_written_first
check one-cxx-file one_cxx_file
check one-bench one_bench
check registry registry
check paths paths
check formats formats
check real-data real_data
check exports exports
check api-pages api_pages
wait
for number in $(seq $begun); do cat "$said/$number"; done
! grep -q '^not ok' "$said"/*

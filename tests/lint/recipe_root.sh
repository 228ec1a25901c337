#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the commands of the last stage of the Dockerfile, and of the Apptainer definition, in a bare root with the Debian
# packages that the first stage makes.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/recipe_root.sh FOLDER      (that of make deb; bare_root.sh has the settings)
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
. "$repo/tests/lint/bare_root.sh"
bare_root "$own_suite"
for recipe in Dockerfile nanobragg.def; do
    rm -rf "$root/debs" && cp -r "$1" "$root/debs"
    echo "== $recipe"
    inside "$(python3 "$repo/tests/lint/recipes.py" --commands "$repo/mk/packaging/$recipe")" | tail -n 3
    [ ! -e "$root/debs" ] # the image does not keep the packages
    inside 'cd /tmp && nanobragg -default_F 100 -cell 80 80 40 90 90 90 -N 20 -pngfile first.png -quiet && ls -l first.png'
    inside 'python3 -c "import nanobragg" && apt-get purge -q -y nanobragg libnanobragg2 python3-nanobragg >/dev/null && rm /tmp/first.png'
done
echo "ok recipes: the commands of the last stages of Docker's and Apptainer's recipe run on $own_suite"

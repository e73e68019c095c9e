#!/usr/bin/env bash
# Fetches programs of Debian for the tests: unpacked below .cache/NAME/root, without installing anything. Does nothing where there
# is no Debian to fetch them from, and the tests skip what needs them.
#
#   install-debian.sh NAME PROGRAM PACKAGE...     PROGRAM: what shows that they are there, below .cache/NAME/root/usr/bin
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/unpack-debian.sh

name=$1 program=.cache/$1/root/usr/bin/$2
shift 2
[ -e "$program" ] && exit 0
if ! has_debian; then
  echo "No apt-get here: the tests run without $name." >&2
  exit 0
fi
mkdir -p .cache
exec 9>".cache/$name.lock"
flock 9
[ -e "$program" ] && exit 0
unpack_debian "$PWD/.cache/$name" --download-only --no-install-recommends --reinstall --yes install "$@"

#!/usr/bin/env bash
# Prints the folder of `prometheus` and `promtool`, for the tests of dashboards and alerts: where they are on PATH, or
# else Debian's, unpacked into .cache without installing anything.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/unpack-debian.sh

installed=$(command -v promtool || true)
if [ -n "$installed" ] && [ -x "$(dirname "$installed")/prometheus" ]; then
  dirname "$installed"
  exit 0
fi
folder=$PWD/.cache/prometheus
if [ -x "$folder/bin/prometheus" ]; then
  echo "$folder/bin"
  exit 0
fi
rm -rf "$folder"
if has_debian; then
  echo 'Fetching the prometheus of Debian …' >&2
  # The package alone: both programs need nothing but the C library.
  unpack_debian "$folder" download prometheus
  mkdir "$folder/new"
  mv "$folder/root/usr/bin/prometheus" "$folder/root/usr/bin/promtool" "$folder/new"
  rm -rf "$folder/root"
  mv "$folder/new" "$folder/bin"
else
  echo 'The tests of dashboards and alerts need prometheus and promtool: on PATH, or from Debian.' >&2
  exit 1
fi
echo "$folder/bin"

#!/usr/bin/env bash
# Runs the files of tests that have failed once more, each by itself with nothing beside it, and says of each of their failures
# whether it stays: "PASSED ALONE title: why" means that it does not. A failure that stays is said again by nobody: it is
# counted already. The argument is what the reporter wrote to PLATEN_TEST_FAILED.
set -uo pipefail
cd "$(dirname "$0")/.."
. test/counted.sh
export PATH="$PWD/node_modules/.bin:$PATH" NODE_COMPILE_CACHE="$PWD/.cache/compiled" PLATEN_TEST_BUILT=1

# More than these are no accident. The cluster's tests build on one another, and have no other way to run.
MOST=10
failed=$(grep -v '/test/cluster/' "$1" 2>/dev/null | sort -u)
unset PLATEN_TEST_FAILED
count=$(grep -c . <<<"$failed")
if [ "$count" = 0 ] || [ "$count" -gt "$MOST" ]; then exit 0; fi

while IFS=$'\t' read -r file browser; do
  echo "$file alone${browser:+, with $browser}:"
  if env ${browser:+"PLATEN_CHROMIUM_PATH=$browser"} "${MOCHA[@]}" "$file" </dev/null; then
    awk -F '\t' -v file="$file" -v browser="$browser" '$1 == file && $2 == browser { print "PASSED ALONE " $3 }' <<<"$failed"
  fi
done < <(cut -f 1,2 <<<"$failed" | sort -u)

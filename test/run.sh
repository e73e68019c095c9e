#!/usr/bin/env bash
# Runs all tests: those of single pieces first, with the machine to themselves, since some of them tell milliseconds apart; then
# the others in two lanes side by side, since most of them wait more than they compute. Those that time a neighbour of hostile
# documents come last, when the second lane is through or nearly. What that one has to say is shown when both are. The last line
# is "N passed, N failed", of all.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

run_mocha() {
  node node_modules/mocha/bin/mocha.js --exit --reporter test/support/reporter.cjs "$@"
}

# How browsers are kept, shared and put to work, which is ours whichever browser it is. Where there are two, it is tested with
# the one that the image has, and what a document becomes with both.
kept='test/integration/chromium/{handover,recovery,process-ids,core-turns,pretend-rest,resting,freshness,apart}.test.ts'

# What needs browsers or the whole service.
test_service() {
  local browser status=0 tested_once=()
  make --no-print-directory schemathesis || status=1
  browser=$(scripts/install-debian-browser.sh) || status=1
  if [ -n "$browser" ]; then
    echo "The Chromium tests with $browser:"
    PLATEN_CHROMIUM_PATH="$browser" run_mocha 'test/integration/chromium/**/*.test.ts' || status=1
    tested_once=(--ignore "$kept")
  fi
  run_mocha "${tested_once[@]}" 'test/integration/chromium/**/*.test.ts' || status=1
  run_mocha 'test/{races,conformance,e2e,disruption}/**/*.test.ts' || status=1
  run_mocha 'test/hostile/**/*.test.ts' || status=1
  return $status
}

# What else runs several pieces together. First those that need no program which has to be built: the first time, building
# takes minutes.
test_parts() {
  local status=0 built need_built='test/integration/{kubernetes,stripe}/**/*.test.ts'
  nice make --no-print-directory kubernetes helm prometheus stripe-mock >"$logs/built" 2>&1 &
  built=$!
  run_mocha --ignore 'test/integration/chromium/**' --ignore "$need_built" 'test/integration/**/*.test.ts' || status=1
  wait "$built" || status=1
  cat "$logs/built"
  run_mocha "$need_built" 'test/{monitoring,chart}/**/*.test.ts' || status=1
  return $status
}

status=0
run_mocha 'test/unit/**/*.test.ts' 2>&1 | tee "$logs/unit" || status=1
test_parts >"$logs/parts" 2>&1 &
parts=$!
test_service 2>&1 | tee "$logs/service" || status=1
wait "$parts" || status=1
cat "$logs/parts"

passed=0
failed=0
while read -r some _ others _; do
  passed=$((passed + some))
  failed=$((failed + others))
done < <(grep -hE '^[0-9]+ passed, [0-9]+ failed$' "$logs"/{unit,service,parts})
# A lane that ends badly without a count is a failure of its own.
if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
# Once more together, since the lanes are long.
grep -h '^FAILED ' "$logs"/{unit,service,parts}
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

#!/usr/bin/env bash
# Runs all tests: those of single pieces first, with the machine to themselves, since some of them tell milliseconds apart; then
# the others in two lanes side by side, since most of them wait more than they compute. What the second lane has to say is
# shown when it is through. The last line is "N passed, N failed", of all.
#
# Tests of the lanes that know neither races nor losses nor attacks have a second try, up to a bound (decision 0230).
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

run_mocha() {
  node node_modules/mocha/bin/mocha.js --exit --reporter test/support/reporter.cjs "$@"
}

# Second tries that a run may need.
MOST_UNSTEADY=3
run_integration() {
  run_mocha --retries 1 "$@"
}

# What needs browsers or the whole service.
test_service() {
  local browser status=0
  make --no-print-directory schemathesis || status=1
  browser=$(scripts/install-debian-browser.sh) || status=1
  if [ -n "$browser" ]; then
    echo "The Chromium tests with $browser:"
    PLATEN_CHROMIUM_PATH="$browser" run_integration 'test/integration/chromium/**/*.test.ts' || status=1
  fi
  run_integration 'test/integration/chromium/**/*.test.ts' || status=1
  run_mocha 'test/{races,conformance,e2e,disruption,hostile}/**/*.test.ts' || status=1
  return $status
}

# What else runs several pieces together. First those that need no program which has to be built: the first time, building
# takes minutes.
test_parts() {
  local status=0 built need_built='test/integration/{kubernetes,stripe}/**/*.test.ts'
  nice make --no-print-directory kubernetes helm prometheus stripe-mock >"$logs/built" 2>&1 &
  built=$!
  run_integration --ignore 'test/integration/chromium/**' --ignore "$need_built" 'test/integration/**/*.test.ts' || status=1
  wait "$built" || status=1
  cat "$logs/built"
  run_integration "$need_built" 'test/{monitoring,chart}/**/*.test.ts' || status=1
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
# Once more together, since the lanes are long.
closing=$(grep -hE '^(UNSTEADY|FAILED) ' "$logs"/{unit,service,parts})
unsteady=$(grep -c '^UNSTEADY ' <<<"$closing")
if [ "$unsteady" -gt "$MOST_UNSTEADY" ]; then
  closing+=$'\n'"FAILED $unsteady tries of tests failed where $MOST_UNSTEADY may"
  failed=$((failed + 1))
fi
# A lane that ends badly without a count is a failure of its own.
if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
[ -z "$closing" ] || echo "$closing"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

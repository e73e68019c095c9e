# For scripts that run tests in steps (`. test/counted.sh`): whatever a step does, its output has a line "N passed, N failed",
# and one "FAILED what: why" for each failure. The sum of those lines is the result. One that could not even be loaded, was
# killed, or ended badly after it had counted, is one failure more, whatever else has failed.

COUNTS='^[0-9]+ passed, [0-9]+ failed$'

# What a test prints may hold bytes that are no text, for which grep would else say no more than that they are there.
grep() { command grep --text "$@"; }

MOCHA=(node node_modules/mocha/bin/mocha.js --exit --reporter test/support/reporter.cjs)

# Runs mocha with these arguments.
run_mocha() {
  local log status passed failed why
  log=$(mktemp)
  "${MOCHA[@]}" "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  read -r passed _ failed _ < <(grep -E "$COUNTS" "$log" | tail -1)
  if [ -z "$passed" ]; then
    why=$(sed -n '/^ Exception during run: /{s///;p};/^[A-Za-z]*Error/p' "$log" | head -2 | paste -sd ' ')
    fail "mocha $*" "it ended with $status before it had counted${why:+: $why}"
  elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
    fail "mocha $*" "it ended with $status although all tests had passed"
  fi
  rm -f "$log"
}

# Runs what is no test, and need not count.
run_step() {
  local status=0
  "$@" || status=$?
  [ "$status" = 0 ] || fail "$*" "ended with $status"
  return "$status"
}

# Says what has failed, in the two lines that are counted. $1: what, $2: why.
fail() {
  printf 'FAILED %s: %s\n0 passed, 1 failed\n' "$1" "$2"
}

# The result of steps, from the files that have their output: each failure once more, and the sum. A line "PASSED ALONE" takes
# the failure back that it names (test/run-alone.sh). Fails when one has failed, and when nothing has passed.
sum_up() {
  local passed=0 failed=0 some others
  while read -r some _ others _; do
    passed=$((passed + some))
    failed=$((failed + others))
  done < <(grep -hE "$COUNTS" "$@")
  some=$(cat "$@" | grep -c '^PASSED ALONE ')
  grep -h '^FAILED ' "$@" | grep -vxFf <(sed -n 's/^PASSED ALONE /FAILED /p' "$@")
  grep -h '^PASSED ALONE ' "$@"
  echo "$((passed + some)) passed, $((failed - some)) failed"
  [ "$failed" = "$some" ] && [ "$passed" != 0 ]
}

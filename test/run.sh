#!/usr/bin/env bash
# Runs tests in sets, as many side by side as keep the processors busy: most of them wait more than they compute, and none
# looks at how long something takes. What a set has to say is shown when it has ended. The last lines are the files that took
# longest, the tests that failed, and "N passed, N failed", of all.
#
#   run.sh [behaviour|resilience|all|SET...]     (default: behaviour)
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
. test/counted.sh

# So many sets run side by side whatever else the machine does, and so many at most, while processors are idle.
AT_LEAST=${AT_LEAST:-3}
AT_MOST=${AT_MOST:-4}
# Another set is started when more than this share of the processors was idle for that long, in percent and seconds.
IDLE_PERCENT=15
IDLE_SECONDS=10
# A set's browsers, brokers and databases need this much memory, in kB; another one is not started with less available.
SET_KB=3000000
# The ids of processes beside this that compute as much as a set each, for as long as they run: there are fewer sets meanwhile.
PLATEN_TEST_BESIDE=${PLATEN_TEST_BESIDE:-}
# The longest first, so that none of them is left alone at the end. Those that need programs which have to be built come
# when they are there: the first time building takes minutes.
ALL=(service parts chromium conforming conformance connections hostile disruption options kubernetes chart dashboard unit other_browser full_browser)
# What is left of what Platen does when processes are killed, connections cut, accounts attack, requests are made at random,
# and the browser is another build. All others test what each part does, and what all do together.
RESILIENCE=(conformance hostile disruption other_browser full_browser)
case "${*:-behaviour}" in
  behaviour) mapfile -t SETS < <(printf '%s\n' "${ALL[@]}" | grep -vxFf <(printf '%s\n' "${RESILIENCE[@]}")) ;;
  resilience) SETS=("${RESILIENCE[@]}") ;;
  all) SETS=("${ALL[@]}") ;;
  *) SETS=("$@") ;;
esac

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export PLATEN_TEST_TIMES="$logs/times"
# Processes of Platen are started hundreds of times: what was compiled for one serves the next.
export NODE_COMPILE_CACHE="$PWD/.cache/compiled"
# Platen's own are of what was built, which is of the sources as they are now, whoever runs this.
export PLATEN_TEST_BUILT=1
run_step make --no-print-directory dist/main.js dist/hyphen-data/manifest.json || exit 1
run_step node test/support/compile-sources.mjs || exit 1
touch "$PLATEN_TEST_TIMES"

# What depends on how a browser was built: what a document becomes in it, and what the system lets it do. All else is ours
# whichever browser it is, and is tested with one: the one that the image has, where it can be had.
depends_on_build=(test/integration/chromium/{drawing,motion,options,page-kinds,priority,sandbox}.test.ts)
# What documents can reach and hold, which depends on a browser's build and on its settings: tested with every kind of browser.
holds_documents=(test/integration/egress/browser.test.ts test/integration/chromium/graphics.test.ts)

# The parts that talk with something else, and wait for it most of the time.
connected=billing,bus,callbacks,client,egress,mail

# Of every part, the tests that kill what they test.
kills='test/integration/**/*{kills,outage}.test.ts'

unit() { run_mocha 'test/unit/**/*.test.ts'; }

# Prints the path of a browser of Debian, by default the one that the image has. Nothing where it cannot be had: tests then
# take the one that npm brings.
debian_browser() {
  scripts/install-debian-browser.sh "$@" || fail scripts/install-debian-browser.sh "ended with $?" >&2
}

chromium() {
  local browser
  browser=$(debian_browser)
  echo "The Chromium tests with ${browser:-the browser of npm}:"
  [ -z "$browser" ] || export PLATEN_CHROMIUM_PATH="$browser"
  # Besides with the browser of npm, among the other connections.
  run_mocha 'test/integration/chromium/**/*.test.ts' test/integration/egress/browser.test.ts
}

other_browser() {
  local browser
  browser=$(debian_browser)
  # Where it is installed, tests find it as it is, and there is no other.
  [ -z "$browser" ] || [ "$browser" = "$(command -v chromium-headless-shell)" ] || run_mocha "${depends_on_build[@]}"
}

# An ordinary Chromium, which reads other settings than the shell does.
full_browser() {
  local browser
  browser=$(debian_browser chromium)
  [ -z "$browser" ] || PLATEN_CHROMIUM_PATH="$browser" run_mocha "${holds_documents[@]}"
}

# What veraPDF and Mustang say of PDFs, with the browser of the image where it can be had.
conforming() {
  local browser
  browser=$(debian_browser)
  [ -z "$browser" ] || export PLATEN_CHROMIUM_PATH="$browser"
  run_step make --no-print-directory verapdf mustang pdf-readers pdf-signatures pdfsig && run_mocha 'test/conformance-pdf/**/*.test.ts'
}

service() { run_mocha 'test/{races,e2e}/**/*.test.ts'; }

options() { run_step make --no-print-directory pdf-readers && run_mocha 'test/options/**/*.test.ts'; }

disruption() { run_mocha 'test/disruption/**/*.test.ts' "$kills"; }

hostile() { run_mocha 'test/hostile/**/*.test.ts'; }

conformance() {
  run_step make --no-print-directory schemathesis python-client examples generators &&
    run_mocha 'test/{conformance,integration/client-python}/**/*.test.ts' test/generated-clients/quick.test.ts
}

dashboard() { run_mocha 'test/dashboard/**/*.test.ts'; }

parts() {
  run_step make --no-print-directory pdf-readers pdf-signatures pdfsig softhsm &&
    run_mocha --ignore "test/integration/{chromium,client-python,kubernetes,stripe,s3,$connected}/**" --ignore "$kills" \
      'test/integration/**/*.test.ts'
}

connections() { run_mocha --ignore "$kills" "test/integration/{$connected}/**/*.test.ts"; }

# Of the parts, those that are through soon, in two halves: they have no browser, no Kafka, no other processes, and wait for
# little.
quick_accounts() {
  run_mocha --ignore 'test/integration/accounts/{accounts-command,bootstrap-account}.test.ts' --ignore "$kills" \
    'test/integration/{accounts,audit,keys,limits,mail,outputs,plans,quota,templates-routes,telemetry,usage}/**/*.test.ts' \
    test/integration/worker/worker-registry.test.ts
}

quick_http() {
  run_mocha --ignore 'test/integration/http/{docs-page,unread-responses,idempotency/*}.test.ts' \
    'test/integration/{http,jobs,store}/**/*.test.ts'
}

kubernetes() {
  built && run_mocha 'test/integration/{kubernetes,stripe,s3}/**/*.test.ts'
}

chart() {
  built && run_mocha 'test/{monitoring,chart}/**/*.test.ts'
}

# Waits for the programs that some sets need.
built() {
  until [ -e "$logs/built" ]; do sleep 0.2; done
  [ "$(cat "$logs/built")" = 0 ]
}

run_set() {
  local began=$SECONDS
  "$1" >"$logs/$1.log" 2>&1
  # One at a time.
  flock "$logs" cat "$logs/$1.log"
  printf '%s took %d s\n' "$1" $((SECONDS - began))
}

if [[ " ${SETS[*]} " =~ \ (kubernetes|chart)\  ]]; then (
  run_step nice make --no-print-directory kubernetes helm prometheus stripe-mock versitygw >"$logs/build.log" 2>&1
  echo $? >"$logs/built.new"
  cat "$logs/build.log"
  mv "$logs/built.new" "$logs/built"
) & fi
# How many sets run, with what PLATEN_TEST_BESIDE names.
busy() {
  local pid count=0
  for pid in "${running[@]}" $PLATEN_TEST_BESIDE; do
    ! kill -0 "$pid" 2>/dev/null || count=$((count + 1))
  done
  echo "$count"
}

# The time that processors have been idle since the system's start, and their time altogether, in ticks.
processor_ticks() {
  local user nice system idle waiting irq softirq steal
  read -r _ user nice system idle waiting irq softirq steal _ </proc/stat
  echo $((idle + waiting)) $((user + nice + system + idle + waiting + irq + softirq + steal))
}

# Whether the machine has room for another set. Looks at it for IDLE_SECONDS.
has_room() {
  local idle_before all_before idle all
  read -r idle_before all_before < <(processor_ticks)
  sleep "$IDLE_SECONDS"
  read -r idle all < <(processor_ticks)
  [ $((100 * (idle - idle_before))) -gt $((IDLE_PERCENT * (all - all_before))) ] &&
    [ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -gt "$SET_KB" ]
}

running=()
for set in "${SETS[@]}"; do
  until count=$(busy) && { [ "$count" -lt "$AT_LEAST" ] || { [ "$count" -lt "$AT_MOST" ] && has_room; }; }; do sleep 1; done
  run_set "$set" &
  running+=($!)
done
wait

echo 'The files that took longest, in seconds, and what they used of processors:'
sort -nr "$PLATEN_TEST_TIMES" | head -20 | awk '{ printf "%7.1f %7.1f  %s\n", $1 / 1000, $2 / 1000, $3 }'
sum_up "$logs"/*.log

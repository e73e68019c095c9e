# Everything is run by the Node of node_modules, whatever Node the machine has.
NODE := node_modules/.bin/node
CLIENT := clients/typescript
SOURCES := $(shell find src -name '*.ts')

.PHONY: prometheus dashboards run test fast check generate bench bench-kubernetes soak chaos simulate image-test e2e build setup peers kubernetes helm schemathesis stripe-mock clean
.DEFAULT_GOAL := run

## run: install, build and start the whole service in one process (PORT, PLATEN_DATA_DIR and the rest are obeyed)
run: dist/main.js
	@exec $(NODE) dist/main.js standalone

## test: everything that has to hold before a change is kept, and the Chromium tests with Debian's browser besides
test: check peers
	@test/run.sh

## fast: what tells soon whether a change is sound: unit tests and the quicker integration tests, in three minutes
fast: peers $(CLIENT)/node_modules/.installed
	@test/run.sh unit quick

## check: format, lint, import cycles, types, stale generated files
check: node_modules/.installed $(CLIENT)/node_modules/.installed
	@node_modules/.bin/biome check .
	@node_modules/.bin/tsc -p tsconfig.json
	@$(NODE) scripts/generate-docs.ts --check
	@$(NODE) scripts/generate-crds.ts --check
	@$(NODE) scripts/generate-client.ts --check

## generate: write what is made from the sources: error and configuration tables, OpenAPI document, client types, custom resources
generate: node_modules/.installed $(CLIENT)/node_modules/.installed
	@$(NODE) scripts/generate-docs.ts
	@$(NODE) scripts/generate-crds.ts
	@$(NODE) scripts/generate-client.ts

## bench: PDFs per second and latencies beside raw Chromium, as ratios within one run; then what 100,000 rows, 50,000 waiting jobs, large batches and their files, many accounts, pages that wait a flood beside another account and hostile documents cost (BENCH_PART=tenants: that alone)
bench: dist/main.js peers
	@for part in $(or $(BENCH_PART),run many-rows waiting batches large-batch batch-files tenants beside-waiting fairness hostile-neighbour); do $(NODE) test/bench/$$part.ts || exit 1; done

## bench-kubernetes: what the controller costs with 500 pools and 2,000 workers on nodes that KWOK pretends (BENCH_POOLS, BENCH_WORKERS)
bench-kubernetes: peers
	@$(NODE) scripts/install-kubernetes.mjs kwok
	@$(NODE) test/bench/kubernetes.ts

## soak: what takes long to see, as ratios within one run with their spread: memory that renders leave, plans in force, nobody leading; then a batch of 500 under ten kills of each process (SOAK_PART=memory: that alone)
soak: dist/main.js peers kubernetes
	@for part in $(or $(SOAK_PART),memory in-force leaders); do $(NODE) test/soak/$$part.ts || exit 1; done
	@[ -n "$(SOAK_PART)" ] || ITEMS=500 KILLS=10 PATH="$(CURDIR)/node_modules/.bin:$$PATH" $(NODE) node_modules/mocha/bin/mocha.js --exit test/disruption/batches.test.ts

## chaos: kills something every two seconds while orders arrive, and looks whether each came out whole (SEED, CHAOS_SEEDS=1..10)
chaos: peers
	@$(NODE) test/chaos/run.ts

## simulate: the autoscaler, and those it is measured against, on simulated days; SEED decides all; results in docs/simulation
simulate: node_modules/.installed
	@$(NODE) test/simulation/run.ts

## dashboards: draws docs/dashboards/*.svg from the dashboards' JSON, over a running system under load
dashboards: peers prometheus
	@$(NODE) test/monitoring/draw.ts

## image-test: builds the image and runs every role of it in containers (as root; test/image/run.sh says what it needs)
image-test: peers
	@test/image/run.sh

## e2e: a whole Kubernetes on this machine, Platen in it by its chart and image, and what the chart promises (as root; CASES='--grep …' for some; docs/development-cluster.md)
e2e: peers kubernetes $(CLIENT)/node_modules/.installed
	@test/cluster/run.sh $(CASES)

build: dist/main.js

dist/main.js: node_modules/.installed tsconfig.json tsconfig.build.json $(SOURCES)
	@echo 'Building …'
	@node_modules/.bin/tsc -p tsconfig.build.json
	@touch $@

setup: node_modules/.installed peers kubernetes

# Not `npm ci`: it refuses a lock file that lacks packages of other platforms, which not every registry carries.
node_modules/.installed: package.json package-lock.json
	@echo 'Installing packages (about a minute the first time) …'
	@npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# On its own: the generator needs an older compiler than the rest. In its folder, and not by --prefix, with which npm would
# look elsewhere for what this machine has set for all, such as the authorities that it trusts.
$(CLIENT)/node_modules/.installed: $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@cd $(CLIENT) && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# What the tests run beside Platen, a Java database and Kafka: fetched with Maven, kept in .cache.
peers: node_modules/.installed
	@$(NODE) scripts/install-peers.mjs

# A Kubernetes API server with its etcd, for the tests: built with Go (1.24 or newer), kept in .cache. The first time takes minutes.
kubernetes: node_modules/.installed
	@$(NODE) scripts/install-kubernetes.mjs api

# Helm 3 and Helm 4, for the tests of the chart: built with Go, kept in .cache.
helm: node_modules/.installed
	@$(NODE) scripts/install-helm.mjs

# What holds the running service against its OpenAPI document; needs Python 3.10 or newer. Kept in .cache.
schemathesis: node_modules/.installed
	@$(NODE) scripts/install-schemathesis.ts

# What holds every request to Stripe against Stripe's own specification: built with Go, kept in .cache.
stripe-mock: node_modules/.installed
	@$(NODE) scripts/install-stripe-mock.mjs

# promtool and prometheus, for the tests of dashboards and alerts. Kept in .cache.
prometheus:
	@scripts/install-prometheus.sh >/dev/null

clean:
	rm -rf $(CLIENT)/node_modules dist node_modules .cache

# Everything is run by the Node of node_modules, whatever Node the machine has.
NODE := node_modules/.bin/node
CLIENT := clients/typescript
DASHBOARD := dashboard
# One build of these at a time: whoever comes second finds what the first has made.
LOCKED = mkdir -p .cache && flock .cache/$(1).lock
SOURCES := $(shell find src $(CLIENT)/src -name '*.ts')

.PHONY: house advisories fonts image release docs prometheus dashboards dashboard clients run runnable test resilience fast check generate bench bench-kubernetes soak chaos counts simulate image-test e2e build setup peers kubernetes helm schemathesis python-client examples weasyprint generated-clients generators pdf-readers pdf-signatures pdfsig softhsm verapdf mustang conformance-pdf stripe-mock versitygw clean
.DEFAULT_GOAL := run

## run: install, build and start the whole service in one process (PORT, PLATEN_DATA_DIR and the rest are obeyed)
run:
	@$(MAKE) --no-print-directory -j4 runnable
	@exec $(NODE) dist/main.js standalone

# What it consists of, each part while others wait for the network.
runnable: dist/main.js dist/dashboard/index.html dist/clients/SHA256SUMS fonts dist/hyphen-data/manifest.json

## test: what Platen does, each part and all together, with the browser of the image (TESTS=all: resilience as well, as in CI)
test: check peers docs dashboard
	@test/run.sh $(TESTS)

## resilience: what is left of it under kills, cut connections, attacks and random requests, and with another browser
resilience: peers docs dashboard
	@test/run.sh resilience

## fast: what tells soon whether a change is sound: unit tests and the quicker integration tests, in three minutes
fast: peers
	@test/run.sh unit quick_accounts quick_http

## check: format, lint, the floors of src and circles of folders, types, stale generated files
check: node_modules/.installed
	@node_modules/.bin/biome check .
	@node_modules/.bin/tsc -p tsconfig.json
	@node_modules/.bin/tsc -p $(DASHBOARD)
	@$(NODE) scripts/house.ts --check
	@$(NODE) scripts/check-advisories.ts >/dev/null
	@$(NODE) scripts/generate-options.ts --check
	@$(NODE) scripts/generate-docs.ts --check
	@$(NODE) scripts/generate-crds.ts --check
	@$(NODE) scripts/generate-chart-readme.ts --check
	@$(NODE) scripts/generate-client.ts --check
	@$(NODE) scripts/generate-python-client.ts --check

## house: prints the rooms of src and of its wings, their floors and the arrows between them, from the imports
house: node_modules/.installed
	@$(NODE) scripts/house.ts

## advisories: compares the pinned versions with known advisories, and the packages with those of npm where its registry answers
advisories: node_modules/.installed
	@$(NODE) scripts/check-advisories.ts --audit

## generate: write what is made from the sources: the list of render options, tables of errors, options and configuration, OpenAPI document, types of the clients, custom resources, values of the chart
generate: node_modules/.installed
	@$(NODE) scripts/generate-options.ts
	@$(NODE) scripts/generate-docs.ts
	@$(NODE) scripts/generate-crds.ts
	@$(NODE) scripts/generate-chart-readme.ts
	@$(NODE) scripts/generate-client.ts
	@$(NODE) scripts/generate-python-client.ts

## docs: build the documentation as a site, which the service then has at /docs
docs: site/dist/index.html

DOCS := $(shell find docs clients/*/README.md site/src/*.* src/http/site/docs scripts/docs-site -name '*.md' -o -name '*.svg' -o -name '*.webp' -o -name '*.ts' -o -name 'openapi.json' -o -path 'site/src/*.*' ! -name sidebar.json ! -name contributors.json)

site/dist/index.html: node_modules/.installed site/node_modules/.installed site/astro.config.mjs site/search.mjs $(DOCS)
	@$(NODE) scripts/docs-site/prepare.ts
	@cd site && ASTRO_TELEMETRY_DISABLED=1 ../$(NODE) node_modules/astro/bin/astro.mjs build >built.log 2>&1 || { cat built.log; exit 1; }
	@$(NODE) scripts/docs-site/finish.ts

# No workspace, as the client and the dashboard are: these packages are large, and nothing but the documentation needs them.
# In its folder, and not by --prefix, with which npm would look elsewhere for what this machine has set for all, such as the
# authorities that it trusts.
site/node_modules/.installed: site/package.json site/package-lock.json
	@echo 'Installing what builds the documentation (half a minute the first time) …'
	@cd site && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

## fonts: install the fonts that documents are printed with, the same on every machine
fonts: fonts/installed/fonts.conf

fonts/installed/fonts.conf: node_modules/.installed fonts/node_modules/.installed $(wildcard scripts/fonts/*.ts)
	@$(NODE) scripts/fonts/collect.ts

# No workspace, as the packages are large: they are removed once what is used of them has been taken.
.INTERMEDIATE: fonts/node_modules/.installed
fonts/node_modules/.installed: fonts/package.json fonts/package-lock.json
	@echo 'Installing the fonts (half a minute the first time) …'
	@cd fonts && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

## bench: PDFs per second and latencies beside raw Chromium, as ratios within one run; then what 100,000 rows, 50,000 waiting jobs, large batches and their files, many accounts, pages that wait, reports, PDFs that conform, traces, a bucket for PDFs, a flood beside another account, hostile documents and opening a page of the dashboard cost, what sweeps and the demand of 50,000 accounts cost, and what idle processes use (BENCH_PART=tenants: that alone; BENCH_PART=weasyprint: processor time beside WeasyPrint, in no other run)
bench: dist/main.js dist/dashboard/index.html peers versitygw $(filter weasyprint,$(BENCH_PART))
	@for part in $(or $(BENCH_PART),run many-rows waiting batches large-batch batch-files tenants while-waiting report conformance tracing outputs fairness hostile-neighbour dashboard sweeps at-rest); do $(NODE) test/bench/$$part.ts || exit 1; done

## bench-kubernetes: what the controller costs with 500 pools and 2,000 workers on nodes that KWOK pretends (BENCH_POOLS, BENCH_WORKERS)
bench-kubernetes: peers
	@$(call LOCKED,go) $(NODE) scripts/install-go-programs.mjs kwok
	@$(NODE) test/bench/kubernetes.ts

## soak: what takes long to see, as ratios within one run with their spread: memory that renders leave, plans in force, nobody leading, a batch of 100,000 rows under five kills (SOAK_ROWS); then a batch of 500 under ten kills of each process, 2,000 random histories of subscriptions, 200 requests at the end of a quota under kills, and 30 random requests to each operation (SOAK_PART=memory: that alone)
soak: dist/main.js peers kubernetes schemathesis
	@for part in $(or $(SOAK_PART),memory in-force leaders sources); do $(NODE) test/soak/$$part.ts || exit 1; done
	@[ -n "$(SOAK_PART)" ] || ITEMS=500 KILLS=10 BILLING_RUNS=2000 REQUESTS=200 EXAMPLES=30 PATH="$(CURDIR)/node_modules/.bin:$$PATH" $(NODE) node_modules/mocha/bin/mocha.js --exit test/disruption/batches.test.ts test/integration/billing/{any-order,api-kills}.test.ts test/conformance/schemathesis.test.ts

## chaos: kills something every two seconds while orders arrive, and looks whether each came out whole (SEED, CHAOS_SEEDS=1..10; TEST_STORE=s3: PDFs in a bucket)
chaos: peers $(if $(filter s3,$(TEST_STORE)),versitygw)
	@$(NODE) test/chaos/run.ts

## counts: commands and bytes that a PDF costs the database, by role, counted on the wire between processes over Kafka
counts: peers
	@$(NODE) node_modules/mocha/bin/mocha.js --exit test/counts/*.test.ts

## simulate: the autoscaler, and those it is measured against, on simulated days; SEED decides all; results in docs/simulation
simulate: node_modules/.installed
	@$(NODE) test/simulation/run.ts

## dashboards: draws docs/dashboards/*.svg from the dashboards' JSON, over a running system under load
dashboards: peers prometheus
	@$(NODE) test/monitoring/draw.ts

## image: the image of this commit, with its version and commit in it (IMAGE=name, DOCKER=podman, BUILD_OPTIONS='--pull --no-cache')
DOCKER ?= docker
VERSION_HERE = $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' package.json)
IMAGE ?= platen:$(VERSION_HERE)
image:
	@$(DOCKER) build $(BUILD_OPTIONS) --tag $(IMAGE) --build-arg VERSION=$(VERSION_HERE) \
	  --build-arg COMMIT="$$(git rev-parse HEAD)" --build-arg CREATED="$$(date -u +%Y-%m-%dT%H:%M:%SZ)" .

## release: makes the files of a release into release/: charts, definitions, bills of materials, clients, checksums (VERSION=0.1.0; IMAGE=name for the image's Debian packages)
release: node_modules/.installed helm
	@$(NODE) scripts/release.ts "$(VERSION)" $(if $(filter command line environment,$(origin IMAGE)),"$(IMAGE)")

## image-test: builds the image and runs every role of it in containers (as root; test/image/run.sh says what it needs)
image-test: peers
	@test/image/run.sh

## e2e: a whole Kubernetes on this machine, Platen in it by its chart and image, and what the chart promises (as root; CASES='--grep …' for some; TEST_STORE=s3: PDFs in a bucket; docs/development-cluster.md)
e2e: peers kubernetes $(if $(filter s3,$(TEST_STORE)),versitygw)
	@test/cluster/run.sh $(CASES)

build: dist/main.js

dist/main.js: node_modules/.installed scripts/bundle.ts $(SOURCES)
	@echo 'Building …'
	@$(NODE) scripts/bundle.ts

setup: node_modules/.installed fonts peers kubernetes

# The dictionaries for `hyphens: auto`, which the browsers read.
dist/hyphen-data/manifest.json: node_modules/.installed $(wildcard scripts/hyphenation/*)
	@echo 'Compiling hyphenation dictionaries …'
	@$(call LOCKED,hyphenation) $(NODE) scripts/hyphenation/compile.ts

## clients: packs both clients as their users install them; the service has them at /clients
clients: dist/clients/SHA256SUMS

dist/clients/SHA256SUMS: node_modules/.installed $(wildcard scripts/clients/*) $(shell find clients/*/src clients/*/README.md clients/*/*.toml clients/*/*.json -type f -not -name '*.pyc')
	@echo 'Packing the clients …'
	@$(NODE) scripts/clients/pack.ts

## dashboard: builds the pages that /dashboard serves
dashboard: dist/dashboard/index.html

dist/dashboard/index.html: node_modules/.installed $(shell find dashboard/src dashboard/public dashboard/*.* examples/templates docs/pictures/templates scripts/docs-pages/option-sections.ts -type f)
	@echo 'Building the dashboard …'
	@$(NODE) node_modules/vite/bin/vite.js build $(DASHBOARD) --logLevel warn
	@touch $@

# With the packages of the client and of the dashboard, which are workspaces.
# Not `npm ci`: it refuses a lock file that lacks packages of other platforms, which not every registry carries.
node_modules/.installed: package.json package-lock.json $(CLIENT)/package.json $(DASHBOARD)/package.json
	@echo 'Installing packages (about a minute the first time) …'
	@npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# What the tests run beside Platen, a Java database and Kafka: fetched with Maven, kept in .cache.
peers: node_modules/.installed fonts
	@$(NODE) scripts/install-peers.mjs mongo-java-server kafka

# veraPDF, which judges PDF/A and PDF/UA in tests: fetched with Maven, kept in .cache, in no image.
verapdf: node_modules/.installed
	@$(NODE) scripts/install-peers.mjs verapdf

# Mustang, which judges e-invoices in tests: fetched with Maven, kept in .cache, in no image.
mustang: node_modules/.installed
	@$(NODE) scripts/install-peers.mjs mustang

## conformance-pdf: has veraPDF judge every document of the corpus with the sets of options that matter, some 600 PDFs, and Mustang e-invoices of every profile and kind; then the PDFs of the browser of Debian, in half an hour altogether
conformance-pdf: verapdf mustang pdf-readers pdf-signatures pdfsig fonts
	@PATH="$(CURDIR)/node_modules/.bin:$$PATH" CONFORMANCE=all $(NODE) node_modules/mocha/bin/mocha.js --exit 'test/conformance-pdf/**/*.test.ts'
	@browser="$$(scripts/install-debian-browser.sh)"; [ -z "$$browser" ] || PATH="$(CURDIR)/node_modules/.bin:$$PATH" PLATEN_CHROMIUM_PATH="$$browser" CONFORMANCE=all \
	  $(NODE) node_modules/mocha/bin/mocha.js --exit test/conformance-pdf/conformance.test.ts

# A Kubernetes API server with its etcd, for the tests: built with Go (1.24 or newer), kept in .cache. The first time takes minutes.
kubernetes: node_modules/.installed
	@$(call LOCKED,go) $(NODE) scripts/install-go-programs.mjs api

# Helm 3 and Helm 4, for the tests of the chart: built with Go, kept in .cache.
helm: node_modules/.installed
	@$(call LOCKED,go) $(NODE) scripts/install-go-programs.mjs helm

# What holds the running service against its OpenAPI document; needs Python 3.10 or newer. Kept in .cache.
schemathesis: node_modules/.installed
	@$(call LOCKED,schemathesis) $(NODE) scripts/install-python.ts schemathesis test/conformance/requirements.txt

# qpdf and PDFium, which read back what the tests of options print; needs Python 3.10 or newer. Kept in .cache.
pdf-readers: node_modules/.installed
	@$(call LOCKED,pdf-readers) $(NODE) scripts/install-python.ts pdf-readers test/options/readers/requirements.txt

# pyHanko, which signs digests and judges the signatures of PDFs in tests; needs Python 3.10 or newer. Kept in .cache.
pdf-signatures: node_modules/.installed
	@$(call LOCKED,pdf-signatures) $(NODE) scripts/install-python.ts pdf-signatures test/seals/requirements.txt

# SoftHSM and OpenSC's tools, for the tests of keys in hardware modules, which are skipped without them. Kept in .cache.
softhsm:
	@scripts/install-debian.sh softhsm pkcs11-tool softhsm2 opensc

# Poppler's pdfsig and NSS, which judge the signatures of PDFs in tests, besides pyHanko; skipped without Debian. Kept in .cache.
pdfsig:
	@scripts/install-debian.sh pdfsig certutil poppler-utils libnss3 libnss3-tools

## generated-clients: makes clients of the API document with the usual generators in Python, PHP, Ruby, C#, Go and Java, builds them, and lets each save a PDF, follow a job, be refused and download a batch; then builds and runs the example for Spring Boot (needs Java, Maven, Go, Python and Debian, and skips what is missing)
generated-clients: dist/main.js peers generators
	@PATH="$(CURDIR)/node_modules/.bin:$$PATH" $(NODE) node_modules/mocha/bin/mocha.js --exit 'test/generated-clients/*.test.ts'

# The generator that comes from PyPI, for the tests of generated clients; needs Python 3.10 or newer. Kept in .cache.
generators: node_modules/.installed
	@$(call LOCKED,generated-clients) $(NODE) scripts/install-python.ts generated-clients test/generated-clients/requirements.txt

# What the tests of the Python client need; needs Python 3.10 or newer. Kept in .cache.
python-client: node_modules/.installed
	@$(call LOCKED,python-client) $(NODE) scripts/install-python.ts python-client clients/python/requirements-dev.txt

weasyprint: node_modules/.installed
	@$(call LOCKED,weasyprint) $(NODE) scripts/install-python.ts weasyprint test/bench/requirements.txt

# What the Python examples need beside the client; needs Python 3.10 or newer. Kept in .cache.
examples: node_modules/.installed
	@$(call LOCKED,examples) $(NODE) scripts/install-python.ts examples-python examples/requirements.txt

# What holds every request to Stripe against Stripe's own specification: built with Go, kept in .cache.
stripe-mock: node_modules/.installed
	@$(call LOCKED,go) $(NODE) scripts/install-go-programs.mjs stripe-mock

# An S3 server that verifies signatures, for the tests of outputs in S3: built with Go, kept in .cache.
versitygw: node_modules/.installed
	@$(call LOCKED,go) $(NODE) scripts/install-go-programs.mjs versitygw

# promtool and prometheus, for the tests of dashboards and alerts. Kept in .cache.
prometheus:
	@scripts/install-prometheus.sh >/dev/null

clean:
	rm -rf $(CLIENT)/node_modules $(DASHBOARD)/node_modules site/node_modules site/dist site/built fonts/node_modules fonts/installed dist node_modules .cache

#!/usr/bin/env node
/**
 * Builds programs that the tests run beside Platen from the Go module proxy, into .cache/go/bin.
 *
 *   node scripts/install-go-programs.mjs SET...
 *
 * The sets: `api` is what the tests against an API server need: etcd, kube-apiserver and kubectl. `cluster` is that and what
 * runs pods, `kwok` that and KWOK, which plays nodes by the thousand. `helm` is Helm 3 and Helm 4, and the Lua that Argo CD has;
 * `stripe-mock` holds requests against Stripe's own specification, `versitygw` is an S3 server that verifies signatures. Versions and checksums are those of scripts/go. What is up to date is left alone, and Go
 * keeps what it has compiled: eight minutes (api) and twelve (cluster) the first time on two cores, seconds later on.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'go');
const cache = join(dirname(here), '.cache', 'go');
const bin = join(cache, 'bin');
const stamps = join(cache, 'stamps');

/** Go module, command in it, and what the program is called. */
const API = [
  ['kubernetes', 'go.etcd.io/etcd/server/v3', 'etcd'],
  ['kubernetes', 'k8s.io/kubernetes/cmd/kube-apiserver', 'kube-apiserver'],
  ['kubernetes', 'k8s.io/kubernetes/cmd/kubectl', 'kubectl'],
].map(toTarget);
const CLUSTER = [
  ...API,
  ...['kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy'].map((program) =>
    toTarget(['kubernetes', `k8s.io/kubernetes/cmd/${program}`, program]),
  ),
  ...[
    // Of the same module, so that what both are made of is compiled once.
    ['kubernetes', './coredns', 'coredns'],
    ['pause', '.', 'pause'],
  ].map(toTarget),
];
const SETS = {
  api: API,
  cluster: CLUSTER,
  kwok: [...CLUSTER, toTarget(['kwok', 'sigs.k8s.io/kwok/cmd/kwok', 'kwok'])],
  // One module for both Helms, for the same reason.
  helm: [
    ['helm', 'helm.sh/helm/v4/cmd/helm', 'helm4'],
    ['helm', 'helm.sh/helm/v3/cmd/helm', 'helm3'],
    ['lua', 'github.com/yuin/gopher-lua/cmd/glua', 'glua'],
  ].map(toTarget),
  // Its specification is that of the API version 2026-08-26.dahlia: older than the one that Platen pins.
  'stripe-mock': [['stripe-mock', 'github.com/stripe/stripe-mock', 'stripe-mock']].map(toTarget),
  versitygw: [['versitygw', 'github.com/versity/versitygw/cmd/versitygw', 'versitygw']].map(toTarget),
};

const sets = process.argv.slice(2);
const unknown = sets.filter((set) => !(set in SETS));
if (sets.length === 0) fail(`name what is to be built: ${Object.keys(SETS).join(', ')}`);
if (unknown.length > 0) fail(`unknown: ${unknown.join(', ')} (there are: ${Object.keys(SETS).join(', ')})`);
const missing = sets.flatMap((set) => SETS[set]).filter((wanted) => !isUpToDate(wanted));
if (missing.length > 0) {
  const names = missing.map(({ program }) => program).join(', ');
  requireGo(names);
  say(`building ${names} (minutes the first time) …`);
  for (const wanted of missing) build(wanted);
}

function toTarget([module, command, program]) {
  return { module, command, program };
}

function requireGo(names) {
  if (spawnSync('go', ['version']).error === undefined) return;
  fail(`go is not on PATH: Go 1.24 or newer is needed to build ${names} for the tests`);
}

/** Builds aside and puts it in place when it is whole; the stamp is written last. Two at a time do no harm. */
function build(wanted) {
  const { module, command, program } = wanted;
  const started = Date.now();
  const building = join(cache, `.${program}.${process.pid}`);
  mkdirSync(bin, { recursive: true });
  mkdirSync(stamps, { recursive: true });
  const { status, stderr } = spawnSync('go', ['build', ...flags(module), '-o', building, command], {
    cwd: join(modules, module),
    env: {
      ...process.env,
      // Nothing of C: the programs then need no compiler to build, and no library to run.
      CGO_ENABLED: '0',
      // What only debuggers read is not made, which takes a tenth of the time.
      GOFLAGS: '-mod=readonly -gcflags=all=-dwarf=false',
      GOWORK: 'off',
    },
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) {
    rmSync(building, { force: true });
    fail(`${program} could not be built: ${stderr.trim().split('\n').slice(-20).join('\n')}`);
  }
  renameSync(building, join(bin, program));
  writeFileSync(join(stamps, program), fingerprint(wanted));
  say(`${program}: ready after ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

/** Kubernetes is told its version when it is built; without it clients would find a "v0.0.0". */
function flags(module) {
  const version = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.\d+/.exec(
    readFileSync(join(modules, module, 'go.mod'), 'utf8'),
  );
  const fields = version
    ? [`gitVersion=${version[0].split(' ')[1]}`, `gitMajor=${version[1]}`, `gitMinor=${version[2]}`]
    : [];
  const settings = fields.map((setting) => ` -X k8s.io/component-base/version.${setting}`).join('');
  return ['-trimpath', '-buildvcs=false', '-ldflags', `-s -w${settings}`];
}

function isUpToDate(wanted) {
  const stamp = join(stamps, wanted.program);
  return (
    existsSync(join(bin, wanted.program)) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === fingerprint(wanted)
  );
}

/** Of what decides what is built. */
function fingerprint({ module, command }) {
  const hash = createHash('sha256').update([command, ...flags(module)].join('\0'));
  const folder = join(modules, module);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update('\0').update(readFileSync(file));
  }
  return hash.digest('hex');
}

function say(text) {
  console.log(`[go] ${text}`);
}

function fail(text) {
  console.error(`[go] ${text}`);
  process.exit(1);
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { BIN } from '../../support/kubernetes/program.ts';
import { assertNoDuplicates } from './duplicates.ts';

export const CHART = fileURLToPath(new URL('../../../charts/platen', import.meta.url));
const LIMIT_MS = 120_000;

/** The Helm versions that the chart is for; `scripts/install-go-programs.mjs` builds them. */
export const HELMS = ['helm3', 'helm4'] as const;
export type Helm = (typeof HELMS)[number];

/** Values as a person would write them. */
export type Values = Readonly<Record<string, unknown>>;

/** The least that an installation must say. */
export const LEAST: Values = {
  mongodb: { uri: 'mongodb://mongo.example/platen' },
  kafka: { brokers: 'kafka.example:9092' },
};

/** An object as it was rendered; its fields are read by path. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what is rendered is looked into, and a wrong path fails the assertion.
  readonly [field: string]: any;
}

export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

// Of its own: a person's repositories and plugins have no part in the tests.
const home = mkdtempSync(join(tmpdir(), 'platen-helm-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));

/** Runs a Helm. @param values given as a file. */
export async function runHelm(
  helm: Helm,
  args: readonly string[],
  { values, kubeconfig = '/nonexistent' }: { values?: Values; kubeconfig?: string } = {},
): Promise<HelmResult> {
  const given = values === undefined ? [] : ['--values', '-'];
  const child = spawn(join(BIN, helm), [...args, ...given], {
    env: { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfig },
    stdio: 'pipe',
    timeout: LIMIT_MS,
  });
  child.stdin.end(values === undefined ? '' : JSON.stringify(values));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code: code ?? -1, stdout, stderr };
}

/** The arguments for the project's chart. */
export function chartArguments(command: string, release = 'platen', namespace = 'default'): string[] {
  return [command, release, CHART, '--namespace', namespace];
}

/**
 * `helm template`, as objects.
 *
 * @throws AssertionError with Helm's message when it rejects the values, and when a pod has something twice that server-side
 * apply refuses then.
 */
export async function render(
  helm: Helm,
  values: Values,
  { release = 'platen', namespace = 'default', kubeVersion = '1.34.0' } = {},
): Promise<Manifest[]> {
  const args = [...chartArguments('template', release, namespace), '--kube-version', kubeVersion];
  const { code, stdout, stderr } = await runHelm(helm, args, { values });
  assert.equal(code, 0, stderr);
  const manifests = manifestsOf(stdout);
  assertNoDuplicates(manifests);
  return manifests;
}

/** Helm's message for values that it rejects. */
export async function rejection(helm: Helm, values: Values): Promise<string> {
  const args = [...chartArguments('template'), '--kube-version', '1.34.0'];
  const { code, stderr } = await runHelm(helm, args, { values });
  assert.notEqual(code, 0, 'Helm took these values');
  return stderr;
}

/** Documents that hold nothing but comments are left out. */
export function manifestsOf(yaml: string): Manifest[] {
  return parseAllDocuments(yaml)
    .map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

/** The one object of a kind and name. */
export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.equal(found.length, 1, `${kind} ${name}: ${manifests.map(nameOf).join(', ')}`);
  return found[0]!;
}

export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

/** Values laid over others, maps merged. */
export function over(base: Values, more: Values): Values {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const below = merged[key];
    merged[key] = isMap(below) && isMap(value) ? over(below, value) : value;
  }
  return merged;
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

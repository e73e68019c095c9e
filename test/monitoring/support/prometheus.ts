import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { eventually, HUNG_MS } from '../../support/eventually.ts';
import { freePort } from '../../support/ports.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** A process whose /metrics is scraped, and the labels that a ServiceMonitor would give it. */
export interface Target {
  /** http://host:port */
  readonly url: string;
  readonly pod: string;
}

/** One line of a graph. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Epoch seconds and values; NaN and infinite ones are left out. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

export interface TestPrometheus {
  readonly url: string;
  /** What an expression was between two moments (epoch seconds), every `step` seconds; a series without a number is none. */
  range(expression: string, from: number, to: number, step: number): Promise<Series[]>;
  /** The alerts whose condition holds at the moment, whether for long enough or not, by name. */
  active(): Promise<string[]>;
  /** Looks for processes anew: `targets` in place of those that were scraped so far. */
  scrape(targets: readonly Target[]): Promise<void>;
  stop(): Promise<void>;
}

/** The folder of promtool and prometheus, which are fetched if need be. */
export function prometheusFolder(): string {
  return execFileSync(join(ROOT, 'scripts/install-prometheus.sh'), { encoding: 'utf8' }).trim();
}

/**
 * Runs promtool.
 *
 * @throws Error with what it says, when it finds a fault.
 */
export async function promtool(...words: string[]): Promise<string> {
  try {
    return (await run(join(prometheusFolder(), 'promtool'), words, { cwd: ROOT })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${words.join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Starts a real Prometheus that scrapes once a second; it ends with this process, however a test ends. */
export async function startPrometheus(ruleFiles: readonly string[] = []): Promise<TestPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-prometheus-'));
  const targetsFile = join(folder, 'targets.json');
  const scrape = (targets: readonly Target[]) =>
    writeFile(
      targetsFile,
      JSON.stringify(
        targets.map(({ url, pod }) => ({
          targets: [new URL(url).host],
          labels: { pod, namespace: 'platen' },
        })),
      ),
    );
  await scrape([]);
  const config = join(folder, 'prometheus.yml');
  await writeFile(
    config,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ruleFiles,
      scrape_configs: [
        { job_name: 'platen', file_sd_configs: [{ files: [targetsFile], refresh_interval: '1s' }] },
      ],
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    join(prometheusFolder(), 'prometheus'),
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const killForgotten = () => void child.kill('SIGKILL');
  process.once('exit', killForgotten);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  const ask = async <T>(path: string, query: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`${url}${path}?${new URLSearchParams(query)}`);
    const body = (await response.json()) as { status: string; error?: string; data: T };
    if (body.status !== 'success') throw new Error(`${query.query ?? path}: ${body.error}`);
    return body.data;
  };
  const stop = async () => {
    process.removeListener('exit', killForgotten);
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + HUNG_MS;
  while (!(await fetch(`${url}/-/ready`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`Prometheus did not become ready: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    scrape,
    stop,
    async range(expression, from, to, step) {
      const { result } = await ask<{
        result: { metric: Record<string, string>; values: [number, string][] }[];
      }>('/api/v1/query_range', {
        query: expression,
        start: String(from),
        end: String(to),
        step: String(step),
      });
      return result
        .map(({ metric, values }) => ({
          labels: metric,
          points: values
            .map(([at, value]) => [at, Number(value)] as const)
            .filter(([, value]) => Number.isFinite(value)),
        }))
        .filter(({ points }) => points.length > 0);
    },
    async active() {
      const { alerts } = await ask<{ alerts: { labels: { alertname: string } }[] }>('/api/v1/alerts');
      return [...new Set(alerts.map(({ labels }) => labels.alertname))].sort();
    },
  };
}

/** Resolves when so many processes answer: a rate needs scrapes from before what it is the rate of. */
export async function allAreScraped(prometheus: TestPrometheus, processes: number): Promise<void> {
  const isSo = async () => {
    const now = Date.now() / 1000;
    const up = await prometheus.range('count(up == 1)', now - 2, now, 1);
    return up.some(({ points }) => points.some(([, value]) => value === processes));
  };
  await eventually(`${processes} processes are scraped`, isSo);
}

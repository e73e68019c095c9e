import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { BUILD } from '../../src/infra/version.ts';
import { runCommand } from '../support/command.ts';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

describe('The version', () => {
  it('is that of package.json wherever else it has to stand', () => {
    const stands: Record<string, unknown> = {
      process: BUILD.version,
      openapi: JSON.parse(read('docs/openapi.json')).info.version,
      lockfile: JSON.parse(read('package-lock.json')).version,
      wheel: /\/clients\/platen-(.+)-py3-none-any\.whl$/m.exec(read('clients/python/README.md'))?.[1],
      python: /^version = "(.+)"$/m.exec(read('clients/python/pyproject.toml'))?.[1],
    };
    for (const path of ['clients/typescript', 'dashboard', 'site'])
      stands[path] = JSON.parse(read(`${path}/package.json`)).version;
    for (const path of globSync('charts/*/Chart.yaml', { cwd: ROOT })) {
      const chart = parse(read(path)) as { version: string; appVersion: string };
      stands[`${path} version`] = chart.version;
      stands[`${path} appVersion`] = chart.appVersion;
    }
    for (const path of globSync('crds/*.yaml', { cwd: ROOT })) {
      const { metadata } = parse(read(path)) as { metadata: { labels: Record<string, string> } };
      stands[path] = metadata.labels['platen.dev/version'];
    }
    assert.equal(Object.keys(stands).length, 14);
    assert.deepEqual(
      Object.entries(stands).filter(([, found]) => found !== version),
      [],
    );
  });

  it('is what the command reports, with the commit and Node', async () => {
    const { code, stdout, stderr } = await runCommand(['--version']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      new RegExp(`^platen ${version} \\(commit (?:unknown|[0-9a-f]{40}(?:-dirty)?), Node \\d`),
    );
  });
});

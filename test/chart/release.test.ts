import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { stageChart } from '../../scripts/release/chart.ts';
import { HELMS, runHelm } from './support/helm.ts';

const CHARTS = fileURLToPath(new URL('../../charts/', import.meta.url));
const CHANGES = [{ kind: 'security', description: "A fix: of #1, it's done" }] as const;

describe('A chart that is packaged for a release', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-release-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const helm of HELMS) {
    for (const name of ['platen', 'platen-crds']) {
      it(`is ${name} with what changed and its image as annotations, by ${helm}`, async () => {
        const own = join(folder, helm, name);
        const images: Record<string, string> = name === 'platen' ? { platen: 'platen:1' } : {};
        await stageChart(join(CHARTS, name), own, { changes: CHANGES, images });
        const packed = await runHelm(helm, ['package', own, '--destination', join(folder, helm)]);
        assert.equal(packed.code, 0, packed.stderr);
        const before = parse(await readFile(join(CHARTS, name, 'Chart.yaml'), 'utf8'));
        const shown = await runHelm(helm, [
          'show',
          'chart',
          join(folder, helm, `${name}-${before.version}.tgz`),
        ]);
        const { annotations, ...rest } = parse(shown.stdout);
        const { annotations: earlier = {}, ...expected } = before;
        assert.deepEqual(rest, expected);
        const { 'artifacthub.io/changes': changes, 'artifacthub.io/images': listed, ...others } = annotations;
        assert.deepEqual(parse(changes), CHANGES);
        assert.deepEqual(
          listed === undefined ? [] : parse(listed),
          Object.entries(images).map(([of, image]) => ({ name: of, image })),
        );
        assert.deepEqual(others, earlier);
      });
    }
  }
});

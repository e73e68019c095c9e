import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { SteadyLoad } from '../support/load.ts';
import { HUNG_MS, NEXT_TAG, type Release, TAG, VALUES } from '../support/release.ts';

const ROLES = ['api', 'dispatcher', 'controller', 'worker'];

/** Other versions, under load. */
export function describeUpgrades(release: () => Release): void {
  describe('upgraded', () => {
    it('passes helm test', async () => {
      await release().helm('test', 'platen', '--timeout', '5m');
    });

    for (const [what, act, tag] of [
      [
        'helm upgrade to another image',
        () => release().upgrade({ ...VALUES, image: { tag: NEXT_TAG } }),
        NEXT_TAG,
      ],
      ['helm rollback', () => release().helm('rollback', 'platen', '--wait', '--timeout', '5m'), TAG],
    ] as const) {
      it(`fails no request under ${what}, which reaches every role`, () =>
        assertUnnoticed(release(), act, tag));
    }
  });
}

/** Holds against a change that no request fails while it is made, and that every role follows it to an image. */
export async function assertUnnoticed(
  release: Release,
  change: () => Promise<unknown>,
  tag: string,
): Promise<void> {
  const load = new SteadyLoad(await release.openAccount('business'), 2);
  try {
    await change();
    await eventually(`every pod on ${tag}`, () => allOn(release, tag), HUNG_MS);
  } finally {
    await load.stop();
  }
  assert.deepEqual(load.failures, []);
  assert.ok(load.completed > 0, 'no render meanwhile');
  const late = load.late.length > 0 ? `: ${load.late.join(', ')} ms` : '';
  console.log(`      ${load.completed} renders meanwhile, ${load.late.length} of them late${late}`);
}

async function allOn(release: Release, tag: string): Promise<boolean> {
  for (const role of ROLES) {
    const [all, ready] = [await release.pods(role), await release.readyPods(role)];
    const images = all.map(({ spec }) => spec.containers[0]!.image);
    if (ready.length === 0 || ready.length < all.length) return false;
    if (!images.every((image) => image.endsWith(`:${tag}`))) return false;
  }
  return true;
}

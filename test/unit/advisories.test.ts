import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Advisory, checkPins, isOlder } from '../../scripts/advisories/check.ts';
import { type Pin, readPins } from '../../scripts/advisories/pins.ts';

const ROOT = new URL('../../', import.meta.url);
const known: Advisory[] = JSON.parse(readFileSync(new URL('scripts/advisories/known.json', ROOT), 'utf8'));
const pin = (version: string, where = 'image'): Pin => ({ product: 'node', where, file: where, version });
const advisory = (fields: Partial<Advisory> = {}): Advisory => ({
  id: 'CVE-1',
  product: 'node',
  fixed: '24.18.1',
  severity: 'high',
  published: '2026-07-29',
  title: 'a fault',
  ...fields,
});

describe('The pinned versions', () => {
  it('have no known advisory that is not accepted', () => {
    const pins = readPins(ROOT);
    assert.deepEqual(checkPins(pins, known).problems, []);
    assert.deepEqual([...new Set(pins.map(({ product }) => product))].sort(), [
      'kafka',
      'mongodb',
      'netty',
      'node',
    ]);
  });

  it('would not pass with the Node that the security release of July 2026 mended', () => {
    const { problems } = checkPins([pin('24.18.0')], known);
    for (const id of ['CVE-2026-56846', 'CVE-2026-56848', 'CVE-2026-58043', 'CVE-2026-58040'])
      assert.ok(
        problems.some((line) => line.includes(id)),
        id,
      );
  });

  it('fail when they are affected, and pass when they are not, or that is accepted with a reason', () => {
    const found = (version: string, fields?: Partial<Advisory>) =>
      checkPins([pin(version)], [advisory(fields)]).problems;
    assert.deepEqual(found('24.18.0'), ['image: node 24.18.0 has CVE-1 (high), mended in 24.18.1']);
    assert.deepEqual(found('24.18.1'), []);
    assert.deepEqual(found('24.18.0', { accepted: { image: 'It serves no HTTPS.' } }), []);
    assert.match(found('99.0.0', { fixed: null }).join(), /without a known mend/);
  });

  it('fail when an acceptance is no longer needed, or is for nothing that there is', () => {
    const accepted = { image: 'It serves no HTTPS.' };
    assert.deepEqual(checkPins([pin('24.18.1')], [advisory({ accepted })]).problems, [
      'image: CVE-1 need not be accepted any more',
    ]);
    assert.deepEqual(checkPins([], [advisory({ accepted })]).problems, [
      'CVE-1 is accepted for image, which has no node',
    ]);
  });

  it('fail when the image falls behind the package of Node', () => {
    const { problems } = checkPins([pin('24.21.0'), pin('24.23.0', 'lockfile')], []);
    assert.deepEqual(problems, ['image: node 24.21.0 is older than 24.23.0 of lockfile']);
  });

  it('are compared by numbers', () => {
    assert.ok(isOlder('24.9.0', '24.18.0'));
    assert.ok(!isOlder('24.18.0', '24.9.0'));
    assert.ok(isOlder('8.0', '8.0.37'));
    assert.ok(!isOlder('8.0.37', '8.0.37'));
  });
});

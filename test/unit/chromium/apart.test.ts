import assert from 'node:assert/strict';
import { Apart } from '../../../src/chromium/apart.ts';

const MINUTE = 60_000;
const scripted = { kind: 'html', still: false } as const;
const still = { kind: 'html', still: true } as const;
const url = { kind: 'url', still: false } as const;
const assetHeaders = { 'X-Asset': 'a' };
const csp = "script-src 'none'";

describe('renders apart', () => {
  let now: number;
  let apart: Apart;
  beforeEach(() => {
    now = 1;
    apart = new Apart(() => now);
  });

  it('are those of an account whose requests are paused and whose script may send something', () => {
    const group = apart.groupOf('a', scripted, { assetHeaders });
    assert.ok(group);
    assert.equal(apart.groupOf('a', url, { assetHeaders }), group);
    assert.equal(apart.groupOf('a', url, { csp }), group);
    const others = apart.groupOf('b', scripted, { assetHeaders });
    assert.ok(others);
    assert.notEqual(others, group);
    for (const [document, options] of [
      [scripted, {}],
      [scripted, { csp }],
      [still, { assetHeaders }],
      [url, {}],
    ] as const) {
      assert.equal(apart.groupOf('a', document, options), undefined);
    }
  });

  it('are all those of an account for ten minutes after its document has gone past a bound', () => {
    apart.note('a');
    now += 9 * MINUTE;
    const own = apart.groupOf('a', still, {});
    assert.ok(own);
    assert.equal(apart.groupOf('a', scripted, { assetHeaders }), own);
    assert.equal(apart.groupOf('b', still, {}), undefined);
    apart.note('b');
    assert.notEqual(apart.groupOf('b', still, {}), own);
    now += 2 * MINUTE;
    assert.equal(apart.groupOf('a', still, {}), undefined);
  });
});

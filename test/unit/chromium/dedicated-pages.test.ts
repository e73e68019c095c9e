import assert from 'node:assert/strict';
import { DedicatedPages } from '../../../src/render/chromium/browsers/dedicated-pages.ts';
import { examineDocument } from '../../../src/render/chromium/job/document/job-document.ts';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { RenderSource } from '../../../src/render/renderer.ts';

const MINUTE = 60_000;
const url = { kind: 'url', url: 'https://site.example/' } as const;
const scripted = { kind: 'html', html: '<script>1</script>' } as const;
const still = { kind: 'html', html: '<p>text' } as const;
const assetHeaders = { 'X-Asset': 'a' };
const csp = "script-src 'none'";

describe('renders in dedicated browsers', () => {
  let now: number;
  let dedicated: DedicatedPages;
  const groupOf = (account: string, source: RenderSource, options: RenderOptions) =>
    dedicated.groupOf(account, examineDocument(source, options));
  beforeEach(() => {
    now = 1;
    dedicated = new DedicatedPages(() => now);
  });

  it('are those of an account whose requests are paused and whose script may send something', () => {
    const group = groupOf('a', scripted, { assetHeaders });
    assert.ok(group);
    assert.equal(groupOf('a', url, { assetHeaders }), group);
    assert.equal(groupOf('a', url, { csp }), group);
    const others = groupOf('b', scripted, { assetHeaders });
    assert.ok(others);
    assert.notEqual(others, group);
    for (const [document, options] of [
      [scripted, {}],
      [scripted, { csp }],
      [still, { assetHeaders }],
      [url, {}],
    ] as const) {
      assert.equal(groupOf('a', document, options), undefined);
    }
  });

  it('are all those of an account for ten minutes after its document has gone past a bound', () => {
    dedicated.note('a');
    now += 9 * MINUTE;
    const own = groupOf('a', still, {});
    assert.ok(own);
    assert.equal(groupOf('a', scripted, { assetHeaders }), own);
    assert.equal(groupOf('b', still, {}), undefined);
    dedicated.note('b');
    assert.notEqual(groupOf('b', still, {}), own);
    now += 2 * MINUTE;
    assert.equal(groupOf('a', still, {}), undefined);
  });

  it('are those of an account that has all of the blame for what has befallen others', () => {
    dedicated.suspect(['a', 'b', 'c']);
    for (const account of ['a', 'b', 'c']) assert.equal(groupOf(account, still, {}), undefined);
    dedicated.suspect(['a', 'c', 'd']);
    dedicated.suspect(['a', 'e', 'f']);
    assert.ok(groupOf('a', still, {}));
    for (const account of ['b', 'c', 'd', 'e', 'f']) assert.equal(groupOf(account, still, {}), undefined);
    dedicated.suspect(['g']);
    assert.ok(groupOf('g', still, {}));
    dedicated.suspect([]);
    dedicated.suspect(['h', 'i']);
    now += 11 * MINUTE;
    dedicated.suspect(['h', 'j']);
    for (const account of ['a', 'g', 'h']) assert.equal(groupOf(account, still, {}), undefined);
  });
});

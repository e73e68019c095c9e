import assert from 'node:assert/strict';
import { SheetCache } from '../../../src/render/chromium/job/print/sheet.ts';

const MIB = 1024 ** 2;

describe('printed sheets', () => {
  let cache: SheetCache;
  beforeEach(() => {
    cache = new SheetCache();
  });

  /** Bytes kept of those that each of `accounts` was given as `keys`. */
  const kept = (accounts: readonly string[], keys: readonly string[]) =>
    accounts
      .flatMap((account) => keys.map((key) => cache.get(account, key)?.byteLength ?? 0))
      .reduce((sum, bytes) => sum + bytes, 0);
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

  it('are kept separately for each account', () => {
    const pdf = new Uint8Array(10);
    cache.set('a', 'draft', pdf);
    assert.equal(cache.get('a', 'draft'), pdf);
    assert.equal(cache.get('b', 'draft'), undefined);
  });

  it('take 64 MiB together, and those that were used last stay', () => {
    const accounts = names('account', 40);
    for (const account of accounts) cache.set(account, 'draft', new Uint8Array(4 * MIB));
    assert.equal(kept(accounts, ['draft']), 64 * MIB);
    assert.equal(kept(accounts.slice(-16), ['draft']), 64 * MIB);
  });

  it('take 8 MiB of an account, however many it prints, and nothing of its neighbours', () => {
    cache.set('neighbour', 'draft', new Uint8Array(MIB));
    const keys = names('draft', 40);
    for (const key of keys) cache.set('a', key, new Uint8Array(2 * MIB));
    assert.equal(kept(['a'], keys), 8 * MIB);
    assert.equal(kept(['a'], keys.slice(-4)), 8 * MIB);
    assert.equal(kept(['neighbour'], ['draft']), MIB);
  });

  it('are not kept when one is larger than the share of its account', () => {
    cache.set('a', 'small', new Uint8Array(MIB));
    cache.set('a', 'large', new Uint8Array(9 * MIB));
    assert.equal(cache.get('a', 'large'), undefined);
    assert.equal(kept(['a'], ['small']), MIB);
  });

  it('are eight of an account at most', () => {
    const keys = names('draft', 20);
    for (const key of keys) cache.set('a', key, new Uint8Array(1));
    assert.equal(kept(['a'], keys), 8);
  });
});

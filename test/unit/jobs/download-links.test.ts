import assert from 'node:assert/strict';
import { DownloadLinks, LINK_LIFE_MS } from '../../../src/work/jobs/submission/download-links.ts';

const now = new Date('2026-01-01T00:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const links = new DownloadLinks('a secret of at least thirty-two characters');

describe('download links', () => {
  it('lead to one job for a quarter of an hour', () => {
    const { token, expiresAt } = links.sign('job', 'account', later(1e9), now);
    assert.deepEqual(expiresAt, later(LINK_LIFE_MS));
    assert.equal(links.verify(token, later(LINK_LIFE_MS - 1))?.jobId, 'job');
    assert.equal(links.verify(token, later(LINK_LIFE_MS)), undefined);
  });

  it('never outlive the retention', () => {
    assert.deepEqual(links.sign('job', 'account', later(5000), now).expiresAt, later(5000));
  });

  it('are worth nothing when one character differs, or another secret signed them', () => {
    const { token } = links.sign('job', 'account', later(1e9), now);
    for (let i = 0; i < token.length; i += 1) {
      const other = token[i] === 'A' ? 'B' : 'A';
      assert.equal(links.verify(token.slice(0, i) + other + token.slice(i + 1), now), undefined, `at ${i}`);
    }
    for (const added of ['=', '==', ' ', '\0', '\n', '%', '.', 'A'])
      for (const other of [token + added, added + token, token.replace('.', `${added}.`)])
        assert.equal(links.verify(other, now), undefined, JSON.stringify(other));
    const foreign = new DownloadLinks('another secret of thirty-two characters').sign(
      'job',
      'account',
      later(1e9),
      now,
    );
    assert.equal(links.verify(foreign.token, now), undefined);
    for (const rubbish of ['', '.', 'a.b', 'a.b.c', token.split('.')[0]!]) {
      assert.equal(links.verify(rubbish, now), undefined, rubbish);
    }
  });

  it('survive a change of the secret in two steps, and end with the third', () => {
    const [old, next] = ['s'.repeat(32), 'n'.repeat(32)];
    const [before, first, second, after] = [
      new DownloadLinks(old),
      new DownloadLinks(old, next),
      new DownloadLinks(next, old),
      new DownloadLinks(next),
    ];
    const signed = (by: DownloadLinks) => by.sign('job', 'account', later(1e9), now).token;
    const leads = (by: DownloadLinks, token: string) => by.verify(token, now)?.jobId === 'job';
    // Processes of two steps that follow each other run side by side during a rollout.
    for (const [one, other] of [
      [before, first],
      [first, second],
    ] as const) {
      for (const token of [signed(one), signed(other)])
        assert.deepEqual([leads(one, token), leads(other, token)], [true, true]);
    }
    assert.equal(leads(after, signed(second)), true);
    assert.equal(leads(after, signed(first)), false);
    assert.equal(leads(before, signed(second)), false);
    // The other secret signs nothing.
    assert.equal(signed(first), signed(before));
    assert.equal(signed(second), signed(after));
  });
});

import assert from 'node:assert/strict';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { DISABLE_LINK_LIFE_MS, DisableLinks } from '../../../src/billing/blocks/disable-links.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { DownloadLinks } from '../../../src/work/jobs/submission/download-links.ts';
import { startMongo } from '../../support/mongo.ts';

const NOW = new Date('2026-11-22T05:00:00Z');

describe('Tokens that switch auto overage off', () => {
  let connection: Connection;
  let uri: string;
  let links: DisableLinks;

  before(async () => {
    ({ uri } = await startMongo());
    connection = await connectDatabase(uri, pino({ level: 'silent' }));
    links = new DisableLinks(connection);
  });
  after(() => connection?.close());

  it('identify their account to every process of the installation', async () => {
    const elsewhere = await connectDatabase(uri, pino({ level: 'silent' }));
    try {
      // Both make the key at once.
      const others = new DisableLinks(elsewhere);
      const [mine, theirs] = await Promise.all([links.sign('a', NOW), others.sign('a', NOW)]);
      assert.equal(mine, theirs);
      assert.equal(await others.verify(mine, NOW), 'a');
    } finally {
      await elsewhere.close();
    }
  });

  it('expire', async () => {
    const token = await links.sign('a', NOW);
    const later = (ms: number) => new Date(NOW.getTime() + ms);
    assert.equal(await links.verify(token, later(DISABLE_LINK_LIFE_MS - 1)), 'a');
    assert.equal(await links.verify(token, later(DISABLE_LINK_LIFE_MS)), undefined);
  });

  it('are invalid when any part of them is changed', async () => {
    const token = await links.sign('a', NOW);
    const [payload, mac] = token.split('.') as [string, string];
    const forged = Buffer.from(JSON.stringify(['b', NOW.getTime() * 2])).toString('base64url');
    const others = [`${forged}.${mac}`, `${payload}.${mac.slice(0, -2)}`, `${payload}.`, payload];
    for (const other of [
      ...others,
      `${token}.x`,
      `${token}"`,
      `${token} `,
      ` ${token}`,
      '',
      '.',
      '..',
      'null.null',
      '%00.%00',
    ])
      assert.equal(await links.verify(other, NOW), undefined, other);
  });

  it('have no other purpose, and no token of another purpose is valid here', async () => {
    const downloads = new DownloadLinks('a secret for tests, long enough to be one');
    const { token } = downloads.sign('job', 'a', new Date(NOW.getTime() + 60_000), NOW);
    assert.equal(await links.verify(token, NOW), undefined);
    assert.equal(downloads.verify(await links.sign('a', NOW), NOW), undefined);
  });
});

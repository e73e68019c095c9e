import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlatenClient } from '../../../clients/typescript/src/index.ts';
import { readPdf } from '../../support/pdf.ts';
import { openStandaloneService, type TestService } from '../../support/service.ts';
import { watched } from './watched.ts';

describe('the TypeScript client of a service that is full', () => {
  let service: TestService;
  before(async () => {
    service = await openStandaloneService({ PLATEN_MAX_LIVE_JOBS: '2' });
  });
  after(() => service?.stop());

  it('comes back when there is room', async () => {
    const { client } = await service.newTenant('business');
    const { statuses, fetch } = watched();
    const platen = new PlatenClient({ baseUrl: service.url, apiKey: client.key, fetch });
    const html = '<p>busy</p>';
    for (let i = 0; i < 2; i += 1) await client.submit({ html, options: { delayMs: 5000 } });
    while ((await client.render({ html, executionMode: 'async' })).status !== 503) await sleep(100);
    const { bytes } = await platen.render({ html: '<p>at last</p>' });
    assert.match((await readPdf(bytes)).text, /at last/);
    assert.deepEqual([statuses[0], statuses.at(-1)], [503, 200]);
    assert.ok(statuses.length <= 4, statuses.join());
  });
});

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { eventually } from '../support/eventually.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

const BLOCKED = '10.20.30.40';
const NOWHERE = 'no-such-host-of-a-tenant.invalid';
const CALLBACK = 'callback-host-of-a-tenant.invalid';

describe('The text of /metrics', () => {
  let service: TestService;
  let site: Server;
  before(async () => {
    site = createServer((_request, response) => response.end('<p>x')).listen(0, '127.0.0.1');
    service = await openStandaloneService();
  });
  after(async () => {
    await service?.stop();
    site.closeAllConnections();
    site.close();
  });

  it('names no host and no address, whatever documents and callbacks have named', async () => {
    const { client } = await service.newTenant('business');
    const { port } = site.address() as AddressInfo;
    const reached = `http://127.0.0.1:${port}/page-of-a-tenant`;
    const subresources = [reached, `http://${BLOCKED}/a.png`, `http://${NOWHERE}/a.png`];
    const rendered = await client.render({ html: subresources.map((url) => `<img src="${url}">`).join('') });
    assert.equal(rendered.status, 200);
    assert.equal((await client.render({ url: reached })).status, 200);
    for (const [url, code] of [
      [`http://${BLOCKED}/`, 'URL_BLOCKED'],
      [`http://${NOWHERE}/`, 'URL_UNREACHABLE'],
    ] as const) {
      const jobId = (await client.render({ executionMode: 'async', url })).json.jobId;
      // What is blocked may be refused before there is a job.
      if (jobId !== undefined) assert.equal((await client.end(jobId)).error.code, code);
    }
    for (const webhookUrl of [`https://${CALLBACK}/hook`, `https://127.0.0.1:${port}/hook`])
      await client.end(await client.submit({ html: '<p>x', webhookUrl }));

    const attempts = /^platen_callback_attempts_total\{[^}]*outcome="\w+"[^}]*\} [1-9]/m;
    await eventually('a callback was tried', async () => attempts.test(await service.metrics()));
    const text = await service.metrics();
    const outcomes = [
      ...text.matchAll(/^platen_egress_connections_total\{[^}]*outcome="(\w+)"[^}]*\} [1-9]/gm),
    ];
    // That they were named has been seen by whoever counts.
    for (const outcome of ['connected', 'blocked', 'unresolvable'])
      assert.ok(
        outcomes.some(([, found]) => found === outcome),
        `${outcome}: ${outcomes.map(([line]) => line)}`,
      );

    const addresses = Object.values(networkInterfaces()).flatMap((all) => all!.map(({ address }) => address));
    // The version of the browser has four numbers, too.
    const said = text.replaceAll(/(version="[^"]*?)\d+(\.\d+){3}"/g, '$1"');
    for (const name of [BLOCKED, NOWHERE, CALLBACK, 'of-a-tenant', 'localhost', hostname(), ...addresses])
      assert.ok(!said.includes(name), `${name} is in ${lineWith(said, name)}`);
    for (const shape of [/\b\d{1,3}(\.\d{1,3}){3}\b/, /\w+:\/\//, /\b(host|hostname|address|ip|url)="/i])
      assert.doesNotMatch(said, shape);
    for (const own of ['host', 'site', 'domain', `${port}`])
      assert.doesNotMatch(said, new RegExp(`="[^"]*${own}[^"]*"`), lineWith(said, own));
  });
});

function lineWith(text: string, word: string): string | undefined {
  return text.split('\n').find((line) => line.includes(word));
}

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/ports.ts';
import { openStandaloneService, type TestService } from '../support/service.ts';

describe('platen try', () => {
  let service: TestService;

  before(async () => {
    service = await openStandaloneService();
  });
  after(() => service.stop());

  const platenTry = (...args: string[]) =>
    runCommand(['try', ...args], { environment: { MONGODB_URI: service.mongodbUri } });

  it('renders a PDF through a running service, each time that it runs', async () => {
    for (let i = 0; i < 3; i++) {
      const { code, stdout, stderr } = await platenTry(service.url);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /rendered a PDF of \d{4,} bytes in \d+ ms/);
    }
  });

  it('leaves no key behind that works', async () => {
    await platenTry(service.url);
    const { accounts, keys } = service.tenants;
    const account = await accounts.findByEmail('platen-try@platen.invalid');
    assert.ok(account !== undefined);
    const query = { limit: 10, offset: 0, sort: 'created_desc', mode: undefined } as const;
    assert.equal((await keys.list(account._id, { ...query, status: 'active' })).total, 0);
    assert.ok((await keys.list(account._id, { ...query, status: 'revoked' })).total > 0);
  });

  it('fails with the cause when there is no response in time', async () => {
    const { code, stderr } = await platenTry(`http://127.0.0.1:${await freePort()}`, '--timeout', '2');
    assert.equal(code, 1);
    assert.match(stderr, /has rendered nothing in time: .*ECONNREFUSED/);
  });

  it('fails when what comes back is no PDF', async () => {
    const other = createServer((_request, response) => response.end('<h1>Welcome to nginx!</h1>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = other.address() as AddressInfo;
      const { code, stderr } = await platenTry(`http://127.0.0.1:${port}`);
      assert.equal(code, 1);
      assert.match(stderr, /the body is no PDF: <h1>Welcome to nginx!/);
    } finally {
      other.close();
    }
  });

  it('prints its usage', async () => {
    for (const args of [[], ['nonsense'], ['http://a', 'http://b'], ['http://a', '--timeout', '0']]) {
      const { code, stderr } = await platenTry(...args);
      assert.equal(code, 1);
      assert.match(stderr, /usage: platen try URL/);
    }
  });
});

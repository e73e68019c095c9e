import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { Receiver } from '../integration/callbacks/support.ts';
import { CERTIFICATE } from '../integration/egress/support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { type Identity, opensslVerifies, SealKeys } from '../support/seal-keys.ts';
import {
  openKafkaService,
  openStandaloneService,
  type Tenant,
  type TestService,
} from '../support/service.ts';
import { PYTHON, Signatures } from '../support/signatures.ts';
import { TimestampAuthority } from '../support/timestamp-authority.ts';

const HTML = { html: '<!doctype html><title>Contract</title><p>x' };

describe('sealed PDFs of a running service', () => {
  let keys: SealKeys;
  let judge: Signatures;
  let ada: Identity;
  let receiver: Receiver;
  let clock: TimestampAuthority;
  let service: TestService;
  let tenant: Tenant;

  before(async () => {
    keys = await SealKeys.make();
    judge = new Signatures();
    ada = await keys.identity('Ada');
    const authority = join(keys.folder, 'receiver.pem');
    await writeFile(authority, CERTIFICATE);
    clock = await TimestampAuthority.start(
      await keys.identity('Clock', { extendedKeyUsage: 'timeStamping' }),
    );
    receiver = await Receiver.start();
    receiver.respond = async (_request, response) => {
      const { digest } = JSON.parse(receiver.received.at(-1)!.body);
      const cms = await judge.sign(Buffer.from(digest, 'base64'), ada);
      response.end(JSON.stringify({ cms: cms.toString('base64') }));
    };
    service = await openStandaloneService({
      NODE_EXTRA_CA_CERTS: authority,
      PLATEN_SEAL_KEYS_DIR: keys.folder,
    });
    tenant = await service.newTenant('professional');
    await keys.add('of-tenant', ada, { accounts: tenant.accountId });
  });
  after(async () => {
    judge.close();
    await service?.stop();
    await receiver.close();
    await clock.close();
    await keys.close();
  });

  it('are sealed by the customer’s server, which can verify who asks, and told of in the report', async () => {
    const seal = { key: { digestUrl: receiver.url() }, level: 'B-T', timestampUrl: clock.url };
    const options = { seal: { ...seal, reason: 'Offer' }, report: true };
    const { status, bytes, headers } = await tenant.client.renderToEnd({ ...HTML, options });
    assert.equal(status, 200, Buffer.from(bytes).toString().slice(0, 500));
    await opensslVerifies(bytes, keys.authority);
    const [verdict] = await judge.verdicts(bytes, keys.authority);
    assert.deepEqual([verdict?.good, verdict?.stamped, verdict?.reason], [true, true, 'Offer']);
    const { jobId } = JSON.parse(receiver.received.at(-1)!.body);
    assert.equal(headers.get('x-service-job-id') ?? jobId, jobId);
    const { json } = await tenant.client.call('GET', `/v1/pdf/jobs/${jobId}/report`);
    const { validUntil, serialNumber, ...told } = json.seal;
    assert.ok(new Date(validUntil) > new Date());
    assert.match(serialNumber, /^[0-9A-F]+$/);
    assert.deepEqual(told, {
      ...{ level: 'B-T', subject: 'CN=Ada', issuer: 'CN=Authority of tests' },
      timestamp: { time: told.timestamp.time, authority: 'CN=Clock' },
    });
    assert.ok(new Date(told.timestamp.time) <= new Date(Date.now() + 1000));
    assert.equal(json.size, bytes.byteLength);
  });

  it('are sealed by the server of the guide, which signs for nobody else', async () => {
    const page = await readFile(new URL('../../docs/guide/sealed-pdfs.md', import.meta.url), 'utf8');
    const [, program = ''] = /```py\n(.*?)```/s.exec(page) ?? [];
    assert.ok(program.includes('8000'));
    const port = await freePort();
    const file = join(keys.folder, 'server.py');
    await writeFile(file, program.replace('8000', String(port)).replace('seal.p12', 'of-tenant.p12'));
    // The account has its key once something was signed, as in the test before.
    const ring = await service.tenants.connection
      .collection<{ _id: string; keys: { secret: string }[] }>('callback_keys')
      .findOne({ _id: tenant.accountId });
    const { secret } = ring!.keys[0]!;
    const env = { ...process.env, SIGNING_SECRET: secret, P12_PASSWORD: 'pass wörd' };
    const server = spawn(PYTHON, [file], { cwd: keys.folder, env, stdio: 'ignore' });
    const own = receiver.respond;
    try {
      receiver.respond = async (_request, response) => {
        const { headers, body } = receiver.received.at(-1)!;
        response.end(await forwarded(`http://127.0.0.1:${port}/`, headers, body));
      };
      const options = { seal: { key: { digestUrl: receiver.url() } } };
      const { status, bytes } = await tenant.client.renderToEnd({ ...HTML, options });
      assert.equal(status, 200, Buffer.from(bytes).toString().slice(0, 500));
      await opensslVerifies(bytes, keys.authority);
      const { headers, body } = receiver.received.at(-1)!;
      await assert.rejects(forwarded(`http://127.0.0.1:${port}/`, headers, `${body} `));
    } finally {
      receiver.respond = own;
      server.kill();
    }
  });

  it('are sealed in batches, and not merged with others', async () => {
    const options = { seal: { key: { keyId: 'of-tenant' } } };
    const items = ['a', 'b'].map((id) => ({ id, ...HTML, ...(id === 'b' && { options }) }));
    const { jobId } = (await tenant.client.call('POST', '/v1/pdf/batch', { items })).json;
    const path = `/v1/pdf/batch/${jobId}`;
    await eventually(
      'it has ended',
      async () => (await tenant.client.call('GET', path)).json.status === 'completed',
    );
    const merged = await tenant.client.call('GET', `${path}/pdf?merge=true`);
    assert.deepEqual([merged.status, merged.json.code], [409, 'NOT_MERGEABLE']);
    assert.match(merged.json.message, /"b" is sealed/);
  });

  it('are refused where the account has no such key, until it has one', async () => {
    const other = await service.newTenant('professional');
    const options = { seal: { key: { keyId: 'of-other' } } };
    const refused = await other.client.call('POST', '/v1/pdf', { ...HTML, options });
    assert.deepEqual([refused.status, refused.json.code], [400, 'VALIDATION']);
    assert.match(
      String(refused.json.message),
      /^options\.seal\.key\.keyId: the account has no key "of-other"/,
    );
    await keys.add('of-other', ada, { accounts: other.accountId });
    await eventually(
      'it is known',
      async () => (await other.client.call('POST', '/v1/pdf', { ...HTML, options })).status === 200,
    );
  });

  it('are counted', async () => {
    const metrics = await service.metrics();
    assert.match(metrics, /platen_seals_total\{key="keyId",outcome="sealed",role="standalone"\} [1-9]/);
    assert.match(metrics, /platen_seals_total\{key="digestUrl",outcome="sealed",role="standalone"\} 2/);
  });
});

describe('keys that seal, where workers run by themselves', () => {
  let keys: SealKeys;
  let service: TestService;
  before(async () => {
    keys = await SealKeys.make();
    service = await openKafkaService({ PLATEN_SEAL_KEYS_DIR: keys.folder });
  });
  after(async () => {
    await service?.stop();
    await keys.close();
  });

  it('are known to the API by what the workers report, soon after they are there or withdrawn', async () => {
    const { client, accountId } = await service.newTenant('professional');
    const options = { seal: { key: { keyId: 'invoices' } } };
    const becomes = (status: number) =>
      eventually(`it is ${status}`, async () => {
        const asked = await client.call('POST', '/v1/pdf', { ...HTML, options, executionMode: 'async' });
        return asked.status === status;
      });
    await becomes(400);
    await keys.add('invoices', await keys.identity('Ada'), { accounts: accountId });
    await becomes(202);
    const { status, bytes } = await client.renderToEnd({ ...HTML, options });
    assert.equal(status, 200, Buffer.from(bytes).toString().slice(0, 500));
    await opensslVerifies(bytes, keys.authority);
    await writeFile(join(keys.folder, 'invoices.accounts'), 'another');
    await becomes(400);
  });
});

/** The response of a server that is beside a proxy for https, which has started soon after. */
async function forwarded(url: string, headers: IncomingHttpHeaders, body: string): Promise<Buffer> {
  const passed = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'));
  let response: Response | undefined;
  await eventually('the server is there', async () => {
    response = await fetch(url, {
      method: 'POST',
      headers: Object.fromEntries(passed) as Record<string, string>,
      body,
    }).catch((error: Error & { cause?: { code?: string } }) => {
      if (error.cause?.code === 'ECONNREFUSED') return undefined;
      throw error;
    });
    return response !== undefined;
  });
  return Buffer.from(await response!.arrayBuffer());
}

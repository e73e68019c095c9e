import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOUR_MS } from '../../src/infra/outputs/output-store.ts';
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { eventually } from '../support/eventually.ts';
import {
  openKafkaService,
  openStandaloneService,
  SHORT_LEASE,
  type Tenant,
  type TestService,
} from '../support/service.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';

interface Report {
  status: string;
  engine: string;
  attempts: { outcome: string; error: { code: string; message: string } | null; phases: object | null }[];
  phases: { name: string }[];
  pages: number;
  size: number;
  error: { code: string } | null;
  warnings: string[];
  truncated: string[];
}

const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const PHASES = ['page', 'load', 'wait', 'print', 'finish'];

/** A site with one picture, which is answered when a test says how. */
async function servePicture(): Promise<{ pages: WebPages; asked: ServerResponse[] }> {
  const asked: ServerResponse[] = [];
  return {
    asked,
    pages: await serveWebPages({ '/picture.svg': (_, response) => void asked.push(response) }),
  };
}

/** Asks for a render of the picture, with a report. @returns the id of its job. */
function submitPicture({ client }: Tenant, { url }: WebPages): Promise<string> {
  const options = { report: true, timeoutMs: 120_000, failOn: { assetStatus: ['500-599'] } };
  return client.submit({ html: `<img src="${url}/picture.svg">`, options });
}

async function reportOf({ client }: Tenant, jobId: string): Promise<Report> {
  const { reportEndpoint } = await client.end(jobId);
  const { status, json } = await client.call('GET', reportEndpoint);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

const codesOf = ({ attempts }: Report) => attempts.map(({ error }) => error?.code);

describe('the report of a render whose worker is killed', () => {
  let service: TestService;
  let site: Awaited<ReturnType<typeof servePicture>>;
  before(async () => {
    service = await openKafkaService(SHORT_LEASE);
    site = await servePicture();
  });
  after(async () => {
    await service?.stop();
    await site?.pages.close();
  });

  it('has every attempt, and states that the findings of the last one are lost', async () => {
    const tenant = await service.newTenant('business');
    const jobId = await submitPicture(tenant, site.pages);
    await eventually('the first attempt asks', () => site.asked.length === 1);
    site.asked[0]!.writeHead(503).end();
    for (const asked of [2, 3]) {
      await eventually('the next attempt asks', () => site.asked.length === asked);
      const early = await tenant.client.call('GET', `/v1/pdf/jobs/${jobId}/report`);
      assert.equal(early.status, 404);
      assert.match(early.json.message, /no report yet/);
      await service.roles.get('worker')!.end('SIGKILL');
      await service.restart('worker');
    }
    const report = await reportOf(tenant, jobId);
    assert.deepEqual(codesOf(report), ['ASSET_FAILED', 'WORKER_LOST', 'WORKER_LOST']);
    assert.deepEqual(
      report.attempts.map(({ phases }) => phases !== null),
      [true, false, false],
    );
    assert.deepEqual([report.status, report.error?.code, report.phases], ['failed', 'WORKER_LOST', []]);
    assert.match(report.warnings.join(), /worker of this render was lost/);
    assert.ok(report.truncated.includes('requests'));
  });
});

describe('the report of a render that cannot be stored', () => {
  let folder: string;
  let service: TestService;
  let site: Awaited<ReturnType<typeof servePicture>>;
  let tenant: Tenant;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-unstored-'));
    service = await openStandaloneService({ PLATEN_DATA_DIR: folder });
    site = await servePicture();
    tenant = await service.newTenant('business');
  });
  after(async () => {
    await service?.stop();
    await site?.pages.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('has every attempt with its phases, of a render whose PDF could not be stored either', async () => {
    // A file stands in the place of the folder in which outputs are written.
    const unfinished = join(folder, 'outputs', 'unfinished');
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(join(folder, 'outputs'), { recursive: true });
    await writeFile(unfinished, '');
    const jobId = await tenant.client.submit({ html: '<p>x', options: { report: true } });
    const report = await reportOf(tenant, jobId);
    await rm(unfinished);
    assert.deepEqual(codesOf(report), ['RENDER_FAILED', 'RENDER_FAILED', 'RENDER_FAILED']);
    for (const { error, phases } of report.attempts) {
      assert.match(error!.message, /rendered, and could not be stored/);
      assert.deepEqual(Object.keys(phases!), PHASES);
    }
    assert.deepEqual([report.status, report.pages, report.size], ['failed', 0, 0]);
    assert.match(report.warnings.join(), /could not be stored/);
  });

  it('has what the record of the job has, of a render that has completed', async () => {
    const jobId = await submitPicture(tenant, site.pages);
    await eventually('it is rendered', () => site.asked.length === 1);
    // Folders stand wherever its report may go.
    const hour = Math.ceil(Date.now() / HOUR_MS + DEFAULT_PLANS.business.retentionHours);
    for (const name of [hour, hour + 1].flatMap((h) => [1, 2, 3, 4].map((fence) => `${h}/${jobId}.${fence}`)))
      await mkdir(join(folder, 'outputs', `${name}.json`), { recursive: true });
    site.asked[0]!.writeHead(200, { 'content-type': 'image/svg+xml' }).end(PICTURE);
    const report = await reportOf(tenant, jobId);
    assert.deepEqual([report.status, report.error, report.pages], ['completed', null, 1]);
    assert.ok(report.size > 0);
    assert.deepEqual(
      report.phases.map(({ name }) => name),
      PHASES,
    );
    assert.match(report.warnings.join(), /could not be stored/);
    const file = await tenant.client.call('GET', `/v1/pdf/jobs/${jobId}/file`);
    assert.equal(file.bytes.byteLength, report.size);
  });
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TestClient } from '../support/client.ts';
import { type DatabaseWay, openDatabaseWay } from '../support/database-way.ts';
import { startKafka, type TestKafka } from '../support/kafka.ts';
import { startMongo } from '../support/mongo.ts';
import { readPdf } from '../support/pdf.ts';
import { type Container, IMAGE, startContainer } from './container.ts';
import { fontsInPdf } from './fonts-in-pdf.ts';
import { PODMAN_PROFILE, writeStrictProfile } from './seccomp.ts';

const KEY = 'sk_live_image_test_0123456789abcdef0123456789abcdef';
/** An idle role has nothing to wait for. */
const STOP_MS = 5_000;
/** What the chart puts on nodes, and compose.yaml uses. */
const CHART_PROFILE = fileURLToPath(
  new URL('../../charts/platen/files/seccomp-profile.json', import.meta.url),
);
const SANDBOX_WARNING = /without its sandbox/;

const TEXTS: Readonly<Record<string, string>> = {
  en: 'Invoice',
  ru: 'Счёт',
  'zh-CN': '简体中文发票',
  ja: '日本語の請求書',
  ko: '한국어 청구서',
  ar: 'فاتورة',
  he: 'חשבונית',
  hi: 'चालान',
  th: 'ใบเสร็จ',
};
const HTML = `<!doctype html><meta charset="utf-8">
${Object.entries(TEXTS)
  .map(([language, text]) => `<p lang="${language}">${text} <b>${text}</b></p>`)
  .join('\n')}
<p>😀 🚀 🇩🇪 👩‍👩‍👧</p><pre>monospaced</pre><p style="font-family: Arial">Arial</p>`;

const FONTS = [
  /NotoSansSC/,
  /NotoSansJP/,
  /NotoSansKR/,
  /Arabic/,
  /Devanagari/,
  /Thai/,
  /Tinos/,
  /Arimo/,
  /Cousine/,
];

describe('the image', () => {
  const strict = join(process.env.PLATEN_IMAGE_WORK ?? '/tmp', 'strict-seccomp.json');
  const started: Container[] = [];
  const ways: DatabaseWay[] = [];
  let kafka: TestKafka;

  before(async () => {
    writeStrictProfile(strict);
    kafka = await startKafka();
  });
  after(() => kafka.stop());
  afterEach(async () => {
    for (const container of started.splice(0)) await container.remove();
    for (const way of ways.splice(0)) way.close();
  });

  /** A database that a container can reach, which does not see the socket. */
  const startDatabase = async () => {
    const way = await openDatabaseWay((await startMongo()).uri);
    ways.push(way);
    return way.uri;
  };

  const start = async (role: string, environment: Record<string, string>, seccomp: string) => {
    const container = await startContainer(role, environment, seccomp);
    started.push(container);
    return container;
  };

  const startAll = async (seccomp: string) => {
    const environment = {
      MONGODB_URI: await startDatabase(),
      KAFKA_BROKERS: kafka.brokers.join(','),
      PLATEN_SECRET: 'a secret for tests, long enough to be one',
      PLATEN_BOOTSTRAP_EMAIL: 'image@example.com',
      PLATEN_BOOTSTRAP_API_KEY: KEY,
    };
    const roles: Record<string, Container> = {};
    for (const role of ['dispatcher', 'worker', 'api']) {
      roles[role] = await start(role, environment, seccomp);
      await roles[role].ready();
    }
    return roles as { dispatcher: Container; worker: Container; api: Container };
  };

  for (const [profile, seccomp] of [
    ['Docker and Kubernetes', strict],
    ['podman', PODMAN_PROFILE],
  ] as const) {
    it(`renders every script with api, worker and dispatcher under the system calls of ${profile}`, async () => {
      const roles = await startAll(seccomp);
      await assertRenders(roles.api);
      assert.match(roles.worker.lines.join('\n'), SANDBOX_WARNING);
    });
  }

  for (const [profile, seccomp] of [
    ['none', 'unconfined'],
    ['that of the chart', CHART_PROFILE],
  ] as const) {
    it(`uses Chromium's sandbox where the seccomp profile allows it: ${profile}`, async () => {
      const { api, worker } = await startAll(seccomp);
      await assertRenders(api);
      assert.doesNotMatch(worker.lines.join('\n'), SANDBOX_WARNING);
      const { stdout } = await worker.exec('sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"');
      assert.match(stdout, /--proxy-server=/);
      assert.doesNotMatch(stdout, /^--no-sandbox$/m);
    });
  }

  it('ends every role on SIGTERM, in good time and with code 0', async () => {
    for (const [role, container] of Object.entries(await startAll(strict))) {
      const { code, tookMs } = await container.stop();
      assert.equal(code, 0, `${role}: ${container.lines.slice(-5).join('\n')}`);
      assert.ok(tookMs < STOP_MS, `${role} took ${tookMs} ms`);
    }
  });

  it('finishes the render in progress when the worker is stopped', async () => {
    const { api, worker } = await startAll(strict);
    const client = new TestClient(api.url, KEY);
    const id = await client.submit({ html: '<p>late</p>', options: { delayMs: 3000 } });
    while ((await client.call('GET', `/v1/pdf/jobs/${id}`)).json.status !== 'processing');
    assert.equal((await worker.stop()).code, 0);
    assert.equal((await client.end(id)).status, 'completed');
  });

  it('runs standalone with a database of its own, keeping its data in /data', async () => {
    const container = await start('standalone', { MONGODB_URI: await startDatabase() }, strict);
    await container.ready();
    const { stdout } = await container.exec('cat', '/data/first-api-key');
    await assertRenders(container, stdout.trim());
    assert.equal((await container.stop()).code, 0);
  });

  it('reports that standalone needs MONGODB_URI', async () => {
    const container = await start('standalone', {}, strict);
    assert.equal(await container.ended, 1);
    assert.match(container.lines.join('\n'), /Set MONGODB_URI to use a MongoDB server/);
  });

  it('runs as an ordinary user that can write to /tmp and /data alone', async () => {
    const container = await start('standalone', { MONGODB_URI: await startDatabase() }, strict);
    await container.ready();
    const { stdout } = await container.exec('sh', '-c', 'cat /proc/[0-9]*/status');
    const users = new Set(stdout.match(/^Uid:.*/gm)?.map((line) => line.replaceAll('\t', ' ')));
    assert.deepEqual([...users], ['Uid: 1000 1000 1000 1000']);
    for (const folder of ['/', '/app', '/app/dist', '/home/node', '/etc']) {
      await assert.rejects(container.exec('touch', `${folder}/x`), folder);
    }
    await container.exec('touch', '/tmp/x', '/data/x');
    const { stdout: user } = await podman('image', 'inspect', '--format', '{{.Config.User}}', IMAGE);
    assert.equal(user.trim(), '1000:1000');
  });

  it('has a font cache that holds', async () => {
    const container = await start('standalone', { MONGODB_URI: await startDatabase() }, strict);
    await container.ready();
    // With a cache that does not, fontconfig reads every font, and complains that it cannot write what it found.
    const { stderr } = await container.exec(
      'env',
      'FONTCONFIG_FILE=/app/fonts/installed/fonts.conf',
      'fc-list',
    );
    assert.equal(stderr, '');
  });
});

const podman = (...args: string[]) => promisify(execFile)('podman', args);

async function assertRenders(api: Container, key = KEY): Promise<void> {
  const client = new TestClient(api.url, key);
  const response = await client.render({ html: HTML });
  assert.equal(response.status, 200, Buffer.from(response.bytes).toString().slice(0, 500));
  // Chromium names some ideographs by the radical that looks the same (U+2F42 for 文); as a search would, NFKC undoes it.
  const text = (await readPdf(response.bytes)).text.normalize('NFKC');
  for (const [language, expected] of Object.entries(TEXTS)) assert.ok(text.includes(expected), language);
  const fonts = await fontsInPdf(response.bytes);
  for (const { name, embedded, boxes } of fonts) {
    assert.ok(embedded, `${name} is not embedded`);
    assert.equal(boxes, 0, `${name} lacks a character`);
  }
  const names = fonts.map(({ name }) => name).join(' ');
  for (const expected of FONTS) assert.match(names, expected);
  // Two plain ones, a flag of two characters and a family of five: one glyph each.
  const emoji = fonts.filter(({ name }) => name === 'NotoColorEmoji').map(({ glyphs }) => glyphs);
  assert.equal(
    emoji.reduce((sum, count) => sum + count, 0),
    4,
  );
  const narrow = await client.render({ html: '<p lang="de" style="hyphens: auto; width: 1px">Versicherung' });
  assert.match((await readPdf(narrow.bytes)).text, /^Ver[-\u2010]\s+si[-\u2010]\s+che[-\u2010]\s+rung$/m);
  // The same count finds a character that no font has.
  const lacking = await client.render({ html: '<p>\u{f0000}</p>' });
  assert.ok((await fontsInPdf(lacking.bytes)).some(({ boxes }) => boxes > 0));
}

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { sharedStandaloneService, type TestService } from '../support/service.ts';
import { type View, Visitor } from './support/visitor.ts';

const BUILT = fileURLToPath(new URL('../../dist/dashboard/index.html', import.meta.url));
const EMAIL = 'ada@example.com';
const PASSWORD = 'a long enough pass phrase';
/** What tenants may write, and no page may take for its own. */
const HOSTILE = `<img src=x onerror="document.title='owned'">‮.pdf${'x'.repeat(120)}`;
/** The same without what no name may have: a change of the direction in which text is shown. */
const HOSTILE_NAME = HOSTILE.replace('\u202e', '');
const VIEWS: readonly View[] = [
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
  { width: 768, scheme: 'dark' },
  { width: 320, scheme: 'light' },
  { width: 1280, scheme: 'light', forcedColors: true },
  { width: 1280, scheme: 'light', textPercent: 200 },
];
/** Of dialogs, whose parts are those of pages. */
const FEW_VIEWS = [VIEWS[1]!, VIEWS[3]!, VIEWS[5]!];

describe('The dashboard', () => {
  let service: TestService;
  let visitor: Visitor;
  let failed: string;
  let completed: string;
  let templateId: string;
  let batchId: string;

  /** Asks the API from within the page, with the session. */
  const api = async (
    method: string,
    path: string,
    body?: unknown,
    apiKey?: string,
  ): Promise<Record<string, string>> => {
    const { status, json } = await visitor.page.evaluate(
      async (method, path, body, apiKey) => {
        const response = await fetch(path, {
          method,
          ...(body !== undefined && {
            headers: { 'content-type': 'application/json', ...(apiKey && { 'x-api-key': apiKey }) },
            body: JSON.stringify(body),
          }),
        });
        return { status: response.status, json: await response.json() };
      },
      method,
      path,
      body,
      apiKey,
    );
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  };
  const ended = async (id: string) =>
    eventually('the render ends', async () => (await api('GET', `/user/renders/${id}`)).completedAt !== null);

  before(async () => {
    assert.ok(existsSync(BUILT), 'The dashboard is not built: run make dashboard.');
    service = await sharedStandaloneService();
    visitor = await Visitor.open(service.url);
  });
  after(() => visitor?.close());

  it('leads a stranger from any page to where one signs in, and makes an account there', async () => {
    await visitor.page.goto(service.url);
    await visitor.sees('Sign in');
    // That nobody is signed in is asked of the API, which says so with a 401.
    visitor.complaints.length = 0;
    await visitor.go('/register');
    await visitor.fill('E-mail address', EMAIL);
    await visitor.fill('Password', PASSWORD);
    await visitor.press('Create account');
    await visitor.sees('Your first document');
    visitor.assertNoComplaints();
  });

  it('sees that a plan has changed', async () => {
    const { id } = await api('GET', '/auth/me');
    await service.tenants.accounts.setPlan(id!, 'business');
    await eventually('the plan is in force', async () => (await api('GET', '/auth/me')).plan === 'business');
    await visitor.go('/');
    await visitor.sees('Your first document');
    assert.ok(await visitor.page.$('main ::-p-text(Business)'));
  });

  it('runs the first request of a new account and shows what became of it', async () => {
    await visitor.press('Run it now');
    await visitor.sees('completed');
    await visitor.sees('Where the time went');
    completed = visitor.page.url().split('/').at(-1)!;
    await visitor.page.waitForSelector('iframe[src*="/file"]');
    visitor.assertNoComplaints();
  });

  it('shows what tenants wrote as text', async () => {
    ({ jobId: failed } = (await api('POST', '/user/renders', {
      html: '<p>x',
      output: 'url',
      options: { report: true, scripts: [`throw new Error(${JSON.stringify(HOSTILE)})`] },
    })) as { jobId: string });
    ({ id: templateId } = (await api('POST', '/user/templates', {
      name: HOSTILE_NAME,
      content: '{{ a }}',
    })) as {
      id: string;
    });
    await api('PATCH', `/user/templates/${templateId}`, { content: '<b>{{ a }}</b>' });
    const { apiKey } = await api('POST', '/user/api-keys', { name: 'of a batch', mode: 'test' });
    const items = [
      { id: HOSTILE_NAME.slice(0, 60), html: '<p>x' },
      { id: 'b', html: '<p>x', options: { waitForSelector: '#never', timeoutMs: 1000 } },
    ];
    ({ jobId: batchId } = (await api('POST', '/v1/pdf/batch', { items }, apiKey)) as { jobId: string });
    await ended(failed);
    await eventually(
      'the batch ends',
      async () => (await api('GET', `/user/batches/${batchId}`)).status === 'completed',
    );
    await visitor.go(`/renders/${failed}`);
    await visitor.sees('HeadlessChrome');
    for (const path of [`/renders/${failed}`, '/templates', `/templates/${templateId}`]) {
      await visitor.go(path);
      await visitor.sees('onerror');
      assert.match(await visitor.page.title(), /Platen$/);
    }
    visitor.assertNoComplaints();
  });

  it('shows what its author has to mend of a document, with the element, beside its PDF', async () => {
    const { jobId } = (await api('POST', '/user/renders', {
      html: '<html lang=en><title>x</title><h1>x</h1><h3>y</h3><img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="><p>\u{E000}',
      output: 'url',
      options: { conformance: { pdfua: true, onFault: 'report' } },
    })) as { jobId: string };
    await ended(jobId);
    await visitor.go(`/renders/${jobId}`);
    await visitor.sees('has no text in its place');
    const rows = await visitor.page.$$eval('table tbody tr', (all) =>
      all
        .filter((row) => row.closest('table')!.caption!.textContent === 'Accessibility')
        .map((row) => [...row.cells].slice(1).map(({ textContent }) => textContent)),
    );
    assert.deepEqual(rows, [
      ['img', '1', 'the document'],
      ['h3', '1', 'the document'],
      ['p', '1', 'the fonts'],
    ]);
    await visitor.page.waitForSelector('iframe[src*="/file"]');
    visitor.assertNoComplaints();
  });

  const PAGES = [
    '/',
    '/playground',
    '/renders',
    '/renders?status=cancelled',
    '/renders/completed',
    '/renders/failed',
    '/batches',
    '/batches/one',
    '/templates',
    '/templates/one',
    '/webhooks',
    '/keys',
    '/logs',
    '/audit',
    '/billing',
    '/settings',
    '/no-such-page',
  ];
  const real = (path: string) =>
    path
      .replace('/renders/completed', `/renders/${completed}`)
      .replace('/renders/failed', `/renders/${failed}`)
      .replace('/batches/one', `/batches/${batchId}`)
      .replace('/templates/one', `/templates/${templateId}`);

  for (const path of PAGES) {
    it(`${path} breaks no rule of its policy, has no barrier, fits the narrowest window, and loses no text`, async () => {
      await visitor.setView(VIEWS[0]!);
      await visitor.go(real(path));
      await visitor.assertClear(...VIEWS);
      visitor.assertNoComplaints();
    });
  }

  it('keeps the filters of a list in its address, over a reload and going back', async () => {
    await visitor.setView(VIEWS[0]!);
    await visitor.go('/renders');
    await visitor.page.select('#add-filter', JSON.stringify(['status', 'failed']));
    await visitor.page.waitForFunction(() => window.location.search === '?status=failed');
    await visitor.page.reload();
    await visitor.settled();
    const chips = () => visitor.page.$$eval('.chips bdi', (all) => all.map(({ textContent }) => textContent));
    assert.deepEqual(await chips(), ['Status: failed']);
    await visitor.page.goBack();
    await visitor.settled();
    assert.deepEqual(await chips(), []);
  });

  it('goes to a page and to a render by the palette, with the keyboard alone', async () => {
    await visitor.go('/');
    await visitor.control('k');
    await visitor.page.waitForSelector('dialog[open] input');
    await visitor.page.keyboard.type(completed);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForFunction((id) => window.location.pathname.endsWith(id), {}, completed);
    await visitor.settled();
    assert.equal(await visitor.page.evaluate(() => document.activeElement?.tagName), 'H1');
  });

  it('renders in the playground with an option of its form', async () => {
    await visitor.go('/playground');
    await visitor.fill('Find an option', 'landscape');
    await visitor.page.select('::-p-aria(landscape)', 'true');
    await visitor.control('Enter');
    await visitor.page.waitForSelector('iframe[src*="/file"]');
    const source = await visitor.page.$eval('iframe.pdf', (frame) => (frame as HTMLIFrameElement).src);
    const size = await visitor.page.evaluate(async (address) => {
      const text = await (await fetch(address)).text();
      return /MediaBox\s*\[\s*0 [\d.-]+ ([\d.]+) ([\d.]+)/.exec(text)?.slice(1).map(Number);
    }, source);
    assert.ok(size !== undefined && size[0]! > size[1]!, String(size));
    visitor.assertNoComplaints();
  });

  it('shows what is typed in colours, and Tab leads out of it', async () => {
    await visitor.go(`/templates/${templateId}`);
    const hasFocus = () =>
      visitor.page.evaluate(() => document.activeElement?.matches('[data-language=json]'));
    await visitor.page.click('label ::-p-text(Sample data)');
    assert.equal(await hasFocus(), true);
    await visitor.fill('Sample data', '{ "a": 1 }');
    const colours = await visitor.page.$eval('[data-language=json]', ({ shadowRoot }) =>
      [...shadowRoot!.querySelectorAll('.cm-line span')].map((each) => getComputedStyle(each).color),
    );
    assert.equal(new Set(colours).size, 3, 'of brackets, names and numbers');
    await visitor.page.keyboard.press('Tab');
    assert.equal(await hasFocus(), false);
    visitor.assertNoComplaints();
  });

  it('begins a template from the gallery, with its picture, data and options', async () => {
    await visitor.go('/templates');
    await visitor.press('New template');
    await visitor.page.waitForSelector('.beginning img');
    assert.equal((await visitor.page.$$('.beginning')).length, 11);
    await visitor.page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLImageElement>('.beginning img')].every(
        ({ naturalWidth }) => naturalWidth > 0,
      ),
    );
    await visitor.page.locator('.beginning ::-p-text(Payslip)').click();
    await visitor.press('Create template');
    await visitor.page.waitForFunction(() => document.title.startsWith('Payslip'));
    await visitor.settled();
    const made = await api('GET', `/user/templates/${visitor.page.url().split('/').at(-1)!.split('#')[0]}`);
    assert.match(made.content!, /Net pay/);
    assert.match(made.sampleData!, /Grace Hopper/);
    await eventually('the live preview has the data', async () => {
      const frame = await (await visitor.page.waitForSelector('iframe.live'))!.contentFrame();
      // It is loaded anew with each change.
      const text = frame!.evaluate(() => document.body?.textContent ?? '').catch(() => '');
      return (await text).includes('£2,721.24');
    });
    visitor.assertNoComplaints();
  });

  it('goes back to an earlier version of a template', async () => {
    await visitor.go(`/templates/${templateId}`);
    // What was typed before.
    await visitor.press('Discard them');
    await visitor.press('Roll back to version 1');
    await visitor.press('Roll back');
    await visitor.sees('version 3');
    assert.equal(await visitor.editorText(), '{{ a }}');
  });

  it('saves a schema of the data', async () => {
    await visitor.go(`/templates/${templateId}`);
    await visitor.page.click('summary ::-p-text(Schema of the data)');
    await visitor.fill('JSON Schema', '{ "required": ["a"] }');
    await visitor.press('Publish');
    await visitor.press('Publish version 4');
    await visitor.sees('Published as version 4');
    const saved = await api('GET', `/user/templates/${templateId}`);
    assert.equal(saved.dataSchema, '{ "required": ["a"] }');
    // What is typed is tried meanwhile, also half a schema.
    visitor.assertNoComplaints(/status of 400/);
  });

  it('makes a key whose secret is shown once', async () => {
    await visitor.go('/keys');
    await visitor.press('New key');
    await visitor.fill('Name', 'billing');
    await visitor.press('Create key');
    await visitor.page.waitForSelector('dialog[open] pre');
    const secret = await visitor.page.$eval('dialog[open] pre', ({ textContent }) => textContent);
    const listed = await fetch(`${service.url}/v1/pdf/jobs`, { headers: { 'x-api-key': secret! } });
    assert.equal(listed.status, 200);
    await visitor.page.reload();
    await visitor.settled();
    assert.ok(!(await visitor.page.content()).includes(secret!));
    const kept = await visitor.page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    );
    assert.ok(!kept.includes(secret!));
  });

  const press = (name: string) => () => visitor.press(name);
  /** Of a draft, which is saved first. */
  const publish = async () => {
    await visitor.fill('Name', 'Another name');
    await visitor.press('Save draft Ctrl S');
    await visitor.sees('Draft saved');
    await visitor.press('Publish');
  };
  const DIALOGS: readonly (readonly [path: string, title: string, open: () => Promise<void>])[] = [
    ['/', 'Go to', () => visitor.control('k')],
    ['/', 'Keyboard shortcuts', () => visitor.page.keyboard.press('?')],
    ['/keys', 'New key', press('New key')],
    ['/keys', 'Edit billing', press('Edit billing')],
    ['/keys', 'Rotate billing?', press('Rotate billing')],
    ['/keys', 'Revoke billing?', press('Revoke billing')],
    ['/webhooks', 'Replay failed deliveries', press('Replay failed')],
    ['/webhooks', 'Your new signing key', press('New signing key')],
    ['/templates', 'New template', press('New template')],
    ['/templates/one', 'Compare with the current version', press('Compare')],
    ['/templates/one', 'Delete this template?', press('Delete')],
    ['/templates/one', 'Publish version 5?', publish],
    ['/templates/one', 'Discard the draft?', press('Discard draft')],
  ];

  for (const [path, title, open] of DIALOGS) {
    it(`the dialog "${title}" of ${path} has no barrier, fits the narrowest window, and closes by Escape`, async () => {
      await visitor.setView(VIEWS[0]!);
      await visitor.go(real(path));
      await open();
      await visitor.page.waitForFunction(
        (wanted) => document.querySelector('dialog[open] h2')?.textContent === wanted,
        {},
        title,
      );
      await visitor.page.waitForFunction(() => document.querySelector('dialog[open] .loading') === null);
      await visitor.assertClear(...FEW_VIEWS);
      await visitor.page.keyboard.press('Escape');
      await visitor.page.waitForFunction(() => document.querySelector('dialog[open]') === null);
      visitor.assertNoComplaints();
    });
  }

  it('the menu of the account has no barrier and fits the narrowest window', async () => {
    await visitor.setView(VIEWS[0]!);
    await visitor.go('/');
    await visitor.page.click('.who summary');
    await visitor.assertClear(...FEW_VIEWS);
    visitor.assertNoComplaints();
  });
});

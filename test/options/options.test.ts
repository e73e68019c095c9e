import assert from 'node:assert/strict';
import { examineDocument } from '../../src/render/chromium/job/document/job-document.ts';
import { renderOptionsSchema } from '../../src/render/options/all/render-options.ts';
import type { TestClient } from '../support/client.ts';
import { HUNG_MS } from '../support/eventually.ts';
import { readPdf, renderPage } from '../support/pdf.ts';
import { sharedSealKeys } from '../support/seal-keys.ts';
import { openStandaloneService, type Tenant, type TestService } from '../support/service.ts';
import { serveWebPages, type WebPages } from '../support/web-pages.ts';
import { CASES } from './support/all-cases.ts';
import { type Effect, echo, type Options, type Printed, printed, RED, SITE } from './support/cases.ts';
import { disagreements } from './support/other-readers.ts';
import { EVERYTHING, PAUSING, REPORTED } from './support/traces.ts';

const MODES = ['html', 'url', 'template'] as const;
type Mode = (typeof MODES)[number];

/** What each option is combined with; title and tags are checked in each combination. */
const TITLE = 'beside others';
const OTHERS: Options = { metadata: { title: TITLE }, tagged: true, delayMs: 20 };

/** A style for which a document is rendered in a page that draws frames. It changes nothing that is seen. */
const FRAMES = '<style>i { transition: none }</style>';

/** Prints what a document without options finds. */
const PLAIN = `<p id=p style="overflow-wrap: anywhere"></p><script>
  const query = (name, values) => values.split(' ').find((value) => matchMedia('(' + name + ': ' + value + ')').matches);
  p.textContent = JSON.stringify({
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone, offset: new Date(0).getTimezoneOffset(),
    number: (1234.5).toLocaleString(), locale: Intl.NumberFormat().resolvedOptions().locale, languages: navigator.languages,
    agent: navigator.userAgent, cookie: document.cookie, size: [innerWidth, innerHeight, devicePixelRatio],
    screen: matchMedia('screen').matches, scheme: query('prefers-color-scheme', 'light dark'),
    motion: query('prefers-reduced-motion', 'reduce no-preference'), forced: query('forced-colors', 'active none'),
    contrast: query('prefers-contrast', 'more less custom no-preference'),
    sheets: document.styleSheets.length + document.adoptedStyleSheets.length, globals: Object.keys(window).length,
    color: getComputedStyle(p).color, stored: localStorage.length,
  });
</script>`;

const EFFECTS = [...CASES].flatMap(([name, { effects }]) =>
  effects.map((effect, i) => ({ name, path: `/${name}-${i}`, effect })),
);
const FAILURES = [...CASES].flatMap(([name, { failures = [] }]) =>
  failures.map((failure, i) => ({ name, path: `/${name}-failure-${i}`, failure })),
);

describe('render options', () => {
  let service: TestService;
  let tenant: Tenant;
  let client: TestClient;
  let pages: WebPages;
  let templateId: string;

  before(async () => {
    const { folder } = await sharedSealKeys();
    service = await openStandaloneService({ PLATEN_WORKER_SLOTS: '8', PLATEN_SEAL_KEYS_DIR: folder });
    tenant = await service.newTenant('business');
    client = tenant.client;
    ({ templateId } = await service.saveTemplate(tenant, '<!doctype html>{{ body | raw }}'));
    const documents: { path: string; html: string; headers?: Effect['headers']; status?: number }[] = [
      ...EFFECTS.map(({ path, effect }) => ({ path, ...effect })),
      ...FAILURES.map(({ path, failure }) => ({ path, ...failure })),
      { path: '/plain', html: PLAIN },
      { path: '/everything', html: '<p><a href="#p">x <b data-page></b></a><p id=p>x' },
    ];
    pages = await serveWebPages({
      ...Object.fromEntries(
        documents.map(({ path, html, headers, status = 200 }) => [
          path,
          (_request, response) => {
            response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers });
            response.end(`<!doctype html>${html.replaceAll(SITE, '')}`);
          },
        ]),
      ),
      '/echo.svg': (request, response) => {
        const query = new URL(request.url!, 'http://x').searchParams;
        const field = String(request.headers[query.get('name')!] ?? '');
        const colour = field.includes(query.get('value')!) ? 'red' : 'blue';
        // The response may be cached, for any header. It must not be used for another render all the same.
        const headers = { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=3600' };
        response.writeHead(200, headers).end(square(colour));
      },
      '/red.css': (_request, response) => {
        response
          .writeHead(200, { 'content-type': 'text/css', 'access-control-allow-origin': '*' })
          .end('p { background: red }');
      },
      '/never.svg': () => undefined,
    });
    for (const mode of MODES)
      for (const frames of [true, false]) plain.set(`${mode} ${frames}`, await renderPlain(mode, frames));
  });
  after(async () => {
    await pages?.close();
    await service?.stop();
  });

  /** The same value with the address of the site. */
  const placed = <Value>(value: Value): Value =>
    JSON.parse(JSON.stringify(value).replaceAll(SITE, pages.url));
  const inputOf = (mode: Mode, document: string, path: string) => {
    const html = document.replaceAll(SITE, pages.url);
    if (mode === 'html') return { html: `<!doctype html>${html}` };
    return mode === 'url' ? { url: pages.url + path } : { templateId, data: { body: html } };
  };
  const render = async (body: Record<string, unknown>) => {
    const { status, bytes } = await client.renderToEnd(body);
    assert.equal(status, 200, Buffer.from(bytes).toString().slice(0, 500));
    return bytes;
  };
  const seen = async (bytes: Uint8Array) => {
    const [{ text, pages, metadata, tagged, outline }, picture] = [
      await readPdf(bytes),
      await renderPage(bytes),
    ];
    const sizes = pages.map(({ width, height }) => [width, height]);
    const ink = [picture.countInk(), picture.boxOfInk(), picture.at(1, 1)];
    return { text, sizes, title: metadata.title, tagged, outline, ink };
  };

  /** What a document without options shows. @param frames whether in a page that draws frames; source URLs always are. */
  const renderPlain = (mode: Mode, frames: boolean) =>
    render(inputOf(mode, frames ? FRAMES + PLAIN : PLAIN, '/plain'));
  /** The same before any of the cases has been rendered. */
  const plain = new Map<string, Uint8Array>();
  const assertNothingLeft = async (mode: Mode, frames: boolean) =>
    assertSame(await renderPlain(mode, frames), plain.get(`${mode} ${frames}`)!);
  /** Mostly the bytes are the same; where they are not, what is seen in the PDFs decides. */
  const assertSame = async (actual: Uint8Array, expected: Uint8Array) => {
    if (undated(actual) !== undated(expected)) assert.deepEqual(await seen(actual), await seen(expected));
  };

  for (const [name, { accepted, refused }] of CASES) {
    it(`${name} is accepted within its bounds, and rejected beyond them with its path and an example that passes`, async () => {
      for (const value of accepted) {
        const options = Object.hasOwn(Object(value), name) ? value : { [name]: value };
        const { error } = renderOptionsSchema.safeParse(options);
        assert.equal(error, undefined, JSON.stringify(value)?.slice(0, 100));
      }
      for (const [options, path, message] of refused) {
        const { status, json } = await client.render({ html: 'x', options });
        const about = JSON.stringify(options).slice(0, 200);
        assert.equal(status, 400, about);
        const errors = [json.message].flat() as string[];
        const found = errors.filter((problem) => problem.startsWith(`options.${path}: `));
        assert.ok(
          found.some((problem) => message.test(problem)),
          `${about}: ${errors.join('; ').slice(0, 500)}`,
        );
      }
    });
  }

  it('name all that is wrong with several options in one response', async () => {
    const refused = [...CASES].flatMap(
      ([
        ,
        {
          refused: [first],
        },
      ]) => (first ? [first] : []),
    );
    refused.push([{ colour: 'red' }, 'colour', /is not known/]);
    const options = Object.assign({}, ...refused.map(([each]) => each));
    const { status, json } = await client.render({ html: 'x', options });
    assert.equal(status, 400);
    for (const [own, path] of refused) {
      // Another's case may have given the option another value.
      if (!Object.entries(own).every(([name, value]) => options[name] === value)) continue;
      assert.ok(
        json.message.some((problem: string) => problem.startsWith(`options.${path}: `)),
        path,
      );
    }
  });

  it('name baseUrl when it leads to an address that may not be reached, in a render and in an item of a batch', async () => {
    const blocked = { html: 'x', options: { baseUrl: 'http://10.1.2.3/assets/' } };
    const single = await client.render(blocked);
    assert.deepEqual([single.status, single.json.code], [400, 'URL_BLOCKED']);
    assert.match(single.json.message, /^options\.baseUrl leads to 10\.1\.2\.3/);
    const items = [
      { id: 'a', html: 'x' },
      { id: 'b', ...blocked },
    ];
    const batch = await client.call('POST', '/v1/pdf/batch', { items });
    assert.deepEqual([batch.status, batch.json.code], [400, 'URL_BLOCKED']);
    assert.match(batch.json.message, /^items\[1\] \("b"\)\.options\.baseUrl leads to/);
  });

  it('name the error of a rule between options beside a text that is too long to be compared with patterns', async () => {
    const options = { userAgent: 'x'.repeat(100_000), width: '7in' };
    const { status, json } = await client.render({ html: 'x', options });
    assert.equal(status, 400);
    for (const name of Object.keys(options))
      assert.ok(
        json.message.some((problem: string) => problem.startsWith(`options.${name}: `)),
        name,
      );
  });

  // Each by itself; with the other kinds of input, and beside other options, in the batches below.
  for (const { name, path, effect } of EFFECTS)
    it(`${name}: ${effect.title}, and the next document sees nothing of it`, async () => {
      const bytes = await render({
        ...inputOf('html', effect.html, path),
        options: placed(effect.options),
      });
      await effect.proof(await printed(bytes, effect.password));
      const source = { kind: 'html', html: effect.html } as const;
      await assertNothingLeft('html', examineDocument(source, effect.options).needsFrames);
    });

  it('assetHeaders go where the data of a template leads only when the caller lists that origin', async () => {
    const input = inputOf('template', echo('x-asset', 'secret'), '/plain');
    const colour = async (options: Options) => {
      const bytes = await render({ ...input, options: placed(options) });
      return (await renderPage(bytes)).countColor(RED) > 3000 ? 'red' : 'blue';
    };
    const assetHeaders = { 'X-Asset': 'secret' };
    assert.equal(await colour({ assetHeaders }), 'blue');
    assert.equal(await colour({ assetHeaders, assetOrigins: [SITE] }), 'red');
  });

  it('that are headers and footers are filled in with the data of a template, escaped, and are printed as they are of HTML', async () => {
    const text = (name: string) =>
      `<p style="font-size: 10px">${name} {{ number }} {{ name }}{% if number > 5 %}!{% endif %}</p>`;
    const options = {
      displayHeaderFooter: true,
      headerTemplate: text('head'),
      footerTemplate: text('foot'),
      firstHeaderTemplate: text('first'),
      lastFooterTemplate: text('last'),
      margin: { top: '2cm', bottom: '2cm' },
    };
    const body = '<p>one<p style="break-before: page">two';
    const data = { body, number: 77, name: '<b>&' };
    const [one, two] = (await readPdf(await render({ templateId, data, options }))).pages;
    assert.match(one!.text, /first 77 <b>&!/);
    assert.match(one!.text, /foot 77 <b>&!/);
    assert.match(two!.text, /head 77 <b>&!/);
    assert.match(two!.text, /last 77 <b>&!/);
    const { text: asGiven } = await readPdf(await render({ html: body, options }));
    assert.match(asGiven, /first \{\{ number \}\} \{\{ name \}\}\{% if/);
  });

  it('that are headers name themselves and the line in the error of a template', async () => {
    const options = { displayHeaderFooter: true, lastHeaderTemplate: '<p>\n{{ number | nothing }}' };
    const { status, json } = await client.render({ templateId, data: { body: 'x' }, options });
    const error = status === 202 ? (await client.end(json.jobId)).error : json;
    assert.equal(error.code, 'TEMPLATE_ERROR', JSON.stringify(error));
    assert.match(String(error.message), /^options\.lastHeaderTemplate: Line 2, column 1: .*nothing/);
  });

  it('that are headers send asset headers to origins that the caller wrote, and to none that come from data', async () => {
    const colour = async (headerTemplate: string) => {
      const options = {
        displayHeaderFooter: true,
        headerTemplate,
        assetHeaders: { 'X-Asset': 'secret' },
        margin: { top: '5cm' },
      };
      const bytes = await render({
        templateId,
        data: placed({ body: 'x', site: SITE }),
        options: placed(options),
      });
      return (await renderPage(bytes)).countColor(RED) > 3000 ? 'red' : 'blue';
    };
    assert.equal(await colour(echo('x-asset', 'secret')), 'red');
    assert.equal(await colour(echo('x-asset', 'secret').replace(SITE, '{{ site }}')), 'blue');
  });

  for (const mode of MODES) {
    it(`of one account are not seen by another that sets none, in turns, for ${mode} input`, async () => {
      const other = await service.newTenant('business');
      const saved = await service.saveTemplate(other, '<!doctype html>{{ body | raw }}');
      const input = {
        ...inputOf(mode, FRAMES + PLAIN, '/plain'),
        ...(mode === 'template' && { templateId: saved.templateId }),
      };
      const own = inputOf(mode, `${FRAMES}<p><a href="#p">x <b data-page></b></a><p id=p>x`, '/everything');
      const before = plain.get(`${mode} true`)!;
      for (const more of [{}, PAUSING, REPORTED]) {
        const { status, bytes } = await other.client.render(input);
        assert.equal(status, 200);
        await assertSame(bytes, before);
        await render({ ...own, options: placed({ ...EVERYTHING, ...more }) });
      }
      await assertNothingLeft(mode, true);
    });

    it(`act on ${mode} input together with three others, in the items of a batch, after which nothing is left of them`, async () => {
      const effects = EFFECTS.filter(({ effect: { modes = MODES } }) => modes.includes(mode));
      const items = effects.map(({ path, effect: { html, options, others = OTHERS } }) => ({
        id: path.slice(1),
        ...inputOf(mode, html, path),
        options: placed({ ...others, ...options }),
      }));
      const created = await client.call('POST', '/v1/pdf/batch', { items });
      assert.equal(created.status, 202, JSON.stringify(created.json).slice(0, 1000));
      const { jobId } = created.json;
      await ended(client, jobId);
      const errors: string[] = [];
      const read = new Map<string, Printed>();
      for (const { path, effect } of effects) {
        const { status, bytes } = await client.call('GET', `/v1/pdf/batch/${jobId}${path}`);
        try {
          assert.equal(status, 200, Buffer.from(bytes).toString().slice(0, 300));
          const pdf = await printed(bytes, effect.password);
          read.set(path, pdf);
          await effect.proof(pdf);
          if (effect.others === undefined) assert.deepEqual([pdf.metadata.title, pdf.tagged], [TITLE, true]);
        } catch (error) {
          errors.push(`${path}: ${error}`);
        }
      }
      assert.deepEqual([...errors, ...(await disagreements(read))], []);
      for (const frames of [true, false]) await assertNothingLeft(mode, frames);
    });

    for (const { name, path, failure } of FAILURES) {
      if (failure.status !== undefined && mode !== 'url') continue;
      it(`${name} of ${mode} input: ${failure.title}`, async () => {
        const { status, json } = await client.render({
          ...inputOf(mode, failure.html, path),
          options: placed(failure.options),
        });
        const error = status === 202 ? (await client.end(json.jobId)).error : json;
        assert.equal(error.code, failure.code, JSON.stringify(error));
        assert.match(String(error.message), failure.message);
        await assertNothingLeft(mode, mode === 'url');
      });
    }
  }
});

/** A PDF without the times at which it was made. */
function undated(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(/D:\d{14}[^)]*/g, '');
}

function square(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="${colour}"/></svg>`;
}

async function ended(client: TestClient, batchId: string): Promise<void> {
  const deadline = Date.now() + HUNG_MS;
  for (;;) {
    const { json } = await client.call('GET', `/v1/pdf/batch/${batchId}?limit=0`);
    if (json.status === 'completed') return;
    assert.ok(Date.now() < deadline, `the batch is still ${JSON.stringify(json.progress)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

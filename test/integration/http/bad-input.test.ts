import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { callApi, type TestCaller, useApi } from './support/api.ts';

const UUID = '8f14e45f-ceea-467f-9a4b-0d8d1d1d1d1d';

describe('Validation of requests', () => {
  const api = useApi();
  let caller: TestCaller;

  before(async () => {
    caller = await api.newCaller();
  });

  async function rejected(body: unknown, headers?: Record<string, string>) {
    const response = await caller.render(body, headers);
    assert.equal(response.status, 400, Buffer.from(response.bytes).toString().slice(0, 200));
    assert.equal(response.json.error, 'Bad Request');
    return response.json;
  }

  describe('of fields', () => {
    const cases: readonly [what: string, body: unknown, expected: string[]][] = [
      ['no source', {}, ['one of html, url, templateId is required']],
      [
        'two sources',
        { html: 'x', url: 'https://example.com' },
        ['only one of html, url, templateId may be given, not html and url'],
      ],
      [
        'three sources',
        { html: 'x', url: 'https://example.com', templateId: UUID },
        ['only one of html, url, templateId may be given, not html and url and templateId'],
      ],
      [
        'a base beside a source URL',
        { url: 'https://example.com', options: { baseUrl: 'https://example.com' } },
        ['options.baseUrl: must not be given with url, whose document has an address of its own'],
      ],
      ['an unknown field', { html: 'x', colour: 'red' }, ['colour: is not known']],
      ['an unknown option', { html: 'x', options: { zoom: 2 } }, ['options.zoom: is not known']],
      [
        'data without a template',
        { html: 'x', data: {} },
        ['data: may only be given together with templateId'],
      ],
      [
        'a version without a template',
        { html: 'x', templateVersionId: UUID },
        ['templateVersionId: may only be given together with templateId'],
      ],
      ['a template id that is none', { templateId: 'invoice' }, ['templateId: must be a UUID']],
      ['an empty document', { html: '' }, ['html: must have at least 1 character']],
      ['HTML that is no text', { html: 5 }, ['html: must be a string']],
      ['null as HTML', { html: null }, ['html: must be a string']],
      ['a URL of another scheme', { url: 'ftp://example.com' }, ['url: must be an http or https address']],
      ['a file URL', { url: 'file:///etc/passwd' }, ['url: must be an http or https address']],
      ['a script URL', { url: 'javascript:alert(1)' }, ['url: must be an http or https address']],
      ['a relative URL', { url: '/a' }, ['url: must be an http or https address']],
      ...['https:example.com', 'https:/example.com', 'https:\\\\example.com', ' https://example.com'].map(
        (url): [string, unknown, string[]] => [
          `a URL that is not written in full: ${JSON.stringify(url)}`,
          { url },
          ['url: must be an http or https address'],
        ],
      ),
      [
        'a URL with a line break',
        { url: 'https://exa\nmple.com' },
        ['url: must be one line of text without U+000A'],
      ],
      [
        'an address of callbacks that is not written in full',
        { html: 'x', executionMode: 'async', webhookUrl: 'https:example.com' },
        ['webhookUrl: must be an absolute https address'],
      ],
      [
        'a file name that is shown as another',
        { html: 'x', filename: '\u202efdp.exe' },
        ['filename: must be one line of text without U+202E'],
      ],
      ['an unknown output', { html: 'x', output: 'zip' }, ['output: must be one of binary, url']],
      [
        'an unknown mode',
        { html: 'x', executionMode: 'later' },
        ['executionMode: must be one of sync, async'],
      ],
      [
        'a file name that is too long',
        { html: 'x', filename: 'a'.repeat(256) },
        ['filename: must have at most 255 characters'],
      ],
      ['data that is no object', { templateId: UUID, data: [1] }, ['data: must be an object']],
      ['a list as the body', [], ['body: must be an object']],
      ['a text as the body', '"x"', ['body: must be an object']],
      ['null as the body', 'null', ['body: must be an object']],
    ];
    for (const [what, body, errors] of cases) {
      it(`rejects ${what}`, async () => {
        const { code, message } = await rejected(body);
        assert.equal(code, 'VALIDATION');
        assert.deepEqual(message, errors);
      });
    }

    it('reports all errors at once, each with its position', async () => {
      const { message } = await rejected({
        url: 'https://example.com',
        html: 7,
        extra: 1,
        data: {},
        options: {
          scale: 2.5,
          delayMs: 1.5,
          timeoutMs: 10,
          format: 'B5',
          landscape: 'yes',
          margin: { top: '1 furlong', inside: '1cm' },
          headerTemplate: 'x'.repeat(5001),
          watermark: { opacity: 0.9 },
          metadata: { title: 'x'.repeat(256), keywords: ['x'.repeat(256)] },
          assetHeaders: { 'X Y': 'a', Host: 'b', Fine: 'a\r\nInjected: b' },
          csp: "default-src 'self'\nX: y",
        },
      });
      for (const problem of [
        'html: must be a string',
        'extra: is not known',
        'only one of html, url, templateId may be given, not html and url',
        'data: may only be given together with templateId',
        'options.scale: must be at most 2',
        'options.delayMs: must be an integer',
        'options.timeoutMs: must be at least 1000',
        'options.format: must be one of Letter, A4, A5, A3, Legal, Tabloid',
        'options.landscape: must be a boolean',
        'options.margin.top: must be a length such as 12mm, 0.5in, 1cm, 36pt or 48px',
        'options.margin.inside: is not known',
        'options.headerTemplate: must have at most 5000 characters',
        'options.watermark.text: is required',
        'options.watermark.opacity: must be at most 0.6',
        'options.metadata.title: must have at most 255 characters',
        'options.metadata.keywords[0]: must have at most 255 characters',
        'options.assetHeaders.X Y: the name must be an HTTP header name',
        'options.assetHeaders.Fine: must not hold line breaks or control characters',
        'options.csp: must not hold line breaks or control characters',
      ]) {
        assert.ok(message.includes(problem), `${problem}\nis missing in\n${message.join('\n')}`);
      }
    });

    it('rejects too many keywords, and reports the other errors as well', async () => {
      const keywords = [...Array(21).keys()].map(String);
      const { message } = await rejected({ html: 'x', options: { metadata: { keywords }, scale: 0 }, a: 1 });
      assert.deepEqual(message.toSorted(), [
        'a: is not known',
        'options.metadata.keywords: must hold at most 20 items',
        'options.scale: must be at least 0.1',
      ]);
    });

    it('rejects asset headers that frame or route a request', async () => {
      const { message } = await rejected({
        html: 'x',
        options: { assetHeaders: { hOST: 'a', 'Content-Length': '1' } },
      });
      assert.deepEqual(message, [
        'options.assetHeaders.hOST: is a header that may not be set',
        'options.assetHeaders.Content-Length: is a header that may not be set',
      ]);
    });

    it('accepts every option at its bounds', async () => {
      const lowest = {
        scale: 0.1,
        delayMs: 0,
        timeoutMs: 1000,
        watermark: { text: 'a', opacity: 0.02, rotation: -90 },
      };
      const highest = {
        scale: 2,
        delayMs: 60_000,
        timeoutMs: 120_000,
        headerTemplate: 'x'.repeat(5000),
        watermark: { text: 'a'.repeat(120), opacity: 0.6, rotation: 90, color: 'c'.repeat(40) },
        metadata: { keywords: Array(20).fill('k'.repeat(255)) },
        waitForSelector: 's'.repeat(255),
        csp: 'c'.repeat(2000),
      };
      for (const options of [lowest, highest]) {
        assert.equal((await caller.render({ html: 'x', options })).status, 200);
      }
    });

    it('reports megabytes of errors by a short list', async () => {
      const body = Object.fromEntries([...Array(50_000).keys()].map((n) => [`${n}-${'x'.repeat(80)}`, n]));
      const response = await caller.render(body);
      assert.equal(response.status, 400);
      assert.ok(response.bytes.byteLength < 20_000);
    });
  });

  describe('of JSON', () => {
    it('reports the position of a syntax error', async () => {
      const { code, message } = await rejected('{"html": "<p>x</p>",}');
      assert.equal(code, 'MALFORMED_JSON');
      assert.equal(
        message,
        'The body is not valid JSON: Expected double-quoted property name in JSON at position 20 (line 1 column 21).',
      );
    });

    it('reports an empty body', async () => {
      assert.equal((await rejected('')).code, 'MALFORMED_JSON');
      assert.match((await rejected(' \n')).message, /Unexpected end of JSON input/);
    });

    it('rejects bytes that are not UTF-8', async () => {
      const { code, message } = await rejected(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
      assert.equal(code, 'MALFORMED_JSON');
      assert.match(message, /UTF-8/);
    });

    it('accepts a byte order mark', async () => {
      const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"html":"x"}')]);
      assert.equal((await caller.render(body)).status, 200);
    });

    it('does not let a key reach a prototype', async () => {
      assert.deepEqual((await rejected('{"html":"x","__proto__":{"output":"url"}}')).message, [
        '__proto__: is not known',
      ]);
      assert.deepEqual((await rejected('{"html":"x","options":{"__proto__":{"a":1}}}')).message, [
        'options.__proto__: is not known',
      ]);
      const { template } = await api.templates.create(caller.accountId, {
        name: 't',
        content: 'x',
        sampleData: '{}',
      });
      const body = (data: string) => `{"templateId":"${template._id}","data":${data}}`;
      for (const data of ['{"__proto__":{"polluted":1}}', '{"a":[{"__proto__":{"polluted":1}}]}'])
        assert.deepEqual((await rejected(body(data))).message, ['data: must not hold the name __proto__']);
      const kept = '{"a":{"constructor":{"prototype":{"polluted":1}}}}';
      assert.equal((await caller.render(body(kept))).status, 200);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    });

    it('rejects nesting of a hundred thousand levels', async () => {
      const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
      assert.deepEqual((await rejected(`{"html":${deep}}`)).message, ['html: must be a string']);
      assert.deepEqual((await rejected(`{"templateId":"${UUID}","data":${deep}}`)).message, [
        'data: must not be nested deeper than 64 levels',
      ]);
      assert.equal((await rejected('['.repeat(1_000_000))).code, 'MALFORMED_JSON');
    });

    it('passes data at the greatest depth to the worker', async () => {
      const { template } = await api.templates.create(caller.accountId, {
        name: 't',
        content: 'x',
        sampleData: '{}',
      });
      const deep = `${'{"a":'.repeat(64)}1${'}'.repeat(64)}`;
      assert.equal((await caller.render(`{"templateId":"${template._id}","data":${deep}}`)).status, 200);
    });
  });

  describe('of media types', () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-16',
      '',
    ]) {
      it(`rejects ${type || 'none'}`, async () => {
        const response = await callApi(api.url, 'POST', '/v1/pdf', Buffer.from('{"html":"x"}'), {
          'x-api-key': caller.secret,
          'content-type': type,
        });
        assert.equal(response.status, 400);
        assert.equal(response.json.code, 'UNSUPPORTED_MEDIA_TYPE');
      });
    }

    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      it(`accepts ${type}`, async () => {
        assert.equal((await caller.render({ html: 'x' }, { 'content-type': type })).status, 200);
      });
    }

    it('rejects compressed bodies', async () => {
      const { code } = await rejected(gzipSync('{"html":"x"}'), { 'content-encoding': 'gzip' });
      assert.equal(code, 'UNSUPPORTED_MEDIA_TYPE');
    });
  });

  describe('of headers and addresses', () => {
    for (const key of ['x'.repeat(256), 'schlüssel']) {
      it(`rejects the Idempotency-Key ${key.slice(0, 12)}`, async () => {
        const { message } = await rejected(
          { html: 'x' },
          { 'idempotency-key': Buffer.from(key).toString('latin1') },
        );
        assert.deepEqual(message, ['Idempotency-Key: must have 1 to 255 printable ASCII characters']);
      });
    }

    it('rejects malformed job ids with 400', async () => {
      for (const path of ['not-a-uuid', '1', '%00', '..%2f..%2fetc']) {
        for (const suffix of ['', '/file', '/download-url']) {
          const response = await caller.get(`/v1/pdf/jobs/${path}${suffix}`);
          assert.equal(response.status, 400);
          assert.deepEqual(response.json.message, ['id: must be a UUID']);
        }
        assert.equal((await caller.call('DELETE', `/v1/pdf/jobs/${path}`)).status, 400);
      }
    });

    it('rejects a path that is not validly encoded', async () => {
      const response = await caller.get('/v1/pdf/jobs/%E0%A4%A');
      assert.equal(response.status, 400);
      assert.equal(response.json.code, 'VALIDATION');
    });

    it('reports query parameters that are out of bounds, malformed, repeated or unknown, all at once', async () => {
      const response = await caller.get(
        '/v1/pdf/jobs?limit=101&offset=-1&sort=size_asc&status=done&colour=red',
      );
      assert.equal(response.status, 400);
      assert.deepEqual(response.json.message.toSorted(), [
        'colour: is not known',
        'limit: must be at most 100',
        'offset: must be at least 0',
        'sort: must be one of created_desc, created_asc',
        'status: must be one of queued, processing, completed, failed, cancelled',
      ]);
      for (const query of [
        'limit=ten',
        'limit=1.5',
        'limit=',
        'limit=0x10',
        'limit=1&limit=2',
        'limit=1e1',
      ]) {
        const rejection = await caller.get(`/v1/pdf/jobs?${query}`);
        assert.equal(rejection.status, 400, query);
        assert.deepEqual(rejection.json.message, ['limit: must be an integer'], query);
      }
      assert.equal((await caller.get('/v1/pdf/jobs?offset=10001')).status, 400);
    });
  });

  describe('of routes', () => {
    it('responds with 404 to an unknown path', async () => {
      for (const path of ['/index.html', '/v1', '/v1/pdfs', '/V1/pdf', '/.env', '/v1/pdf/jobs/x/y/z']) {
        const response = await caller.get(path);
        assert.equal(response.status, 404, path);
        assert.equal(response.json.code, 'NOT_FOUND');
      }
    });

    it('responds with 405 and Allow to an unsupported method', async () => {
      for (const [method, path, allow] of [
        ['GET', '/v1/pdf', 'POST'],
        ['PUT', '/v1/pdf', 'POST'],
        ['POST', `/v1/pdf/jobs/${UUID}`, 'DELETE, GET, HEAD'],
        ['DELETE', '/healthz', 'GET, HEAD'],
      ] as const) {
        const response = await caller.call(method, path);
        assert.equal(response.status, 405);
        assert.equal(response.headers.get('allow'), allow);
        assert.equal(response.json.code, 'METHOD_NOT_ALLOWED');
      }
    });
  });

  it('keeps file names and metadata from breaking out of a header', async () => {
    for (const filename of [
      'a\\r\\nSet-Cookie: b=c',
      'a"; filename="evil.exe',
      'fdp.exe\u200b',
      '../../a',
      '%0d%0aSet-Cookie: b=c',
      '…/ü',
    ]) {
      const options = { metadata: { title: 'a"; X-Evil: 1' } };
      const response = await caller.render({ html: 'x', filename, options });
      assert.equal(response.status, 200, JSON.stringify(filename));
      assert.equal(response.headers.get('set-cookie'), null);
      assert.equal(response.headers.get('x-evil'), null);
      assert.match(
        response.headers.get('content-disposition')!,
        /^attachment; filename=("?)[^"\r\n/\\]*\.pdf\1(; filename\*=[\w'%.~-]+)?$/,
      );
    }
  });
});

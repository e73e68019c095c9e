import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { API_ROUTES } from '../../../src/http/app.ts';
import { createApiDocument } from '../../../src/http/site/api-document.ts';

interface Body {
  readonly content?: Readonly<Record<string, { schema: Record<string, unknown>; example?: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}
interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** What generators of clients have to be spared, as they have to be spared it. */
describe('The API document', () => {
  const document = JSON.parse(
    JSON.stringify(createApiDocument(API_ROUTES, { headerPrefix: 'X-Service-' })),
  ) as Document;
  const operations = [document.paths, document.webhooks]
    .flatMap((all) => Object.values(all))
    .flatMap((methods) => Object.values(methods));

  /** Each object in it that may be a schema. */
  const schemas: Record<string, unknown>[] = [];
  JSON.stringify(document, (key, part) => {
    if (key === 'example') return undefined;
    if (typeof part === 'object' && part !== null) schemas.push(part);
    return part;
  });

  it('names each operation once, in one word, and describes each of its tags', () => {
    const ids = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length > 90);
    for (const id of ids) assert.match(id, /^[a-z][A-Za-z]+$/);
    const described = document.tags.map(({ name }) => name);
    assert.deepEqual(new Set(operations.flatMap(({ tags }) => tags)), new Set(described));
    for (const { description } of document.tags) assert.match(description, /^[A-Z].+\.$/);
  });

  it('has no schema of which generated code does not compile', () => {
    const names = Object.keys(document.components.schemas!);
    for (const name of names)
      assert.ok(!names.includes(`New${name}`), `New${name} is the constructor of ${name} in Go`);
    let dates = 0;
    for (const schema of schemas) {
      if (schema.format === 'date-time') dates += 1;
      if (['date-time', 'date', 'uuid'].includes(String(schema.format))) assert.ok(!('pattern' in schema));
      assert.ok(!('const' in schema || 'oneOf' in schema));
      if (typeof schema.maximum === 'number' && schema.maximum > 2 ** 31 - 1)
        assert.equal(schema.format, 'int64');
      assert.notEqual(schema.maximum, Number.MAX_SAFE_INTEGER);
    }
    assert.ok(dates > 50);
    assert.deepEqual(Object.keys(document.components.securitySchemes!), ['apiKey', 'bearer']);
  });

  it('describes each property', () => {
    const without = schemas.flatMap(({ properties = {} }) =>
      Object.entries(properties as Record<string, object>).filter(
        ([, schema]) => !('description' in schema) && !('$ref' in schema),
      ),
    );
    assert.deepEqual(
      without.map(([name]) => name),
      [],
    );
  });

  it('has one media type for each response, files as binary', () => {
    const types = new Set<string>();
    for (const { responses } of operations) {
      for (const { content = {} } of Object.values(responses)) {
        const [type, ...others] = Object.keys(content);
        assert.deepEqual(others, []);
        if (type === undefined) continue;
        types.add(type);
        const { schema } = content[type]!;
        if (type === 'application/pdf' || type === 'application/zip')
          assert.deepEqual(schema, { type: 'string', format: 'binary' });
      }
    }
    assert.ok(types.has('application/pdf') && types.has('application/zip'));
  });

  it('shares the responses of errors', () => {
    for (const { responses } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        if (Number(status) < 500 || !('content' in response)) continue;
        assert.deepEqual(Object.keys(response.content ?? {}), ['application/json']);
      }
    }
    const inline = operations.flatMap(({ responses }) =>
      Object.values(responses).filter((response) => JSON.stringify(response).includes('schemas/Error"')),
    );
    assert.deepEqual(inline, []);
    assert.ok(Object.keys(document.components.responses!).length >= 10);
  });

  it('describes the callbacks, with the headers of both signatures', () => {
    assert.deepEqual(Object.keys(document.webhooks), [
      'batch.completed',
      'render.completed',
      'render.failed',
      'webhook.test',
    ]);
    const text = JSON.stringify(document.webhooks);
    for (const name of ['X-Service-Signature-V2', 'webhook-signature', 'schemas/WebhookPayload'])
      assert.ok(text.includes(name), name);
  });

  it('has an example of each body, which its schema accepts', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    let examples = 0;
    const wrong: string[] = [];
    const bodies = [
      ...operations.flatMap(({ requestBody, responses }) => [requestBody ?? {}, ...Object.values(responses)]),
      ...(Object.values(document.components.responses!) as Body[]),
    ];
    for (const { content = {} } of bodies) {
      const { schema, example } = content['application/json'] ?? {};
      const $ref = schema?.$ref;
      if (typeof $ref !== 'string') continue;
      examples += 1;
      assert.notEqual(example, undefined, $ref);
      const validate = ajv.compile({ $ref: `document${$ref}` });
      if (!validate(example))
        wrong.push(`${$ref}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(example)}`);
    }
    assert.deepEqual(wrong, []);
    assert.ok(examples > 100);
  });

  it('has examples of requests that the service accepts', () => {
    let requests = 0;
    for (const route of API_ROUTES) {
      if (route.body === undefined || route.internal) continue;
      const path = route.path.replace(/:(\w+)/g, '{$1}');
      const example = document.paths[path]![route.method]!.requestBody!.content!['application/json']!.example;
      const { error } = route.body.safeParse(example);
      assert.equal(error, undefined, `${route.method} ${path}: ${error}`);
      assert.deepEqual(route.bodyErrors?.(example) ?? [], []);
      requests += 1;
    }
    assert.ok(requests >= 15, String(requests));
  });
});

import type { OpenApiSchema as Schema } from './docs/api-operations.ts';
import { EXAMPLES, VALUES } from './example-values.ts';

interface Media {
  readonly schema?: Schema;
  example?: unknown;
}
interface Body {
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;
/** What of a document is read here. */
export interface Described {
  readonly paths?: unknown;
  readonly webhooks?: unknown;
  readonly components?: { readonly schemas?: unknown; readonly responses?: unknown };
}

const FORMATS: Readonly<Record<string, unknown>> = {
  'date-time': '2026-11-28T09:30:00.000Z',
  date: '2026-12-01',
  uuid: '0192f0c4-7a51-7c3e-9d1b-5f0a3c2e8b17',
  email: 'ada@example.com',
  uri: 'https://pdf.example.com/',
};

/**
 * Gives each JSON body of a request or response an example, in place: one that is written by hand, or else one of its
 * schema. An example of a request has the required fields alone, so that it can be sent.
 */
export function addExamples({ paths, webhooks, components }: Described): void {
  const schemas = (components?.schemas ?? {}) as Readonly<Record<string, Schema>>;
  for (const operations of [paths, webhooks].flatMap((all) => Object.values((all ?? {}) as Paths))) {
    for (const { requestBody, responses = {} } of Object.values(operations)) {
      const isWebhook = Object.values((webhooks ?? {}) as Paths).includes(operations);
      addTo(requestBody, schemas, !isWebhook);
      for (const response of Object.values(responses)) addTo(response, schemas, false);
    }
  }
  for (const response of Object.values((components?.responses ?? {}) as Record<string, Body>))
    addTo(response, schemas, false);
}

function addTo(body: Body | undefined, schemas: Readonly<Record<string, Schema>>, isRequest: boolean): void {
  const media = body?.content?.['application/json'];
  if (media?.schema === undefined || Object.keys(media.schema).length === 0) return;
  media.example = exampleOf(media.schema, '', { schemas, isRequest });
  if (body?.content?.['text/html'] !== undefined) body.content['text/html'].example = VALUES.html;
}

interface Context {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly isRequest: boolean;
}

/** @param name of the field, by which it has a value that tells what it is for. */
function exampleOf(schema: Schema, name: string, context: Context): unknown {
  if (schema.$ref !== undefined) {
    const id = schema.$ref.split('/').at(-1)!;
    return EXAMPLES[id] ?? exampleOf(context.schemas[id] ?? {}, name, context);
  }
  const types = [schema.type ?? []].flat();
  const value = VALUES[name];
  if (value !== undefined && schema.enum === undefined && types.includes(typeOf(value))) return value;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name, context);
  switch (types[0]) {
    case 'string':
      return FORMATS[schema.format ?? ''] ?? name;
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return [exampleOf(schema.items ?? {}, name, context)];
    case 'object':
      return exampleOfObject(schema, context);
    default:
      return null;
  }
}

function exampleOfObject({ properties = {}, required = [] }: Schema, context: Context): object {
  const shown = Object.entries(properties).filter(([name]) => !context.isRequest || required.includes(name));
  return Object.fromEntries(shown.map(([name, schema]) => [name, exampleOf(schema, name, context)]));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

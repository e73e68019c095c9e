import { z } from 'zod';
import { renderOptionsSchema } from '../../render/options/all/render-options.ts';
import type { TextBody } from '../request/route.ts';
import { renderRequestSchema } from './render-request-schema.ts';

type Described = z.core.JSONSchema.BaseSchema;

/** The fields of a render request that a parameter of the query may name; every other name is that of an option. */
const FIELDS = [
  'output',
  'filename',
  'executionMode',
  'webhookUrl',
  'uploadUrl',
  'report',
  'strictData',
] as const;

/** A render whose body is the HTML itself, so that a file can be sent as it is. */
export const htmlBody: TextBody = {
  mediaType: 'text/html',
  description:
    'The HTML itself, in UTF-8. The other fields and the options are then query parameters: `?filename=a.pdf&format=A4&margin.top=2cm`. A field of an object follows a dot. A list is JSON, or its parameter is repeated.',
  toBody(html, query) {
    const fields: [string, unknown][] = [];
    const options: [string, unknown][] = [];
    const objects = new Map<string, [string, unknown][]>();
    for (const [name, given] of Object.entries(query)) {
      const field = FIELDS.find((known) => known === name);
      const [option = '', inner] = split(name);
      if (field !== undefined) fields.push([field, typed(given, describedFields()[field])]);
      else if (inner === undefined) options.push([name, typed(given, describedOptions()[name])]);
      else {
        const value = typed(given, propertyOf(describedOptions()[option], inner));
        objects.set(option, [...(objects.get(option) ?? []), [inner, value]]);
      }
    }
    for (const [name, entries] of objects) options.push([name, Object.fromEntries(entries)]);
    return Object.fromEntries([...fields, ['html', html], ['options', Object.fromEntries(options)]]);
  },
};

/** `margin.top` as an option and its field; what is after the first dot may have others. */
function split(name: string): [string, string?] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name] : [name.slice(0, dot), name.slice(dot + 1)];
}

/** A value of the type that the schema wants; what has another form stays a text, for the schema to reject. */
function typed(given: unknown, schema: Described | undefined): unknown {
  const type = schema?.type;
  if (type === 'array' && !isJson(given)) {
    const { items } = schema!;
    const values: readonly unknown[] = Array.isArray(given) ? given : [given];
    return values.map((value) => typed(value, isSchema(items) ? items : undefined));
  }
  if (typeof given !== 'string') return given;
  if (type === 'boolean' && (given === 'true' || given === 'false')) return given === 'true';
  if ((type === 'number' || type === 'integer') && /^-?\d{1,15}(\.\d{1,15})?$/.test(given))
    return Number(given);
  if ((type === 'array' || type === 'object') && isJson(given)) return parsed(given);
  return given;
}

function isJson(given: unknown): boolean {
  return typeof given === 'string' && /^[[{]/.test(given);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const describedFields = once(() => described(renderRequestSchema.shape));
const describedOptions = once(() => described(renderOptionsSchema.shape));

/** Each field as JSON Schema. */
function described(shape: z.core.$ZodLooseShape): Readonly<Record<string, Described>> {
  const { properties = {} } = z.toJSONSchema(z.object(shape), { io: 'input', unrepresentable: 'any' });
  return properties as Record<string, Described>;
}

function propertyOf(schema: Described | undefined, name: string): Described | undefined {
  const { properties = {}, additionalProperties } = schema ?? {};
  const property = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return isSchema(property) ? property : undefined;
}

function isSchema(value: unknown): value is Described {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is made when it is first needed. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

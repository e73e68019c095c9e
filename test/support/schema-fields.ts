import { z } from 'zod';

/** A step of a field's position that stands for the name of an entry of a record, which the caller chooses. */
const NAME = Symbol('name');
/** A step: into a field or an entry, into the first element of a list, or to the name of an entry. */
type Step = string | 0 | typeof NAME;

/** A field of a schema, at any depth. */
export interface SchemaField {
  readonly kind: 'text' | 'record' | 'other';
  /** Its position, for people: `.items[].options.assetHeaders{name}`. */
  readonly path: string;
  /** The same value with another one, or a value with nothing besides, in the position of this field. */
  place(value: unknown, within?: unknown): unknown;
  /** Whether a value has a text in the position of this field. */
  isIn(within: unknown, text: string): boolean;
}

/** Schemas of single values that are no text. */
const OTHERS = [z.ZodNull, z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral];

/**
 * The fields of a schema that are a text, a record or a single value of another kind, at any depth.
 *
 * @throws Error for a kind of schema that it does not know, and in which fields could hide.
 */
export function* fieldsOf(schema: unknown, path = '', steps: readonly Step[] = []): Generator<SchemaField> {
  const field = (kind: SchemaField['kind']): SchemaField => ({
    kind,
    path,
    place: (value, within) => placed(within, steps, value),
    isIn: (within, text) => isAt(within, steps, text),
  });
  if (schema instanceof z.ZodObject) {
    for (const [name, inner] of Object.entries(schema.shape))
      yield* fieldsOf(inner, `${path}.${name}`, [...steps, name]);
  } else if (isWrapper(schema)) {
    yield* fieldsOf(schema.unwrap(), path, steps);
  } else if (schema instanceof z.ZodArray) {
    yield* fieldsOf(schema.element, `${path}[]`, [...steps, 0]);
  } else if (schema instanceof z.ZodPipe) {
    yield* fieldsOf(schema.in instanceof z.ZodTransform ? schema.out : schema.in, path, steps);
  } else if (schema instanceof z.ZodUnion) {
    for (const option of schema.options) yield* fieldsOf(option, path, steps);
  } else if (schema instanceof z.ZodRecord) {
    yield field('record');
    yield* fieldsOf(schema.valueType, `${path}{}`, [...steps, 'name']);
    yield* fieldsOf(schema.keyType, `${path}{name}`, [...steps, NAME]);
  } else if (isText(schema)) {
    yield field('text');
  } else if (OTHERS.some((kind) => schema instanceof kind)) {
    yield field('other');
  } else {
    throw new Error(`${path} has a schema that this test does not know: ${schema?.constructor.name}`);
  }
}

/** Whether it takes a text, among others. */
function isText(schema: unknown): boolean {
  return (
    schema instanceof z.ZodString || schema instanceof z.ZodStringFormat || schema instanceof z.ZodUnknown
  );
}

function isWrapper(schema: unknown) {
  return (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodCatch
  );
}

function placed(within: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (step === 0) {
    const [first, ...others] = Array.isArray(within) ? within : [];
    return [placed(first, rest, value), ...others];
  }
  const fields = (within ?? {}) as Readonly<Record<string, unknown>>;
  if (step === NAME) return { ...fields, [String(value)]: 'x' };
  return { ...fields, [step]: placed(fields[step], rest, value) };
}

function isAt(within: unknown, [step, ...rest]: readonly Step[], text: string): boolean {
  if (step === undefined) return within === text;
  if (typeof within !== 'object' || within === null) return false;
  if (step === NAME) return Object.hasOwn(within, text);
  return isAt((within as Readonly<Record<string, unknown>>)[step], rest, text);
}

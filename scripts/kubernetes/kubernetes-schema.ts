import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StructuralSchema } from './structural-schema.ts';

/**
 * The declarations of the client library, which are made from the OpenAPI document of a Kubernetes release. They have
 * every field, with its description and whether it is required.
 */
const MODELS = join(dirname(fileURLToPath(import.meta.resolve('@kubernetes/client-node'))), 'gen', 'models');

const CLASS = /export declare class \w+ \{\n(.*?)\n {4}static readonly discriminator/s;
/** A field, and the comment before it. */
const FIELD =
  /(?:\/\*\*\n\s*\* (?<text>.*?)\n\s*\*\/\s*)?'(?<name>\w+)'(?<optional>\?)?: (?<type>\{.*?\}|[^;{]+);/gs;

/** Fields that the library declares as texts, and whose values Kubernetes also takes as numbers: quantities. */
const QUANTITIES: ReadonlySet<string> = new Set(['V1ResourceFieldSelector.divisor']);
/** Characters of a description; most sentences are shorter. */
const MAX_DESCRIPTION = 300;

/**
 * The schema of a type of Kubernetes' own API, such as `V1Affinity`, as a CustomResourceDefinition has it: every field
 * is known, so that a wrong one is refused when the object is written.
 *
 * @throws Error for a type that the library does not have, or whose declaration cannot be read.
 */
export function kubernetesSchema(type: string): StructuralSchema {
  const declared = CLASS.exec(readFileSync(join(MODELS, `${type}.d.ts`), 'utf8'))?.[1];
  if (declared === undefined) throw new Error(`The declaration of ${type} cannot be read.`);
  const fields = [...declared.matchAll(FIELD)].map(
    ({ groups }) => groups as Readonly<Record<string, string>>,
  );
  const properties = fields.map(({ name = '', text, type: of = '' }) => {
    const schema = QUANTITIES.has(`${type}.${name}`) ? QUANTITY : schemaOf(of.trim());
    return [
      name,
      { ...schema, description: shortened(text ?? `${of.replace(/^V1/, 'A ')} of Kubernetes.`) },
    ] as const;
  });
  const required = fields.filter(({ optional }) => optional === undefined).map(({ name = '' }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

const QUANTITY: StructuralSchema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
};

/** @param declared a type as in the declaration: `Array<V1PodAffinityTerm>`, `number`. */
function schemaOf(declared: string): StructuralSchema {
  const item = /^Array<(.+)>$/.exec(declared)?.[1];
  if (item !== undefined) return { type: 'array', items: schemaOf(item) };
  if (/^\{\s*\[key: string\]: string;?\s*\}$/.test(declared)) {
    return { type: 'object', additionalProperties: { type: 'string' } };
  }
  switch (declared) {
    case 'string':
    case 'boolean':
      return { type: declared };
    case 'number':
      return { type: 'integer', format: 'int32' };
    default:
      if (!/^V1\w+$/.test(declared)) throw new Error(`No schema is known for ${declared}.`);
      return kubernetesSchema(declared);
  }
}

/** The first sentence: the rest is in the documentation of Kubernetes. */
function shortened(text: string): string {
  const sentence = /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
  return sentence.replaceAll(/\s+/g, ' ').replaceAll('\\', '').slice(0, MAX_DESCRIPTION);
}

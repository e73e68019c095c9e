import type { ResourceDefinition } from '../../src/kubernetes/resources/resource-definition.ts';
import { structural } from './crd.ts';

type Schema = Readonly<Record<string, unknown>>;
interface ValuesSchema {
  readonly properties: { readonly defaultResources: { readonly properties: Schema } };
  readonly definitions: Schema;
}

/** Rules that are nothing but a pattern. */
const PATTERN_RULE = /^self\.matches\('(.*)'\)$/;
/** Keywords that mean the same in a values.schema.json; the others are the API server's. */
const KEPT = new Set([
  ...['type', 'enum', 'required', 'pattern', 'anyOf', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);

/**
 * The schema of the chart's values with `defaultResources` as the definitions have it, so that Helm rejects a field that
 * does not exist: the API server would see it long after the installation.
 *
 * @param written the text of the values.schema.json that is there; the rest of it is kept.
 */
export function valuesSchema(written: string, definitions: readonly ResourceDefinition[]): string {
  const schema: ValuesSchema = JSON.parse(written);
  const { defaultResources } = schema.properties;
  const resources: Record<string, unknown> = { ...defaultResources.properties };
  const specs: Record<string, unknown> = { ...schema.definitions };
  for (const { kind, plural, spec } of definitions) {
    const name = `spec${kind}`;
    specs[name] = {
      description: 'Made by `make generate` from the CustomResourceDefinition; do not edit.',
      ...strict(structural(spec) as Schema),
    };
    resources[plural.replace(/^render/, '')] = {
      type: 'object',
      description: `Spec by name of the ${kind}. Made by \`make generate\`; do not edit.`,
      additionalProperties: { anyOf: [{ type: 'null' }, { $ref: `#/definitions/${name}` }] },
    };
  }
  const changed = {
    ...schema,
    properties: { ...schema.properties, defaultResources: { ...defaultResources, properties: resources } },
    definitions: specs,
  };
  // As it is written by hand: the formatter keeps the lines of objects.
  return JSON.stringify(changed, undefined, 2);
}

/** A structural schema in the words of JSON Schema, without fields that it does not name. */
function strict(schema: Schema): Schema {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => KEPT.has(keyword)));
  const { items, properties, additionalProperties } = schema as Readonly<Record<string, Schema | undefined>>;
  const validations = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly rule: string }[];
  return {
    ...kept,
    ...patternOf(validations),
    ...(items !== undefined && { items: strict(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, strict(property as Schema)]),
      ),
      ...(schema['x-kubernetes-preserve-unknown-fields'] !== true && { additionalProperties: false }),
    }),
    ...(additionalProperties !== undefined && { additionalProperties: strict(additionalProperties) }),
  };
}

function patternOf(rules: readonly { readonly rule: string }[]): Schema {
  const [pattern] = rules.flatMap(({ rule }) => PATTERN_RULE.exec(rule)?.[1] ?? []);
  return pattern === undefined ? {} : { pattern };
}

import { z } from 'zod';
import { BUILD } from '../../src/infra/version.ts';
import { GROUP, VERSION } from '../../src/kubernetes/resources/group.ts';
import type { ResourceDefinition } from '../../src/kubernetes/resources/resource-definition.ts';
import { KUBERNETES_TYPE } from '../../src/kubernetes/resources/schema-fields.ts';
import { kubernetesSchema } from './kubernetes-schema.ts';
import { OF_KUBERNETES, type StructuralSchema } from './structural-schema.ts';

/** The CustomResourceDefinition of a kind, as a manifest. */
export function customResourceDefinition(definition: ResourceDefinition) {
  const { kind, plural, singular, shortNames, categories, columns, scale } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${GROUP}`,
      // As a label, so that `kubectl get crds -L platen.dev/version` shows it.
      labels: { 'app.kubernetes.io/name': 'platen', [`${GROUP}/version`]: BUILD.version },
    },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: objectSchema(definition) },
          subresources: { status: {}, ...(scale && { scale }) },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

/** The whole object: what every Kubernetes object has, the spec and the status. */
export function objectSchema({ description, spec, status, rules }: ResourceDefinition): StructuralSchema {
  return {
    type: 'object',
    description,
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the schema of this object.' },
      kind: { type: 'string', description: 'The REST resource that this object stands for.' },
      metadata: { type: 'object' },
      spec: structural(spec),
      status: { ...structural(status), description: 'What Platen has found and done.' },
    },
    required: ['spec'],
    'x-kubernetes-validations': rules,
  };
}

/** A zod type as Kubernetes needs it: structural, without what it would prune or reject. */
export function structural(type: z.ZodType): StructuralSchema {
  const schema = z.toJSONSchema(type, { io: 'input', target: 'openapi-3.0', unrepresentable: 'throw' });
  return cleaned(schema as StructuralSchema);
}

/** A map of anything: it has no schema of its values. */
const UNKNOWN_FIELDS = 'x-kubernetes-preserve-unknown-fields';

/** The bounds that zod adds to every integer: those that JavaScript represents exactly. */
const SAFE = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const INT32 = [-(2 ** 31), 2 ** 31 - 1];

function cleaned(schema: StructuralSchema): StructuralSchema {
  const kubernetesType = schema[KUBERNETES_TYPE];
  if (typeof kubernetesType === 'string') {
    const { description } = schema;
    return {
      ...kubernetesSchema(kubernetesType),
      ...(description !== undefined && { description }),
      [OF_KUBERNETES]: true,
    };
  }
  const { $schema, additionalProperties, properties, items, propertyNames, ...rest } = schema;
  const result: Record<string, unknown> = { ...rest };
  if (schema['x-kubernetes-int-or-string'] === true) {
    delete result.type;
    result.anyOf = [{ type: 'integer' }, { type: 'string' }];
    return result;
  }
  for (const [key, bounds] of [
    ['minimum', 0],
    ['maximum', 1],
  ] as const) {
    if (schema[key] === SAFE[bounds] || schema[key] === INT32[bounds]) delete result[key];
  }
  if (schema.type === 'integer') result.format ??= fits32(schema) ? 'int32' : 'int64';
  if (items !== undefined) result.items = cleaned(items);
  if (properties !== undefined && Object.keys(properties).length > 0) {
    const each = Object.entries(properties).map(([name, property]) => [name, cleaned(property)] as const);
    result.properties = Object.fromEntries(each);
  } else if (typeof additionalProperties === 'object' && !schema[UNKNOWN_FIELDS]) {
    result.additionalProperties = cleaned(additionalProperties);
  }
  return result;
}

function fits32({ minimum, maximum }: StructuralSchema): boolean {
  return Number(minimum) >= INT32[0]! && Number(maximum) <= INT32[1]!;
}

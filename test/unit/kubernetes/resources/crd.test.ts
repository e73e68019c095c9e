import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { customResourceDefinition, objectSchema } from '../../../../scripts/kubernetes/crd.ts';
import type { StructuralSchema } from '../../../../scripts/kubernetes/structural-schema.ts';
import { RENDER_PLAN, renderPlanSpecSchema } from '../../../../src/kubernetes/resources/render-plan.ts';
import { RENDER_POOL, renderPoolSpecSchema } from '../../../../src/kubernetes/resources/render-pool.ts';
import { planSchema } from '../../../../src/tenants/plans/plan.ts';

const DEFINITIONS = [RENDER_PLAN, RENDER_POOL];

/** Every schema inside a schema, with its path. */
function* walk(schema: StructuralSchema, path: string): Generator<[string, StructuralSchema]> {
  yield [path, schema];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* walk(property, `${path}.${name}`);
  }
  if (schema.items) yield* walk(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* walk(schema.additionalProperties, `${path}{}`);
}

describe('custom resource definitions', () => {
  for (const definition of DEFINITIONS) {
    describe(definition.kind, () => {
      const schemas = [...walk(objectSchema(definition), definition.kind)];

      it('is structural: every value has a type or a reason for having none, and the API server accepts it', () => {
        for (const [path, schema] of schemas) {
          const typed = schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
          assert.ok(typed, `${path} has no type`);
          assert.equal(schema.$schema, undefined, path);
          assert.notEqual(typeof schema.additionalProperties, 'boolean', path);
          assert.ok(
            !(schema.properties && schema.additionalProperties),
            `${path} has both kinds of properties`,
          );
        }
      });

      it('describes every field of the spec and the status, for kubectl explain', () => {
        const undescribed = schemas
          .filter(([path, { description }]) => /\.\w+$/.test(path) && description === undefined)
          .map(([path]) => path)
          .filter((path) => !path.endsWith('.metadata'));
        assert.deepEqual(undescribed, []);
      });

      it('has columns and scale paths that lead to fields of its schema', () => {
        const { scale } = definition;
        const paths = definition.columns
          .filter(({ jsonPath }) => !jsonPath.startsWith('.metadata'))
          .map(({ jsonPath }) => jsonPath.replace(/\[\?.*\]/, '[]'));
        if (scale) paths.push(...Object.values(scale));
        const known = new Set(schemas.map(([path]) => path.slice(definition.kind.length)));
        for (const path of paths) assert.ok(known.has(path), path);
      });

      it('is written as YAML that parses to the same', async () => {
        const file = join(import.meta.dirname, '../../../..', 'crds', `platen.dev_${definition.plural}.yaml`);
        assert.deepEqual(
          parse(await readFile(file, 'utf8'), { version: '1.1' }),
          JSON.parse(JSON.stringify(customResourceDefinition(definition))),
        );
      });
    });
  }

  it('allows a RenderPlan every field of a plan, and no other', () => {
    assert.deepEqual(Object.keys(renderPlanSpecSchema.shape).sort(), Object.keys(planSchema.shape).sort());
  });

  it('fills in the defaults of a pool as the API server does', () => {
    const { minReplicas, maxReplicas, scaleDown, mode } = renderPoolSpecSchema.parse({});
    assert.deepEqual(
      { minReplicas, maxReplicas, mode },
      { minReplicas: 1, maxReplicas: 10, mode: 'Automatic' },
    );
    assert.deepEqual(scaleDown, { stabilisationSeconds: 120, maxPercent: 50, periodSeconds: 30 });
  });
});

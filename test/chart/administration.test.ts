import assert from 'node:assert/strict';
import { HELMS, LEAST, over, render, type Values } from './support/helm.ts';
import { environment } from './support/pods.ts';

for (const helm of HELMS) {
  describe(`the chart's administration, with ${helm}`, () => {
    const tokensOf = async (values: Values, roles: readonly string[]) => {
      const manifests = await render(helm, over(LEAST, values));
      return roles.map((role) => environment(manifests, role).PLATEN_ADMIN_TOKEN);
    };

    it('is off by default, also with values of an older chart', async () => {
      for (const values of [{}, { admin: null }])
        assert.deepEqual(await tokensOf(values, ['api']), [undefined]);
    });

    it('gives the tokens of a Secret to the API alone', async () => {
      const values = { admin: { existingSecret: { name: 'operators', key: 'all' } } };
      assert.deepEqual(await tokensOf(values, ['api', 'dispatcher', 'worker', 'controller']), [
        'operators/all',
        ...[undefined, undefined, undefined],
      ]);
    });
  });
}

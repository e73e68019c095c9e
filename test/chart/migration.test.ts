import assert from 'node:assert/strict';
import { find, HELMS, LEAST, type Manifest, over, render } from './support/helm.ts';

for (const helm of HELMS) {
  describe(`the chart's migration of the data, by ${helm}`, () => {
    const ON = over(LEAST, {
      migration: { job: { enabled: true, timeoutSeconds: 7200, podLabels: { a: 'b' } } },
    });

    it('is left to the first new process, unless a Job is asked for', async () => {
      assert.deepEqual(
        (await render(helm, LEAST)).filter(({ kind }) => kind === 'Job'),
        [],
      );
    });

    it('is a Job before an upgrade, with the database of the roles and as long as it is given', async () => {
      const manifests = await render(helm, ON);
      const { metadata, spec } = find(manifests, 'Job', 'platen-migrate');
      assert.equal(metadata.annotations?.['helm.sh/hook'], 'pre-upgrade');
      assert.equal(spec.activeDeadlineSeconds, 7200);
      const [container] = spec.template.spec.containers;
      const [api] = find(manifests, 'Deployment', 'platen-api').spec.template.spec.containers;
      assert.deepEqual([container.args, container.image], [['migrate'], api.image]);
      const uri = ({ env }: { env: { name: string }[] }) => env.find(({ name }) => name === 'MONGODB_URI');
      assert.deepEqual(uri(container), uri(api));
    });

    it('has a pod that nothing else of the release selects', async () => {
      const manifests = await render(helm, ON);
      const { labels } = find(manifests, 'Job', 'platen-migrate').spec.template.metadata;
      assert.equal(labels.a, 'b');
      const selectors = manifests.flatMap(selectorsOf);
      assert.ok(selectors.length > 6);
      for (const selector of selectors) {
        const fits = Object.entries(selector).every(([name, value]) => labels[name] === value);
        assert.ok(!fits, JSON.stringify(selector));
      }
    });
  });
}

/** The labels that a Service, a workload, a budget or a policy selects its pods by. */
function selectorsOf({ kind, spec }: Manifest): Record<string, string>[] {
  if (kind === 'Service') return [spec.selector];
  const selector = spec?.podSelector ?? spec?.selector;
  return selector?.matchLabels === undefined ? [] : [selector.matchLabels];
}

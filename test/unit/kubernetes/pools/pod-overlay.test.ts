import assert from 'node:assert/strict';
import { laidOver, podSpecProblem } from '../../../../src/kubernetes/pools/pod-overlay.ts';
import { podTemplate } from '../../../../src/kubernetes/pools/worker-template.ts';
import { renderPoolSpecSchema } from '../../../../src/kubernetes/resources/render-pool.ts';

const TEMPLATE = {
  spec: {
    containers: [{ name: 'worker', args: ['worker'] }],
    securityContext: { runAsNonRoot: true },
    dnsConfig: { searches: ['a'], options: [{ name: 'ndots', value: '2' }] },
  },
};

describe('the podSpec of a pool', () => {
  it('is laid over the pods: maps are merged, lists are replaced, null removes', () => {
    assert.deepEqual(
      laidOver({ a: { b: 1, c: [1, 2], d: 4 }, e: 5 }, { a: { b: 2, c: [3], d: null }, f: { g: null } }),
      {
        a: { b: 2, c: [3] },
        e: 5,
        f: {},
      },
    );
    const polluting = laidOver({}, JSON.parse('{"__proto__": {"polluted": true}}'));
    assert.ok(!('polluted' in {}) && !('polluted' in polluting));
    const pod = podTemplate(
      TEMPLATE,
      'p',
      renderPoolSpecSchema.parse({ podSpec: { dnsConfig: { searches: ['b'] } } }),
    );
    assert.deepEqual(pod.spec.dnsConfig, { searches: ['b'], options: TEMPLATE.spec.dnsConfig.options });
  });

  it("cannot have what is the controller's or the pool's, and then changes nothing", () => {
    const own = podTemplate(TEMPLATE, 'p', renderPoolSpecSchema.parse({}));
    const reserved = [
      ...['containers', 'initContainers', 'ephemeralContainers', 'volumes', 'securityContext'],
      ...['hostNetwork', 'hostPID', 'hostIPC', 'automountServiceAccountToken', 'enableServiceLinks'],
      ...Object.keys(own.spec).filter((field) => field !== 'dnsConfig'),
      ...['nodeSelector', 'affinity', 'tolerations', 'topologySpreadConstraints', 'serviceAccount'],
      ...['runtimeClassName', 'priorityClassName', 'schedulerName', 'hostUsers', 'hostAliases'],
    ];
    for (const field of reserved) {
      const podSpec = { [field]: null, hostname: 'x' };
      assert.match(
        podSpecProblem(podSpec) ?? '',
        new RegExp(`^spec.podSpec.${field} cannot be set: `),
        field,
      );
      const spec = renderPoolSpecSchema.parse({ podSpec });
      assert.deepEqual(podTemplate(TEMPLATE, 'p', spec), own, field);
    }
    assert.equal(podSpecProblem({ hostname: 'x', dnsPolicy: 'Default' }), undefined);
  });

  it('is bounded, in values and characters', () => {
    const list = (length: number) => ({ list: Array.from({ length }, () => 0) });
    assert.equal(podSpecProblem(list(998)), undefined);
    assert.equal(podSpecProblem(list(999)), 'spec.podSpec has more than 1000 values.');
    const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`);
    assert.equal(podSpecProblem({ deep }), 'spec.podSpec has more than 1000 values.');
    const text = (length: number) => ({ a: 'x'.repeat(length - '{"a":""}'.length) });
    assert.equal(podSpecProblem(text(16_384)), undefined);
    assert.match(podSpecProblem(text(16_385)) ?? '', /^spec.podSpec has 16385 characters as JSON/);
  });
});

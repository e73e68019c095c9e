import assert from 'node:assert/strict';
import { find, HELMS, LEAST, over, render, type Values } from './support/helm.ts';
import { podSpec, podSpecs } from './support/pods.ts';

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));

  describe(`the chart in clusters that are strict, by ${helm}`, () => {
    it('leave the choice of users to the cluster, for every pod and for one', async () => {
      const runAsNonRoot = { runAsNonRoot: true };
      const manifests = await rendered({
        podSecurityContext: runAsNonRoot,
        api: { podSecurityContext: { runAsUser: 7 } },
        demo: {
          enabled: true,
          mongodb: { podSecurityContext: runAsNonRoot },
          kafka: { podSecurityContext: runAsNonRoot },
        },
      });
      for (const { of, spec } of podSpecs(manifests)) {
        const wanted = of === 'Deployment/platen-api' ? { runAsUser: 7 } : runAsNonRoot;
        assert.deepEqual(spec.securityContext, wanted, of);
      }
      // The profile for the sandbox overrides the given one.
      const profile = { type: 'Localhost', localhostProfile: 'chromium.json' };
      const named = await rendered({
        podSecurityContext: { ...runAsNonRoot, seccompProfile: { type: 'RuntimeDefault' } },
        worker: { sandbox: { localhostProfile: 'chromium.json' } },
      });
      assert.deepEqual(podSpec(named, 'worker').securityContext, {
        ...runAsNonRoot,
        seccompProfile: profile,
      });
    });

    it("set the remaining fields of the chart's own pods", async () => {
      const settings = {
        podLabels: { team: 'print' },
        podAnnotations: { note: 'x' },
        priorityClassName: 'high',
        dnsPolicy: 'Default',
      };
      const manifests = await rendered({
        worker: { sandbox: { installProfile: true, ...settings, podSecurityContext: { runAsUser: 9 } } },
        test: { ...settings, podSecurityContext: { runAsUser: 9 } },
      });
      const { metadata, spec } = find(manifests, 'Pod', 'platen-test-render');
      for (const pod of [
        find(manifests, 'DaemonSet', 'platen-seccomp-installer').spec.template,
        { metadata, spec },
      ]) {
        assert.deepEqual([pod.metadata.labels.team, pod.metadata.annotations.note], ['print', 'x']);
        assert.deepEqual([pod.spec.priorityClassName, pod.spec.dnsPolicy], ['high', 'Default']);
        assert.deepEqual(pod.spec.securityContext, { runAsUser: 9 });
      }
      assert.equal(metadata.annotations?.['helm.sh/hook'], 'test');
    });

    it('let cluster-autoscaler empty a node, whatever its pods keep in local volumes', async () => {
      const manifests = await rendered({
        demo: { enabled: true },
        worker: { sandbox: { installProfile: true }, extraVolumes: [{ name: 'fonts', emptyDir: {} }] },
        api: { extraVolumes: [{ name: 'more', configMap: { name: 'more' } }] },
      });
      let local = 0;
      for (const { of, annotations, spec } of podSpecs(manifests)) {
        const names = (spec.volumes as { name: string; emptyDir?: object }[])
          .filter(({ emptyDir }) => emptyDir !== undefined)
          .map(({ name }) => name);
        local += names.length;
        const key = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes';
        assert.equal(annotations[key], names.length > 0 ? names.join() : undefined, of);
      }
      assert.equal(local, 8);
    });
  });
}

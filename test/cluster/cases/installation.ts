import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import type { Release } from '../support/release.ts';

const PLANS = ['business', 'free', 'professional', 'starter'];

/** `helm install` and its result. */
export function describeInstallation(release: () => Release): void {
  describe('installed by its chart', () => {
    it('is ready after helm install, and renders a PDF by REST through the Service', async () => {
      const installedMs = await release().installed();
      const started = performance.now();
      const client = await release().openAccount('free');
      const response = await client.render({ html: '<h1>From a pod</h1>' });
      const tookMs = installedMs + performance.now() - started;
      assert.equal(response.status, 200, Buffer.from(response.bytes).toString().slice(0, 500));
      assert.equal((await readPdf(response.bytes)).text.trim(), 'From a pod');
      console.log(`      helm install to the first PDF: ${(tookMs / 1000).toFixed(1)} s`);
      const { peers, target } = release();
      const kept = await peers.bucket?.keys(`${target.data}/`);
      if (kept !== undefined) assert.ok(kept.some((key) => key.endsWith('.pdf')));
    });

    it('shows plans and the pool in the columns of kubectl', async () => {
      await eventually('accepted plans', async () => {
        const table = await release().kubectl('get', 'renderplans', '--no-headers');
        const rows = table
          .trim()
          .split('\n')
          .map((row) => row.split(/\s+/));
        assert.deepEqual(rows.map(([name]) => name).sort(), PLANS);
        return rows.every((row) => row.includes('Ready'));
      });
      const [name, mode] = (await release().kubectl('get', 'renderpools', '--no-headers')).split(/\s+/);
      assert.deepEqual([name, mode], ['default', 'Automatic']);
    });

    it('gives no token of the API server to processes that serve callers or render documents', async () => {
      for (const role of ['api', 'dispatcher', 'worker']) {
        const [pod] = await release().readyPods(role);
        assert.ok(pod, role);
        const check = ['exec', pod.metadata.name, '--', 'ls', '/var/run/secrets/kubernetes.io'];
        await assert.rejects(release().kubectl(...check), /No such file/, role);
      }
    });

    it('has a NetworkPolicy that keeps workers from the metadata address and from all callers', async () => {
      // Nothing in this cluster enforces policies, so this checks the policy, not its effect.
      const { spec } = await release().get<NetworkPolicy>('networkpolicy', 'platen-pool-default');
      assert.deepEqual([...spec.policyTypes].sort(), ['Egress', 'Ingress']);
      const peers = spec.egress.flatMap(({ to = [] }) => to);
      const open = peers.filter(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0');
      assert.ok(open.length > 0, JSON.stringify(spec.egress));
      for (const { ipBlock } of open) {
        assert.ok(
          ipBlock?.except?.some((network) => network.startsWith('169.254.')),
          JSON.stringify(ipBlock),
        );
      }
    });
  });
}

interface NetworkPolicy {
  readonly spec: {
    readonly policyTypes: readonly string[];
    readonly egress: readonly {
      readonly to?: readonly {
        readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
      }[];
    }[];
  };
}

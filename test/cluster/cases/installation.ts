import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import type { Release } from '../support/release.ts';

const PLANS = ['business', 'free', 'professional', 'starter'];

/** `helm install` and what is there afterwards. */
export function describeInstallation(release: () => Release): void {
  describe('installed by its chart', () => {
    it('is ready after helm install, and renders a PDF by REST through the Service', async () => {
      const installedMs = await release().installed();
      const started = performance.now();
      const client = await release().openAccount('free');
      const answer = await client.render({ html: '<h1>From a pod</h1>' });
      const tookMs = installedMs + performance.now() - started;
      assert.equal(answer.status, 200, Buffer.from(answer.bytes).toString().slice(0, 500));
      assert.equal((await readPdf(answer.bytes)).text.trim(), 'From a pod');
      console.log(`      helm install to the first PDF: ${(tookMs / 1000).toFixed(1)} s`);
    });

    it('shows plans and the pool in the columns of kubectl', async () => {
      await eventually('accepted plans', async () => {
        const table = await release().kubectl('get', 'renderplans', '--no-headers');
        const rows = table
          .trim()
          .split('\n')
          .map((row) => row.split(/\s+/));
        assert.deepEqual(rows.map(([name]) => name).sort(), PLANS);
        return rows.every((row) => row.includes('True'));
      });
      const [name, mode] = (await release().kubectl('get', 'renderpools', '--no-headers')).split(/\s+/);
      assert.deepEqual([name, mode], ['default', 'Automatic']);
    });

    it('gives no token of the API server to what answers callers or renders their documents', async () => {
      for (const role of ['api', 'dispatcher', 'worker']) {
        const [pod] = await release().readyPods(role);
        assert.ok(pod, role);
        const look = ['exec', pod.metadata.name, '--', 'ls', '/var/run/secrets/kubernetes.io'];
        await assert.rejects(release().kubectl(...look), /No such file/, role);
      }
    });

    it('asks by a NetworkPolicy that workers are kept from the metadata address and from all who call', async () => {
      // Nothing in this cluster enforces one, so this is what is asked for, not what it does.
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

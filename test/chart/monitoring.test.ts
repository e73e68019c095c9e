import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { RULES_FILE, readDashboards } from '../monitoring/support/dashboards.ts';
import { promtool } from '../monitoring/support/prometheus.ts';
import { find, HELMS, LEAST, over, render, type Values } from './support/helm.ts';

interface Group {
  readonly rules: readonly { readonly alert: string; readonly annotations: Record<string, string> }[];
}
const RULES: { groups: Group[] } = parse(readFileSync(RULES_FILE, 'utf8'));
const alertsOf = ({ groups }: { groups: readonly Group[] }) => groups.flatMap(({ rules }) => rules);

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));

  describe(`what the chart installs for monitoring, by ${helm}`, () => {
    it('is off by default', async () => {
      const kinds = (await rendered({})).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      assert.deepEqual(
        kinds.filter((name) => /PrometheusRule|dashboard/.test(name)),
        [],
      );
    });

    it('has the alerts of their file, which promtool accepts', async () => {
      const { spec } = find(
        await rendered({ prometheusRule: { enabled: true } }),
        'PrometheusRule',
        'platen',
      );
      assert.deepEqual(spec, RULES);
      const folder = await mkdtemp(join(tmpdir(), 'platen-rules-'));
      try {
        const file = join(folder, 'rules.yaml');
        await writeFile(file, stringify(spec));
        assert.match(await promtool('check', 'rules', file), /SUCCESS/);
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('omits chosen alerts, and links runbooks where they can be read', async () => {
      const settings = {
        enabled: true,
        disabled: ['PlatenSandboxOff', 'PlatenQueueAge'],
        runbookBaseUrl: 'https://wiki.example/platen/',
      };
      const manifests = await rendered({ prometheusRule: settings });
      const alerts = alertsOf(find(manifests, 'PrometheusRule', 'platen').spec);
      const expected = alertsOf(RULES).filter(({ alert }) => !settings.disabled.includes(alert));
      assert.deepEqual(
        alerts.map(({ alert }) => alert),
        expected.map(({ alert }) => alert),
      );
      for (const { alert, annotations } of alerts)
        assert.equal(annotations.runbook_url, `https://wiki.example/platen/${alert}.md`);
    });

    it("has each dashboard in a ConfigMap that Grafana's sidecar loads", async () => {
      const manifests = await rendered({ dashboards: { enabled: true } });
      for (const { name, ...dashboard } of readDashboards()) {
        const { metadata, data } = find(manifests, 'ConfigMap', `platen-dashboard-${name}`);
        assert.equal(metadata.labels?.grafana_dashboard, '1');
        assert.deepEqual(JSON.parse(data[`platen-${name}.json`]), dashboard);
      }
    });
  });
}

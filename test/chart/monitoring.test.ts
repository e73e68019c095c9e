import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { slugOf } from '../../src/http/site/docs/pages.ts';
import { RULES_FILE, readDashboards } from '../monitoring/support/dashboards.ts';
import { promtool } from '../monitoring/support/prometheus.ts';
import { find, HELMS, LEAST, over, render, type Values } from './support/helm.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
interface Group {
  readonly rules: readonly Rule[];
}
const RULES: { groups: Group[] } = parse(readFileSync(RULES_FILE, 'utf8'));
const alertsOf = ({ groups }: { groups: readonly Group[] }) => groups.flatMap(({ rules }) => rules);
const TWO_RELEASES = join(import.meta.dirname, '../monitoring/releases/two-releases.yaml');

for (const helm of HELMS) {
  const rendered = (values: Values, namespace = 'default') =>
    render(helm, over(LEAST, values), { namespace });
  const alertsWith = async (values: Values, namespace?: string): Promise<Rule[]> =>
    alertsOf(find(await rendered(values, namespace), 'PrometheusRule', 'platen').spec);

  describe(`what the chart installs for monitoring, by ${helm}`, () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'platen-rules-'));
    });
    after(() => rm(folder, { recursive: true }));

    it('is off by default', async () => {
      const kinds = (await rendered({})).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      assert.deepEqual(
        kinds.filter((name) => /PrometheusRule|dashboard/.test(name)),
        [],
      );
    });

    it('has the alerts of their file, each about the namespace of the release alone', async () => {
      const alerts = await alertsWith({ prometheusRule: { enabled: true } }, 'prod');
      const named = (expr: string) =>
        expr.replaceAll(/namespace=~"(\.\*|\(\.\*\))"/g, 'namespace="prod"').replaceAll('"$1"', '"prod"');
      assert.deepEqual(
        alerts,
        alertsOf(RULES).map((rule) => ({ ...rule, expr: named(rule.expr) })),
      );
    });

    it('has alerts that fire for the release that they are about, beside another and over several namespaces', async () => {
      const releases = { prod: ['prod', 'team-a'], staging: [] };
      for (const [namespace, watchNamespaces] of Object.entries(releases)) {
        const manifests = await rendered(
          {
            controller: { watchNamespaces },
            config: { publicUrl: `https://${namespace}.example.com/` },
            prometheusRule: { enabled: true, additionalRuleLabels: { release: namespace } },
          },
          namespace,
        );
        const { spec } = find(manifests, 'PrometheusRule', 'platen');
        await writeFile(join(folder, `${namespace}.yaml`), stringify(spec));
        assert.match(await promtool('check', 'rules', join(folder, `${namespace}.yaml`)), /SUCCESS/);
      }
      const file = join(folder, 'test.yaml');
      await copyFile(TWO_RELEASES, file);
      assert.match(await promtool('test', 'rules', file), /SUCCESS/);
    });

    it('omits chosen alerts, and links runbooks where they can be read', async () => {
      const settings = { enabled: true, disabled: ['PlatenSandboxOff', 'PlatenQueueAge'] };
      const config = { publicUrl: 'https://pdf.example.com' };
      const given = { ...settings, runbookBaseUrl: 'https://wiki.example/platen/' };
      const alerts = await alertsWith({ config, prometheusRule: given });
      const expected = alertsOf(RULES).filter(({ alert }) => !settings.disabled.includes(alert));
      assert.deepEqual(
        alerts.map(({ alert }) => alert),
        expected.map(({ alert }) => alert),
      );
      for (const { alert, annotations } of alerts)
        assert.equal(annotations.runbook_url, `https://wiki.example/platen/${alert}.md`);
      // Where the API has the pages.
      for (const { alert, annotations } of await alertsWith({ config, prometheusRule: settings })) {
        const page = slugOf(`docs/runbooks/${alert}.md`);
        assert.equal(annotations.runbook_url, `https://pdf.example.com/docs/${page}`);
      }
    });

    it('has other thresholds, times and labels on request', async () => {
      const overrides = {
        PlatenQueueAge: { threshold: 90.5, for: '10m', severity: 'info' },
        PlatenFailureRate: { threshold: 0.25 },
      };
      const additionalRuleLabels = { team: 'print' };
      const alerts = await alertsWith({ prometheusRule: { enabled: true, overrides, additionalRuleLabels } });
      const [age, rate] = ['PlatenQueueAge', 'PlatenFailureRate'].map(
        (name) => alerts.find(({ alert }) => alert === name)!,
      );
      assert.match(age!.expr, / > 90\.5$/);
      assert.deepEqual([age!.for, age!.labels], ['10m', { severity: 'info', team: 'print' }]);
      assert.match(rate!.expr, /> 0\.25\n[\s\S]*>= 5\n$/);
      assert.ok(alerts.every(({ labels }) => labels.team === 'print'));
    });

    it("has each dashboard in a ConfigMap that Grafana's sidecar loads, beside those of other releases", async () => {
      const uids = new Set<string>();
      const files = new Set<string>();
      for (const namespace of ['prod', 'staging']) {
        const manifests = await rendered(
          { dashboards: { enabled: true }, controller: { watchNamespaces: ['team-a'] } },
          namespace,
        );
        const installed = readDashboards().map(({ name, ...dashboard }) => {
          const { metadata, data } = find(manifests, 'ConfigMap', `platen-dashboard-${name}`);
          assert.equal(metadata.labels?.grafana_dashboard, '1');
          const [[file, text]] = Object.entries(data as Record<string, string>) as [[string, string]];
          files.add(file);
          const found = JSON.parse(text);
          assert.deepEqual(found.panels, dashboard.panels);
          assert.equal(found.title, `${dashboard.title} (${namespace})`);
          const [variable] = found.templating.list.filter(
            (one: { name: string }) => one.name === 'namespace',
          );
          assert.deepEqual(variable.current.value, [namespace, 'team-a']);
          return found as { uid: string; links: { url: string }[] };
        });
        for (const { uid, links } of installed) {
          assert.ok(uid.length <= 40, uid);
          uids.add(uid);
          const others = installed.filter((other) => other.uid !== uid).map((other) => `/d/${other.uid}`);
          assert.deepEqual(links.map(({ url }) => url).sort(), others.sort());
        }
      }
      assert.deepEqual([uids.size, files.size], [6, 6]);
    });
  });
}

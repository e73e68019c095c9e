import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { createMetrics } from '../../src/roles/metrics.ts';
import { RULES_FILE, readDashboards, withoutVariables } from './support/dashboards.ts';
import { promtool } from './support/prometheus.ts';

/** Where the chart writes the namespaces of a release. */
const OF_NAMESPACES = /namespace=~"(\.\*|\(\.\*\))",?/g;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, '../..');
const ALERT_TESTS = join(import.meta.dirname, 'alerts');
const dashboards = readDashboards();
const rules: Rule[] = parse(readFileSync(RULES_FILE, 'utf8')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);
const expressions = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...dashboards.flatMap((dashboard) =>
    dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({
        where: `${dashboard.title}: ${title}`,
        expr: withoutVariables(dashboard, expr, 60),
      })),
    ),
  ),
];

describe('dashboards and alerts', () => {
  it('promtool parses every expression of every panel', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-expressions-'));
    try {
      const file = join(folder, 'expressions.yaml');
      const recorded = expressions.map(({ where, expr }, i) => ({
        record: `panel:${i}`,
        expr,
        labels: { where },
      }));
      await writeFile(file, stringify({ groups: [{ name: 'panels', rules: recorded }] }));
      assert.match(await promtool('check', 'rules', file), new RegExp(`${recorded.length} rules found`));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('promtool finds the alerts well-formed', async () => {
    assert.match(await promtool('check', 'rules', RULES_FILE), new RegExp(`${rules.length} rules found`));
  });

  for (const file of readdirSync(ALERT_TESTS)) {
    it(`the alerts of ${file} fire when they should, and not when they should not`, async () => {
      assert.match(await promtool('test', 'rules', join(ALERT_TESTS, file)), /SUCCESS/);
    });
  }

  it('every alert is tested in both directions', () => {
    const cases: { alertname: string; exp_alerts: unknown[] }[] = readdirSync(ALERT_TESTS).flatMap((file) =>
      parse(readFileSync(join(ALERT_TESTS, file), 'utf8')).tests.flatMap(
        (test: { alert_rule_test: unknown[] }) => test.alert_rule_test,
      ),
    );
    for (const { alert } of rules) {
      const outcomes = new Set(
        cases.filter(({ alertname }) => alertname === alert).map(({ exp_alerts }) => exp_alerts.length > 0),
      );
      assert.deepEqual(outcomes, new Set([true, false]), alert);
    }
  });

  it('every alert has a severity, words for people, and its own runbook page', () => {
    for (const { alert, labels, annotations } of rules) {
      assert.ok(['warning', 'critical'].includes(labels.severity ?? ''), alert);
      assert.ok(annotations.summary && annotations.description, alert);
      assert.equal(annotations.runbook_url, `docs/runbooks/${alert}.md`);
      const page = join(ROOT, 'docs/runbooks', `${alert}.md`);
      assert.ok(existsSync(page), page);
      const text = readFileSync(page, 'utf8');
      for (const part of ['## What it means', '## How to see', '## What to do'])
        assert.ok(text.includes(part), `${alert}: ${part}`);
    }
    const pages = readdirSync(join(ROOT, 'docs/runbooks')).filter((page) => page !== 'README.md');
    assert.deepEqual(pages.sort(), rules.map(({ alert }) => `${alert}.md`).sort());
  });

  it('the table of docs/dashboards.md has every alert, with its severity and its page', () => {
    const text = readFileSync(join(ROOT, 'docs/dashboards.md'), 'utf8');
    const rows = [...text.matchAll(/^\| \[(Platen\w+)\]\(runbooks\/(\w+)\.md\) +\| (\w+) +\|/gm)];
    assert.deepEqual(
      rows.map(([, alert, page, severity]) => [alert, page, severity]),
      rules.map(({ alert, labels }) => [alert, alert, labels.severity]),
    );
  });

  it('everything that is counted of billing and mails is on a panel', async () => {
    const counted = (await createMetrics('test').registry.getMetricsAsArray())
      .map(({ name }) => name)
      .filter((name) => /^platen_(payment|billing|overage|mail)/.test(name));
    assert.ok(counted.length >= 9, counted.join());
    const panels = dashboards
      .find(({ uid }) => uid === 'platen-billing')!
      .panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
      .join('\n');
    for (const name of counted) assert.ok(panels.includes(name), name);
  });

  it('what can go wrong with money has an alert that goes by its own metric', () => {
    for (const [alert, metric] of [
      ['PlatenPaymentEventsLate', 'platen_payment_event_age_seconds_bucket'],
      ['PlatenPaymentEventsRefused', 'platen_payment_events_total{outcome=~"refused|failed"}'],
      ['PlatenPaymentEventsMissed', 'platen_billing_reconcile_findings_total'],
      ['PlatenBillingSyncsFailing', 'platen_billing_syncs_total{outcome="failed"}'],
      ['PlatenBillingErrors', 'platen_billing_errors_total'],
      ['PlatenBlocksHeld', 'platen_billing_blocks{state=~"reserved|drafted|paying|voiding|paid"}'],
      ['PlatenBlocksDisputed', 'platen_billing_blocks{state="frozen"}'],
      ['PlatenSubscriptionsDisputed', 'platen_billing_disputes{about="subscription"}'],
      ['PlatenMailsWaiting', 'platen_mail_oldest_waiting_seconds'],
      ['PlatenMailsRefused', 'platen_mail_attempts_total{outcome="failed"}'],
    ] as const) {
      const expr = rules.find((rule) => rule.alert === alert)?.expr.replaceAll(OF_NAMESPACES, '') ?? '';
      assert.ok(expr.includes(metric), `${alert}: ${expr}`);
    }
  });

  it('links of dashboards lead to dashboards that there are', () => {
    const uids = dashboards.map(({ uid }) => uid);
    for (const { uid, links } of dashboards) {
      const others = uids.filter((other) => other !== uid).map((other) => `/d/${other}`);
      assert.deepEqual(links.map(({ url }) => url).sort(), others.sort(), uid);
    }
  });

  it('no account is a label of any metric, nor part of an expression', async () => {
    const tenant = /account|tenant|customer|user|api_?key|email/i;
    for (const metric of await createMetrics('test').registry.getMetricsAsArray()) {
      // prom-client's type leaves out the names of a metric's labels.
      const { labelNames } = metric as unknown as { labelNames: readonly string[] };
      for (const label of labelNames) assert.doesNotMatch(label, tenant, metric.name);
    }
    for (const { where, expr } of expressions) assert.doesNotMatch(expr, tenant, where);
  });

  it('panels have unique ids, and do not overlap', () => {
    for (const { title, panels } of dashboards) {
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, title);
      const taken = new Map<string, string>();
      for (const { title: panel, gridPos } of panels) {
        assert.ok(gridPos.x + gridPos.w <= 24, `${title}: ${panel} is too far right`);
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            assert.equal(taken.get(`${x},${y}`), undefined, `${title}: ${panel} lies over another`);
            taken.set(`${x},${y}`, panel);
          }
        }
      }
    }
    assert.equal(new Set(dashboards.map(({ uid }) => uid)).size, dashboards.length);
  });

  it('every metric of every alert is narrowed to one installation by the chart', () => {
    for (const { alert, expr } of rules) {
      const metrics = expr.match(/\b(platen|process)_\w+/g)?.length;
      assert.ok(metrics !== undefined && metrics > 0, alert);
      assert.equal(expr.match(OF_NAMESPACES)?.length, metrics, alert);
    }
  });

  it('every panel can be narrowed to one installation', () => {
    for (const { title, panels } of dashboards) {
      for (const panel of panels) {
        for (const { expr } of panel.targets ?? [])
          assert.match(expr, /namespace=~"\$namespace"/, `${title}: ${panel.title}`);
      }
    }
  });
});

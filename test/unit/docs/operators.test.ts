import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { codeBlocks, yamlBlocks } from '../../support/markdown.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Route {
  readonly receiver: string;
  readonly matchers: readonly string[];
}
interface Alertmanager {
  readonly route: Route & { readonly routes: readonly Route[] };
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal: readonly string[];
  }[];
  readonly receivers: readonly { readonly name: string }[];
}
type Labels = Readonly<Record<string, string>>;

/** Whether labels fit matchers of Alertmanager, all of which are `name = value` or `name =~ "expression"`. */
function fits(matchers: readonly string[], labels: Labels): boolean {
  return matchers.every((matcher) => {
    const [, name, operator, value] = /^(\w+) (=|=~) "?(.*?)"?$/.exec(matcher)!;
    const given = labels[name!] ?? '';
    return operator === '=' ? given === value : new RegExp(`^(?:${value})$`).test(given);
  });
}

describe("The operators' pages", () => {
  it('size installations as their formula does', async () => {
    const page = await readFile(join(ROOT, 'docs/sizing.md'), 'utf8');
    const table = /^\| For PDFs a day.*?(?=\n\n)/ms.exec(page)![0];
    const [head, , ...rows] = table.split('\n').map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    const sizes = head!.slice(1).map((size) => size.replaceAll(',', ''));
    assert.deepEqual(sizes, ['10000', '1000000', '10000000']);
    const [script] = await codeBlocks('js', 'sizing.md', '## The formula');
    const folder = await mkdtemp(join(tmpdir(), 'platen-sizing-'));
    try {
      const program = join(folder, 'sizing.mjs');
      await writeFile(program, script!);
      const columns = sizes.map((size) =>
        execFileSync(process.execPath, [program, size], { encoding: 'utf8' }).trimEnd().split('\n'),
      );
      for (const [i, column] of columns.entries())
        assert.deepEqual(
          rows.map((row) => `${row[0]}: ${row[i + 1]}`),
          column,
        );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  describe('have a configuration of Alertmanager', () => {
    let config: Alertmanager;
    let alerts: Labels[];
    before(async () => {
      config = parse((await yamlBlocks('dashboards.md', '## Sending alerts'))[0]!);
      const { groups } = parse(readFileSync(join(ROOT, 'charts/platen/alerts/platen.yaml'), 'utf8'));
      alerts = groups
        .flatMap(({ rules }: { rules: { alert: string; labels: Labels }[] }) => rules)
        .map(({ alert, labels }: { alert: string; labels: Labels }) => ({ alertname: alert, ...labels }));
    });

    it('that wakes somebody for each critical alert, and for no other', () => {
      const receivers = new Set(config.receivers.map(({ name }) => name));
      const to = (labels: Labels) =>
        (config.route.routes.find(({ matchers }) => fits(matchers, labels)) ?? config.route).receiver;
      for (const labels of alerts) {
        assert.ok(receivers.has(to(labels)));
        assert.equal(to(labels) === 'pager', labels.severity === 'critical', labels.alertname);
      }
      assert.deepEqual(new Set(alerts.map(to)), receivers);
    });

    it('that holds back only alerts that there are, for alerts that there are', () => {
      const names = new Set(alerts.map(({ alertname }) => alertname));
      for (const { source_matchers, target_matchers, equal } of config.inhibit_rules) {
        assert.deepEqual(equal, ['namespace']);
        for (const name of [...source_matchers, ...target_matchers].join(' ').match(/Platen\w+/g)!)
          assert.ok(names.has(name), name);
        // An alert that holds itself back would be never sent.
        assert.ok(!alerts.some((labels) => fits(source_matchers, labels) && fits(target_matchers, labels)));
      }
    });
  });

  it('show lines of logs as the sources write them', async () => {
    const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((file) =>
      readFileSync(join(ROOT, file), 'utf8'),
    );
    const lines = (await codeBlocks('json', 'logs.md', '## Examples')).flatMap((block) =>
      block.trim().split('\n'),
    );
    const roles = new Set<string>();
    for (const line of lines) {
      const { level, time, role, instance, msg } = JSON.parse(line);
      assert.match(level, /^(?:debug|info|warn|error|fatal)$/);
      assert.equal(new Date(time).toISOString(), time);
      assert.ok(instance.length > 0);
      assert.ok(
        sources.some((source) => source.includes(`'${msg}'`)),
        msg,
      );
      roles.add(role);
    }
    assert.deepEqual(roles, new Set(['api', 'worker', 'dispatcher', 'controller']));
  });
});

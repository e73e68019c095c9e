import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const CHART = join(import.meta.dirname, '../../../charts/platen');
const FOLDER = join(CHART, 'dashboards');
export const RULES_FILE = join(CHART, 'alerts/platen.yaml');

/** What is used of Grafana's format. */
export interface Panel {
  readonly id: number;
  readonly type: 'row' | 'stat' | 'timeseries';
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
  }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly min?: number;
      readonly max?: number;
      readonly decimals?: number;
      readonly custom?: { readonly lineInterpolation: string; readonly stacking: { readonly mode: string } };
      readonly thresholds?: {
        readonly steps: readonly { readonly color: string; readonly value: number | null }[];
      };
      readonly mappings?: readonly {
        readonly options: Readonly<Record<string, { readonly text: string }>>;
      }[];
    };
  };
}

export interface Dashboard {
  /** Of its file, without the ending. */
  readonly name: string;
  readonly uid: string;
  readonly title: string;
  readonly links: readonly { readonly url: string }[];
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr?: string }[] };
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly definition?: string;
      readonly allValue?: string;
    }[];
  };
}

export function readDashboards(): Dashboard[] {
  return readdirSync(FOLDER).map((file) => ({
    ...JSON.parse(readFileSync(join(FOLDER, file), 'utf8')),
    name: basename(file, '.json'),
  }));
}

/**
 * An expression as Grafana sends it when nothing has been chosen: every variable at "All".
 *
 * @param rateInterval seconds; Grafana takes four times the scrape interval at least.
 */
export function withoutVariables(
  { templating }: Dashboard,
  expression: string,
  rateInterval: number,
): string {
  const chosen = templating.list.reduce(
    (text, { name, allValue }) => text.replaceAll(`$${name}`, allValue ?? ''),
    expression.replaceAll('$__rate_interval', `${rateInterval}s`),
  );
  if (chosen.includes('$')) throw new Error(`there is no such variable: ${chosen}`);
  return chosen;
}

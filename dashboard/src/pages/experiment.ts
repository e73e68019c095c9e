import type { Schemas } from '../api.ts';

/** What the playground renders, as it is typed. */
export interface Experiment {
  readonly source: 'html' | 'url' | 'templateId';
  readonly html: string;
  readonly url: string;
  readonly templateId: string;
  /** JSON, as it was typed. */
  readonly data: string;
  /** The data that came with the template; another template may replace it as long as it is untouched. */
  readonly sampleData: string;
  /** Empty for the default. */
  readonly fileName: string;
  /** As they are sent. A text stands for what is no JSON yet. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly mode: 'test' | 'live';
  /** The last render of it. */
  readonly jobId?: string | undefined;
}

const EXAMPLE = `<!doctype html>
<style>body { font-family: sans-serif }</style>
<h1>Invoice 2026-001</h1>
<p>Thank you for your order.</p>`;
const NO_DATA = '{}';
const DEFAULT_FILE_NAME = 'document.pdf';
/** Options whose values are secrets: they are forgotten with the page. */
export const SECRET: ReadonlySet<string> = new Set(['assetHeaders', 'cookies', 'protection']);

/** @param template the id of the one that it is about; null for the example. */
export function newExperiment(template: string | null): Experiment {
  return {
    ...{
      source: template === null ? 'html' : 'templateId',
      html: EXAMPLE,
      url: '',
      templateId: template ?? '',
    },
    ...{ data: NO_DATA, sampleData: NO_DATA, fileName: '', options: {}, mode: 'test' },
  };
}

/** Whether nothing has been done to it, so that there is nothing to be kept. */
export function isUntouched(experiment: Experiment): boolean {
  const { html, url, data, sampleData, fileName, options, jobId } = experiment;
  return (
    html === EXAMPLE &&
    url === '' &&
    data === sampleData &&
    fileName === '' &&
    Object.keys(options).length === 0 &&
    jobId === undefined
  );
}

/** It as it may be kept in the browser. */
export function withoutSecrets(experiment: Experiment): Experiment {
  const kept = Object.entries(experiment.options).filter(([name]) => !SECRET.has(name));
  return { ...experiment, options: Object.fromEntries(kept) };
}

/** An earlier render, to be changed and rendered again. */
export function experimentOf(
  { options, html, url, templateId, data }: Schemas['RenderInput'],
  { fileName, mode }: Pick<Schemas['UserRenderDetail'], 'fileName' | 'mode'>,
): Experiment {
  const before = newExperiment(null);
  const { report, ...others } = options;
  return {
    ...before,
    source: html !== undefined ? 'html' : url !== undefined ? 'url' : 'templateId',
    html: html ?? before.html,
    url: url ?? '',
    templateId: templateId ?? '',
    data: JSON.stringify(data ?? {}, null, 2),
    fileName: fileName === DEFAULT_FILE_NAME ? '' : fileName,
    // Whatever is rendered here has a report unless it says otherwise.
    options: { ...others, ...(report === false && { report }) },
    mode,
  };
}

/** The request for it, as it is sent with an API key. */
export function requestOf(experiment: Experiment): Record<string, unknown> {
  const { source, fileName, data, options } = experiment;
  return {
    [source]: experiment[source],
    ...(source === 'templateId' && { data: dataOf(data) }),
    ...(fileName !== '' && { filename: fileName }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

/** The service says what is wrong with data that is no JSON. */
function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import { type Histogram, observations, quantile, readHistogram, since } from '../support/histogram.ts';

/** What a `POST /v1/pdf` spends on being let in when a plan slot is free: all of it, and step by step. */
const STEPS = ['total', 'authenticate', 'limit', 'reserve'] as const;
type PerPart<T> = Readonly<Record<(typeof STEPS)[number], T>>;

const METRIC = 'platen_admission_duration_seconds';

/** What an API process has measured of admission so far. */
export type AdmissionSample = PerPart<Histogram>;

export async function readAdmission(url: string): Promise<AdmissionSample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return perPart((step) => readHistogram(text, METRIC, { step }));
}

/** Medians between two readings, in milliseconds. @throws when a request is missing: it was not let in as it should. */
export function admissionMedians(
  before: AdmissionSample,
  after: AdmissionSample,
  requests: number,
): PerPart<number> {
  return perPart((part) => {
    const histogram = since(before[part], after[part]);
    const seen = observations(histogram);
    if (seen !== requests) throw new Error(`${seen} of ${requests} requests have a time for ${part}`);
    return quantile(histogram, 0.5) * 1000;
  });
}

/** The total, and its parts in brackets. */
export function admissionText({ total, ...steps }: PerPart<number>): string {
  const texts = Object.entries(steps).map(([step, ms]) => `${step} ${ms.toFixed(1)}`);
  return `${total.toFixed(1)} ms (${texts.join(', ')})`;
}

/** Puts several measurements together, part by part. */
export function combine(
  measured: readonly PerPart<number>[],
  how: (values: readonly number[]) => number,
): PerPart<number> {
  return perPart((part) => how(measured.map((one) => one[part])));
}

function perPart<T>(make: (part: (typeof STEPS)[number]) => T): PerPart<T> {
  return Object.fromEntries(STEPS.map((part) => [part, make(part)])) as Record<(typeof STEPS)[number], T>;
}

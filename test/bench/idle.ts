import { admissionMedians, combine } from './admission.ts';
import type { BenchDocument } from './documents.ts';
import { median } from './load.ts';
import type { Subject } from './subjects.ts';

const WARM_UP_MS = 4000;

export interface IdleFigures {
  /** Milliseconds that a caller waits longer than the raw print takes, in each round; medians. */
  readonly added: readonly number[];
  /** Milliseconds that the caller is kept at the door; medians over the rounds. */
  readonly admission: ReturnType<typeof admissionMedians>;
}

/** One caller at a time, raw and subject in turn, and nothing else running. */
export async function measureIdle(
  raw: Subject,
  subject: Subject,
  document: BenchDocument,
  options: { readonly rounds: number; readonly roundMs: number },
): Promise<IdleFigures> {
  if (subject.admission === undefined) throw new Error(`${subject.name} does not tell of admission`);
  await raw.run(document, 1, WARM_UP_MS / 2);
  await subject.run(document, 1, WARM_UP_MS);
  const added: number[] = [];
  const admission: ReturnType<typeof admissionMedians>[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const printed = await raw.run(document, 1, options.roundMs);
    const before = await subject.admission();
    const asked = await subject.run(document, 1, options.roundMs);
    added.push(asked.p50 - printed.p50);
    admission.push(admissionMedians(before, await subject.admission(), asked.count));
  }
  return { added, admission: combine(admission, median) };
}

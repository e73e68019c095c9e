import { type Exact, textOf } from './decimals.ts';

/** Faults that are listed. A few lead to the rest. */
const MAX_FAULTS = 20;

/** Collects what is wrong with an invoice, as sentences that begin with the business term. */
export class Report {
  readonly faults: string[] = [];

  /** @param rule of EN 16931 or of a profile. @param where such as the line. */
  add(term: string, rule: string | undefined, problem: string, where?: string): void {
    const of = [where, rule].filter((each) => each !== undefined).join(', ');
    if (this.faults.length < MAX_FAULTS)
      this.faults.push(`${term}${of === '' ? '' : ` (${of})`}: ${problem}`);
  }

  /** Adds a fault unless the number is there and is what it is to be. */
  same(
    term: string,
    rule: string | undefined,
    actual: Exact | undefined,
    expected: Exact,
    meaning: string,
    where?: string,
  ): void {
    if (actual === expected) return;
    const is = actual === undefined ? 'is required' : `is ${textOf(actual)}`;
    this.add(term, rule, `${is}, and ${meaning} is ${textOf(expected)}`, where);
  }

  /** Adds a fault unless it holds. */
  require(holds: boolean, term: string, rule: string | undefined, problem: string, where?: string): void {
    if (!holds) this.add(term, rule, problem, where);
  }
}

/** A text of the invoice, shortened. */
export function quoted(text: string | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

import { type Exact, textOf } from './decimals.ts';
import { type Node, textAt } from './tree.ts';

/** Faults that are listed. A few lead to the rest. */
const MAX_FAULTS = 20;
/** Characters of a fault, which may have texts of the invoice in it, such as the identifier of a line. */
const MAX_PLACE = 60;
const MAX_PROBLEM = 300;

/** Collects what is wrong with an invoice, as sentences that begin with the business term. */
export class Report {
  readonly faults: string[] = [];

  /** @param rule of EN 16931 or of a profile. @param where such as the line. */
  add(term: string, rule: string | undefined, problem: string, where?: string): void {
    const of = [where, rule]
      .flatMap((each) => (each === undefined ? [] : shortened(each, MAX_PLACE)))
      .join(', ');
    if (this.faults.length < MAX_FAULTS)
      this.faults.push(`${term}${of === '' ? '' : ` (${of})`}: ${shortened(problem, MAX_PROBLEM)}`);
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

  /** Adds a fault unless there is a text at a path. */
  need(node: Node | undefined, path: string, term: string, rule: string, what: string): void {
    if (textAt(node, path) === undefined) this.add(term, rule, `${what} is required`);
  }
}

/** A text of the invoice, shortened. */
export function quoted(text: string | undefined): string {
  return text === undefined ? 'nothing' : JSON.stringify(shortened(text, 40));
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}

import type { Villain } from './villain.ts';

/** What is told at the beginning of a script. */
export const BEGAN = 'began';

/** A statement that has been told when the next one begins: `what` is an expression. */
export function tell({ told }: Villain, what: string): string {
  return `{ const telling = new XMLHttpRequest(); telling.open('GET', '${told.address}' + encodeURIComponent(${what}), false); telling.send() }`;
}

/** Tells that the script has come so far. */
export function began(villain: Villain): string {
  return tell(villain, `'${BEGAN}'`);
}

/**
 * A document whose script has `work` done before it counts as loaded. It tells the villain that it begins, and what it
 * threw, if it did.
 */
export function working(villain: Villain, work: string): string {
  return `<p id=p>x</p><script>addEventListener('load', async () => { ${began(villain)}
    try { ${work} } catch (error) { ${tell(villain, "'threw ' + error")}; return }
    p.className = 'done' })</script>`;
}

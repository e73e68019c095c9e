import type { Villain } from './villain.ts';

/** What a script reports at its beginning. */
export const BEGAN = 'began';

/** A statement that reports the value of `what`, an expression, before the next statement begins. */
export function report({ reported }: Villain, what: string): string {
  return `{ const telling = new XMLHttpRequest(); telling.open('GET', '${reported.address}' + encodeURIComponent(${what}), false); telling.send() }`;
}

/** A statement that reports that the script has begun. */
export function began(villain: Villain): string {
  return report(villain, `'${BEGAN}'`);
}

/**
 * A document whose script does `work` before the document counts as loaded. It reports to the villain that it has begun, and
 * any error that it threw.
 */
export function working(villain: Villain, work: string): string {
  return `<p id=p>x</p><script>addEventListener('load', async () => { ${began(villain)}
    try { ${work} } catch (error) { ${report(villain, "'threw ' + error")}; return }
    p.className = 'done' })</script>`;
}

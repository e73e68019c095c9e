/** Characters that are searched for an error, up to 18 times: in a hostile text of megabytes it could take seconds. */
const MAX_SEARCHED = 256 * 1024;
/** The end of V8's messages that contain no more of the text than a position. The others quote the text, without one. */
const LOCATED = /at position \d+ \(line \d+ column \d+\)$|^Unexpected end of JSON input$/;

/** Says what is wrong with a text that JSON.parse rejects, and where, without any of the text itself. */
export function findJsonError(text: string): string {
  const message = messageOf(text);
  if (message === undefined) return 'the error could not be located';
  if (LOCATED.test(message)) return message;
  const end = Math.min(text.length, MAX_SEARCHED);
  if (!isUnlocated(text.slice(0, end))) return `Unexpected token after the first ${end} characters`;
  const at = unexpectedToken(text, end);
  const lines = text.slice(0, at).split('\n');
  return `Unexpected token in JSON at position ${at} (line ${lines.length} column ${lines.at(-1)!.length + 1})`;
}

/** The first character that cannot be there, before `end`: with it the text is wrong, and without it only incomplete. */
function unexpectedToken(text: string, end: number): number {
  let [fits, wrong] = [0, end];
  while (wrong - fits > 1) {
    const middle = Math.floor((fits + wrong) / 2);
    if (isUnlocated(text.slice(0, middle))) wrong = middle;
    else fits = middle;
  }
  return fits;
}

function isUnlocated(text: string): boolean {
  const message = messageOf(text);
  return message !== undefined && !LOCATED.test(message);
}

function messageOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

/** What is otherwise without `await`, in the order in which it is replaced. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsync(?=[A-Z]\w)/g, ''],
  [/\basync_(?=\w)/g, ''],
  [/\banext\(/g, 'next('],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\ba(close|iter_bytes|closing|read)\b/g, '$1'],
  [/\basync(?=contextmanager\b)/g, ''],
  [/\basynchronous\b/g, 'synchronous'],
  [/\b_async\b/g, '_sync'],
];
/** What cannot run: comments and texts. */
const NO_CODE = /^ *#.*|"""[\s\S]*?"""|"[^"\n]*"/gm;

/**
 * The synchronous module for an asynchronous one. It is text that is replaced: what has to differ otherwise stands in
 * `_async/primitives.py` and `_sync/primitives.py`.
 */
export function withoutAsync(source: string, name: string): string {
  let text = source;
  for (const [pattern, by] of REPLACEMENTS) text = text.replace(pattern, by);
  const left = /\b(?:async|await)\b.*/.exec(text.replace(NO_CODE, ''));
  if (left !== null) throw new Error(`${name}: this cannot be made synchronous: ${left[0]}`);
  return `# Made by \`make generate\` from _async/${name}; do not edit.\n${text}`;
}

/** Characters of an address that are compared; a longer address can only be made by the document itself. */
const COMPARED = 8192;

/** Whether an address matches a pattern, in which `*` is any characters; parts are searched for in turn. */
export function matchesPattern(url: string, pattern: string): boolean {
  const text = url.slice(0, COMPARED);
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** Converts a pattern for `Fetch.enable`, in which `?` stands for one character unless it is escaped. */
export function asFetchPattern(pattern: string): string {
  return pattern.replaceAll(/[\\?]/g, '\\$&');
}

/** Characters that are searched for an error: in a hostile text of megabytes the search could take seconds. */
const MAX_SCANNED = 1024 * 1024;
const LONGEST_ESCAPE = '\\uffff'.length;

/**
 * Describes where a text stops being JSON (RFC 8259), without a character of the text itself.
 *
 * JSON.parse reports the position of some errors only, so this is called when it has rejected a text.
 */
export function findJsonError(text: string): string {
  const beginning = text.slice(0, MAX_SCANNED);
  const at = new Scanner(beginning).scan();
  if (at === undefined) return 'the error could not be located';
  // An escape sequence at the end of the beginning may be cut in two, which is no error.
  if (beginning.length < text.length && at > MAX_SCANNED - LONGEST_ESCAPE) {
    return `the error is not within its first ${MAX_SCANNED} characters`;
  }
  if (at >= text.length) return text.trim() === '' ? 'it is empty' : 'it ends too early';
  const line = linesBefore(text, at) + 1;
  const column = at - text.lastIndexOf('\n', at - 1);
  return `unexpected character at position ${at} (line ${line}, column ${column})`;
}

function linesBefore(text: string, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** The longest beginning of a literal: when it is not a whole one, the error is right after it. */
const LITERAL_BEGIN =
  /t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?|-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what ends a plain run
const PLAIN = /[^"\\\u0000-\u001f]+/y;

/** The tokens that may come next. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end' | 'nothing';

/** Has a stack of its own instead of recursion, because the caller chooses the nesting. */
class Scanner {
  readonly #text: string;
  #at = 0;
  readonly #open: ('{' | '[')[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** The index of the first character that cannot be there; the text's length when it ends too early. */
  scan(): number | undefined {
    let expected: Expected | undefined = 'value';
    for (;;) {
      this.#match(SPACE);
      if (this.#at >= this.#text.length) return expected === 'nothing' ? undefined : this.#text.length;
      expected = this.#step(expected, this.#text[this.#at]!);
      if (expected === undefined) return this.#at;
    }
  }

  /** Reads one token; undefined when it is not allowed here, with `#at` at the error. */
  #step(expected: Expected, next: string): Expected | undefined {
    switch (expected) {
      case 'value':
        return this.#value(next);
      case 'value or ]':
        return next === ']' ? this.#close() : this.#value(next);
      case 'name':
      case 'name or }':
        if (next === '}' && expected === 'name or }') return this.#close();
        return next === '"' && this.#string() ? 'colon' : undefined;
      case 'colon':
        return this.#take(next === ':', 'value');
      case 'comma or end':
        if (next === ',') return this.#take(true, this.#open.at(-1) === '{' ? 'name' : 'value');
        return next === (this.#open.at(-1) === '{' ? '}' : ']') ? this.#close() : undefined;
      default:
        return undefined;
    }
  }

  #value(next: string): Expected | undefined {
    if (next === '{' || next === '[') {
      this.#open.push(next);
      return this.#take(true, next === '{' ? 'name or }' : 'value or ]');
    }
    const whole = next === '"' ? this.#string() : this.#literal();
    return whole ? this.#after() : undefined;
  }

  #string(): boolean {
    this.#at += 1;
    for (;;) {
      if (!this.#match(PLAIN) && !this.#match(ESCAPE)) break;
    }
    if (this.#text[this.#at] !== '"') return false;
    this.#at += 1;
    return true;
  }

  #literal(): boolean {
    const start = this.#at;
    this.#match(LITERAL_BEGIN);
    return LITERAL.test(this.#text.slice(start, this.#at));
  }

  #close(): Expected {
    this.#open.pop();
    this.#at += 1;
    return this.#after();
  }

  #after(): Expected {
    return this.#open.length === 0 ? 'nothing' : 'comma or end';
  }

  #take(fits: boolean, then: Expected): Expected | undefined {
    if (fits) this.#at += 1;
    return fits ? then : undefined;
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    const moved = pattern.lastIndex > this.#at;
    this.#at = pattern.lastIndex;
    return moved;
  }
}

import {
  type Context,
  EchoTag,
  Expression,
  Filter,
  IfTag,
  type Liquid,
  Output,
  ParseError,
  type Template,
  Token,
  Tokenizer,
  TokenKind,
  TypeGuards,
  toValueSync,
  UnlessTag,
  Value,
} from 'liquidjs';
import { DocumentContext } from './document-context.ts';
import { NO_CURRENCY } from './filters/formats.ts';
import type { FilterHandler } from './filters/printed.ts';

/** Comparisons ask for the value of a name; the other operators ask whether it is there. */
const COMPARISONS: readonly string[] = ['==', '!=', '<', '>', '<=', '>=', 'contains'];
/** With these a name is compared to find out whether it is there. */
const ABSENCE = /^(nil|null|empty|blank)$/;
/** The name that LiquidJS gives to the filter that escapes what is printed. */
const ESCAPE = Object.prototype.toString.call(() => undefined);
/** Filters after which a text is escaped. */
const ESCAPED = /^(escape|escape_once|xml_escape)$/;
const [SCRIPT, TAG_END, SCRIPT_END] = [/<script\b/gi, /(?:[^"'>]|"[^"]*"|'[^']*')*>/y, /<\/script\b/gi];

/** A part of a source, by the indexes of its first character and of the one after its last. */
type Span = readonly [start: number, end: number];

/** What makes a text of a value that is printed. */
export interface Escapes {
  readonly inText: FilterHandler;
  readonly inScript: FilterHandler;
}

/**
 * Changes a parsed template: names in conditions and before `default` may be missing, and what is printed is escaped by
 * where it is printed.
 *
 * @throws ParseError for `money` without a currency, which could print no amount.
 */
export function prepare(
  templates: readonly Template[],
  source: string,
  escapes: Escapes,
  liquid: Liquid,
): void {
  const scripts = scriptsOf(source);
  const open = [...templates];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { begin } = next.token;
    const isCondition = next instanceof IfTag || next instanceof UnlessTag;
    const isPrinted = next instanceof Output || next instanceof EchoTag;
    const isInScript = isPrinted && scripts.some(([start, end]) => begin >= start && begin < end);
    for (const argument of next.arguments?.() ?? []) {
      if (!(argument instanceof Value)) continue;
      if (argument.filters.some(({ name, args }) => name === 'money' && args.length === 0))
        throw new ParseError(new Error(NO_CURRENCY), next.token);
      if (isCondition) allowMissing(argument.initial);
      allowDefault(argument);
      if (isPrinted) setEscape(argument, isInScript ? escapes.inScript : escapes.inText, liquid);
    }
    open.push(...((toValueSync(next.children?.(false, true)) as Template[] | undefined) ?? []));
  }
}

/** Evaluates another expression whose names may be missing. */
class AskingExpression extends Expression {
  readonly #asked: Expression;

  constructor(asked: Expression) {
    super([]);
    this.#asked = asked;
  }

  override evaluate(context: Context, lenient?: boolean): Generator<unknown, unknown, unknown> {
    const evaluation = this.#asked.evaluate(context, lenient);
    return context instanceof DocumentContext ? context.asking(evaluation) : evaluation;
  }

  override valid(): boolean {
    return this.#asked.valid();
  }
}

/** A token whose names may be missing, in the form in which LiquidJS evaluates an expression in parentheses. */
class AskingToken extends Token {
  readonly initial: Expression;
  readonly filters: readonly Filter[] = [];

  constructor({ input, begin, end, file }: Token, asked: Expression) {
    super(TokenKind.FilteredValue, input, begin, end, file);
    this.initial = new AskingExpression(asked);
  }
}

/** Allows the operands of a condition to be missing, except those that are compared with a value. */
function allowMissing({ postfix }: Expression): void {
  const compared = new Set<number>();
  /** The operands that an operator finds: the index of a token, or nothing for a result. */
  const operands: (number | undefined)[] = [];
  for (const [index, token] of postfix.entries()) {
    if (!TypeGuards.isOperatorToken(token)) {
      operands.push(index);
      continue;
    }
    const right = operands.pop();
    if (token.operator !== 'not') {
      const left = operands.pop();
      const both = [left, right].filter((operand) => operand !== undefined);
      const asks = both.some((operand) => ABSENCE.test(postfix[operand]!.getText()));
      if (COMPARISONS.includes(token.operator) && !asks) for (const operand of both) compared.add(operand);
    }
    operands.push(undefined);
  }
  for (const [index, token] of postfix.entries()) {
    if (TypeGuards.isPropertyAccessToken(token) && !compared.has(index)) postfix[index] = asking(token);
  }
}

/** Allows what `default` stands in for to be missing, and what it puts there. */
function allowDefault(value: Value): void {
  const defaults = value.filters.filter(({ name }) => name === 'default');
  if (defaults.length === 0) return;
  Object.assign(value, { initial: new AskingExpression(value.initial) });
  for (const filter of defaults)
    filter.args = filter.args.map((argument) =>
      TypeGuards.isPropertyAccessToken(argument) ? asking(argument) : argument,
    ) as Filter['args'];
}

function asking(token: Token): AskingToken {
  return new AskingToken(token, new Expression([token]));
}

/** Sets the escape of what a tag prints, which comes after all other filters. */
function setEscape({ filters }: Value, escapeHandler: FilterHandler, liquid: Liquid): void {
  const escapes = filters.at(-1)?.name === ESCAPE ? filters.pop() : undefined;
  if (escapes === undefined && filters.at(-1)?.raw) return;
  // Its own characters are escaped already, so that its line breaks alone are left.
  const isEscaped = filters.at(-1)?.name === 'newline_to_br' && ESCAPED.test(filters.at(-2)?.name ?? '');
  const name = new Tokenizer('text | raw').readFilteredValue().filters[0]!;
  const handler = isEscaped ? (value: unknown) => value : escapeHandler;
  filters.push(new Filter(name, { handler, raw: true }, liquid));
}

/** The contents of the scripts in a source. */
function scriptsOf(source: string): Span[] {
  const spans: Span[] = [];
  for (let at = 0; ; ) {
    const start = endOf(TAG_END, source, endOf(SCRIPT, source, at));
    if (start === undefined) return spans;
    SCRIPT_END.lastIndex = start;
    const end = SCRIPT_END.exec(source)?.index ?? source.length;
    spans.push([start, end]);
    at = end;
  }
}

/** The index after the next match from `from` on. */
function endOf(pattern: RegExp, source: string, from: number | undefined): number | undefined {
  if (from === undefined) return undefined;
  pattern.lastIndex = from;
  return pattern.exec(source) === null ? undefined : pattern.lastIndex;
}

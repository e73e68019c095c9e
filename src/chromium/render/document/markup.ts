import { type Token, Tokenizer, TokenizerMode } from 'parse5';

/** Names are in lower case, no two the same; references in values are decoded. */
export type Attributes = readonly Token.Attribute[];

/** What is told of a document's markup, in its order. */
export interface MarkupVisitor {
  tag(name: string, attributes: Attributes): void;
  /** The text of a style sheet. */
  style(text: string): void;
  /** The text of a script, of whatever type. */
  script(text: string): void;
  /** Text that no browser shows as markup and a script can reach: comments, `textarea`, `xmp` and the like. */
  hidden(text: string): void;
}

/** Elements whose content is no markup in HTML, and how it is read (https://html.spec.whatwg.org/#parsing-main-inhtml). */
const RAW = new Map<string, Tokenizer['state']>([
  ['script', TokenizerMode.SCRIPT_DATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
]);

/** Elements that decide by more than their own tags how the rest of the document is read. */
const UNPREDICTABLE = new Set(['noscript', 'plaintext', 'frameset']);

/** Elements of SVG and MathML in which HTML is read again. */
const HTML_INSIDE = new Set('foreignobject desc title annotation-xml mi mo mn ms mtext'.split(' '));

/** HTML elements that end SVG and MathML around them, whether these are closed or not. */
const ENDS_FOREIGN = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu ' +
    'meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
);

/** A CDATA section and nothing else, with no other markup in it. */
const ONE_CDATA = /^\s*<!\[CDATA\[([^<\]]*)\]\]>\s*$/;

/**
 * Reads a document's markup by the tokeniser of the HTML standard. How a tokeniser has to go on after some tags depends
 * on where in the tree they are; no tree is built here, for that takes a hostile document quadratic time. Where the two
 * could part, in SVG and MathML, the content of the element must be the same either way.
 *
 * @returns false when it cannot be told what the markup is; the visitor may have been told of part of it.
 */
export function readMarkup(html: string, visitor: MarkupVisitor): boolean {
  const reader = new MarkupReader(visitor);
  reader.read(html);
  return reader.certain;
}

class MarkupReader {
  certain = true;
  readonly #visitor: MarkupVisitor;
  readonly #tokenizer: Tokenizer;
  /** The element whose content is being read as text, and the text. */
  #raw: string | undefined;
  #text = '';
  /** Elements of SVG or MathML that are open, from its root on. */
  readonly #foreign: string[] = [];
  /** Whether it can no longer be told where SVG and MathML end: their tags do not match, or HTML is mixed in. */
  #entangled = false;

  constructor(visitor: MarkupVisitor) {
    this.#visitor = visitor;
    const onText = ({ chars }: Token.CharacterToken) => {
      if (this.#raw !== undefined) this.#text += chars;
    };
    this.#tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: false },
      {
        onStartTag: (token) => this.#startTag(token),
        onEndTag: ({ tagName }) => this.#endTag(tagName),
        onCharacter: onText,
        onWhitespaceCharacter: onText,
        onNullCharacter: onText,
        onComment: ({ data }) => this.#comment(data),
        onDoctype: () => undefined,
        onEof: () => this.#endRaw(),
      },
    );
  }

  read(html: string): void {
    this.#tokenizer.write(html, true);
  }

  get #inForeign(): boolean {
    return this.#entangled || this.#foreign.length > 0;
  }

  #startTag({ tagName, attrs, selfClosing }: Token.TagToken): void {
    if (UNPREDICTABLE.has(tagName)) this.certain = false;
    this.#visitor.tag(tagName, attrs);
    this.#follow(tagName, selfClosing);
    const mode = RAW.get(tagName);
    const isForeign = !this.#entangled && this.#foreign.length > 0;
    if (mode === undefined || (tagName === 'title' && isForeign)) return;
    this.#raw = tagName;
    this.#tokenizer.state = mode;
  }

  #follow(name: string, selfClosing: boolean): void {
    if (this.#entangled) return;
    const parent = this.#foreign.at(-1);
    if (parent === undefined && name !== 'svg' && name !== 'math') return;
    if (parent !== undefined && (HTML_INSIDE.has(parent) || ENDS_FOREIGN.has(name))) this.#entangled = true;
    if (!selfClosing) this.#foreign.push(name);
  }

  #endTag(name: string): void {
    this.#endRaw();
    if (this.#entangled || this.#foreign.length === 0) return;
    if (this.#foreign.pop() !== name) this.#entangled = true;
  }

  #comment(data: string): void {
    // In SVG and MathML a CDATA section is text, and ends elsewhere.
    if (this.#inForeign && data.startsWith('[CDATA[')) this.certain = false;
    this.#visitor.hidden(data);
  }

  #endRaw(): void {
    const [name, text] = [this.#raw, this.#text];
    this.#raw = undefined;
    this.#text = '';
    if (name === undefined) return;
    const plain = this.#inForeign ? text.replace(ONE_CDATA, '$1') : text;
    if (this.#inForeign && /[<&]/.test(plain)) this.certain = false;
    if (name === 'style') this.#visitor.style(plain);
    else if (name === 'script') this.#visitor.script(plain);
    else this.#visitor.hidden(plain);
  }
}

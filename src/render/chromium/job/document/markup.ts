import { type Token, Tokenizer, TokenizerMode } from 'parse5';

/** Names are in lower case and unique; references in values are decoded. */
export type Attributes = readonly Token.Attribute[];

/** Receives the parts of a document's markup, in their order. */
export interface MarkupVisitor {
  tag(name: string, attributes: Attributes): void;
  style(text: string): void;
  script(text: string): void;
  /** Text that no browser parses as markup and that a script can read: comments, `textarea`, `xmp` and the like. */
  hidden(text: string): void;
}

/**
 * Elements whose content is no markup in HTML, and the tokeniser's mode for it
 * (https://html.spec.whatwg.org/#parsing-main-inhtml).
 */
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

/** Elements that change how the rest of the document is parsed by more than their own tags. */
const UNPREDICTABLE = new Set(['noscript', 'plaintext', 'frameset']);

/** Elements of SVG and MathML whose content is parsed as HTML. */
const HTML_INSIDE = new Set('foreignobject desc title annotation-xml mi mo mn ms mtext'.split(' '));

/** HTML elements that end surrounding SVG and MathML, even if the latter have not been closed. */
const ENDS_FOREIGN = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu ' +
    'meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
);

/** Exactly one CDATA section that contains no markup. */
const ONE_CDATA = /^\s*<!\[CDATA\[([^<\]]*)\]\]>\s*$/;

/**
 * Reads a document's markup with the tokeniser of the HTML standard. How a tokeniser has to continue after some tags
 * depends on their position in the tree. No tree is built here, since that takes quadratic time for a hostile document.
 * Where the two could differ, in SVG and MathML, the content of the element must be the same either way.
 *
 * @returns false when the markup cannot be determined; part of it may have been passed to the visitor by then.
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
  /** Open elements of SVG or MathML, from their root on. */
  readonly #foreign: string[] = [];
  /** Whether the end of SVG and MathML can no longer be determined: their tags do not match, or HTML is mixed in. */
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
    // In SVG and MathML a CDATA section is text, and ends at another position.
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

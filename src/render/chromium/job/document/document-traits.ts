import type { PageRules } from '../../../options/core/page-area.ts';
import { pageRules } from '../../../options/core/page-rules.ts';
import { cssTraits, isData } from './css-traits.ts';
import { type Attributes, type MarkupVisitor, readMarkup } from './markup.ts';

/**
 * Traits that a document's markup shows before it is loaded. The result errs on the safe side: anything that might
 * run script, or outlive the document, counts as doing so.
 */
export interface DocumentTraits {
  /** It may run script, or shows different content when it cannot. */
  readonly scripted: boolean;
  /** Replacing its content is not enough to remove all of its effects. */
  readonly lasting: boolean;
  /** It may fetch something. */
  readonly loads: boolean;
  /** It may use web fonts. */
  readonly webFonts: boolean;
  /** Its content may be completed only in an animation frame: by drawing of its scripts, or by the focus. */
  readonly draws: boolean;
  /** Its scripts may wait for parts of it to be scrolled into view. */
  readonly observes: boolean;
  /** Without its scripts, it is only drawn correctly in a page that draws frames. */
  readonly moves: boolean;
  /** Its scripts need a page that draws frames, for more than requestAnimationFrame. */
  readonly frameBound: boolean;
  /** The `@page` rules of a document that runs script, where its text has any. */
  readonly pageRules?: PageRules | undefined;
  /** Some of its links are relative addresses, and lead to nothing unless it has a base. */
  readonly relativeLinks: boolean;
}

/** The traits of a document about which nothing is known. */
const EVERYTHING: DocumentTraits = {
  scripted: true,
  lasting: true,
  loads: true,
  webFonts: true,
  draws: true,
  observes: true,
  moves: true,
  frameBound: true,
  relativeLinks: true,
};

/**
 * A longer document is not read, and gets all traits: reading this much ordinary markup takes 13 ms, during which this
 * process does nothing else. Characters.
 */
export const MAX_READ = 512 * 1024;

/**
 * Elements with effects that stay with the window or with Chromium's Document when its content is replaced, and
 * elements that load documents of their own.
 */
const LASTING_TAGS = new Set('iframe frame object embed portal fencedframe applet'.split(' '));
/** The meta elements that nearly every document has, and that leave nothing behind. Others (color-scheme) may. */
const PASSING_META = new Set(['viewport', 'description', 'author', 'generator', 'keywords']);

/**
 * - `address`: an address that is fetched as soon as its element exists; `set`: several of them.
 * - `css`: declarations, or an attribute of SVG whose value may contain an address.
 * - `query`: media queries.
 * - `markup`: a document of its own.
 * - `lasting`: see LASTING_TAGS; the colours of links, and whether an element has had the focus.
 * - `loading`: when an image is fetched.
 */
type AttributeKind = 'address' | 'set' | 'css' | 'query' | 'markup' | 'lasting' | 'loading';

const ATTRIBUTES: ReadonlyMap<string, AttributeKind> = new Map(
  Object.entries({
    address: 'src poster background data href xlink:href',
    set: 'srcset imagesrcset attributionsrc',
    css: 'style fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end',
    query: 'media sizes',
    markup: 'srcdoc',
    lasting: 'http-equiv link alink vlink autofocus',
    loading: 'loading',
  } satisfies Record<AttributeKind, string>).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind as AttributeKind] as const),
  ),
);
/** Elements whose address is not fetched until a link is followed. */
const LINKS = new Set(['a', 'area', 'base']);
/** An address with a scheme, or of a part of the document itself. */
const COMPLETE = /^\s*(?:[a-z][a-z\d+.-]*:|#|$)/i;

const MOVING_TAGS = new Set(['set', 'marquee', 'video', 'audio', 'link']);
const SVG_FILE = /\.svg\b|image\/svg\+xml/i;

const OBSERVERS = /IntersectionObserver/;
/**
 * Code that can draw in an animation frame or an observer: by name, or by loading code that is not in the document. A
 * script that hides such a name from the text may be drawn incompletely; only its own document is affected.
 */
const DRAWS =
  /requestAnimationFrame|Observer|\.animate\(|\bimport\b|\beval\b|Function\s*\(|createElement|autofocus/i;
/**
 * Script that acts only with frames, other than by requestAnimationFrame itself; that leads to another document; or
 * that loads code and markup which are not in the text.
 */
const FRAME_BOUND =
  /Observer|\bimport\b|\beval\b|Function\s*\(|createElement|scroll|Work(?:er|let)|Offscreen|webgl|webgpu|bitmaprenderer|decode|toBlob|timeline|FontFace|IdleCallback|fetch|XMLHttpRequest|EventSource|WebSocket|atob|\bopen\s*\(|dispatchEvent|\bhistory\b|location|navigat(?!or)|submit|\bclick\s*\(|\bfocus/i;
/** Markup and CSS that move when a script inserts them into the document. */
const MOVES_WHEN_INSERTED =
  /animat(?!ionFrame)|transition|keyframes|<set\b|<marquee|<video|<audio|content-visibility|\blazy\b|<link\b|autofocus|\.svg\b|image\/svg\+xml/i;

/** Takes linear time. @param foreignScript whether it runs script that is not in its text: it has all traits then. */
export function documentTraits(html: string, foreignScript = false): DocumentTraits {
  if (foreignScript || html.length > MAX_READ) return EVERYTHING;
  const survey = new Survey();
  if (!readMarkup(html, survey)) return EVERYTHING;
  return survey.traits();
}

class Survey implements MarkupVisitor {
  #scripted = false;
  #external = false;
  #canvas = false;
  #lasting = false;
  #loads = false;
  #webFonts = false;
  #moves = false;
  #autofocus = false;
  #pageRules = '';
  #relativeLinks = false;
  /** Scripts, and text that they may put into the document as markup. */
  readonly #reachable: string[] = [];

  tag(name: string, attributes: Attributes): void {
    if (name === 'script') this.#script(attributes);
    if (name === 'canvas') this.#canvas = true;
    if (LASTING_TAGS.has(name) || (name === 'meta' && !isPassing(attributes))) this.#lasting = true;
    // The set of style sheets that is preferred first stays preferred in later documents.
    if ((name === 'style' || name === 'link') && attributeOf(attributes, 'title') !== undefined)
      this.#lasting = true;
    if (name === 'link') this.#webFonts = true;
    const animation = name === 'set' || name.startsWith('animat');
    // An animation may set any attribute to an address.
    if (animation) this.#loads = true;
    if (animation || MOVING_TAGS.has(name)) this.#moves = true;
    for (const { name: attribute, value } of attributes) this.#attribute(name, attribute, value);
  }

  style(text: string): void {
    const css = cssTraits(text);
    if (css.pageRules) this.#pageRules += `${text}\n`;
    this.#loads ||= css.loads;
    this.#webFonts ||= css.webFonts;
    this.#moves ||= css.moves;
    this.#scripted ||= css.asksForScripting;
  }

  script(text: string): void {
    this.#reachable.push(text);
  }

  hidden(text: string): void {
    this.#reachable.push(text);
  }

  traits(): DocumentTraits {
    const scripted = this.#scripted;
    const text = scripted ? this.#reachable.join('\n') : '';
    return {
      scripted,
      lasting: this.#lasting,
      loads: this.#loads,
      webFonts: this.#webFonts,
      // The focus is set in an animation frame.
      draws: this.#autofocus || (scripted && (this.#canvas || this.#external || DRAWS.test(text))),
      observes: scripted && (this.#external || OBSERVERS.test(text)),
      moves: this.#moves || this.#autofocus,
      frameBound: scripted && (this.#external || FRAME_BOUND.test(text) || MOVES_WHEN_INSERTED.test(text)),
      relativeLinks: this.#relativeLinks,
      ...(scripted && this.#pageRules !== '' && { pageRules: pageRules(this.#pageRules) }),
    };
  }

  #script(attributes: Attributes): void {
    this.#scripted = true;
    const type = attributeOf(attributes, 'type')?.trim().toLowerCase();
    const elsewhere = ['src', 'href', 'xlink:href'].some(
      (name) => attributeOf(attributes, name) !== undefined,
    );
    if (elsewhere || type === 'module' || type === 'speculationrules') this.#external = true;
  }

  #attribute(tag: string, name: string, value: string): void {
    const kind = ATTRIBUTES.get(name);
    if (kind === undefined) this.#otherAttribute(name, value);
    else if (kind === 'css') this.style(value);
    else if (kind === 'lasting') this.#lasting = true;
    else if (kind === 'query') this.#scripted ||= /scripting/i.test(value);
    else if (kind === 'markup') this.#handler(value);
    else if (kind === 'loading') this.#moves ||= value.trim().toLowerCase() === 'lazy';
    else if (!LINKS.has(tag)) this.#address(tag, name, value);
    else if (tag !== 'base') this.#relativeLinks ||= !COMPLETE.test(value);
    if (name === 'autofocus') this.#autofocus = true;
  }

  #otherAttribute(name: string, value: string): void {
    if (name.startsWith('on')) this.#handler(value);
    else if (name.startsWith('data-')) this.#reachable.push(value);
    else if (name.startsWith('referrer')) this.#lasting = true;
  }

  #handler(text: string): void {
    this.#scripted = true;
    this.#reachable.push(text);
  }

  #address(tag: string, name: string, value: string): void {
    const address = value.trimStart();
    // `<use href="#x">` refers to a part of the document itself. An image with such an address loads the document once
    // more.
    const inner = name.endsWith('href') && tag !== 'image' && address.startsWith('#');
    // A linked style sheet may load anything, whatever its address.
    if (tag === 'link' || ATTRIBUTES.get(name) === 'set' || !(inner || isData(address))) this.#loads = true;
    if (/^javascript:/i.test(address)) this.#handler(value);
    if (SVG_FILE.test(value)) this.#moves ||= cssTraits(value).moves;
  }
}

function attributeOf(attributes: Attributes, name: string): string | undefined {
  return attributes.find((attribute) => attribute.name === name)?.value;
}

/** Whether a meta element leaves nothing behind. */
function isPassing(attributes: Attributes): boolean {
  const name = attributeOf(attributes, 'name');
  return name === undefined || PASSING_META.has(name.trim().toLowerCase());
}

/** Whether the document needs a page that draws frames; others print the same without frames, and sooner. */
export function needsFrames(traits: DocumentTraits, scriptEnabled: boolean): boolean {
  return traits.lasting || traits.moves || (scriptEnabled && traits.frameBound);
}

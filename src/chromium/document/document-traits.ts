/**
 * What a document's text tells about it before it is loaded. The answers err on the safe side: what looks as if it
 * could run script, or outlive the document, counts as doing so.
 *
 * Tag and attribute names are matched as text, which is exact: HTML decodes no entity in either, and a name is broken
 * by anything put into it.
 */

/** What runs script, and what behaves otherwise when there is none. Event handlers are attributes that begin with "on". */
const SCRIPTED = /<script|<noscript|\bon[a-z]+\s*=|\(\s*scripting\b/i;

/**
 * What stays with the window, or with Chromium's Document, when its content is replaced (policies, the set of style
 * sheets that was preferred first, the colours of links), and what loads documents of its own.
 */
const LASTING = /http-equiv|\breferrer|<i?frame|<object|<embed|<portal|<fencedframe|<applet|\b[av]?link\s*=/i;
const STYLE_SHEET = /<style|<link/i;
const TITLE = /\btitle\s*=/i;
/** The meta elements that nearly every document has, and of which nothing stays. Of others (color-scheme) something may. */
const PASSING_META =
  /<meta\s+(?:charset\s*=\s*["']?[\w-]+["']?|name\s*=\s*["']?(?:viewport|description|author|generator|keywords)["']?\s+content\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))\s*\/?>/gi;

/** What can fetch something: attributes that hold addresses, and CSS functions (whose names can be written in escapes). */
const LOADS = /\b(?:src|href|srcset|poster|background|data)\s*=|url\(|@import|image\(|image-set|\\/i;

/** What can bring in a font that is still on its way after everything else has been loaded. */
const FONTS = /@font-face|@import|<link\b/i;

const OBSERVERS = /IntersectionObserver/;
/**
 * What can draw in an animation frame or an observer: by name, or by code that is not in the document. Script that
 * hides such a name from the text is its own fault; nothing but the look of its own document depends on this.
 */
const DRAWS =
  /requestAnimationFrame|Observer|\.animate\(|\bimport\b|\beval\b|Function\s*\(|<canvas|createElement/i;

/** What changes by itself as time goes by, or is shown when it comes into view: only a page that draws frames shows it. */
const MOVES =
  /animat(?!ionFrame)|transition|keyframes|<set\b|<marquee|<video|<audio|content-visibility|\blazy\b|<link\b|@import|autofocus|\.svg\b|image\/svg\+xml;[^,]*base64/i;
/**
 * What scripts may do that happens with frames only, other than in requestAnimationFrame itself; that lead to another
 * document; or that bring in code and markup which are not in the text.
 */
const FRAME_BOUND =
  /Observer|\bimport\b|\beval\b|Function\s*\(|createElement|scroll|Work(?:er|let)|Offscreen|webgl|webgpu|bitmaprenderer|decode|toBlob|timeline|FontFace|IdleCallback|fetch|XMLHttpRequest|EventSource|WebSocket|atob|\bopen\s*\(|dispatchEvent|\bhistory\b|location|navigat(?!or)|submit|\bclick\s*\(|\bfocus/i;

const EXTERNAL = /\b(?:src|type\s*=\s*["']?module)/i;

export interface DocumentTraits {
  /** It may run script, or shows something else when it cannot. */
  readonly scripted: boolean;
  /** Replacing the document is not enough to be rid of it. */
  readonly lasting: boolean;
  /** It may fetch something, whose answer may set cookies. */
  readonly loads: boolean;
  /** It may use web fonts. */
  readonly webFonts: boolean;
  /** Its scripts may draw with the frames of the screen. */
  readonly draws: boolean;
  /** Its scripts may wait for parts of it to be scrolled into view. */
  readonly observes: boolean;
  /** It looks as it should only in a page that draws frames, when its scripts do not run. */
  readonly moves: boolean;
  /** Its scripts need a page that draws frames, for more than requestAnimationFrame. */
  readonly frameBound: boolean;
}

export function documentTraits(html: string): DocumentTraits {
  const scripted = SCRIPTED.test(html);
  const external = scripted && hasExternalScript(html);
  return {
    scripted,
    lasting: isLasting(html),
    loads: LOADS.test(html),
    webFonts: FONTS.test(html),
    draws: scripted && (DRAWS.test(html) || external),
    observes: scripted && (OBSERVERS.test(html) || external),
    moves: MOVES.test(html),
    frameBound: scripted && (FRAME_BOUND.test(html) || external),
  };
}

function isLasting(html: string): boolean {
  if (LASTING.test(html) || (STYLE_SHEET.test(html) && TITLE.test(html))) return true;
  return /<meta\b/i.test(html.replace(PASSING_META, ''));
}

/** Tag by tag: one expression that looks for each tag's end takes hours for megabytes of tags without one. */
function hasExternalScript(html: string): boolean {
  const [, ...tags] = html.split(/<script\b/i);
  return tags.some((tag) => EXTERNAL.test(tag.slice(0, (tag.indexOf('>') + 1 || tag.length + 1) - 1)));
}

/** Whether the document has to be in a page that draws frames; the others print the same without, and sooner. */
export function needsFrames(traits: DocumentTraits, scriptEnabled: boolean): boolean {
  return traits.lasting || traits.moves || (scriptEnabled && traits.frameBound);
}

const HOST = /(?:https?:)?\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?)/gi;

/** The hosts, with their port where one is written, that a document's markup names in absolute addresses. */
export function namedHosts(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(HOST)].map((match) => match[1]!.toLowerCase()));
}

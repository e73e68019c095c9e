/** Traits that the text of a style sheet or of an attribute with CSS shows. Doubt counts as yes. */
interface CssTraits {
  /** It may fetch something. */
  readonly loads: boolean;
  readonly webFonts: boolean;
  /** It is only drawn correctly in a page that draws frames. */
  readonly moves: boolean;
  /** It is drawn differently where scripts run. */
  readonly asksForScripting: boolean;
  /** It says how large pages are, or their margins. */
  readonly pageRules: boolean;
}

/** A string of characters typical of `content`, such as "\2014": no part of it can be a name or a function. */
const HARMLESS_STRING = /(["'])(?:[^"'\\\n()@/*]|\\[0-9a-f]{1,6}(?![0-9a-f])){0,64}\1/gi;
const FETCHING = /@import|image-set|image\(|\bsrc\(/i;
const FONT = /@font-face|@import/i;
/** CSS that changes what is drawn as time passes, or when it is scrolled into view. */
const MOVING = /animat|transition|keyframes|content-visibility|@import|\.svg\b|(?:<|%3c)set\b/i;
/** SVG whose text is encoded, and may contain an animation. */
const ENCODED_SVG = /image\/svg\+xml;[^,]{0,64}base64/i;

/** Characters and words that most CSS in attributes does not contain. */
const NOTABLE = /[\\@(]|animat|transition|keyframes|content-visibility|svg|set\b/i;

const NOTHING: CssTraits = {
  loads: false,
  webFonts: false,
  moves: false,
  asksForScripting: false,
  pageRules: false,
};

/** Takes time linear in the length of `css`. */
export function cssTraits(css: string): CssTraits {
  if (!NOTABLE.test(css)) return NOTHING;
  // Escapes can spell any name.
  const escaped = css.includes('\\') && css.replace(HARMLESS_STRING, '').includes('\\');
  return {
    loads: escaped || FETCHING.test(css) || hasAddress(css),
    webFonts: escaped || FONT.test(css),
    moves: MOVING.test(css) || ENCODED_SVG.test(css),
    asksForScripting: /scripting/i.test(css),
    pageRules: /@page/i.test(css),
  };
}

/** Whether a `url(` refers to anything outside of the document and its own text. */
function hasAddress(css: string): boolean {
  for (const { index } of css.matchAll(/url\(/gi)) {
    let at = index + 4;
    while (isSpace(css.charCodeAt(at))) at++;
    if (css[at] === '"' || css[at] === "'") at++;
    if (css[at] !== '#' && !isData(css.slice(at, at + 5))) return true;
  }
  return false;
}

/** Whether an address contains its own data, so that nothing has to be fetched. */
export function isData(address: string): boolean {
  return /^data:/i.test(address);
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/**
 * The source of a function that makes another: what of an element's text the browser makes up, since its web font has no
 * such face: `[family, 0]` for bold, `[family, 1]` for italic. It decides as Chromium does (FontSelectionAlgorithm): text of
 * weight 600 or more is bold, and a face has what its @font-face rule says. Fonts of the system are not known to scripts.
 */
export const SYNTHETIC = `() => {
  const BOLD = 600, ITALIC = 14;
  const unquoted = (family) => family.trim().replace(/^["']|["']$/g, '').toLowerCase();
  const slope = (style) => style === 'italic' || style === 'oblique' ? ITALIC : Math.max(0, ...(style.match(/-?[\\d.]+(?=deg)/g) ?? []).map(Number));
  const weight = (text) => text === 'bold' ? 700 : Math.max(...text.replace('normal', '400').split(' ').map(Number));
  const families = new Map();
  const facesOf = (document) => {
    let faces = families.get(document);
    if (faces) return faces;
    families.set(document, (faces = new Map()));
    let count = 0;
    for (const face of document.fonts) {
      if (++count > 1000) break;
      const family = unquoted(face.family);
      const known = faces.get(family) ?? { used: false, heaviest: 0, steepest: 0 };
      faces.set(family, {
        used: known.used || face.status === 'loaded',
        heaviest: Math.max(known.heaviest, weight(face.weight)),
        steepest: Math.max(known.steepest, slope(face.style)),
      });
    }
    return faces;
  };
  return (element, style) => {
    const isBold = Number(style.fontWeight) >= BOLD && style.fontSynthesisWeight !== 'none';
    const isItalic = slope(style.fontStyle) >= ITALIC && style.fontSynthesisStyle !== 'none';
    if (!isBold && !isItalic) return [];
    const faces = facesOf(element.ownerDocument);
    const [first] = style.fontFamily.split(',', 1);
    const face = faces.get(unquoted(first));
    if (!face?.used) return [];
    let hasText = false;
    for (let node = element.firstChild, i = 0; node && i < 20 && !hasText; node = node.nextSibling, i++) hasText = node.nodeType === 3 && /\\S/.test(node.data.slice(0, 200));
    if (!hasText) return [];
    const family = first.trim().replace(/^["']|["']$/g, '');
    return [...(isBold && face.heaviest < BOLD ? [[family, 0]] : []), ...(isItalic && face.steepest < ITALIC ? [[family, 1]] : [])];
  };
}`;

/** Parts of the inspection that look at what elements show, in the scope of INSPECT. */

/** Declares `inks(element, style, rect)`: whether something of an element itself may be on the paper. */
export const INK = `
  const rootStyle = getComputedStyle(document.documentElement);
  let hasInk = rootStyle.backgroundImage !== 'none' || !/rgba\\(.*, 0\\)|transparent/.test(rootStyle.backgroundColor);
  const replaced = /^(?:img|svg|canvas|video|audio|i?frame|object|embed|input|button|select|textarea|hr|progress|meter|math)$/;
  const inks = (element, style, rect) => {
    if (element.shadowRoot || element.localName.includes('-')) return true;
    if (rect.width === 0 || rect.height === 0) return false;
    if (replaced.test(element.localName) || ownText(element)) return true;
    if (style.backgroundImage !== 'none' || !/rgba\\(.*, 0\\)|transparent/.test(style.backgroundColor)) return true;
    if (style.boxShadow !== 'none' || ['Top', 'Right', 'Bottom', 'Left'].some((side) => style['border' + side + 'Width'] !== '0px')) return true;
    return ['::before', '::after'].some((part) => !/^(?:none|normal)$/.test(getComputedStyle(element, part).content));
  };
`;

/**
 * Declares `pictures`, and `picturesOf(element, style)`, which collects those that no element of a page can be asked
 * about. Only those that the document carries in itself: to decode another one could load it from its server again.
 */
export const PICTURES = `
  const pictures = [];
  const collected = new Set();
  const collect = (element, address) => {
    if (!/^data:/i.test(address) || collected.has(address) || pictures.length >= 50 || address.length > 100000) return;
    collected.add(address);
    pictures.push([selectorOf(element), address]);
  };
  const addressesIn = (value) => [...value.matchAll(/url\\("((?:[^"\\\\]|\\\\.)*)"\\)/g)].map(([, address]) => address.replace(/\\\\(.)/g, '$1'));
  let asked = 0;
  const picturesOf = (element, style) => {
    if (pictures.length >= 50) return;
    const values = [style.backgroundImage];
    if (style.display === 'list-item') values.push(style.listStyleImage);
    if (asked++ < 1000) for (const part of ['::before', '::after']) {
      const its = getComputedStyle(element, part);
      if (its.content !== 'none' && its.content !== 'normal') values.push(its.content, its.backgroundImage);
    }
    for (const value of values) if (value.includes('url(')) for (const address of addressesIn(value)) if (!address.startsWith('#')) collect(element, address);
    if (element.localName === 'input' && element.type === 'image') collect(element, element.src);
    if (element.localName === 'image' && element.href) collect(element, new URL(element.href.baseVal, document.baseURI).href);
  };
`;

/** Runs in the document's world of its own: returns which of `addresses` are no pictures that the browser can show. */
export const UNDECODABLE = `(addresses) => Promise.all(addresses.map((address) =>
  Object.assign(new Image(), { src: address }).decode().then(() => false, () => true)))`;

/**
 * The source of a function for scripts in a world of their own: the document, the open shadow trees in it, and the
 * documents of its frames that are in the same process and of the same origin, each with what is in those. Each comes with
 * the element that holds it. `cut` says whether there are more than are looked for.
 *
 * A document can give elements names that shadow the methods of others, so these are taken from their prototypes.
 */
export const ROOTS = `(maxRoots, maxElements, overdue) => {
  const found = [{ root: document, holder: null, inFrame: false }];
  let cut = false, seen = 0;
  const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  const shadowOf = getter(Element.prototype, 'shadowRoot');
  const documentOf = (frame) => {
    try {
      return frame.contentDocument;
    } catch {
      return null;
    }
  };
  search: for (const outer of found) {
    const { querySelectorAll } = (outer.root.nodeType === 9 ? Document : DocumentFragment).prototype;
    for (const holder of querySelectorAll.call(outer.root, '*')) {
      if (++seen > maxElements || (seen % 500 === 0 && overdue())) {
        cut = true;
        break search;
      }
      const isFrame = holder.localName === 'iframe' || holder.localName === 'frame';
      const root = isFrame ? documentOf(holder) : shadowOf.call(holder);
      if (!root || (isFrame && !root.documentElement)) continue;
      if (found.length >= maxRoots) {
        cut = true;
        break search;
      }
      found.push({ root, holder, inFrame: isFrame || outer.inFrame });
    }
  }
  return { roots: found, cut };
}`;

/** Most documents and shadow trees of a page that are looked at. */
export const MAX_ROOTS = 100;

/**
 * Parts of the inspection that compare boxes, in the scope of INSPECT: what a box hides, what the paper cuts off, and what
 * lies behind a box that is on every page.
 */

/**
 * Declares `hiddenIn(element, style)`, which adds a fact of the kind `hidden` for an element that scrolls, or that cuts off
 * text on purpose or not. An ellipsis, a clamp and a box that is not to be seen are on purpose.
 */
export const HIDDEN = `
  const ownText = (element) => {
    for (let node = element.firstChild, i = 0; node && i < 20; node = node.nextSibling, i++) {
      if (node.nodeType === Node.TEXT_NODE && node.data.trim() !== '') return true;
    }
    return false;
  };
  // How many of the children at each level lie beyond a box: the level with the most of them says the most.
  const lostIn = (element, box, isLost) => {
    let most = [0, 0];
    for (let list = element, depth = 0; list && depth < 8 && !overdue(); depth++) {
      const children = [...list.children].slice(0, 5000);
      const lost = children.filter((child) => isLost(child, rectOf(child))).length;
      if (lost > most[1]) most = [children.length, lost];
      list = children.length === 1 ? children[0] : children.find((child) => {
        if (child.childElementCount === 0) return false;
        const rect = rectOf(child);
        const isAcross = rect.bottom > box.bottom + 1 || rect.right > box.right + 1 || rect.left < box.left - 1;
        return isAcross && rect.top < box.bottom && rect.left < box.right && rect.right > box.left;
      });
    }
    return most;
  };
  const hiddenIn = (element, style) => {
    const scrolls = /auto|scroll/.test(style.overflowY + style.overflowX);
    if (!scrolls && !/hidden|clip/.test(style.overflowY + style.overflowX)) return;
    // The window takes over what the root, or else the body, says.
    const { body, documentElement } = element.ownerDocument;
    if (element === documentElement || (element === body && getComputedStyle(documentElement).overflowY === 'visible')) return;
    const down = element.scrollHeight - element.clientHeight;
    const right = element.scrollWidth - element.clientWidth;
    if ((down <= 8 && (right <= 8 || element === body)) || element.clientHeight === 0) return;
    const box = rectOf(element);
    if (scrolls) {
      const [count, lost] = lostIn(element, box, (child, rect) => rect.bottom > box.bottom + 1 || rect.right > box.right + 1);
      if (lost > 0 || textOf(element) !== '' || element.value) add('hidden', element, '', [count, lost, down, right]);
      return;
    }
    if (element.clientHeight < 16 || element.clientWidth < 50) return;
    if (style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none') return;
    const [count, lost] = lostIn(element, box, (child, rect) => {
      const isOutside = rect.top >= box.bottom - 1 || rect.left >= box.right - 1 || rect.right <= box.left + 1;
      return isOutside && rect.width > 1 && rect.height > 1 && rect.right > -4 * width && child.textContent.trim() !== '' && shows(getComputedStyle(child));
    });
    // More than a line of its own.
    if (lost > 0 || (down > 24 && ownText(element))) add('hidden', element, 'cut', [count, lost, down, right]);
  };
`;

/**
 * Declares `beyondPaper(element, style, rect)`, which looks for the element that reaches farthest beyond the edge at which
 * lines end, and `addBeyond()`, which adds the fact `beyond`.
 */
export const BEYOND = `
  const isRtl = getComputedStyle(document.documentElement).direction === 'rtl' || (document.body !== null && getComputedStyle(document.body).direction === 'rtl');
  // A body that scrolls by itself cuts as the paper does, which the browser has then not shrunk anything for.
  const bodyCuts = document.body !== null && getComputedStyle(document.documentElement).overflowX !== 'visible' && getComputedStyle(document.body).overflowX !== 'visible';
  // Nor does it for what runs from right to left.
  const isCut = mayBeCut || isRtl || bodyCuts;
  let widest = null;
  const outside = (rect) => isRtl ? -rect.left : rect.right - width;
  const beyondPaper = (element, style, rect) => {
    let out = outside(rect);
    // A line that cannot be broken is wider than its element.
    const isWider = isHtml(element) && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1;
    if (isWider && !isRtl && style.overflowX === 'visible' && ownText(element)) {
      out = Math.max(out, rect.left + element.clientLeft + element.scrollWidth - width);
    }
    if (out <= 1 || rect.width === 0 || rect.left >= 5 * width || rect.right <= -4 * width) return;
    if (widest && out <= widest.out + 1) return;
    // What a box cuts off itself is not for the paper to cut off.
    for (let e = parentOf(element); e && e !== document.documentElement; e = parentOf(e)) {
      if (getComputedStyle(e).overflowX !== 'visible' && outside(rectOf(e)) <= 1 && e !== document.body) return;
    }
    widest = { element, out };
  };
  const addBeyond = () => {
    if (!widest) return;
    let { element, out } = widest;
    // The table that a cell belongs to says more than the cell.
    const table = element.closest('table');
    let columns = 0, beyond = 0;
    if (table && outside(rectOf(table)) > 1) {
      const row = [...table.rows].slice(0, 50).reduce((a, b) => (a && a.cells.length >= b.cells.length ? a : b), null);
      columns = row?.cells.length ?? 0;
      for (const cell of row?.cells ?? []) if (outside(rectOf(cell)) > 1) beyond++;
      element = table;
    } else {
      for (let e = element.parentElement; e && e !== document.body && outside(rectOf(e)) >= out - 1; e = e.parentElement) element = e;
    }
    add('beyond', element, isRtl ? 'left' : 'right', [out + width, beyond, columns]);
  };
`;

/** Declares `addCovering(fixed, texts)`: elements that are on every page, and some of those with text of their own. */
export const COVERING = `
  const textRect = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  };
  const addCovering = (fixed, texts) => {
    for (const { element, rect, style } of fixed) {
      if (overdue()) return;
      if (Number(style.zIndex) < 0 || Number(style.opacity) < 0.6) continue;
      const isOpaque = !/rgba\\(.*, 0(?:\\.[0-4]\\d*)?\\)|transparent/.test(style.backgroundColor) || style.backgroundImage !== 'none';
      const top = (rect.top + rect.bottom) / 2 < innerHeight / 2;
      // Above or below the page's own area there is nothing to cover.
      if (rect.bottom <= 1 || rect.top >= innerHeight - 1) continue;
      if (!isOpaque) {
        if (rect.width <= width / 3 || rect.height > innerHeight * 0.9) continue;
        // In the middle it is a watermark.
        if (rect.top > innerHeight / 4 && rect.bottom < innerHeight * 3 / 4) continue;
        if (textOf(element) === '' && element.querySelector('img, svg, canvas') === null) continue;
      }
      const isBehind = texts.some((text) => {
        if (element.contains(text)) return false;
        const { left, right, width: textWidth } = textRect(text);
        return textWidth > 0 && Math.min(right, rect.right) - Math.max(left, rect.left) > 4;
      });
      if (!isBehind) continue;
      // A head or foot that a table repeats keeps the place free.
      const isKept = [...everywhere(top ? 'thead' : 'tfoot', 20)].some(({ element: part }) => rectOf(part).height >= rect.height - 2);
      const isTall = rect.height > innerHeight * 0.9;
      if (!isKept) add('covering', element, '', isTall ? [2, rect.width] : [top ? 0 : 1, rect.height]);
    }
  };
`;

import type { Page } from 'puppeteer';

/**
 * What a reader of a page does not see without scrolling sideways, a line each: the page itself, cells of tables, and any
 * element of its text but code, whose lines may be longer than the page.
 */
export function hiddenOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const wide = [...document.querySelectorAll<HTMLElement>('main *')].filter((element) => {
      if (element.closest('pre, [hidden], .sr-only, svg') !== null) return false;
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0 || box.right <= 0) return false;
      const { overflowX } = getComputedStyle(element);
      const scrolls = overflowX !== 'visible' && overflowX !== 'clip';
      return box.right > width + 1 || (scrolls && element.scrollWidth > element.clientWidth + 1);
    });
    const whole = document.documentElement.scrollWidth;
    return [
      ...(whole > width ? [`the page: ${whole} pixels in ${width}`] : []),
      ...wide.map(({ tagName, textContent }) => `${tagName}: ${textContent.trim().slice(0, 80)}`),
    ];
  });
}

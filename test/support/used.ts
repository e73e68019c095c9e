/**
 * What `open` opens before the tests of one `describe` and closes after them; with `each`, before and after each test. It
 * is filled then: nothing of it is there while the tests are declared.
 */
export function used<T extends { close(): Promise<void> }>(open: () => Promise<T>, each?: 'each'): T {
  const opened = {} as T;
  const [first, last] = each === undefined ? [before, after] : [beforeEach, afterEach];
  first(async () => {
    Object.assign(opened, await open());
  });
  last(() => opened.close());
  return opened;
}

const EVERY_MS = 100;

/**
 * Asks a process for its health ten times a second, as whoever looks whether its event loop is held. `stop` answers how
 * long the slowest answer took, one that has not come yet included, in milliseconds.
 */
export function watchHealth(url: string): { stop(): number } {
  const underWay = new Set<number>();
  let longest = 0;
  let isOver = false;
  const timer = setInterval(async () => {
    const asked = performance.now();
    underWay.add(asked);
    try {
      await (await fetch(`${url}/healthz`)).arrayBuffer();
    } catch (error) {
      // Whoever has stopped watching may end the process.
      if (!isOver) throw error;
    } finally {
      underWay.delete(asked);
      longest = Math.max(longest, performance.now() - asked);
    }
  }, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      isOver = true;
      return Math.max(longest, ...[...underWay].map((asked) => performance.now() - asked));
    },
  };
}

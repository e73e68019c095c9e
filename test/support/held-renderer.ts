import { PlatenError } from '../../src/infra/errors/registry.ts';
import { PDF } from '../../src/infra/outputs/media-type.ts';
import type { Renderer, RenderRequest } from '../../src/render/renderer.ts';

/** A renderer that prints on demand, and stops when the worker says so, as the real one does. */
export class HeldRenderer implements Renderer {
  readonly running = new Map<string, () => void>();
  readonly stopped: string[] = [];
  /** Whether a render waits for the test. */
  holds = true;
  /** Whether it says that it has a browser. */
  ready = true;

  async render({ jobId, signal }: RenderRequest) {
    const done = Promise.withResolvers<void>();
    if (this.holds) this.running.set(jobId, done.resolve);
    else done.resolve();
    signal.addEventListener('abort', () => {
      this.stopped.push(jobId);
      done.reject(new PlatenError('CANCELLED'));
    });
    await done.promise.finally(() => this.running.delete(jobId));
    const phases = { page: 0, load: 0, wait: 0, print: 0, finish: 0 };
    return { bytes: Buffer.from('%PDF-1.7'), mediaType: PDF, pages: 1, report: { phases } };
  }

  health() {
    return { ready: this.ready, slots: 2, busy: this.running.size, browsers: 1, lastProgress: Date.now() };
  }

  async close(): Promise<void> {}
}

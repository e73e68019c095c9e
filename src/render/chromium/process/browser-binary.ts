/** A browser that can be launched. */
export interface BrowserBinary {
  readonly path: string;
  /** `shell`: chromium-headless-shell, made for printing. `full`: an ordinary Chromium, about half as fast at it. */
  readonly kind: 'shell' | 'full';
  /** Added to the browser's environment: where its fonts are. */
  readonly env: Readonly<Record<string, string>>;
}

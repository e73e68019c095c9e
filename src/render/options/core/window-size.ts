import type { PageSetting } from './option.ts';

export interface WindowSize {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly deviceScaleFactor: number;
}

/** Most device pixels of a window: its drawing takes four bytes for each. */
export const MAX_WINDOW_PIXELS = 50_000_000;

/** The size of the window; undefined for BROWSER_WINDOW. */
export const WINDOW_SIZE: PageSetting<WindowSize | undefined> = {
  name: 'window size',
  initial: undefined,
  until: 'printed',
  send: (session, size) =>
    size === undefined
      ? session.send('Emulation.clearDeviceMetricsOverride')
      : session.send('Emulation.setDeviceMetricsOverride', { ...size, mobile: false }),
};

import type { PageSetting } from './option.ts';

export interface WindowSize {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the device for each of them. */
  readonly deviceScaleFactor: number;
}

/** Pixels of the device that a window has at most: what is drawn in it takes four bytes for each. */
export const MAX_WINDOW_PIXELS = 50_000_000;

/** The size of the window; undefined for that of the browser. */
export const WINDOW_SIZE: PageSetting<WindowSize | undefined> = {
  name: 'window size',
  initial: undefined,
  until: 'printed',
  send: (session, size) =>
    size === undefined
      ? session.send('Emulation.clearDeviceMetricsOverride')
      : session.send('Emulation.setDeviceMetricsOverride', { ...size, mobile: false }),
};

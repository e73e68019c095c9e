import type { PageSetting } from './option.ts';

/** The user agent and language in requests and for scripts; an empty text stands for the browser's own. */
export interface Identity {
  readonly userAgent: string;
  /** BCP 47. */
  readonly language: string;
}

/** One command sets both values, and resets a value that is omitted. */
export const IDENTITY: PageSetting<Identity> = {
  name: 'identity',
  initial: { userAgent: '', language: '' },
  until: 'printed',
  send: (session, { userAgent, language }) =>
    session.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: language }),
};

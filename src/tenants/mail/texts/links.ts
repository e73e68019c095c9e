import type { MailKind, MailValues } from '../mail.ts';
import type { MailText } from './layout.ts';

/** The addresses of the links in a mail. */
export interface Links {
  /** The address of the dashboard, without a slash at the end. */
  readonly dashboardUrl: string;
  readonly billingUrl: string;
  /** The page that turns auto overage off, without signing in. */
  readonly disableUrl: string;
  /** The page that ends mails of this kind, without signing in; absent in mails that nobody can do without. */
  readonly unsubscribeUrl?: string;
}

export type Write<Kind extends MailKind> = (values: MailValues[Kind], links: Links) => MailText;

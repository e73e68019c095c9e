import type { Block } from './layout.ts';

const MONEY = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** How mails write numbers. */
export const COUNT = new Intl.NumberFormat('en-US');

export function said(paragraph: string): Block {
  return { paragraph };
}

export function pdfs(units: number): string {
  return `${COUNT.format(units)} PDFs`;
}

export function money(cents: number): string {
  return MONEY.format(cents / 100);
}

/** @param iso ISO 8601. */
export function moment(iso: string): string {
  return `${MOMENT.format(new Date(iso))} UTC`;
}

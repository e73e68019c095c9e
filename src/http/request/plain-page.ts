import { createHash } from 'node:crypto';

const STYLE =
  'body{margin:0;padding:48px 16px;background:#f4f4f5;font:16px/1.5 Arial,Helvetica,sans-serif;color:#18181b}' +
  'main{max-width:480px;margin:0 auto;padding:24px;background:#fff;border-radius:8px}' +
  'h1{margin:0 0 16px;font-size:20px}' +
  'button{padding:10px 16px;border:0;border-radius:6px;background:#1d4ed8;color:#fff;font:inherit;cursor:pointer}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Of a page that a link in a mail opens without signing in: it is not cached, not indexed, its address is not sent as a
 * referrer, and it may use its own inline style and send its form to this service, and nothing else.
 */
export const PLAIN_PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
};

/** @param content HTML, without anything of the request but a token that has been checked. */
export function plainPage(title: string, content: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex, nofollow"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>
${content}
</main></body>
</html>
`;
}

/** A checked token as a part of a page. A token consists of letters, digits and `._-`. */
export function tokenInPage(token: string): string {
  if (!/^[\w.-]+$/.test(token)) throw new Error('A token with invalid characters was found valid.');
  return token;
}

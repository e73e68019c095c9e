import { createHash } from 'node:crypto';

const STYLE =
  'body{margin:0;padding:48px 16px;background:#f4f4f5;font:16px/1.5 Arial,Helvetica,sans-serif;color:#18181b}' +
  'main{max-width:480px;margin:0 auto;padding:24px;background:#fff;border-radius:8px}' +
  'h1{margin:0 0 16px;font-size:20px}' +
  'button{padding:10px 16px;border:0;border-radius:6px;background:#1d4ed8;color:#fff;font:inherit;cursor:pointer}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Lets the pages use their own inline style and send their form to this service, and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/** A page with a button that turns auto overage off. A token consists of letters, digits and `._-`. */
export function confirmationPage(action: string, token: string): string {
  if (!/^[\w.-]+$/.test(token)) throw new Error('A token with invalid characters was found valid.');
  return page(
    'Turn auto overage off?',
    `<p>Nothing more is bought by itself then. Renders past your quota are refused until it is renewed, or until you buy a block.</p>
<form method="post" action="${action}"><input type="hidden" name="token" value="${token}"><button type="submit">Turn auto overage off</button></form>`,
  );
}

/** A page for an invalid or expired link. It shows nothing of the request. */
export function informationPage(billingPage: string): string {
  return page(
    'This link is not valid',
    `<p>It may have been cut off by a mail program, or be older than 30 days. Auto overage is as it was.</p>
<p>You can turn it off on the <a href="${billingPage}">billing page</a>, after signing in.</p>`,
  );
}

function page(title: string, content: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex, nofollow"><title>${title}</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>
${content}
</main></body>
</html>
`;
}

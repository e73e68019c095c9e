import { createHash } from 'node:crypto';

const STYLE =
  'body{margin:0;padding:48px 16px;background:#f4f4f5;font:16px/1.5 Arial,Helvetica,sans-serif;color:#18181b}' +
  'main{max-width:480px;margin:0 auto;padding:24px;background:#fff;border-radius:8px}' +
  'h1{margin:0 0 16px;font-size:20px}' +
  'button{padding:10px 16px;border:0;border-radius:6px;background:#1d4ed8;color:#fff;font:inherit;cursor:pointer}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** What the pages may do: be styled by what stands in them, and send their form to where they come from. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/** Asks whether auto overage is to be turned off. A token is made of letters, digits and `._-` alone. */
export function confirmationPage(action: string, token: string): string {
  if (!/^[\w.-]+$/.test(token)) throw new Error('A token that is no token was found valid.');
  return page(
    'Turn auto overage off?',
    `<p>Nothing more is bought by itself then. Renders past your quota are refused until it is renewed, or until you buy a block.</p>
<form method="post" action="${action}"><input type="hidden" name="token" value="${token}"><button type="submit">Turn auto overage off</button></form>`,
  );
}

/** For a link that does not lead to anything, or no longer. Shows nothing of what it was called with. */
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

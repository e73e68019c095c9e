import { plainPage, tokenInPage } from '../request/plain-page.ts';

/** A page with a button that turns auto overage off. */
export function confirmationPage(action: string, token: string): string {
  return plainPage(
    'Turn auto overage off?',
    `<p>Nothing more is bought by itself then. Renders past your quota are refused until it is renewed, or until you buy a block.</p>
<form method="post" action="${action}"><input type="hidden" name="token" value="${tokenInPage(token)}"><button type="submit">Turn auto overage off</button></form>`,
  );
}

/** A page for an invalid or expired link. It shows nothing of the request. */
export function informationPage(billingPage: string): string {
  return plainPage(
    'This link is not valid',
    `<p>It may have been cut off by a mail program, or be older than 30 days. Auto overage is as it was.</p>
<p>You can turn it off on the <a href="${billingPage}">billing page</a>, after signing in.</p>`,
  );
}

import type { ErrorCode } from './registry.ts';

/**
 * The remedy for each error code, for the reader of the error: one or two sentences that apply to every request with
 * this error and contain nothing of the request itself. Sent with each error, and part of `docs/errors.md`.
 */
export const REMEDIES: Readonly<Record<ErrorCode, string>> = {
  VALIDATION:
    'Correct each field that `message` names. The API reference has the type and the bounds of each field.',
  MALFORMED_JSON:
    'Build the body with a JSON library, not by joining texts. `message` has the line and column of the mistake.',
  UNSUPPORTED_MEDIA_TYPE:
    'Send the header `Content-Type: application/json`, and the body in UTF-8. `POST /v1/pdf` also takes an HTML document, with `Content-Type: text/html`.',
  BILLING_NOT_CONFIGURED:
    'Ask the operator of this installation for another plan. Operators: set STRIPE_SECRET_KEY to sell plans.',
  PAYMENT_EVENT_REFUSED:
    'For the operator: check that the webhook secret is that of this endpoint at Stripe, and that no proxy changes the body. Stripe sends the event again.',
  NOT_SUBSCRIBED:
    'Choose a paid plan with `POST /user/checkout`, and repeat the request once the plan is active.',
  NOT_SOLD: 'Ask for a plan that `GET /user/plans` lists, or ask the operator of this installation.',
  PAYMENT_FAILED:
    'Check the payment method in the billing portal (`GET /user/billing-portal`), then try again.',
  UNAUTHENTICATED:
    'Routes under /v1 need a key that is active, in the header `X-API-Key` (or in `Authorization`, as `Bearer KEY` or `Basic` of `KEY:`); routes under /user need `Authorization: Bearer` with an access token that has not expired. Make a new key, or sign in again.',
  ACCOUNT_SUSPENDED:
    'Ask the operator of this installation. Waiting jobs of a suspended account continue once the account is resumed.',
  ADDRESS_NOT_ALLOWED:
    'Send the request from an address that the key allows, or add this address to the `allowedIps` of the key.',
  ROLE_NOT_ALLOWED:
    'Ask the owner of the account for another role, or act for another account of yours (`GET /auth/accounts` lists them).',
  CODE_REQUIRED:
    'Repeat the request with `code`: the six digits that the app shows, or a recovery code. In a browser, a passkey will do.',
  PASSKEY_REFUSED:
    'Try again, and within five minutes. Otherwise sign in with your password, and look in the settings of the dashboard whether the passkey is still there.',
  ISSUER_REQUIRED:
    'Sign out, and sign in through your organization: on the sign-in page, enter your address and choose single sign-on.',
  DOMAIN_UNPROVEN:
    'Publish the TXT record that `GET /user/domains` shows in `proof`, wait until name servers have it, and try again.',
  DOMAIN_CAPACITY: 'Remove domains that are not needed any more.',
  PASSKEY_CAPACITY: 'Remove passkeys that are not used any more.',
  WRONG_CODE:
    'Wait for the next code of the app: each works once. Check that the clock of the device is right, or use a recovery code.',
  SESSION_REQUIRED: 'Sign in by POST /auth/session, and send its cookie in place of an access token.',
  SECOND_FACTOR_REQUIRED:
    'Set up an authenticator app or a passkey in the settings of the dashboard, and sign in with it.',
  ORIGIN_NOT_ALLOWED:
    'Open the service at its public address. Operators: PLATEN_PUBLIC_URL must be the address that browsers use.',
  PASSWORD_REQUIRED: 'Sign in again, and repeat the request within 5 minutes.',
  PLAN_LIMIT: 'Stay within the plan (`GET /user/plans` lists what it includes), or change to a larger plan.',
  QUOTA_EXCEEDED:
    'Wait until the quota is renewed (`resetDate` of `GET /user/usage`), buy a block of PDFs with `POST /user/overage`, or change to a larger plan.',
  TEST_QUOTA_EXCEEDED: 'Wait until the next day (UTC), or use a live key.',
  STORAGE_FULL:
    'Wait until the retention of older PDFs ends, give batches a shorter one with `expiresInHours`, delete unused templates, or change to a larger plan.',
  KEY_CAPACITY:
    'Revoke an unused key, rotate a key instead of making another one, or change to a larger plan.',
  TEMPLATE_CAPACITY: 'Delete unused templates.',
  REGISTRATION_CLOSED: 'Ask the operator of this installation for an account or an invitation.',
  INVITATION_INVALID: 'Ask the person who invited you for a new invitation. Each works for one account.',
  INVITATION_UNPROVEN:
    'Sign out, sign in with the address that the invitation was sent to, and open its link again.',
  MEMBER_CAPACITY: 'Remove members or revoke invitations that are not needed any more.',
  LINK_INVALID: 'Request a new link, and open the newest mail: a new link replaces the older ones.',
  CONFIRMATION_UNPROVEN:
    'Open the link in a browser that is signed in to the account, or send the `password` of the account with it. If you did not make the account, take it over with a `newPassword`. That ends everything that was made with it.',
  ADDRESS_NOT_CONFIRMED:
    'Request a mail with `POST /auth/email/verification`, or in the settings of the dashboard, and open its link. Test keys and test renders need no confirmed address.',
  WRONG_PASSWORD: 'Enter the password again, or reset it by mail.',
  NOT_FOUND:
    'Check the address and the id, and that the credential belongs to the account that owns it. A file exists from the completion of its job until its retention ends.',
  METHOD_NOT_ALLOWED: 'Use one of the methods that the header `Allow` lists.',
  UPLOAD_TOO_SLOW: 'Send the request again over a faster connection, or send a smaller body.',
  NOT_MERGEABLE: 'Download the items one by one or as a zip, or render them without `protection` and `seal`.',
  ALREADY_MEMBER: 'Change the role of the member instead of sending another invitation.',
  OWNER_REQUIRED: 'Transfer the ownership to another member first.',
  DOMAIN_CLAIMED: 'Change it with `PATCH /user/domains/{domain}`, or remove it first.',
  DOMAIN_TAKEN: 'Remove the TXT record of the other account from the domain, and try again.',
  SECOND_FACTOR_SET: 'Remove the second factor before you set up another one.',
  NOT_RETRYABLE: 'Wait for the end of the job, or send a new render request.',
  TEMPLATE_CHANGED:
    'Get the template, make the change to its present version, and send that `versionId` as `baseVersionId`; without `baseVersionId` the change is saved over whatever is there. Of a draft, that is its `draftId` and `baseDraftId`.',
  WRONG_STATE: 'Read the status of the batch: `source.state` says what it waits for.',
  JOB_ENDED: 'Nothing needs to be done: read the status of the job to see how it ended.',
  IDEMPOTENCY_MISMATCH:
    'Use a new Idempotency-Key for a new request. To repeat a request, send exactly the same body.',
  IDEMPOTENCY_IN_PROGRESS:
    'Wait as many seconds as `Retry-After` says, then send the same request with the same key: it gets the response of the first one.',
  GONE: 'Render the document again, and download it before its retention ends (`expiresAt`).',
  INPUT_TOO_LARGE:
    'Make the document smaller: load pictures and fonts by address rather than within the HTML, or change to a larger plan.',
  SOURCE_UNREADABLE:
    'Read in the message which row or column is meant, correct the file, and render it as a new batch.',
  BATCH_TOO_LARGE: 'Split the items among several batches, or change to a larger plan.',
  RANGE_NOT_SATISFIABLE: 'Request bytes within the size in the header `Content-Range`, or leave out `Range`.',
  RATE_LIMITED:
    'Wait as many seconds as `Retry-After` says, then send requests more slowly. A batch renders many documents with one request.',
  TOO_MANY_WAITING:
    'Wait until some jobs have ended, then send the same request again with the same Idempotency-Key.',
  TOO_MANY_UPLOADS:
    'Send fewer large requests at the same time. Send this one again after as many seconds as `Retry-After` says.',
  TOO_MANY_FAILURES:
    'Wait as many seconds as `Retry-After` says before the next attempt, or reset the password by mail.',
  TOO_MANY_REGISTRATIONS: 'Wait as many seconds as `Retry-After` says, then register again.',
  TOO_MANY_MAILS:
    'Look for the mail that was sent before, also in the spam folder; or wait as many seconds as `Retry-After` says, then request another one.',
  INTERNAL:
    'Send the same request again with the same Idempotency-Key. If it fails again, give the operator the `requestId`.',
  UNAVAILABLE:
    'Wait as many seconds as `Retry-After` says, then send the same request again with the same Idempotency-Key.',
  OVERAGE_PENDING:
    'Wait as many seconds as `Retry-After` says, then send the same request again with the same Idempotency-Key: the purchase ends within a minute.',
  UPLOAD_URL_EXPIRED:
    'Sign the address for longer: it has to be valid until the render has ended and the PDF is uploaded.',
  UPLOAD_FAILED:
    'Fetch the PDF by its job. `upload.error` of the job says what the store responded; a signature has to be for a PUT, and for the content type application/pdf or none.',
  INVALID_URL: 'Give a complete address that begins with http:// or https://.',
  URL_BLOCKED:
    'Use an address that is public. Operators can open private networks with PLATEN_ALLOWED_PRIVATE_NETWORKS.',
  URL_UNREACHABLE:
    'Open the address in a browser outside your own network: its server must respond with a page, and within the time limit of the render.',
  SELECTOR_TIMEOUT:
    'Check `waitForSelector` in the console of a browser on the same document, and that the script which adds the element runs without an error; or raise `timeoutMs`.',
  CONDITION_TIMEOUT:
    'Check the condition in the console of a browser on the same document, or raise `timeoutMs`.',
  EXCEPTION_THROWN: 'Run the script in the console of a browser on the same document, and correct it.',
  ASSET_FAILED:
    'Open the address that `message` names and correct it, name its host in `failOn.ignoreHosts`, or leave the rule out of `failOn`. With `report` the job has a list of all requests.',
  GLYPH_MISSING:
    'Name a font in the style sheet that has the character, load one with `@font-face`, or leave `failOn.missingGlyph` out. With `report` the job has a list of all such characters.',
  DOCUMENT_FAULT:
    'Do what `message` says, or leave the rule that it begins with out of `failOn`. With `report` the job has a list of all such faults in `observations`.',
  CONFORMANCE_FAILED:
    'Mend what `message` lists, which only the author of the document can do; with `{"conformance": {"onFault": "report"}}` the PDF is made all the same, and `accessibility` of the report lists every fault with its element.',
  EINVOICE_INVALID:
    'Correct what `message` lists, each with its business term, such as BT-112 of EN 16931. Nothing was rendered, and no quota was used.',
  COOKIE_INVALID:
    'Give the cookie a domain that the source URL belongs to, `secure` only with https, and no `domain` if its name begins with `__Host-`.',
  SEAL_FAILED:
    'Correct what the message names: the key of the account, which its operator assigns, or what the server of `digestUrl` responds. If that server was away, send the render again once it responds.',
  TIMESTAMP_FAILED:
    'Send the render again once the authority of `timestampUrl` responds, or name another one. Without `timestampUrl` and `level` the PDF is sealed without a time stamp.',
  REVOCATION_FAILED:
    'Send the render again once the servers that the certificates name respond. A certificate that names none, or that has been revoked, has to be replaced; `level` B-T needs no such servers.',
  PDF_INVALID:
    'Open the file in a viewer and in a checker such as `qpdf --check`: it may be cut off, or no PDF at all. Saving it again in the program that made it, or `qpdf in.pdf out.pdf`, often mends it.',
  PDF_ENCRYPTED:
    'Send the PDF without its encryption, such as `qpdf --decrypt --password=SECRET in.pdf out.pdf` writes it. The option `protection` encrypts it again.',
  PDF_SIGNED:
    'Send the PDF as it was before it was signed. To seal it once more, do so where it was signed: a second signature is added to the file, not made anew.',
  FORM_FIELD_UNKNOWN:
    'Use the names that the message lists: a field below another one has the names of both, with a full stop between them, and in a merged PDF the number of its document before them. A PDF without fields has to be rendered with the option `forms`.',
  FORM_VALUE_INVALID:
    'Send what the message says that the field takes: the value of a radio button or of an option, true or false for a box, a text within its length.',
  PAGE_RANGE_INVALID:
    'Give ranges that begin within the document. Without `pageRanges`, `pages` of the job says how many pages there are.',
  TEMPLATE_ERROR:
    'Correct the template at the line that the message names, or send the data that it uses. `POST /user/templates/preview` tries it without using quota.',
  DOCUMENT_LIMIT:
    'Make the document lighter: fewer or smaller pictures, fewer elements, less script. Or split it, and merge the PDFs of a batch.',
  OUTPUT_TOO_LARGE:
    'Make pictures smaller before they are put into the document, split it, or change to a larger plan.',
  RENDER_TIMEOUT:
    'Find what the document waits for: an address that does not respond, an endless script, a long delay. Or raise `timeoutMs`, up to the limit of the plan.',
  BROWSER_CRASHED:
    'Send the request again. If the same document fails again, make it lighter: smaller pictures, fewer pages, less script.',
  WORKER_LOST: 'Send the request again: the document was not the cause.',
  RENDER_FAILED: 'Send the request again. If the same document fails again, give the operator the `jobId`.',
  RETRY_SCHEDULED:
    'Nothing needs to be done: follow the job until it is completed or `deadLettered` is true.',
  CANCELLED: 'Nothing needs to be done. To get the PDF after all, render it again.',
  EXPIRED:
    'Render it again, at a time when fewer jobs of the account wait. A batch can have a longer `expiresInHours`.',
};

/** Path of the page that has a section for each code. */
const PAGE = '/docs/errors';

/** The address of the documentation of a code. @param publicUrl the beginning of the service's addresses. */
export function docsUrlOf(code: ErrorCode, publicUrl: string): string {
  return `${publicUrl.replace(/\/$/, '')}${PAGE}#${code}`;
}

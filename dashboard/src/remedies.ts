/**
 * What can be done here about an error, by its code, where what the service says is for whoever calls its API. Text between
 * backticks is code.
 */
const HERE: Readonly<Record<string, string>> = {
  VALIDATION: 'Correct what the message names, then try again.',
  UNAUTHENTICATED: 'Sign in again.',
  BILLING_NOT_CONFIGURED: 'Ask whoever runs this installation for another plan.',
  NOT_SUBSCRIBED: 'Choose a paid plan under Billing first.',
  NOT_SOLD: 'Choose one of the plans under Billing, or ask whoever runs this installation.',
  PAYMENT_FAILED: 'Check the payment method under Billing, then try again.',
  PLAN_LIMIT: 'Your plan does not include this. Billing shows what each plan includes.',
  QUOTA_EXCEEDED:
    'Wait until your quota renews, or buy more renders or a larger plan under Billing. Test renders do not count.',
  STORAGE_FULL: 'Delete templates you no longer use, wait until older PDFs expire, or choose a larger plan.',
  WRONG_PASSWORD: 'Type your current password again, or sign out and reset it by e-mail.',
  ROLE_NOT_ALLOWED: 'Ask the owner of the account for another role, or switch to another of your accounts.',
  INVITATION_INVALID: 'Ask whoever invited you to send a new invitation.',
  INVITATION_UNPROVEN: 'Sign out, then open the link in the e-mail again.',
  WRONG_CODE:
    'Wait for the next code: each works once. Check that the clock of your device is right, or use a recovery code.',
  SECOND_FACTOR_REQUIRED: 'Set up an authenticator app under Settings, then sign in with its code.',
  LINK_INVALID: 'Ask for a new link and use the newest one: a new link replaces the older ones.',
  ADDRESS_NOT_CONFIRMED:
    'Confirm your e-mail address under Settings. Test keys and test renders work without it.',
  NOT_FOUND: 'It may have been deleted or expired, or it may belong to another account.',
  NOT_RETRYABLE: 'Only failed or cancelled renders can be retried.',
  GONE: 'It has expired. Render the document again, and download it sooner.',
  KEY_CAPACITY: 'Revoke a key you no longer use, rotate one, or choose a larger plan.',
  RATE_LIMITED: 'Wait a moment, then try again.',
  TOO_MANY_WAITING: 'Wait until some of your renders have ended, then try again.',
  TOO_MANY_FAILURES: 'Wait a few minutes before the next attempt, or reset your password by e-mail.',
  TOO_MANY_REGISTRATIONS: 'Wait a while, then register again.',
  TOO_MANY_MAILS: 'Check your inbox and spam for the e-mail that was already sent, or try again later.',
  UNAVAILABLE: 'Wait a moment, then try again.',
  INTERNAL: 'Try again. If it fails again, tell whoever runs this installation the time and this code.',
  TEMPLATE_ERROR: 'Correct the template at the line that the message names, or add the data it uses.',
  TEMPLATE_CHANGED:
    'Somebody else has saved it meanwhile. Compare both on this page, then keep yours or load theirs.',
  SELECTOR_TIMEOUT:
    'Check `waitForSelector` in your browser’s console, and that the script which adds the element runs without an error; or raise `timeoutMs`.',
  BROWSER_CRASHED:
    'Retry. If it crashes again, make the document lighter: smaller images, fewer pages, less script.',
  WORKER_LOST: 'Retry: the document was not the cause.',
  RENDER_FAILED: 'Retry. If it fails again, tell whoever runs this installation the id of the render.',
  CANCELLED: 'Nothing needs to be done. Retry it if you need the PDF after all.',
  EXPIRED: 'Retry it, at a time when fewer of your renders are waiting.',
};

/** What can be done about an error. @param said what the service says of it. */
export function remedyOf(code: string, said: string | undefined): string | undefined {
  return HERE[code] ?? said;
}

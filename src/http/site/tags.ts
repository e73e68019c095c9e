/** The groups of operations, in the order in which the document lists them, with their descriptions. */
export const TAGS = {
  Rendering: 'Turn HTML, a web page or a saved template into a PDF.',
  Jobs: 'Follow single renders: status, PDF, report, cancelling.',
  Batches: 'Render many documents in one request, and fetch them one by one, as a zip or as one PDF.',
  Files: 'Signed addresses, which need no key.',
  Callbacks: 'The callbacks that the account has been sent, and the keys that sign them.',
  Authentication: 'Accounts, access tokens, sessions of browsers, passwords.',
  Members: 'The people of the account: roles, invitations, ownership.',
  'API keys': 'Make, restrict, replace and revoke the keys of the account.',
  Templates: 'Templates that are saved with the service, and their versions.',
  Renders: 'The single renders of the account, for its owner.',
  'Batches of the account': 'The batches of the account, for its owner.',
  Telemetry: 'What the account has used, and what was done to it.',
  Billing: 'Plans, subscription, blocks of PDFs beyond the quota, invoices.',
  Notifications: 'What people are alerted of, and which alerts they get by mail.',
  Operation: 'Health, readiness and version of the service.',
  Documentation: 'This document and the pages of the documentation.',
} as const satisfies Readonly<Record<string, string>>;

export type Tag = keyof typeof TAGS;

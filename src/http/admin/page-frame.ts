import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';

/** The pages, by path below /admin, in the order of the navigation. */
const PAGES = {
  '': 'Queue',
  accounts: 'Accounts',
  workers: 'Workers',
  jobs: 'Jobs',
  messages: 'Messages',
  billing: 'Billing',
  audit: 'Audit log',
} as const;
type PageName = keyof typeof PAGES;

/** Colours as in the dashboard: pairs of them have a contrast of 4.5 or more. */
const STYLE = `
:root { color-scheme: light dark; --text: light-dark(#17191f, #e8eaf0); --quiet: light-dark(#565d6b, #a3abba);
  --ground: light-dark(#f7f8fa, #101218); --surface: light-dark(#fff, #181b23); --line: light-dark(#dfe3ea, #2c313d);
  --edge: light-dark(#858d9c, #6d7686); --accent: light-dark(#4f46e5, #a5a8ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 90rem; background: var(--ground); color: var(--text);
  font: 0.9375rem/1.5 system-ui, sans-serif; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; list-style: none; }
a { color: var(--accent); }
a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
section { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--surface); }
th, td { padding: 0.375rem 0.75rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 500; white-space: nowrap; }
form { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; margin: 0.5rem 0; }
td form { margin: 0; }
label { display: grid; color: var(--quiet); }
input, select, button { font: inherit; padding: 0.25rem 0.5rem; border: 1px solid var(--edge); border-radius: 0.375rem;
  background: var(--surface); color: var(--text); min-height: 2rem; }
button { cursor: pointer; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Without script: the style of this very page, and forms to this origin. */
const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'same-origin',
} as const;

/** A page of the administration. */
export function framed(page: PageName, body: Html) {
  const links = Object.entries(PAGES).map(([path, title]) => {
    const current = path === page ? html` aria-current="page"` : '';
    return html`<li><a href="/admin${path && '/'}${path}"${current}>${title}</a></li>`;
  });
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${PAGES[page]} – Platen administration</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header><nav aria-label="Pages"><ul>${links}</ul></nav></header>
<main>
<h1>${PAGES[page]}</h1>
${body}
</main>
</body>
</html>
`;
  return { status: 200, body: text, headers: PAGE_HEADERS } as const;
}

/**
 * How the search of the site orders what it finds. Pages for users come first, then the reference of the API, then pages for
 * operators. Records of decisions and pages for contributors have a search of their own.
 */

/** Of pages by where they are below /docs: how much their words count; 1 unless a pattern fits. */
const WEIGHTS: readonly (readonly [pattern: RegExp, weight: number])[] = [
  [/^runbooks\//, 0.3],
  [/^api\/./, 0.4],
  [/^(?:errors|options)$/, 2],
  [
    /^(?:failures|overload|performance|tracing|dashboards|logs|administration|scaling|keda|gitops|billing)$/,
    0.6,
  ],
  [/^(?:limits$|guide\/from-)/, 0.8],
];

/** What people ask for by words that a page does not have, or has in passing. */
const KEYWORDS: Readonly<Record<string, string>> = {
  'guide/start': 'quickstart tutorial hello world',
  'guide/teams': 'members roles invite colleague owner transfer permission',
  'guide/keys': 'api key authentication rotate revoke login token',
  'guide/batches': 'batch batches merge combine concatenate bulk zip many documents',
  'guide/templates': 'invoice mail merge handlebars liquid',
  'guide/gallery': 'example receipt label certificate ticket payslip contract letter report delivery note',
  'guide/retries': 'retry idempotent idempotency duplicate',
  'guide/my-pdf-is-wrong': 'missing picture image blank cut off',
  'guide/page-breaks': 'page break page breaks',
  'guide/quotas': 'quota usage rate limit',
  'guide/alerts': 'alert notification mail budget threshold unsubscribe monitoring',
  'guide/waiting': 'wait javascript single page application ready',
  'guide/report': 'debug log missing picture image',
  'guide/headers-and-footers': 'page number page numbers',
  'guide/protected-assets': 'cookies password login private pictures',
  callbacks: 'webhook webhooks signature verify hmac',
  'clients/typescript': 'node nodejs javascript npm deno bun express sdk library',
  'clients/python': 'pip django flask fastapi asyncio sdk library',
  plans: 'price pricing cost quota rate limit',
  limits: 'maximum size rate limit quota',
  options: 'paper size orientation accessibility bookmarks table of contents toc landscape',
  errors: 'error code status',
  install: 'docker container compose kubernetes helm',
  production: 'rotate secrets tls ingress',
  upgrades: 'version upgrade rollback release',
  backup: 'restore disaster recovery',
  sizing: 'capacity cost how many workers',
  configuration: 'environment variables proxy settings',
};

/** How pagefind ranks: a word of a title or of the keywords counts more than any of the text. */
export const RANKING = { metaWeights: { title: 2, keywords: 4 } } as const;

/** @param slug where the page is below /docs. */
export function weightOf(slug: string): number {
  return WEIGHTS.find(([pattern]) => pattern.test(slug))?.[1] ?? 1;
}

/** @param slug where the page is below /docs. @returns undefined for a page that has none. */
export function keywordsOf(slug: string): string | undefined {
  return KEYWORDS[slug];
}

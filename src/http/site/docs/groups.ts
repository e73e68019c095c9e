/** A part of the side bar of the documentation. */
export interface Group {
  readonly label: string;
  /** Files below the root of the sources, in the order in which they are shown; a pattern stands for all it fits. */
  readonly files: readonly string[];
  readonly collapsed?: true;
  readonly forContributors?: true;
}

/**
 * Every page of the documentation, in the order of its side bar, but for those of the API reference, which are made of
 * `docs/openapi.json`.
 */
export const GROUPS: readonly Group[] = [
  {
    label: 'Start here',
    files: [
      'docs/guide/index.md',
      'docs/guide/start.md',
      'docs/guide/keys.md',
      'docs/guide/teams.md',
      'docs/guide/dashboard.md',
      'docs/tour.md',
    ],
  },
  {
    label: 'Guides',
    files: [
      'docs/guide/html-files.md',
      'docs/guide/templates.md',
      'docs/guide/gallery.md',
      'docs/guide/web-pages.md',
      'docs/guide/page-breaks.md',
      'docs/guide/headers-and-footers.md',
      'docs/guide/fonts.md',
      'docs/guide/waiting.md',
      'docs/guide/archived-and-accessible.md',
      'docs/guide/report.md',
      'docs/guide/my-pdf-is-wrong.md',
      'docs/guide/protected-assets.md',
      'docs/guide/attachments.md',
      'docs/guide/e-invoices.md',
      'docs/guide/protected-pdfs.md',
      'docs/guide/sealed-pdfs.md',
      'docs/guide/fillable-pdfs.md',
      'docs/guide/existing-pdfs.md',
      'docs/guide/batches.md',
      'docs/guide/large-batches.md',
      'docs/guide/retries.md',
      'docs/guide/quotas.md',
      'docs/guide/alerts.md',
      'docs/callbacks.md',
      'docs/guide/e-mail.md',
    ],
  },
  {
    label: 'Clients and frameworks',
    files: [
      'clients/typescript/README.md',
      'clients/python/README.md',
      'docs/guide/django.md',
      'docs/guide/laravel.md',
      'docs/guide/nextjs.md',
      'docs/guide/spring.md',
    ],
  },
  {
    label: 'Coming from',
    files: [
      'docs/guide/from-gotenberg.md',
      'docs/guide/from-wkhtmltopdf.md',
      'docs/guide/from-puppeteer.md',
      'docs/guide/from-docraptor.md',
      'docs/guide/from-pdfshift.md',
      'docs/comparison.md',
    ],
  },
  {
    label: 'Reference',
    files: [
      'docs/options.md',
      'docs/errors.md',
      'docs/plans.md',
      'docs/licence.md',
      'docs/limits.md',
      'docs/installed-fonts.md',
      'docs/reference/hyphenation.md',
      'docs/reference/einvoice-data.md',
    ],
  },
  {
    label: 'Host it yourself',
    files: [
      'docs/install.md',
      'docs/image.md',
      'docs/production.md',
      'docs/sizing.md',
      'docs/outputs-in-s3.md',
      'docs/sealing-keys.md',
      'docs/gitops.md',
      'docs/guide/security.md',
      'docs/configuration.md',
      'docs/billing.md',
      'docs/reference/custom-resources.md',
      'docs/scaling.md',
      'docs/keda.md',
    ],
    collapsed: true,
  },
  {
    label: 'Operate it',
    files: [
      'docs/administration.md',
      'docs/dashboards.md',
      'docs/logs.md',
      'docs/tracing.md',
      'docs/backup.md',
      'docs/upgrades.md',
      'docs/failures.md',
      'docs/overload.md',
      'docs/performance.md',
      'docs/simulation/README.md',
    ],
    collapsed: true,
  },
  { label: 'Runbooks', files: ['docs/runbooks/*.md'], collapsed: true },
  {
    label: 'Contribute',
    files: [
      'docs/development.md',
      'docs/architecture.md',
      'docs/scheduling.md',
      'docs/controller.md',
      'docs/adding-an-option.md',
      'docs/adding-a-route.md',
      'docs/development-cluster.md',
      'docs/glossary.md',
    ],
    collapsed: true,
    forContributors: true,
  },
  {
    label: 'Decisions',
    files: ['docs/decisions/README.md', 'docs/decisions/[0-9]*.md'],
    collapsed: true,
    forContributors: true,
  },
];

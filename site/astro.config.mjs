import { readFileSync } from 'node:fs';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import starlightOpenApi, { openAPISidebarGroups } from 'starlight-openapi';

/** Written by scripts/docs-site/prepare.ts. */
const groups = JSON.parse(readFileSync(new URL('src/sidebar.json', import.meta.url), 'utf8'));

export default defineConfig({
  base: '/docs',
  trailingSlash: 'never',
  outDir: 'built',
  telemetry: false,
  integrations: [
    starlight({
      title: 'Platen',
      description: 'Turns HTML, web pages and templates into PDFs.',
      sidebar: groups.flatMap((group) =>
        group.label === 'Reference' ? [group, ...openAPISidebarGroups] : [group],
      ),
      customCss: ['./src/site.css'],
      components: { Footer: './src/Footer.astro' },
      credits: false,
      pagination: true,
      plugins: [
        starlightOpenApi([
          {
            base: 'api',
            schema: '../docs/openapi.json',
            sidebar: { label: 'API reference', operations: { labels: 'summary', badges: true } },
          },
        ]),
      ],
    }),
  ],
});

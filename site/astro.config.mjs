import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { RANKING } from '../scripts/docs-site/search-settings.ts';
import { buildSearches } from './search.mjs';

/** Written by scripts/docs-site/prepare.ts. */
const read = (name) => JSON.parse(readFileSync(new URL(`src/${name}`, import.meta.url), 'utf8'));
const groups = read('sidebar.json');
const contributors = read('contributors.json');

export default defineConfig({
  base: '/docs',
  trailingSlash: 'never',
  outDir: 'built',
  telemetry: false,
  integrations: [
    starlight({
      title: 'Platen',
      description: 'Turns HTML, web pages and templates into PDFs.',
      sidebar: groups,
      customCss: ['./src/site.css'],
      components: { Footer: './src/Footer.astro', PageTitle: './src/PageTitle.astro' },
      pagefind: { ranking: RANKING },
      credits: false,
      pagination: true,
    }),
    // After the theme's own, which finds everything.
    {
      name: 'searches',
      hooks: { 'astro:build:done': ({ dir }) => buildSearches(fileURLToPath(dir), contributors) },
    },
  ],
});

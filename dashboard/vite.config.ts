import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const OUT = join(import.meta.dirname, '../dist/dashboard');

/** Compresses what was built, once and well, in place of at each request. */
const compressed: Plugin = {
  name: 'compressed',
  closeBundle() {
    for (const name of readdirSync(OUT, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|css|html|svg)$/.test(name)) continue;
      const path = join(OUT, name);
      const bytes = readFileSync(path);
      writeFileSync(`${path}.br`, brotliCompressSync(bytes));
      writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), compressed],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    // The policy of the pages has no data: addresses but for pictures, and no scripts inside of them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // In kB, of the editor: what pages load, compressed, is bound by a test.
    chunkSizeWarningLimit: 600,
  },
});

/**
 * Builds stripe-mock, which holds requests against Stripe's own specification, from the Go module proxy into
 * .cache/stripe-mock. Plain JavaScript, which Node 20 or newer runs. What is up to date is left alone.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goInstall } from './go-install.mjs';

/** Its specification is that of the API version 2026-08-26.dahlia: older than the one that Platen pins. */
const MODULE = 'github.com/stripe/stripe-mock@v0.203.0';
const LIMIT_MS = 600_000;

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), '.cache', 'stripe-mock');

mkdirSync(target, { recursive: true });
try {
  goInstall({
    module: MODULE,
    folder: target,
    name: 'stripe-mock',
    stamp: join(target, '.stamp'),
    limitMs: LIMIT_MS,
    begins: () => console.log(`[stripe-mock] building ${MODULE} (about a minute the first time) …`),
  });
} catch (error) {
  console.error(`[stripe-mock] ${error.message}`);
  process.exit(1);
}

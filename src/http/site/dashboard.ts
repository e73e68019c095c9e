import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { RequestHandler } from 'express';
import { PACKAGE_FOLDER } from '../../infra/machine/package-folder.ts';
import { contextOf } from '../request/request-context.ts';
import { BuiltFiles } from './built-files.ts';

/** Where `make dashboard` puts its files. */
const BUILT = join(PACKAGE_FOLDER, 'dist', 'dashboard');

const BASE = '/dashboard';

/** Scripts, styles, requests and PDFs of this service alone; nothing else, and nothing inline. */
const DASHBOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** A page with the HTML that is being typed, and its script. */
const PREVIEW = 'preview.html';
const PREVIEW_SCRIPT = 'preview.js';
/**
 * It has an origin of its own, which is nobody's: no cookie, no storage, no request, and no script but the one that puts the
 * HTML in place.
 */
const PREVIEW_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

const NOT_BUILT = `<!doctype html><html lang="en"><title>Platen</title>
<p>The pages are not built here. Run <code>make dashboard</code> and start again. The API works without them:
<a href="/docs">its documentation</a>.</p></html>`;

/**
 * Serves the dashboard: the built files, and the same page for every path of the application. `/` redirects to it.
 * Without the built files a page says that they are missing.
 */
export function serveDashboard(): RequestHandler {
  const files = new BuiltFiles(BUILT);
  return async (request, response, next) => {
    const { path } = request;
    const isPage = path === '/' || path === BASE || path.startsWith(`${BASE}/`);
    if (!isPage || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    const context = contextOf(response);
    context.route = path === '/' ? '/' : `${BASE}/*`;
    context.logLevel = 'debug';
    if (path === '/') return response.redirect(302, BASE);
    const name = path.slice(BASE.length + 1);
    // For a page that was loaded before an upgrade, a missing part must be reported as missing, not replaced by a page.
    const isAsset = name.startsWith('assets/');
    const file = await files.find(
      isAsset ? [name] : [name, 'index.html'],
      (encoding) => request.acceptsEncodings(encoding) === encoding,
    );
    if (file === undefined && isAsset) return next();
    if (!isAsset) {
      response.setHeader('Content-Security-Policy', name === PREVIEW ? PREVIEW_POLICY : DASHBOARD_POLICY);
      response.setHeader('Referrer-Policy', 'no-referrer');
    }
    if (name === PREVIEW_SCRIPT) {
      // The page's origin is nobody's, so that the script comes from another one.
      response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    }
    if (name === PREVIEW) response.removeHeader('Origin-Agent-Cluster');
    if (file === undefined) {
      response.status(503).set('Cache-Control', 'no-cache').type('html').send(NOT_BUILT);
      return;
    }
    response.set(file.headers).set('Content-Length', String(file.body.size));
    // A caller that gets less than Content-Length sees that the file is incomplete.
    pipeline(file.body.stream, response, () => {});
  };
}

import { join } from 'node:path';

/**
 * The folder of the package, in which src, dist, node_modules, docs and the caches lie, whether this code runs from src or
 * from dist. What looks for a file of the package starts here, so that no other file depends on its own depth.
 */
export const PACKAGE_FOLDER = join(import.meta.dirname, '..', '..', '..');

import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The folder beside the bundle in which Node keeps the code that V8 has compiled of it
 * (https://nodejs.org/api/module.html#module-compile-cache). Undefined when this code runs from its sources.
 */
const FOLDER = import.meta.url.endsWith('.js')
  ? fileURLToPath(new URL('../../compiled', import.meta.url))
  : undefined;

/**
 * Has Node take compiled code from the folder for what is loaded after this, and write what it lacks when the process
 * exits. Code for another Node, processor or user is not used. A folder that cannot be written, as in the image, is only
 * read. `NODE_COMPILE_CACHE` names another folder.
 */
export function useCompileCache(): void {
  if (FOLDER !== undefined) enableCompileCache(FOLDER);
}

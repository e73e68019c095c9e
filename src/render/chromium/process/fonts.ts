import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../../infra/machine/package-folder.ts';

/** What `make fonts` writes: the fonts that documents are printed with on every machine, and the rules for them. */
export const FONT_CONFIGURATION = join(PACKAGE_FOLDER, 'fonts', 'installed', 'fonts.conf');

/**
 * The environment by which a browser finds its fonts. Where the operator has configured fontconfig for this process, that
 * holds.
 *
 * @param env of this process.
 * @param warn told where the fonts are not installed: documents are then printed with those of the machine.
 */
export function fontEnvironment(
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): Readonly<Record<string, string>> {
  if (process.platform !== 'linux' || env.FONTCONFIG_FILE || env.FONTCONFIG_PATH) return {};
  if (existsSync(FONT_CONFIGURATION)) return { FONTCONFIG_FILE: FONT_CONFIGURATION };
  warn("Platen's fonts are not installed (make fonts): documents are printed with those of this machine.");
  return {};
}

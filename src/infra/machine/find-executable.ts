import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether this process may run the file. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the first of these programs that is in a folder of PATH; undefined when none is. */
export function onPath(names: readonly string[], path = ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

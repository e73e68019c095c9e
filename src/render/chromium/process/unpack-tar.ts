import { type ExtractOptions, extract } from 'tar-fs';

/** Options of the library that its types omit. */
type Options = ExtractOptions & { readonly chown: boolean; readonly utimes: boolean };

/**
 * A stream that reads a tar archive and writes its regular files under `folder`. Entries of any other kind are left
 * out; a name that would lead out of the folder is placed below it. Ends with an error when the archive is damaged or
 * truncated.
 */
export function unpackTar(folder: string): NodeJS.WritableStream {
  const options: Options = {
    ignore: (_path, header) => header?.type !== 'file',
    // Owners, times and modes are those of the machine that packed the archive, and this user must be able to read the
    // files.
    chown: false,
    utimes: false,
    readable: true,
  };
  const archive = extract(folder, options);
  // A truncated archive also fails its last entry. tar-fs does not listen to that entry before its folder exists, and
  // an error without a listener would end the process.
  archive.on('entry', (_header, entry) => void entry.on('error', () => undefined));
  return archive;
}

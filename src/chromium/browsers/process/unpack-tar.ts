import { type ExtractOptions, extract } from 'tar-fs';

/** Options that the library has and its types leave out. */
type Options = ExtractOptions & { readonly chown: boolean; readonly utimes: boolean };

/**
 * A stream that takes a tar archive and writes its regular files under `folder`. Entries of any other kind are left
 * out, and a name that would lead out of the folder is taken as one below it. Ends with an error when the archive is
 * damaged or cut off.
 */
export function unpackTar(folder: string): NodeJS.WritableStream {
  const options: Options = {
    ignore: (_path, header) => header?.type !== 'file',
    // Owners and times are those of the machine that packed it, and so are modes: whoever unpacks it has to read it.
    chown: false,
    utimes: false,
    readable: true,
  };
  const archive = extract(folder, options);
  // An archive that is cut off fails its last entry too, to which tar-fs does not listen before the entry's folder is
  // there: without a listener that would end the process.
  archive.on('entry', (_header, entry) => void entry.on('error', () => undefined));
  return archive;
}

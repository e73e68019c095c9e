import { ImagePlus } from 'lucide-react';
import { useId } from 'react';
import { bytes } from '../format.ts';
import { Icon } from './icon.tsx';
import { toast, toastError } from './toasts.tsx';

/** Of a picture or font that becomes part of a document, in bytes; as text it is a third longer. */
const MOST_BYTES = 512 * 1024;
const TYPES: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{ svg: 'image/svg+xml', woff2: 'font/woff2', woff: 'font/woff', ttf: 'font/ttf', otf: 'font/otf' },
};

/** Makes a picture or font part of an HTML document. @param onAdd is called with the HTML to be inserted. */
export function AddFile({ onAdd }: { onAdd: (html: string) => void }) {
  const id = useId();
  const add = async (file: File) => {
    const [, name = '', ending = ''] = /^(.*)\.(\w+)$/.exec(file.name) ?? [];
    const type = TYPES[ending.toLowerCase()];
    if (type === undefined)
      return toast(`${file.name} is neither a picture (PNG, JPEG, GIF, WebP, SVG) nor a font.`, true);
    if (file.size > MOST_BYTES)
      return toast(`${file.name} is too large: ${bytes(file.size)} of at most ${bytes(MOST_BYTES)}.`, true);
    // Nothing that ends an attribute, or that a template would fill in.
    const plain = name.replaceAll(/[^\p{L}\p{N}_-]+/gu, ' ').trim();
    const address = `data:${type};base64,${await base64Of(file)}`;
    onAdd(
      type.startsWith('font/')
        ? `<style>@font-face { font-family: "${plain}"; src: url(${address}) }</style>`
        : `<img src="${address}" alt="${plain}">`,
    );
    toast(type.startsWith('font/') ? `Use it as font-family: "${plain}".` : 'The picture is in the HTML.');
  };
  return (
    <div className="add-file">
      <input
        id={id}
        type="file"
        className="unseen"
        accept={Object.keys(TYPES)
          .map((ending) => `.${ending}`)
          .join()}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // The same one may be added again.
          if (file !== undefined)
            void add(file)
              .catch(toastError)
              .finally(() => Object.assign(target, { value: '' }));
        }}
      />
      <label htmlFor={id} className="button">
        <Icon of={ImagePlus} /> Add a picture or font
      </label>
    </div>
  );
}

function base64Of(file: File): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve((reader.result as string).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

import { useEffect, useRef, useState } from 'react';
import type { CodeEditor } from './code-editor.ts';
import { Field } from './field.tsx';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'code-editor': HTMLAttributes<CodeEditor> &
        ClassAttributes<CodeEditor> & {
          value: string;
          onedit: (event: Event) => void;
        };
    }
  }
}

/**
 * Text in a language, with its colours. Until the editor has been loaded, and where it cannot be, it is a plain field.
 *
 * @param size how much of the text is seen at a time, before the corner of the field is dragged.
 */
export function Editor({
  label,
  hint,
  language,
  size = 'small',
  value,
  onChange,
}: {
  label: string;
  hint?: string;
  language: 'liquid' | 'json';
  size?: 'small' | 'large';
  value: string;
  onChange: (value: string) => void;
}) {
  const plain = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<CodeEditor>(null);
  const caret = useRef<number>(undefined);
  const [isLoaded, setLoaded] = useState(() => customElements.get('code-editor') !== undefined);
  useEffect(() => {
    if (isLoaded) {
      // Whoever has begun to type in the plain field goes on where that was.
      if (caret.current !== undefined) editor.current?.focusAt(caret.current);
      return;
    }
    const loaded = () => {
      if (document.activeElement === plain.current) caret.current = plain.current?.selectionEnd;
      setLoaded(true);
    };
    import('./code-editor.ts').then(loaded, () => undefined);
  }, [isLoaded]);
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) =>
        isLoaded ? (
          <code-editor
            ref={editor}
            id={id}
            className={`editor ${size}`}
            data-language={language}
            data-hint={hint}
            value={value}
            onedit={({ currentTarget }) => onChange((currentTarget as CodeEditor).value)}
          />
        ) : (
          <textarea
            ref={plain}
            id={id}
            className={`editor ${size}`}
            aria-describedby={hintId}
            spellCheck={false}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}

import { useEffect, useRef, useState } from 'react';
import type { Problem } from '../problems.ts';
import { AddFile } from './add-file.tsx';
import type { CodeEditor } from './code-editor.ts';
import { Field } from './field.tsx';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'code-editor': HTMLAttributes<CodeEditor> &
        ClassAttributes<CodeEditor> & {
          value: string;
          problems: readonly Problem[];
          onedit: (event: Event) => void;
        };
    }
  }
}

const NONE: readonly Problem[] = [];

/**
 * Text in a language, with its colours. Until the editor has been loaded, and where it cannot be, it is a plain field.
 *
 * @param problems what is wrong in it, to be marked at its lines; whoever shows the editor says it in words as well.
 * @param takesFiles whether pictures and fonts can be made part of it, which is HTML then.
 * @param size how much of the text is seen at a time, before the corner of the field is dragged.
 */
export function Editor({
  label,
  hint,
  language,
  size = 'small',
  readOnly = false,
  takesFiles = false,
  value,
  problems = NONE,
  onChange,
}: {
  label: string;
  hint?: string;
  language: 'liquid' | 'json';
  size?: 'small' | 'large';
  readOnly?: boolean;
  takesFiles?: boolean;
  value: string;
  problems?: readonly Problem[] | undefined;
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
  const insert = (html: string) =>
    editor.current === null ? onChange(value + html) : editor.current.insert(html);
  return (
    <>
      <Field label={label} hint={hint}>
        {(id, hintId) =>
          isLoaded ? (
            <code-editor
              ref={editor}
              id={id}
              className={`editor ${size}`}
              data-language={language}
              data-hint={hint}
              data-read-only={readOnly || undefined}
              value={value}
              problems={problems}
              onedit={({ currentTarget }) => onChange((currentTarget as CodeEditor).value)}
            />
          ) : (
            <textarea
              ref={plain}
              id={id}
              className={`editor ${size}`}
              aria-describedby={hintId}
              spellCheck={false}
              readOnly={readOnly}
              value={value}
              onChange={(event) => onChange(event.target.value)}
            />
          )
        }
      </Field>
      {takesFiles && !readOnly && <AddFile onAdd={insert} />}
    </>
  );
}

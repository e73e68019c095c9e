import { type DragEvent, useId, useState } from 'react';

/** Takes a file that is picked or dropped. It stays in the browser. */
export function FileDrop({
  label,
  hint,
  accept,
  name,
  onFile,
}: {
  label: string;
  hint: string;
  /** As the attribute of an input. */
  accept: string;
  /** The file that has been taken. */
  name: string | undefined;
  onFile: (file: File) => void;
}) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file !== undefined) onFile(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: whoever cannot drag uses the field in it
    <div
      className={isOver ? 'drop over' : 'drop'}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        aria-describedby={`${id}hint`}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // The same file can be taken again once it has been mended.
          target.value = '';
          if (file !== undefined) onFile(file);
        }}
      />
      <small id={`${id}hint`} className="hint">
        {hint}
      </small>
      {name !== undefined && (
        <p className="picked" role="status">
          <bdi>{name}</bdi>
        </p>
      )}
    </div>
  );
}

import { type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes, useId } from 'react';

/** A control with its label, and what helps to fill it in. `children` gets the id that the control must have. */
export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: ReactNode;
  children: (id: string, hintId: string | undefined) => ReactNode;
}) {
  const id = useId();
  const hintId = hint === undefined ? undefined : `${id}hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id, hintId)}
      {hint !== undefined && (
        <small id={hintId} className="hint">
          {hint}
        </small>
      )}
    </div>
  );
}

interface Text {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A line of text, an address, a password, a number: what an `input` takes. */
export function TextField({
  label,
  hint,
  onChange,
  ...rest
}: Text & Omit<InputHTMLAttributes<HTMLInputElement>, keyof Text>) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <input
          {...rest}
          id={id}
          aria-describedby={hintId}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Text of several lines. */
export function TextArea({
  label,
  hint,
  onChange,
  ...rest
}: Text & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, keyof Text>) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <textarea
          {...rest}
          id={id}
          aria-describedby={hintId}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A choice among few. */
export function Select<Value extends string>({
  label,
  hint,
  value,
  options,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  value: Value | '';
  options: readonly (readonly [value: Value | '', text: string])[];
  onChange: (value: Value | '') => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(id, hintId) => (
        <select
          id={id}
          aria-describedby={hintId}
          value={value}
          onChange={(event) => onChange(event.target.value as Value | '')}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

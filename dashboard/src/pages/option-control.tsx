import { type ReactNode, useState } from 'react';
import { Field } from '../ui/field.tsx';

/** What of a JSON Schema a control is made from. */
export interface OptionSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly $ref?: string;
  readonly allOf?: readonly OptionSchema[];
  readonly anyOf?: readonly OptionSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** Characters from which a text has a field of several lines. */
const LONG_TEXT = 1000;

interface Props {
  /** As it is called where it is shown: `margin top`. */
  readonly name: string;
  readonly schema: OptionSchema;
  readonly value: unknown;
  /** Undefined for what is not sent. */
  readonly onChange: (value: unknown) => void;
}

/** The control of an option, or of a part of one, by its schema. */
export function OptionControl({ name, schema, value, onChange }: Props) {
  if (schema.properties !== undefined)
    return (
      <fieldset className="option-parts">
        <legend>{name}</legend>
        {schema.description !== undefined && <small className="hint">{schema.description}</small>}
        <Parts name={name} properties={schema.properties} value={value} onChange={onChange} />
      </fieldset>
    );
  const control = controlOf(schema);
  return (
    <Field label={name} hint={schema.description}>
      {(id, hint) => control({ id, 'aria-describedby': hint }, schema, value, onChange)}
    </Field>
  );
}

/** The parts of an option that is an object. */
function Parts({
  name,
  properties,
  value,
  onChange,
}: Omit<Props, 'schema'> & { properties: Readonly<Record<string, OptionSchema>> }) {
  const parts = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return Object.entries(properties).map(([part, schema]) => (
    <OptionControl
      key={part}
      name={`${name} ${part}`}
      schema={schema}
      value={parts[part]}
      onChange={(changed) => {
        const { [part]: _, ...others } = parts;
        const next = changed === undefined ? others : { ...others, [part]: changed };
        onChange(Object.keys(next).length === 0 ? undefined : next);
      }}
    />
  ));
}

interface Common {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
}
type Control = (
  common: Common,
  schema: OptionSchema,
  value: unknown,
  onChange: (value: unknown) => void,
) => ReactNode;

function controlOf({ type, enum: choices }: OptionSchema): Control {
  if (type === 'boolean' || choices !== undefined) return choice;
  if (type === 'string') return (...of) => <TextControl of={of} />;
  return (...of) => <JsonControl of={of} />;
}

const choice: Control = (common, schema, value, onChange) => {
  const choices = schema.enum ?? ['true', 'false'];
  return (
    <select
      {...common}
      value={value === undefined ? '' : String(value)}
      onChange={({ target }) => {
        if (target.value === '') onChange(undefined);
        else onChange(schema.enum === undefined ? target.value === 'true' : target.value);
      }}
    >
      <option value="">Default</option>
      {choices.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
};

/** A text is sent as it stands, whatever it looks like. Nothing is not sent, unless it is to be sent as nothing. */
function TextControl({
  of: [common, { minLength = 0, maxLength = 0 }, value, onChange],
}: {
  of: Parameters<Control>;
}) {
  const text = {
    ...common,
    value: typeof value === 'string' ? value : '',
    onChange: ({ target }: { target: { value: string } }) =>
      onChange(target.value === '' ? undefined : target.value),
  };
  return (
    <>
      {maxLength >= LONG_TEXT ? <textarea {...text} rows={2} /> : <input {...text} />}
      {minLength === 0 && (value === undefined || value === '') && (
        <label className="empty-text">
          <input
            type="checkbox"
            checked={value === ''}
            onChange={({ target }) => onChange(target.checked ? '' : undefined)}
          />
          Send an empty text
        </label>
      )}
    </>
  );
}

/** Numbers, lists and whatever else: read as JSON. What is none is sent as it stands, and the service says what is wrong. */
function JsonControl({ of: [common, schema, value, onChange] }: { of: Parameters<Control> }) {
  const [typed, setTyped] = useState(() => textOf(value));
  // As it was typed, with its spaces, while that is what is sent.
  const shown = textOf(jsonOf(typed)) === textOf(value) ? typed : textOf(value);
  const text = {
    ...common,
    value: shown,
    onChange: ({ target }: { target: { value: string } }) => {
      setTyped(target.value);
      onChange(jsonOf(target.value));
    },
  };
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <input
        {...text}
        type="number"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum}
        max={schema.maximum}
      />
    );
  return (
    <textarea {...text} rows={2} placeholder={schema.type === 'array' ? '[ … ] as JSON' : '{ … } as JSON'} />
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function jsonOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

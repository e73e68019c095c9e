import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Words } from '../ui/words.tsx';

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
  readonly items?: OptionSchema;
}

/** Characters from which a text has a field of several lines. */
const LONG_TEXT = 1000;
/** Between the bounds of a number that has a slider: more than these would be hard to hit. */
const WIDEST_SLIDER = 360;

interface Props {
  /** As it is called where it is shown: `margin top`. */
  readonly name: string;
  readonly schema: OptionSchema;
  /** Where more is said of it; undefined for a part of an option. */
  readonly documentation?: string;
  readonly value: unknown;
  /** Undefined for what is not sent. */
  readonly onChange: (value: unknown) => void;
}

/** The control of an option, or of a part of one, by its schema. */
export function OptionControl({ name, schema, documentation, value, onChange }: Props) {
  const hint = (
    <>
      <Words text={schema.description ?? ''} />
      {documentation !== undefined && (
        <>
          {' '}
          <a href={documentation} target="_blank" rel="noreferrer">
            More<span className="unseen"> about {name}</span>
          </a>
        </>
      )}
    </>
  );
  if (schema.properties !== undefined)
    return (
      <fieldset className="option-parts">
        <legend>{name}</legend>
        <small className="hint">{hint}</small>
        <Parts name={name} properties={schema.properties} value={value} onChange={onChange} />
      </fieldset>
    );
  if (isTexts(schema))
    return <Texts name={name} schema={schema} hint={hint} value={value} onChange={onChange} />;
  const control = controlOf(schema, name);
  return (
    <Field label={name} hint={hint}>
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

function controlOf({ type, enum: choices, minimum, maximum }: OptionSchema, name: string): Control {
  if (type === 'boolean' || choices !== undefined) return choice;
  if (name.endsWith(' color')) return (...of) => <ColourControl name={name} of={of} />;
  if (type === 'string') return (...of) => <TextControl of={of} />;
  if (
    type === 'number' &&
    minimum !== undefined &&
    maximum !== undefined &&
    maximum - minimum <= WIDEST_SLIDER
  )
    return (...of) => <Slider name={name} of={of} />;
  return (...of) => <JsonControl of={of} />;
}

const YES_OR_NO: Readonly<Record<string, string>> = { true: 'Yes', false: 'No' };

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
        <option key={each} value={each}>
          {schema.enum === undefined ? YES_OR_NO[each] : each}
        </option>
      ))}
    </select>
  );
};

/** A text is sent as it stands, whatever it looks like. Nothing is not sent, unless a document is to be an empty one. */
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
      {minLength === 0 && maxLength >= LONG_TEXT && (value === undefined || value === '') && (
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

/** A colour, as any that CSS knows, or picked from all that there are. */
function ColourControl({ name, of }: { name: string; of: Parameters<Control> }) {
  const [, , value, onChange] = of;
  return (
    <div className="with-picker">
      <TextControl of={of} />
      <input
        type="color"
        aria-label={`Pick ${name}`}
        value={/^#[0-9a-f]{6}$/i.test(String(value)) ? String(value) : '#808080'}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

/** A number between two bounds, dragged or typed. */
function Slider({ name, of }: { name: string; of: Parameters<Control> }) {
  const [, { minimum = 0, maximum = 1 }, value, onChange] = of;
  return (
    <div className="with-picker">
      <JsonControl of={of} />
      <input
        type="range"
        aria-label={`Drag ${name}`}
        min={minimum}
        max={maximum}
        step={maximum - minimum > 10 ? 1 : 0.01}
        value={typeof value === 'number' ? value : (minimum + maximum) / 2}
        onChange={({ target }) => onChange(Number(target.value))}
      />
    </div>
  );
}

function isTexts({ type, items }: OptionSchema): boolean {
  return type === 'array' && items?.type === 'string' && items.enum === undefined;
}

/** A list of texts, each with a field of its own. */
function Texts({ name, schema, hint, value, onChange }: Props & { hint: ReactNode }) {
  const texts = Array.isArray(value) ? value.map(String) : [];
  const put = (next: readonly string[]) => onChange(next.length === 0 ? undefined : next);
  const isLong = (schema.items?.maxLength ?? 0) >= LONG_TEXT;
  return (
    <fieldset className="option-parts texts">
      <legend>{name}</legend>
      <small className="hint">{hint}</small>
      {texts.map((text, i) => {
        const field = {
          'aria-label': `${name} ${i + 1}`,
          value: text,
          onChange: ({ target }: { target: { value: string } }) => put(texts.with(i, target.value)),
        };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text is known by its place
          <div key={i} className="with-picker">
            {isLong ? <textarea {...field} rows={3} /> : <input {...field} />}
            <Button onClick={() => put(texts.toSpliced(i, 1))}>
              Remove
              <span className="unseen">
                {' '}
                {name} {i + 1}
              </span>
            </Button>
          </div>
        );
      })}
      <div>
        <Button onClick={() => put([...texts, ''])}>
          Add<span className="unseen"> to {name}</span>
        </Button>
      </div>
    </fieldset>
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

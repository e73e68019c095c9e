import { Download, FileText, X } from 'lucide-react';
import { useState } from 'react';
import { Badge, BatchBadge, Code, Time } from '../ui/bits.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Card, Facts, Page, Tiles } from '../ui/page.tsx';
import { Phases } from '../ui/phases.tsx';
import { Bones, Empty, ErrorNote } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { OptionControl, type OptionSchema } from './option-control.tsx';

/** The tokens of `styles/tokens.css`, each with what it is for. */
const COLOURS = [
  ['ground', 'behind everything'],
  ['surface', 'cards, tables, fields'],
  ['text', 'what is read'],
  ['quiet', 'what is read second'],
  ['line', 'between things'],
  ['edge', 'around what is filled in'],
  ['rim', 'around what is pressed'],
  ['accent', 'links, what is current'],
  ['accent-fill', 'the one button a page is for'],
  ['accent-soft', 'behind what is chosen'],
  ['good', 'has succeeded'],
  ['good-soft', 'behind it'],
  ['busy', 'is under way, or half well'],
  ['busy-soft', 'behind it'],
  ['bad', 'has failed, or cannot be taken back'],
  ['bad-fill', 'the button of a dialog that cannot be taken back'],
  ['bad-soft', 'behind it'],
] as const;
const SPACES = [1, 1.5, 2, 3, 4, 8] as const;
const SIZES = ['h1', 'h2', 'h3'] as const;

const OPTIONS: readonly (readonly [name: string, schema: OptionSchema])[] = [
  ['opacity', { type: 'number', minimum: 0, maximum: 1, description: 'Dragged or typed.' }],
  ['color', { type: 'string', description: 'Picked or typed.' }],
  ['shown', { type: 'boolean', description: 'Not sent, yes or no.' }],
  [
    'styles',
    { type: 'array', items: { type: 'string', maxLength: 1000 }, description: 'Any number of texts.' },
  ],
];

/**
 * What the pages are made of, in one place: colour, type and space, and each part in its states. Whoever changes a part looks
 * here first, in light, dark and on a phone.
 */
export default function Design() {
  const [text, setText] = useState('invoice.pdf');
  return (
    <Page title="Design" lead="What the pages of the dashboard are made of.">
      <Card title="Colours">
        <ul className="swatches">
          {COLOURS.map(([name, use]) => (
            <li key={name}>
              <span className="swatch" style={{ background: `var(--${name})` }} />
              <span>
                <code>--{name}</code>
                <br />
                <span className="quiet">{use}</span>
              </span>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Type: Inter, in one variable file; ids and code in the system's fixed width">
        {SIZES.map((size) => (
          <p key={size} className={`type-${size}`}>
            {size}: Invoice 2026-001
          </p>
        ))}
        <p>Text: 1,234 renders took 2.1 s each.</p>
        <p className="quiet">Quiet: what is read second.</p>
        <p>
          <code>01a22832-f06f-75e4</code> <kbd>Ctrl K</kbd>
        </p>
      </Card>
      <Card title="Space, in steps of half a rem">
        {SPACES.map((steps) => (
          <div key={steps} className="step" style={{ width: `calc(${steps} * var(--space) * 4)` }}>
            {steps}
          </div>
        ))}
      </Card>
      <div className="grid">
        <Card title="Buttons">
          <div className="actions">
            <Button kind="primary">Primary</Button>
            <Button>Plain</Button>
            <Button kind="danger">Danger</Button>
            <Button busy>Busy</Button>
            <Button icon={Download}>With an icon</Button>
          </div>
          <ul className="chips">
            <li>
              <button type="button" className="chip">
                Status: failed <Icon of={X} size={12} />
              </button>
            </li>
          </ul>
        </Card>
        <Card title="States">
          <p>
            <Badge status="completed" /> <Badge status="processing" /> <Badge status="queued" />{' '}
            <Badge status="failed" /> <BatchBadge status="completed" failed={2} />
          </p>
          <p>
            <Time at={new Date(Date.now() - 120_000).toISOString()} />
          </p>
        </Card>
        <Card title="Fields">
          <TextField label="Name" hint="What helps to fill it in." value={text} onChange={setText} />
          <Select
            label="Mode"
            value="test"
            options={[
              ['test', 'Test'],
              ['live', 'Live'],
            ]}
            onChange={() => undefined}
          />
        </Card>
        <Card title="Options of a render">
          <OptionExamples />
        </Card>
        <Card title="Numbers">
          <Facts
            facts={[
              ['Renders left', '9,923'],
              ['Median', '2.1 s'],
            ]}
          />
          <Phases phases={{ page: 20, load: 400, wait: 100, print: 220, finish: 60 }} />
        </Card>
      </div>
      <Table
        caption="A table"
        rows={[
          { id: 'a', name: 'invoice.pdf', status: 'completed', pages: 2 },
          { id: 'b', name: 'receipt.pdf', status: 'failed', pages: 0 },
        ]}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Render', phone: 'lead', cell: ({ name }) => name },
          { title: 'Status', phone: 'end', cell: ({ status }) => <Badge status={status} /> },
          { title: 'Pages', numeric: true, phone: 'plain', cell: ({ pages }) => pages },
        ]}
      />
      <Empty
        title="Nothing here yet"
        icon={FileText}
        actions={<Button kind="primary">What changes that</Button>}
      >
        <p>One sentence says what this is, and what would change that.</p>
      </Empty>
      <Card title="On its way">
        <Bones shape="facts" />
        <Bones shape="rows" />
      </Card>
      <Tiles
        tiles={[
          ['Completed', '9,923', 'of 10,000'],
          ['Failed', '77'],
        ]}
      />
      <ErrorNote error={new Error('What went wrong, and what can be done about it.')} />
      <Code label="Code" text="platen render invoice.html" />
    </Page>
  );
}

/** The controls that are made from the schema of an option. */
function OptionExamples() {
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>({
    color: '#cc0000',
    styles: ['b {}'],
  });
  return (
    <div className="options">
      {OPTIONS.map(([name, schema]) => (
        <OptionControl
          key={name}
          name={`example ${name}`}
          schema={schema}
          value={values[name]}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
    </div>
  );
}

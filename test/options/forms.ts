import assert from 'node:assert/strict';
import {
  decodePDFRawStream,
  PDFDict,
  PDFDocument,
  PDFName,
  type PDFRawStream,
  PDFStream,
} from '@cantoo/pdf-lib';
import { MAX_FIELDS } from '../../src/render/pdf/forms/control.ts';
import type { OptionCases, Printed } from './support/cases.ts';
import { readByOthers } from './support/other-readers.ts';

const READ_ONLY = 1;
const REQUIRED = 2;
const MULTILINE = 1 << 12;
const PASSWORD = 1 << 13;
const RADIO = (1 << 15) | (1 << 14);
const COMBO = 1 << 17;
const MULTI_SELECT = 1 << 21;

const CONTROLS = `<!doctype html><html lang="en"><title>Order</title><h1>Order</h1>
  <label>Name <input name="person.name" value="Ada" maxlength="20" required></label>
  <label>Born <input name="person.born" type="date" value="1990-05-01"></label>
  <label>Sum <input name="sum" type="number" value="12.5" readonly></label>
  <label>Secret <input name="secret" type="password" value="s3cret"></label>
  <fieldset><legend>Meal</legend>
    <label><input type="radio" name="meal" value="fish"> Fish</label>
    <label><input type="radio" name="meal" value="meat" checked> Meat</label>
  </fieldset>
  <label><input type="checkbox" name="terms" checked> Agreed</label>
  <label>Size <select name="size"><option value="s">Small<option value="l" selected>Large</select></label>
  <label>Extras <select name="extras" multiple><option selected>Cheese<option>Ham<option selected>Nuts</select></label>
  <button>Send</button>
  <p style="break-before: page"></p>
  <label>Remarks <textarea name="remarks" disabled>First line\nsecond line</textarea></label>`;

/** What the document draws itself, without that of its fields. */
const drawn = ({ pages }: Printed) => pages.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim()).join(' ');

async function fieldsOf(printed: Printed) {
  const { fields, problems } = await readByOthers(printed);
  assert.deepEqual(problems, []);
  return fields;
}

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ forms: 'yes' }, 'forms', /true or false|boolean/]],
  effects: [
    {
      title: 'every control is a field with its name, label, value, choices and flags, in its order',
      html: CONTROLS,
      options: { forms: true },
      proof: async (printed) => {
        const found = await fieldsOf(printed);
        const field = (
          name: string,
          type: string,
          label: string,
          values: string[],
          flags = 0,
          choices: string[] = [],
        ) => ({ name, type, label, values, flags, choices });
        assert.deepEqual(
          found.toSorted((a, b) => order(a.name) - order(b.name)),
          [
            field('person.name', '/Tx', 'Name', ['Ada'], REQUIRED),
            field('person.born', '/Tx', 'Born', ['1990-05-01']),
            field('sum', '/Tx', 'Sum', ['12.5'], READ_ONLY),
            field('secret', '/Tx', 'Secret', [], PASSWORD),
            field('meal', '/Btn', 'Fish', ['/meat'], RADIO),
            field('meal', '/Btn', 'Meat', ['/meat'], RADIO),
            field('terms', '/Btn', 'Agreed', ['/on']),
            field('size', '/Ch', 'Size', ['l'], COMBO, ['Small', 'Large']),
            field('extras', '/Ch', 'Extras', ['Cheese', 'Nuts'], MULTI_SELECT, ['Cheese', 'Ham', 'Nuts']),
            field('remarks', '/Tx', 'Remarks', ['First line\nsecond line'], READ_ONLY | MULTILINE),
          ],
        );
        const form = (await PDFDocument.load(printed.bytes)).getForm();
        assert.equal(form.getTextField('person.name').getMaxLength(), 20);
        assert.equal(form.getRadioGroup('meal').getSelected(), 'meat');
        assert.deepEqual(form.getOptionList('extras').getSelected(), ['Cheese', 'Nuts']);
        assert.equal(form.getCheckBox('terms').isChecked(), true);
        // No value is part of the page, and no marker is left.
        assert.match(drawn(printed), /Name Born Sum Secret Meal Fish Meat Agreed Size Extras Send/);
        assert.doesNotMatch(drawn(printed), /Ada|1990|12\.5|s3cret|Large|Cheese|First line|platen/);
        assert.ok(!Buffer.from(printed.bytes).includes('platen.invalid'));
      },
    },
    {
      title:
        'values in any script are drawn in their fields, wherever these are, and on each page that repeats them',
      html: `<!doctype html><style>body { margin: 0 } input { border: 0; padding: 0; height: 40px; width: 200px; font-size: 30px }</style>
        <div style="transform: translateX(20px)"><input name="greek" value="Ωμέγα" style="color: #f00"></div>
        <div id="host"></div><iframe srcdoc="<input name=framed value=inside>"></iframe>
        <input name="tiny" style="opacity: 0"><div style="position: fixed; top: 300px"><input name="fixed" value="everywhere"></div>
        <p style="break-after: page"></p><p>end
        <script>document.querySelector("#host").attachShadow({ mode: "open" }).innerHTML = "<input name=shadow>"</script>`,
      options: { forms: true },
      proof: async (printed) => {
        const found = await fieldsOf(printed);
        assert.deepEqual(found.map(({ name }) => name).toSorted(), [
          'fixed',
          'fixed',
          'framed',
          'greek',
          'shadow',
        ]);
        const picture = await printed.draw(1);
        const isRed = (x: number, y: number) => {
          const [red = 0, green = 0] = picture.at(x, y);
          return red > 120 && green < 120;
        };
        const red = Array.from({ length: 200 * 40 }, (_, i) => isRed(i % 200, Math.floor(i / 200))).filter(
          Boolean,
        );
        assert.ok(red.length > 50, `${red.length} pixels of the value are drawn`);
        // What is drawn for it has no value of another field: that could be read, and would stay when the field is filled in.
        const form = (await PDFDocument.load(printed.bytes)).getForm();
        const [widget] = form.getTextField('greek').acroField.getWidgets();
        const appearance = widget!.dict.lookup(PDFName.of('AP'), PDFDict).lookup(PDFName.of('N'), PDFStream);
        const values = ['Resources', 'XObject'].reduce(
          (dict, key) => dict.lookup(PDFName.of(key), PDFDict),
          appearance.dict,
        );
        const drawing = values.lookup(PDFName.of('Values')) as PDFRawStream;
        const texts = Buffer.from(decodePDFRawStream(drawing).decode())
          .toString('latin1')
          .match(/\bBT\b/g);
        assert.equal(texts?.length, 1);
      },
    },
    {
      title: 'names that a form cannot have are changed, and no two fields share one',
      html: `<!doctype html><input name="a" value="1"><input name="a" value="2"><input name="a.b" value="3">
        <input name=".." value="4"><input name="x&#7;y&#x202e;z" value="5"><input name="Seal" value="6"><input value="7">
        <input name="${'n'.repeat(5000)}" value="8"><input type="checkbox" name="c" value="Größe (1) #2">
        <form><input type="radio" name="r" value="1"></form><form><input type="radio" name="r" value="2" checked></form>`,
      options: { forms: true },
      proof: async (printed) => {
        const names = (await fieldsOf(printed)).map(({ name }) => name);
        assert.deepEqual(names, [
          'a',
          'a_2',
          'a_b',
          '__',
          'x y z',
          'Seal_2',
          'field',
          'n'.repeat(200),
          'c',
          'r',
          'r_2',
        ]);
      },
    },
  ],
  failures: [
    {
      title: 'by a document with more controls than a form may have',
      html: `<!doctype html>${'<input>'.repeat(MAX_FIELDS + 1)}`,
      options: { forms: true },
      code: 'DOCUMENT_LIMIT',
      message: /a document may have 2000 controls, and this one has more/,
    },
    {
      title: 'by a document whose lists have more options than a form may have',
      html: `<!doctype html><select>${'<option>x'.repeat(20_001)}</select>`,
      options: { forms: true },
      code: 'DOCUMENT_LIMIT',
      message: /a document may have 20000 options in its lists, and this one has more/,
    },
  ],
};

const ORDER = ['person.name', 'person.born', 'sum', 'secret', 'meal', 'terms', 'size', 'extras', 'remarks'];
const order = (name: string) => ORDER.indexOf(name);

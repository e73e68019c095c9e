import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import {
  MARKER_ORIGIN,
  MAX_CHARACTERS,
  MAX_CHOICES,
  MAX_FIELDS,
  type PrintedForm,
} from '../pdf/forms/control.ts';
import { shownTexts } from '../pdf/forms/shown-texts.ts';
import { isWinAnsi } from '../pdf/forms/win-ansi.ts';
import { type FoundControls, MARK, SHOW_VALUES, UNMARK } from './core/form-scripts.ts';
import { defineOption, type PrintStage } from './core/option.ts';

const TOKEN_BYTES = 12;

/** What the document of a render had as it was marked. */
const marked = new WeakMap<PrintStage, Omit<PrintedForm, 'values'>>();

export const forms = defineOption('forms', z.boolean(), {
  stage: 'print',
  documentation:
    'Make fields that can be filled in of the controls of the document: of `input`, `textarea` and `select`, with their names, ' +
    'labels, values, options and bounds. Buttons stay as they are drawn. Up to ' +
    `${MAX_FIELDS} fields; with more, the render fails with DOCUMENT_LIMIT.`,
  default: false,
  // After everything that lays out or prints the document once more.
  order: 6,
  // The marks are taken off again, but what they have caused may stay.
  needs: (value) => ({ navigation: value }),
  async beforePrint(_value, stage) {
    const token = randomBytes(TOKEN_BYTES).toString('hex');
    const found = await stage.page.runIsolated<FoundControls>(
      MARK,
      token,
      MARKER_ORIGIN,
      MAX_FIELDS,
      MAX_CHOICES,
      MAX_CHARACTERS,
    );
    requireFew(found);
    marked.set(stage, { token, controls: found.controls });
  },
  async afterPrint(_value, stage) {
    const form = marked.get(stage);
    if (form === undefined) return;
    const values = await printedValues(form, stage);
    await stage.page.runIsolated(UNMARK);
    if (form.controls.length === 0) return;
    stage.finishBy({
      step: 'forms',
      argument: { ...form, ...(values && { values }) } satisfies PrintedForm,
    });
  },
});

/** The values as Chromium prints them, which has fonts for all of them; undefined where the font of fields does. */
async function printedValues(
  { controls }: Omit<PrintedForm, 'values'>,
  stage: PrintStage,
): Promise<Uint8Array | undefined> {
  const others = controls.filter((control) => !shownTexts(control).every(isWinAnsi));
  if (others.length === 0) return undefined;
  await stage.page.runIsolated(
    SHOW_VALUES,
    others.map(({ id }) => id),
  );
  return await stage.printMargins({ displayHeaderFooter: false });
}

/** @throws PlatenError DOCUMENT_LIMIT for a document that has more than a form may have. */
function requireFew({ count, choices, characters }: FoundControls): void {
  const [found, most, what] =
    count > MAX_FIELDS
      ? ['more', MAX_FIELDS, 'controls']
      : choices > MAX_CHOICES
        ? ['more', MAX_CHOICES, 'options in its lists']
        : [characters, MAX_CHARACTERS, 'characters in its controls'];
  if (typeof found === 'number' && found <= most) return;
  throw new PlatenError(
    'DOCUMENT_LIMIT',
    `With forms, a document may have ${most} ${what}, and this one has ${found}: ` +
      'split it and merge the PDFs of a batch, or leave forms out.',
  );
}

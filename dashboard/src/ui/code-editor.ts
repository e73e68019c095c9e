import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { liquid } from '@codemirror/lang-liquid';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Extension, Transaction } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const LANGUAGES: Readonly<Record<string, () => Extension>> = { json, liquid };

const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.propertyName, tags.variableName], color: 'var(--accent)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.color, tags.unit], color: 'var(--busy)' },
  { tag: [tags.keyword, tags.controlKeyword, tags.processingInstruction], color: 'var(--bad)' },
  { tag: [tags.comment, tags.documentMeta], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.invalid, textDecoration: 'underline wavy var(--bad)' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', fontSize: '0.875rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--quiet)', border: 'none' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
});

/** Where text replaces coloured text, Chromium would write the colour into a style attribute, which the policy forbids. */
const REPLACING = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

// Ctrl Enter is what the page is for. Tab is nobody's: it leads on to the next field, as everywhere.
const KEYS = [...historyKeymap, ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter')];

/**
 * `<code-editor language="liquid">`: a field for text with the colours of its language, which labels are for as for any
 * other. It fires `edit` when the text has been changed by hand.
 *
 * It stands in a shadow root: only there does CodeMirror style itself without what the policy of the pages forbids.
 */
class CodeEditor extends HTMLElement {
  static readonly formAssociated = true;
  readonly #internals = this.attachInternals();
  readonly #shadow = this.attachShadow({ mode: 'open', delegatesFocus: true });
  #view: EditorView | undefined;
  #text = '';

  get labels(): NodeList {
    return this.#internals.labels;
  }

  /** Lines end with a line feed, whatever they ended with before. */
  get value(): string {
    return this.#text;
  }

  set value(value: string) {
    const text = value.replaceAll(/\r\n?/g, '\n');
    if (text === this.#text) return;
    this.#text = text;
    const { state } = this.#view ?? {};
    this.#view?.dispatch({
      changes: { from: 0, to: state?.doc.length ?? 0, insert: text },
      annotations: Transaction.remote.of(true),
    });
  }

  /** Gives it the focus, with the caret behind so many characters. */
  focusAt(caret: number): void {
    this.#view?.focus();
    this.#view?.dispatch({ selection: { anchor: Math.min(caret, this.#text.length) } });
  }

  connectedCallback(): void {
    const { language = 'liquid', hint = '' } = this.dataset;
    this.#view = new EditorView({
      root: this.#shadow,
      parent: this.#shadow,
      doc: this.#text,
      extensions: [
        lineNumbers(),
        history(),
        bracketMatching(),
        EditorView.lineWrapping,
        keymap.of(KEYS),
        REPLACING,
        LANGUAGES[language]?.() ?? [],
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.contentAttributes.of({
          'aria-label': this.labels[0]?.textContent ?? '',
          'aria-description': hint,
        }),
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          if (!docChanged || transactions.some((each) => each.annotation(Transaction.remote))) return;
          this.#text = state.doc.toString();
          this.dispatchEvent(new Event('edit'));
        }),
      ],
    });
    // What is focused first is what text is typed into.
    this.#view.scrollDOM.removeAttribute('tabindex');
  }

  disconnectedCallback(): void {
    this.#view?.destroy();
    this.#view = undefined;
  }
}

customElements.define('code-editor', CodeEditor);

export type { CodeEditor };

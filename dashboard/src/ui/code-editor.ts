import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { liquid } from '@codemirror/lang-liquid';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension, type Text, Transaction } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Problem } from '../problems.ts';

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
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', borderColor: 'var(--edge)' },
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
  #problems: readonly Problem[] = [];

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

  /** What is wrong in the text, marked where it is and in the gutter. */
  set problems(problems: readonly Problem[]) {
    this.#problems = problems;
    const state = this.#view?.state;
    if (state === undefined) return;
    this.#view?.dispatch(setDiagnostics(state, this.#problems.map(diagnosticIn(state.doc))));
  }

  /** Gives it the focus, with the caret behind so many characters. */
  focusAt(caret: number): void {
    this.#view?.focus();
    this.#view?.dispatch({ selection: { anchor: Math.min(caret, this.#text.length) } });
  }

  /** Puts text where the caret is, or at the end of the document if it has never been anywhere. */
  insert(text: string): void {
    const { head } = this.#view?.state.selection.main ?? { head: 0 };
    const end = this.#text.search(/<\/body>\s*(<\/html>\s*)?$/i);
    const from = head > 0 ? head : end < 0 ? this.#text.length : end;
    this.#view?.focus();
    this.#view?.dispatch({
      changes: { from, insert: text },
      selection: { anchor: from + text.length },
      userEvent: 'input.paste',
    });
  }

  connectedCallback(): void {
    const { language = 'liquid', hint = '', readOnly } = this.dataset;
    this.#view = new EditorView({
      root: this.#shadow,
      parent: this.#shadow,
      doc: this.#text,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        bracketMatching(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(readOnly !== undefined),
        keymap.of(KEYS),
        REPLACING,
        LANGUAGES[language]?.() ?? [],
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.contentAttributes.of({
          'aria-label': this.labels[0]?.textContent ?? '',
          'aria-description': hint,
          // As it is without it, but known to whoever looks for what is focused.
          tabindex: '0',
        }),
        EditorView.updateListener.of(({ docChanged, transactions, state }) => {
          if (!docChanged || transactions.some((each) => each.annotation(Transaction.remote))) return;
          this.#text = state.doc.toString();
          this.dispatchEvent(new Event('edit'));
        }),
      ],
    });
    this.problems = this.#problems;
    // What is focused first is what text is typed into.
    this.#view.scrollDOM.removeAttribute('tabindex');
  }

  disconnectedCallback(): void {
    this.#view?.destroy();
    this.#view = undefined;
  }
}

/** Marks the rest of the line from where a problem is; a line that is not there any more is the last one. */
function diagnosticIn(text: Text): (problem: Problem) => Diagnostic {
  return ({ line: number, column = 1, message, severity = 'error' }) => {
    const line = text.line(Math.min(Math.max(1, number), text.lines));
    const from = Math.min(line.from + column - 1, line.to);
    return { from, to: Math.max(from, line.to), severity, message };
  };
}

customElements.define('code-editor', CodeEditor);

export type { CodeEditor };

/** The editor's theme: the page's custom properties, which follow light and dark and are inherited by the shadow root. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.comment, color: 'var(--ink-soft)', fontStyle: 'italic' },
    { tag: tags.string, color: 'var(--good-ink)' },
    { tag: tags.number, color: 'var(--warn-ink)' },
    { tag: tags.keyword, color: 'var(--line-4)' },
    { tag: tags.propertyName, color: 'var(--accent-ink)' },
    { tag: tags.atom, color: 'var(--line-5)' },
  ]),
)

const frame = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--raised)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    color: 'var(--ink-soft)',
    backgroundColor: 'var(--sunken)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '.cm-activeLineGutter': { color: 'var(--ink)', backgroundColor: 'var(--hover)' },
  '& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    { background: 'color-mix(in srgb, var(--accent) 30%, transparent)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn-ink)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
  '.cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--sunken)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    gap: '6px',
    alignItems: 'center',
    padding: '8px 36px 8px 12px',
    fontFamily: 'var(--sans)',
  },
  '.cm-panel.cm-search br': { flexBasis: '100%', height: '0', content: '""' },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    gap: '4px',
    alignItems: 'center',
    margin: '0',
    fontSize: '0.8125rem',
  },
  '.cm-panel.cm-search [name=close]': {
    top: '8px',
    right: '8px',
    width: '28px',
    height: '28px',
    color: 'var(--ink-soft)',
    fontSize: '1.125rem',
    cursor: 'pointer',
    borderRadius: 'var(--round)',
  },
  '.cm-panel.cm-search [name=close]:hover': { backgroundColor: 'var(--hover)' },
  '.cm-textfield, .cm-panel.cm-search .cm-textfield': {
    boxSizing: 'border-box',
    height: '30px',
    padding: '0 8px',
    margin: '0',
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round)',
    fontSize: '0.8125rem',
  },
  '.cm-button, .cm-panel.cm-search .cm-button': {
    height: '30px',
    padding: '0 10px',
    margin: '0',
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round)',
    fontSize: '0.8125rem',
    cursor: 'pointer',
  },
  '.cm-button:hover': { backgroundColor: 'var(--hover)' },
  '.cm-panels :focus-visible': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    fontFamily: 'var(--sans)',
    fontSize: '0.8125rem',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--ink)',
    background: 'var(--accent-soft)',
  },
  '.cm-completionLabel': { fontFamily: 'var(--mono)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontStyle: 'normal' },
  '.cm-vcl-help': { display: 'grid', gap: '0.25rem', maxWidth: '28rem', padding: '0.5rem' },
  '.cm-vcl-help p': { margin: '0' },
  '.cm-vcl-help code': { fontFamily: 'var(--mono)', color: 'var(--accent-ink)' },
  '.cm-vcl-help small': { color: 'var(--ink-soft)' },
  '.cm-changedLine': { backgroundColor: 'var(--good-soft) !important' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': {
    backgroundColor: 'var(--bad-soft) !important',
  },
  '.cm-changedText, &.cm-merge-a .cm-changedText, .cm-deletedText': {
    background: 'none !important',
    textDecoration: 'underline',
    textDecorationThickness: '2px',
  },
  '.cm-collapsedLines': {
    color: 'var(--ink-soft)',
    background: 'var(--sunken)',
  },
})

export const editorTheme = [colours, frame]

/**
 * One file being edited: the coordinator's version, the text in the editor, and the merge of the two. Saving replaces the
 * version that the text is based on; if another user saved meanwhile, both texts are shown.
 */
import type { EditorState } from '@codemirror/state'
import { computed, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { call } from '../../api/call.js'
import { startRetries } from '../../api/connection.js'
import type { WholeFile } from '../../../resources/file.js'
import type { CallError, Outcome } from '../../api/http.js'
import { whenChanged } from '../../api/object.js'
import { makeState } from '../../editor/editor.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { toast } from '../../parts/toasts.js'
import { mayWrite } from '../../session/rights.js'
import { draftKeyOf, keepDraft, readDraft, useUnsaved, type Draft } from './draft.js'
import { isSameText, restoreLineEnds } from './line-ends.js'

/** The file as last read. */
export interface Newest {
  readonly file: WholeFile
  readonly etag: string | null
}

/** The version that the text is based on. */
interface Base {
  readonly etag: string | null
  readonly version: number
  /** Null: unknown, for a draft. */
  readonly source: string | null
}

/** Its methods never reject. */
export class EditedFile {
  readonly newest = signal<Newest | null>(null)
  readonly base = signal<Base | null>(null)
  /** Null: the file is not text. */
  readonly state = signal<EditorState | null>(null)
  /** Changes with each text that replaces the one in the editor. */
  readonly beginning = signal(0)
  /** The version another user saved since `base`, shown beside the text. */
  readonly conflict = signal<Newest | null>(null)
  /** A text that a cache refused: saving it needs confirmation. */
  readonly broken = signal<{ readonly text: string; readonly why: string } | null>(null)
  readonly error = signal<CallError | null>(null)
  readonly isBusy = signal(false)
  readonly isChanged = computed(() => {
    const before = this.base.value?.source ?? this.newest.value?.file.source
    const isText = this.state.value !== null
    return isText && before !== undefined && !isSameText(this.#text, before)
  })
  /** True if another user saved since `base`; their text is not taken over automatically. */
  readonly isOutdated = computed(
    () => this.base.value !== null && this.base.value.version !== this.newest.value?.file.version,
  )
  readonly #path: string
  readonly #draftKey: string

  constructor(id: string) {
    this.#path = `/files/${encodeURIComponent(id)}`
    this.#draftKey = draftKeyOf(id)
  }

  async load(): Promise<void> {
    const found = await this.#read()
    // Of two reads the first counts: the user may be typing already.
    if (!found || this.newest.peek()) return
    const draft = readDraft(this.#draftKey)
    if (!draft || isSameText(draft.text, found.file.source)) {
      this.#restart(found)
      return
    }
    const { text, etag, version } = draft
    const isNewest = version === found.file.version
    this.#begin(found, text, isNewest ? baseOf(found) : { etag, version, source: null })
  }

  /** Reads the file again after any change; the text shown stays, even if it is outdated. */
  async follow(): Promise<void> {
    const outcome = await call<WholeFile>('GET', this.#path)
    const before = this.newest.peek()
    if (!before) return
    if (!outcome.ok) {
      // Other errors are temporary, or appear when saving.
      const errorMsg = `${before.file.name} was deleted by somebody else. Its text is still in this editor.`
      if (outcome.error.status === 404) this.error.value = { ...outcome.error, errorMsg }
      return
    }
    const now = toNewest(outcome)
    // A late response: the text saved here meanwhile is newer.
    if (now.etag === before.etag || now.file.updated < before.file.updated) return
    if (this.state.peek()) this.#update(now, before)
    else this.#restart(now)
  }

  /** Saves over `base`, or over a newer version. */
  async save(over: Pick<Newest, 'etag'> | null = this.base.peek()): Promise<void> {
    const begun = this.newest.peek()
    if (this.isBusy.peek() || !begun || this.state.peek()?.readOnly !== false) return
    if (!(await this.#isMeant(begun.file.name)) || this.isBusy.peek()) return
    this.isBusy.value = true
    const source = restoreLineEnds(this.#text, begun.file.source)
    const outcome = await this.#put({ source, encoded: false }, over)
    if (outcome.ok) {
      this.newest.value = toNewest(outcome)
      this.base.value = baseOf(this.newest.value)
      this.conflict.value = null
      this.error.value = null
      toast(`Saved as version ${outcome.value.version}.`)
    } else if (outcome.error.status === 412) {
      this.conflict.value = await this.#read()
      if (this.conflict.value) this.newest.value = this.conflict.value
    } else this.error.value = outcome.error
    this.isBusy.value = false
  }

  async #isMeant(name: string): Promise<boolean> {
    const broken = this.broken.peek()
    if (broken === null || !isSameText(broken.text, this.#text)) return true
    return confirmDestruction({
      title: `Save ${name} although it does not compile?`,
      text: `${broken.why} A deploy of it would be refused.`,
      verb: 'Save anyway',
    })
  }

  /** Changes the name or another field of the version last read; the text in the editor stays. */
  async change(body: object): Promise<Outcome<WholeFile>> {
    const before = this.newest.peek()
    const outcome = await this.#put(body, before)
    if (outcome.ok) this.#update(toNewest(outcome), before)
    return outcome
  }

  /** Replaces the saved text; also the text in the editor, unless it has unsaved changes. */
  async replace(body: Pick<WholeFile, 'source' | 'encoded'>): Promise<Outcome<WholeFile>> {
    const wasChanged = this.isChanged.peek()
    const outcome = await this.#put(body, this.newest.peek())
    if (!outcome.ok) return outcome
    if (wasChanged) this.newest.value = toNewest(outcome)
    else this.#restart(toNewest(outcome))
    return outcome
  }

  /** Puts another text into the editor and keeps `base`. */
  write(text: string): void {
    const [from, over] = [this.newest.peek(), this.base.peek()]
    if (from && over && !isSameText(text, this.#text)) this.#begin(from, text, over)
  }

  /** Replaces the text in the editor; the toast offers undo. */
  drop(from: Newest): void {
    const text = this.#text
    const over = this.base.peek()
    this.#restart(from)
    if (!over) return
    const undo = (): void => {
      this.#begin(this.newest.peek() ?? from, text, over)
      // If the user left the view meanwhile, the draft restores it there.
      keepDraft(this.#draftKey, toDraft(text, over))
    }
    toast('Your changes are discarded.', { undo })
  }

  /** Shows the newest version unless the text has changes. */
  showNewest(): void {
    const from = this.newest.peek()
    if (from && !this.isChanged.peek()) this.#restart(from)
  }

  /** Returns the unsaved text; null: none. */
  readUnsaved(): Draft | null {
    const over = this.base.peek()
    return this.isChanged.peek() && over ? toDraft(this.#text, over) : null
  }

  get #text(): string {
    return this.state.value?.doc.toString() ?? ''
  }

  async #read(): Promise<Newest | null> {
    const outcome = await call<WholeFile>('GET', this.#path)
    this.error.value = outcome.ok ? null : outcome.error
    return outcome.ok ? toNewest(outcome) : null
  }

  #put(body: object, over: Pick<Newest, 'etag'> | null): Promise<Outcome<WholeFile>> {
    return call<WholeFile>('PUT', this.#path, { body, ifMatch: over?.etag ?? null })
  }

  #restart(from: Newest): void {
    this.#begin(from, from.file.source, baseOf(from))
    this.conflict.value = null
  }

  #begin(from: Newest, text: string, over: Base): void {
    const { name, encoded } = from.file
    this.newest.value = from
    this.base.value = over
    this.beginning.value++
    const label = `Text of ${name}`
    const onSave = () => {
      if (this.isChanged.peek()) void this.save()
    }
    const isReadOnly = !mayWrite('file')
    this.state.value = encoded ? null : makeState({ text, label, isReadOnly, onSave })
  }

  /** A changed name or type does not conflict with the text. */
  #update(now: Newest, before: Newest | null): void {
    this.newest.value = now
    const begun = this.base.peek()
    if (begun?.etag === before?.etag && begun?.version === now.file.version)
      this.base.value = baseOf(now)
  }
}

export function useEditedFile(id: string): EditedFile {
  const edited = useMemo(() => new EditedFile(id), [id])
  useEffect(() => saveByKey(edited), [edited])
  useEffect(() => {
    const load = async (): Promise<void> => {
      if (edited.newest.peek()) return
      await edited.load()
      retries.note(edited.newest.peek() ? null : edited.error.peek())
    }
    const retries = startRetries(() => void load())
    void load()
    const stopFollowing = whenChanged(['file'], Number(id), () => void edited.follow())
    return () => {
      retries.stop()
      stopFollowing()
    }
  }, [edited])
  useUnsaved(id, () => edited.readUnsaved())
  return edited
}

/** Saves on Ctrl+S anywhere in the view; the editor has its own binding. Returns the function that removes it. */
function saveByKey(edited: EditedFile): () => void {
  const save = (event: KeyboardEvent): void => {
    const isSave = (event.ctrlKey || event.metaKey) && !event.altKey && event.key === 's'
    if (!isSave || event.defaultPrevented) return
    event.preventDefault()
    if (edited.isChanged.peek() && !document.querySelector('dialog[open]')) void edited.save()
  }
  addEventListener('keydown', save)
  return () => {
    removeEventListener('keydown', save)
  }
}

function toNewest({ value, etag }: Extract<Outcome<WholeFile>, { readonly ok: true }>): Newest {
  return { file: value, etag }
}

function baseOf({ etag, file: { version, source } }: Newest): Base {
  return { etag, version, source }
}

function toDraft(text: string, { etag, version }: Base): Draft {
  return { text, etag, version }
}

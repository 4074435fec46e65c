/**
 * One file while it is edited: what the coordinator has, what stands in the editor, and how the two meet. The text is
 * written over the version that it was begun from; when somebody else saved meanwhile, both are put before the person.
 */
import type { EditorState } from '@codemirror/state'
import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { WholeFile } from '../../../resources/file.js'
import type { CallError, Outcome } from '../../api/http.js'
import { whenChanged } from '../../api/object.js'
import { makeState } from '../../editor/editor.js'
import { toast } from '../../parts/toasts.js'
import { mayWrite } from '../../session/rights.js'
import { draftKeyOf, keepDraft, readDraft, useUnsaved, type Draft } from './draft.js'
import { isSameText, restoreLineEnds } from './line-ends.js'

/** As it was read last. */
export interface Newest {
  readonly file: WholeFile
  readonly etag: string | null
}

/** What the text was begun from. */
interface Base {
  readonly etag: string | null
  readonly version: number
  /** Null: of a draft it is not known any more. */
  readonly source: string | null
}

export interface EditedFile {
  readonly newest: Newest | null
  readonly base: Base | null
  /** Null: it is no text. */
  readonly state: Signal<EditorState | null>
  /** Another number for each text that is begun. */
  readonly beginning: number
  readonly isChanged: boolean
  /** Somebody else saved since `base`: nothing is taken over by itself. */
  readonly isOutdated: boolean
  /** Somebody else's, saved since `base`, that stands beside the text now. */
  readonly conflict: Newest | null
  readonly error: CallError | null
  readonly isBusy: boolean
  readonly load: () => Promise<void>
  /** Over `base`, or over what another version is by now. */
  readonly save: (over?: Newest) => Promise<void>
  /** Another text into the editor, with `base` as it is. */
  readonly write: (text: string) => void
  /** Its name or another field, over what was read last; the text in the editor stays. */
  readonly change: (body: object) => Promise<Outcome<WholeFile>>
  /** Another text in its place; in the editor too, unless something unsaved stands there. */
  readonly replace: (body: Pick<WholeFile, 'source' | 'encoded'>) => Promise<Outcome<WholeFile>>
  /** The text begins anew from there; what stood in the editor can be had back for a while. */
  readonly drop: (from: Newest) => void
  /** Begins anew from what is the newest by now, where nothing was changed. */
  readonly show: () => void
  readonly openConflict: () => void
  readonly closeConflict: () => void
  readonly tell: (error: CallError) => void
  /** The file is gone: there is nothing to keep. */
  readonly forget: () => void
}

export function useEditedFile(id: string): EditedFile {
  const newest = useSignal<Newest | null>(null)
  const base = useSignal<Base | null>(null)
  const state = useSignal<EditorState | null>(null)
  const beginning = useSignal(0)
  const conflict = useSignal<Newest | null>(null)
  const error = useSignal<CallError | null>(null)
  const isBusy = useSignal(false)
  const latest = useRef<() => void>(() => undefined)

  const path = `/files/${encodeURIComponent(id)}`
  const hasChanges = (): boolean => {
    const before = base.peek()?.source ?? newest.peek()?.file.source
    return state.peek() !== null && before !== undefined && !isSameText(readText(), before)
  }
  const readText = (): string => state.peek()?.doc.toString() ?? ''

  const begin = (from: Newest, text: string, over: Base): void => {
    newest.value = from
    base.value = over
    beginning.value++
    state.value = from.file.encoded ? null : makeState({ text, ...about(from.file, latest) })
  }
  const restart = (from: Newest): void => {
    begin(from, from.file.source, baseOf(from))
    conflict.value = null
  }
  const drop = (from: Newest): void => {
    const text = readText()
    const over = base.peek()
    restart(from)
    if (!over) return
    const undo = (): void => {
      begin(newest.peek() ?? from, text, over)
      // Who left the view meanwhile finds it there again.
      keepDraft(draftKeyOf(id), toDraft(text, over))
    }
    toast('Your text is dropped.', { undo })
  }
  const read = async (): Promise<Newest | null> => {
    const outcome = await call<WholeFile>('GET', path)
    error.value = outcome.ok ? null : outcome.error
    return outcome.ok ? { file: outcome.value, etag: outcome.etag } : null
  }
  const load = async (): Promise<void> => {
    const found = await read()
    if (!found) return
    const draft = readDraft(draftKeyOf(id))
    if (draft && !isSameText(draft.text, found.file.source)) {
      const { text, etag, version } = draft
      const isNewest = version === found.file.version
      begin(found, text, isNewest ? baseOf(found) : { etag, version, source: null })
    } else restart(found)
  }
  /** What is shown stays; that it is not the newest any more is told. */
  const follow = async (): Promise<void> => {
    const outcome = await call<WholeFile>('GET', path)
    const before = newest.peek()
    if (!before) return
    if (!outcome.ok) {
      // What else is wrong passes, or is told when it is saved.
      const errorMsg = `${before.file.name} was deleted by somebody else. Its text still stands here.`
      if (outcome.error.status === 404) error.value = { ...outcome.error, errorMsg }
      return
    }
    const now = { file: outcome.value, etag: outcome.etag }
    // Answered late: what was saved here meanwhile is newer.
    if (now.etag === before.etag || now.file.updated < before.file.updated) return
    if (state.peek()) take(now, before)
    else restart(now)
  }
  const change = async (body: object): Promise<Outcome<WholeFile>> => {
    const before = newest.peek()
    const outcome = await call<WholeFile>('PUT', path, { body, ifMatch: before?.etag ?? null })
    if (outcome.ok) take({ file: outcome.value, etag: outcome.etag }, before)
    return outcome
  }
  const replace: EditedFile['replace'] = async (body) => {
    const wasChanged = hasChanges()
    const before = newest.peek()
    const outcome = await call<WholeFile>('PUT', path, { body, ifMatch: before?.etag ?? null })
    if (!outcome.ok) return outcome
    const now = { file: outcome.value, etag: outcome.etag }
    if (wasChanged) newest.value = now
    else restart(now)
    return outcome
  }
  /** Another name or type is no conflict with the text. */
  const take = (now: Newest, before: Newest | null): void => {
    newest.value = now
    const begun = base.peek()
    if (begun?.etag === before?.etag && begun?.version === now.file.version)
      base.value = baseOf(now)
  }
  const save = async (over?: Newest): Promise<void> => {
    const begun = newest.peek()
    if (isBusy.peek() || !begun || state.peek()?.readOnly !== false) return
    isBusy.value = true
    const source = restoreLineEnds(readText(), begun.file.source)
    const ifMatch = (over ?? base.peek())?.etag ?? null
    const outcome = await call<WholeFile>('PUT', path, {
      body: { source, encoded: false },
      ifMatch,
    })
    if (outcome.ok) {
      newest.value = { file: outcome.value, etag: outcome.etag }
      base.value = baseOf(newest.value)
      conflict.value = null
      error.value = null
      toast(`Saved as version ${outcome.value.version}.`)
    } else if (outcome.error.status === 412) {
      conflict.value = await read()
      if (conflict.value) newest.value = conflict.value
    } else error.value = outcome.error
    isBusy.value = false
  }
  latest.current = () => void save() // never rejects

  useEffect(() => {
    void load()
    return whenChanged(['file'], Number(id), () => void follow()) // never rejects
  }, [id])
  useUnsaved(id, () => {
    const over = base.peek()
    return hasChanges() && over ? toDraft(readText(), over) : null
  })

  return {
    ...{ newest: newest.value, base: base.value, state, beginning: beginning.value },
    isChanged: state.value !== null && hasChanges(),
    isOutdated: base.value !== null && base.value.version !== newest.value?.file.version,
    ...{ conflict: conflict.value, error: error.value, isBusy: isBusy.value },
    ...{ load, save, change, replace, drop },
    write: (text) => {
      const [from, over] = [newest.peek(), base.peek()]
      if (from && over && !isSameText(text, readText())) begin(from, text, over)
    },
    show: () => {
      const from = newest.peek()
      if (from && !hasChanges()) restart(from)
    },
    openConflict: () => {
      conflict.value = newest.peek()
    },
    closeConflict: () => {
      conflict.value = null
    },
    tell: (wrong) => {
      error.value = wrong
    },
    forget: () => {
      state.value = null
    },
  }
}

function baseOf({ etag, file: { version, source } }: Newest): Base {
  return { etag, version, source }
}

function toDraft(text: string, { etag, version }: Base): Draft {
  return { text, etag, version }
}

function about(file: WholeFile, latest: { readonly current: () => void }) {
  return {
    label: `Text of ${file.name}`,
    isReadOnly: !mayWrite('file'),
    onSave: () => {
      latest.current()
    },
  }
}

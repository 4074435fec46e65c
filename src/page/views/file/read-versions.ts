/** The versions of a file, and the text of one: what a version was it stays. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { call } from '../../api/call.js'
import type { FileVersion, WholeVersion } from '../../../resources/file.js'
import type { CallError, Outcome } from '../../api/http.js'

/** Chosen by us: the newest ones of a file that has more. */
const versionsMost = 1_000

export interface Versions {
  /** Null: not read yet. */
  readonly rows: readonly FileVersion[] | null
  readonly error: CallError | null
  readonly readText: (version: number) => Promise<Outcome<WholeVersion>>
}

/** Read again when there is a newer one. */
export function useVersions(id: string, newest: number): Versions {
  const rows = useSignal<readonly FileVersion[] | null>(null)
  const error = useSignal<CallError | null>(null)
  useEffect(() => {
    if (newest === 0) return
    const abort = new AbortController()
    const query = `sort=version:desc&take=${versionsMost}`
    const path = `/files/${encodeURIComponent(id)}/versions?${query}`
    void call<readonly FileVersion[]>('GET', path, { signal: abort.signal }).then((outcome) => {
      if (abort.signal.aborted) return
      error.value = outcome.ok ? null : outcome.error
      if (outcome.ok) rows.value = outcome.value
    })
    return () => {
      abort.abort()
    }
  }, [id, newest])

  const readText = useMemo(() => {
    const texts = new Map<number, Outcome<WholeVersion>>()
    return async (version: number): Promise<Outcome<WholeVersion>> => {
      const path = `/files/${encodeURIComponent(id)}/versions/${version}`
      const outcome = texts.get(version) ?? (await call<WholeVersion>('GET', path))
      if (outcome.ok) texts.set(version, outcome)
      return outcome
    }
  }, [id])
  return { rows: rows.value, error: error.value, readText }
}

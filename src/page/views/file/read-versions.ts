/** The versions of a file and the text of each; a version never changes. */
import { useMemo } from 'preact/hooks'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { FileVersion, WholeVersion } from '../../../resources/file.js'
import type { CallError, Outcome } from '../../api/http.js'

/** Of a file with more versions, the newest are read. */
const maxVersions = 1_000

export interface Versions {
  /** Null: not read yet. */
  readonly rows: readonly FileVersion[] | null
  readonly error: CallError | null
  readonly readText: (version: number) => Promise<Outcome<WholeVersion>>
}

/** Reads the versions again when there is a newer one. */
export function useVersions(id: string, newest: number): Versions {
  const path = `/files/${encodeURIComponent(id)}/versions`
  const key = newest === 0 ? null : JSON.stringify([id, newest])
  const read = useAnswer(key, nothing, async (signal, { rows }) => {
    const query = `sort=version:desc&take=${maxVersions}`
    const outcome = await call<readonly FileVersion[]>('GET', `${path}?${query}`, { signal })
    return outcome.ok ? { rows: outcome.value, error: null } : { rows, error: outcome.error }
  })

  const readText = useMemo(() => {
    const texts = new Map<number, Outcome<WholeVersion>>()
    return async (version: number): Promise<Outcome<WholeVersion>> => {
      const known = texts.get(version)
      const outcome = known ?? (await call<WholeVersion>('GET', `${path}/${version}`))
      if (outcome.ok) texts.set(version, outcome)
      return outcome
    }
  }, [id])
  return { ...read, readText }
}

const nothing: Omit<Versions, 'readText'> = { rows: null, error: null }

/** What the coordinator finds in the whole of its log, by its indexes: the list holds the newest of it only. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApiLogEntry } from '../../../resources/api-log-entry.js'
import { useList, type List } from '../../api/list.js'
import { isTraceId } from './filter-entries.js'

/** A pause in typing. */
const pauseMs = 300

/** The entries of one trace. `text`: as it was typed; what is not a trace id finds nothing. */
export function useTraced(text: string): List<ApiLogEntry> {
  const settled = useSignal(text)
  useEffect(() => {
    const pause = setTimeout(() => {
      settled.value = text
    }, pauseMs)
    return () => {
      clearTimeout(pause)
    }
  }, [text])
  const traceId = settled.value
  const found = useList<ApiLogEntry>(isTraceId(traceId) ? '/apilogs' : null, {
    query: { traceId, sort: 'id:desc' },
  })
  return isTraceId(text) && text !== traceId ? { ...found, phase: 'loading' } : found
}

/** The entry that the address names: one of the list, or an older one. */
export function useEntry(list: List<ApiLogEntry>, id: string): ApiLogEntry | undefined {
  const listed = list.rows.find((one) => String(one.id) === id)
  const isOlder = !listed && list.phase === 'ready' && /^[1-9]\d{0,15}$/.test(id)
  const older = useList<ApiLogEntry>(isOlder ? '/apilogs' : null, { query: { id } })
  return listed ?? older.rows[0]
}

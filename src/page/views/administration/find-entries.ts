/** Searches the coordinator's whole log by its indexes, since the list holds only the newest entries. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApiLogEntry } from '../../../resources/api-log-entry.js'
import { useList, type List } from '../../api/list.js'
import { isTraceId } from './filter-entries.js'

/** Waits for a pause in typing. */
const pauseMs = 300

/** Returns the entries of one trace. `text`: as typed; text that is not a trace id finds nothing. */
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

/** Returns the entry named in the address: from the list, or an older one. */
export function useEntry(list: List<ApiLogEntry>, id: string): ApiLogEntry | undefined {
  const listed = list.rows.find((one) => String(one.id) === id)
  const isOlder = !listed && list.phase === 'ready' && /^[1-9]\d{0,15}$/.test(id)
  const older = useList<ApiLogEntry>(isOlder ? '/apilogs' : null, { query: { id } })
  return listed ?? older.rows[0]
}

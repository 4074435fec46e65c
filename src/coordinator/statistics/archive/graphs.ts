/** The named graphs and the counters of each (docs/behaviour.md, Graphs). */
import { kindOfCounter } from '../../../resources/counters.js'
import type { Consolidation } from './consolidation.js'

interface GraphMember {
  /** Its key in the response. */
  readonly key: string
  /** The current name of the counter. */
  readonly counter: string
}

/** Counters that operators read together. */
const graphs: ReadonlyMap<string, readonly GraphMember[]> = new Map([
  ['avghitratio', main('cache_hit', 'cache_hitpass', 'cache_miss', 'client_req')],
  ['traffic', main('client_req', 'sess_conn', 's_resp_hdrbytes', 's_resp_bodybytes', 's_pass')],
  [
    'backend',
    main(
      'backend_req',
      'backend_conn',
      'backend_reuse',
      'backend_fail',
      'backend_unhealthy',
    ).concat(main('backend_busy', 'fetch_failed')),
  ],
  [
    'threads',
    main(
      'threads',
      'thread_queue_len',
      'threads_created',
      'threads_limited',
      'threads_failed',
    ).concat(main('sess_queued', 'sess_dropped')),
  ],
  [
    'storage',
    [
      ...main('n_object', 'n_expired', 'n_lru_nuked'),
      ...full('SMA.s0.g_bytes', 'SMA.s0.g_space', 'SMA.Transient.g_bytes'),
      ...full('SMF.s0.g_bytes', 'SMF.s0.g_space'),
    ],
  ],
])

export const graphNames: readonly string[] = [...graphs.keys()]

/** Undefined if there is no graph of this name. */
export function findGraph(name: string): readonly GraphMember[] | undefined {
  return graphs.get(name)
}

/**
 * The consolidation function for a graph's member: events per row for a counter unless a rate was requested; the level for a
 * gauge (docs/behaviour.md, Graphs).
 */
export function functionOfMember(counter: string, asked: Consolidation): Consolidation {
  if (kindOfCounter(counter) === 'gauge') return asked === 'TOTAL' ? 'AVERAGE' : asked
  return asked === 'LAST' ? 'TOTAL' : asked
}

/** Counters of a graph are whole numbers. */
export function toGraphValue(counter: string, value: number): number {
  return kindOfCounter(counter) === 'gauge' ? value : Math.round(value)
}

function main(...fields: readonly string[]): GraphMember[] {
  return fields.map((key) => ({ key, counter: `MAIN.${key}` }))
}

function full(...names: readonly string[]): GraphMember[] {
  return names.map((key) => ({ key, counter: key }))
}

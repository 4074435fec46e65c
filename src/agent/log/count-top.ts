/** Counts the most frequent items of this cache's traffic for a while, in limited memory. */
import type { TopAnswer, TopQuestion } from '../../messages/live-log.js'
import type { TopKind } from '../../resources/logged-transaction.js'
import { pauseFor } from '../../runtime/pause.js'
import type { Masking } from '../../traffic/masking.js'
import { SpaceSaving } from '../../traffic/space-saving.js'
import type { LogChildren } from './log-children.js'
import type { ServedGroups } from './served-groups.js'
import { TransactionReader, type GroupedTransaction } from './transaction-reader.js'
import { isWanted, judgeWanted, toRun } from './wanted-log.js'

interface TopParts {
  readonly children: LogChildren
  readonly groups: ServedGroups
  readonly masking: Omit<Masking, 'masksClients'>
}

/** Keys counted at once: a key with more than one in this many requests is certainly among them. */
const maxKeys = 10_000
const keyLimitCharacters = 512
const slowMs = 1_000

/** Rejects with the reason why the log cannot be read, and with FleetError 'invalid' for fields that this host masks. */
export async function countTop(
  { children, groups, masking }: TopParts,
  { by, seconds, most, wanted }: TopQuestion,
  signal: AbortSignal,
): Promise<TopAnswer> {
  judgeWanted(wanted, masking)
  await groups.refresh()
  const sketch = new SpaceSaving(maxKeys)
  const ending = new AbortController()
  let total = 0
  const trouble: string[] = []
  const reader = new TransactionReader({
    masking: { ...masking, masksClients: true },
    groupOf: (host) => groups.groupOf(host),
    isWanted: (group) => isWanted(wanted, group),
    hasRoom: () => true,
    take: (transaction) => {
      const counted = toCounted(by, transaction)
      if (counted === null) return
      total += counted.weight
      sketch.add(counted.key.slice(0, keyLimitCharacters), counted.weight)
    },
    drop: () => undefined,
  })
  const leave = children.read(toRun(wanted, groups), {
    onLine: (line) => {
      reader.read(line)
    },
    onEnd: (why) => {
      trouble.push(why)
      ending.abort()
    },
  })
  await pauseFor(seconds * 1000, AbortSignal.any([signal, ending.signal]))
  reader.flush()
  reader.stop()
  await leave()
  if (trouble.length > 0) throw new Error(trouble.join())
  return { total, top: sketch.listTop(most) }
}

/** Null: it does not count. A URL includes the host, since a path alone would be ambiguous. */
function toCounted(
  by: TopKind,
  { url, host, status, handling, backend, bytes, durationMs }: GroupedTransaction,
): { readonly key: string; readonly weight: number } | null {
  const whole = `${host}${url}`
  switch (by) {
    case 'url':
      return { key: whole, weight: 1 }
    case 'bytes':
      return { key: whole, weight: bytes }
    case 'missUrl':
      return handling === 'miss' ? { key: whole, weight: 1 } : null
    case 'slowUrl':
      return (durationMs ?? 0) > slowMs ? { key: whole, weight: 1 } : null
    case 'host':
      return { key: host, weight: 1 }
    case 'status':
      return { key: String(status), weight: 1 }
    case 'backend':
      return { key: backend, weight: 1 }
  }
}

/**
 * The last good state and the 20 before it (docs/behaviour.md, Saved state): `history/<number>.json`, read at the start and by
 * `cachefleetd rollback`.
 */
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRecord, type AgentRecord } from '../agent-record.js'
import { findServing } from '../engine/boot-file.js'

export interface GoodState {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly record: AgentRecord
}

const historyFile = /^\d{9}\.json$/

/** Oldest first. Skips damaged files; returns none if the folder does not exist. */
export async function readGoodStates(folder: string): Promise<GoodState[]> {
  const files = (await readdir(folder).catch(() => [])).filter((name) => historyFile.test(name))
  const good: GoodState[] = []
  for (const file of files.toSorted()) {
    const path = join(folder, file)
    const record = parseRecord(await readFile(path, 'utf8').catch(() => ''))
    if (record) good.push({ number: parseInt(file, 10), at: (await stat(path)).mtimeMs, record })
  }
  return good
}

/** Returns the newest state that serves something other than the current desired state; undefined when there is none. */
export function findEarlier(
  good: readonly GoodState[],
  { desired }: Pick<AgentRecord, 'desired'>,
): GoodState | undefined {
  const now = describeServing({ desired })
  return good.findLast(({ record }) => record.desired !== null && describeServing(record) !== now)
}

/** Names what serves requests in this state: the active VCL and the targets of labels. */
export function describeServing({ desired }: Pick<AgentRecord, 'desired'>): string {
  if (desired === null) return 'nothing'
  const { active, labels } = findServing(desired)
  return [active, ...labels.map(({ label, program }) => `${label}=${program}`)].join(' ')
}

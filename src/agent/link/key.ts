/** The agent's own credential: 256 random bits, generated before the first connection, in a file that only the agent can read. */
import { createHash, randomBytes } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { readIfThere, writeDurably } from '../../runtime/durable-file.js'

export interface AgentKey {
  /** Hex; sent as `Authorization: Agent <key>` and never logged. */
  readonly secret: string
  /** SHA-256 (hex): the coordinator stores only this. */
  readonly digest: string
  /** Generated in this run: no coordinator knows it before the first welcome. */
  readonly isNew: boolean
}

export function createKey(): AgentKey {
  return { ...keyOf(randomBytes(32).toString('hex')), isNew: true }
}

export function keyOf(secret: string): AgentKey {
  return { secret, digest: createHash('sha256').update(secret).digest('hex'), isNew: false }
}

/** Reads `<folder>/agent.key`; creates it if missing, and sets a damaged one aside. The folder must exist. */
export async function openKey(folder: string, log: Logger): Promise<AgentKey> {
  const path = join(folder, 'agent.key')
  const text = await readIfThere(path)
  if (text !== null && /^[0-9a-f]{64}\n?$/.test(text)) return keyOf(text.trim())
  if (text !== null) {
    await rename(path, `${path}.broken`)
    log.error('agent.key could not be read and was set aside: this agent needs a join token again')
  }
  const key = createKey()
  await writeDurably(path, `${key.secret}\n`)
  return key
}

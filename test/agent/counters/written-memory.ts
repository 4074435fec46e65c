/** A cache's shared memory, written by the test as releases, restarts and faults leave it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

interface WrittenProcess {
  /** Second word of the first line. */
  readonly start?: number
  /** Value of `MAIN.client_req` (or `MGT.uptime`). */
  readonly value: bigint
  /** First word of the head: 0 while it is being made, 2 for a cold VCL. */
  readonly ready?: number
  /** Lines without the sign, as 6.0.0 writes them. */
  readonly isUnsigned?: boolean
  readonly description?: string
  readonly moreLines?: readonly string[]
}

interface WrittenMemory {
  readonly folder: string
  readonly write: (name: 'mgt' | 'child', process: WrittenProcess) => Promise<void>
}

const headBytes = 24

export async function createWrittenMemory(t: Test): Promise<WrittenMemory> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-memory-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const write: WrittenMemory['write'] = async (name, process) => {
    const own = join(folder, `_.vsm_${name}`)
    await mkdir(own, { recursive: true })
    const [ident, field] = name === 'mgt' ? ['MGT', 'uptime'] : ['MAIN', 'client_req']
    const elem = { [field]: { type: 'counter', index: 8 }, happy: { type: 'bitmap', index: 0 } }
    const description = process.description ?? `${JSON.stringify({ elem })}\0`
    await writeFile(join(own, '_.StatDoc.1'), withHead(Buffer.from(description), 1))
    await writeFile(
      join(own, '_.Stat.2'),
      withHead(new Uint8Array(new BigUint64Array([7n, process.value]).buffer), process.ready ?? 1),
    )
    const sign = process.isUnsigned ? '' : '+ '
    const lines = [
      `# ${globalThis.process.pid} ${process.start ?? 1}`,
      `${sign}_.StatDoc.1 0 4096 StatDoc 55d0`,
      `${sign}_.Stat.2 0 40 Stat ${ident}`,
      ...(process.moreLines ?? []),
    ]
    await writeFile(join(own, '_.index'), `${lines.join('\n')}\n`)
  }
  return { folder, write }
}

function withHead(body: Uint8Array, ready: number): Buffer {
  // Readers must ignore the upper half of the first word.
  const head = new BigUint64Array([(9n << 32n) | BigInt(ready), BigInt(headBytes), 0x55d0n])
  return Buffer.concat([new Uint8Array(head.buffer), body])
}

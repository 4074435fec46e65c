/**
 * The index of the shared memory of one of the cache's processes, `_.index` (varnish-cache, common_vsmw.c).
 *
 * First line `# <pid> <start>`, then `+ <file> <offset> <length> <class> <ident>` for each segment and the same with `-` for
 * a removed one. From 6.0.0 to 6.0.4 and in 6.1 and 6.2 there is no sign: a removal rewrites the index.
 */

export interface MemoryIndex {
  /** The first line: it changes with each life of the process. */
  readonly life: string
  readonly pid: number
  readonly segments: readonly MemorySegment[]
}

export interface MemorySegment {
  /** Name in the same folder. */
  readonly file: string
  readonly offset: number
  readonly length: number
  /** `Stat`: counters; `StatDoc`: their descriptions. */
  readonly kind: string
  /** For counters: the first part of their names. */
  readonly ident: string
}

/** Rejects names that lead out of the folder: the writing process may have fewer rights than the readers. */
const segmentLine = /^(?:([+-]) )?(_\.[\w.-]+) (\d{1,15}) (\d{1,15}) (\S*) ?(.*)$/s

/** Null while the index has no complete first line; lines that do not match are skipped. */
export function parseMemoryIndex(text: string): MemoryIndex | null {
  const [life = '', ...lines] = text.split('\n')
  const pid = /^# (\d{1,10}) \d+$/.exec(life)?.[1]
  // The last line may be incomplete.
  if (pid === undefined || lines.pop() === undefined) return null
  const segments = new Map<string, MemorySegment>()
  for (const line of lines) {
    const [found, sign, ...fields] = segmentLine.exec(line) ?? []
    if (found === undefined) continue
    const key = fields.join(' ')
    if (sign === '-') segments.delete(key)
    else segments.set(key, readSegment(fields))
  }
  return { life, pid: Number(pid), segments: [...segments.values()] }
}

function readSegment(fields: readonly string[]): MemorySegment {
  const [file = '', offset, length, kind = '', ident = ''] = fields
  return { file, offset: Number(offset), length: Number(length), kind, ident }
}

/**
 * The list of what a process of the cache keeps in shared memory, `_.index` (varnish-cache, common_vsmw.c).
 *
 * First line `# <pid> <start>`, then `+ <file> <offset> <length> <class> <ident>` for what is there and the same with `-` for
 * what went. From 6.0.0 to 6.0.4 and in 6.1 and 6.2 there is no sign: the list is written anew when something went.
 */

export interface MemoryIndex {
  /** The first line: another one is another life of the process. */
  readonly life: string
  readonly pid: number
  readonly segments: readonly MemorySegment[]
}

export interface MemorySegment {
  /** In the same folder. */
  readonly file: string
  readonly offset: number
  readonly length: number
  /** `Stat` are counters, `StatDoc` says what they are. */
  readonly kind: string
  /** Of counters: what their names begin with. */
  readonly ident: string
}

/** A name that leads out of the folder is none: the list is written by a process with fewer rights than its readers may have. */
const segmentLine = /^(?:([+-]) )?(_\.[\w.-]+) (\d{1,15}) (\d{1,15}) (\S*) ?(.*)$/s

/** Null while the list is only begun; what is not a line of it is passed over. */
export function parseMemoryIndex(text: string): MemoryIndex | null {
  const [life = '', ...lines] = text.split('\n')
  const pid = /^# (\d{1,10}) \d+$/.exec(life)?.[1]
  // The last line is being written until it ends.
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

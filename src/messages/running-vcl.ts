/** The answer to `showRunning`: the VCL that a cache runs, file by file, or why it cannot be adopted. */
import type { VclPart } from '../vcl/running-vcl.js'
import { MalformedMessage } from './codec.js'

export interface RunningVcl {
  /** Its name on the cache. */
  readonly program: string
  /** As the cache listed them, the main file first, without the built-in VCL. */
  readonly parts: readonly VclPart[]
}

export interface NotAdoptable {
  /** For people. It serves on as it does. */
  readonly refusal: string
}

/** One for each include statement that may be expanded, and the main file (choices: 3). */
const partLimit = 1001
const reasonLimit = 4096

/** An answer's value is not looked at by the codec. Throws MalformedMessage. */
export function parseRunningVcl(value: unknown): RunningVcl | NotAdoptable {
  if (!isRecord(value)) throw new MalformedMessage('the answer to showRunning: must be an object')
  const { refusal, program, parts } = value
  if (typeof refusal === 'string') return { refusal: refusal.slice(0, reasonLimit) }
  // As the cache itself takes it for a name (mgt_vcl.c).
  if (typeof program !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,232}$/.test(program))
    throw new MalformedMessage('the answer to showRunning: program must be the name of a VCL')
  if (!Array.isArray(parts) || parts.length > partLimit)
    throw new MalformedMessage(
      `the answer to showRunning: parts must be a list of at most ${partLimit}`,
    )
  return { program, parts: parts.map(readPart) }
}

function readPart(part: unknown): VclPart {
  if (isRecord(part)) {
    const { file, text } = part
    if (typeof file === 'string' && typeof text === 'string') return { file, text }
  }
  throw new MalformedMessage('the answer to showRunning: a part must be a file and its text')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

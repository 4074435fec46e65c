/** A child of the cache that died while it loaded a VCL, in words for the author of that VCL. */
import { ManagementPortError } from '../../../protocol/errors.js'
import { readPanic, type PanicTools } from './panic.js'

/** The rest is a stack and what each thread did. */
const shownLines = 4
const shownCharacters = 1_000
/** Clocks of two processes of one host, rounded to seconds. */
const roundingMs = 2_000

/** @param panic the last one that is known; of an earlier death it says nothing */
export function describeDeadChild(panic: string | null, loadStartedAtMs: number): string {
  const died = "the cache's child died while it loaded this VCL"
  if (panic === null || !isSince(panic, loadStartedAtMs)) return died
  const lines = panic.trim().split('\n').slice(0, shownLines)
  return `${died}: ${lines.join('\n').slice(0, shownCharacters)}`
}

/** `Panic at: Sun, 22 Nov 2026 16:00:00 GMT`; one without a time that can be read is taken for the last. */
function isSince(panic: string, startMs: number): boolean {
  const at = Date.parse(/\b[Pp]anic at: ([^\n]{1,64})/.exec(panic)?.[1] ?? '')
  return Number.isNaN(at) || at >= startMs - roundingMs
}

/** CLIS_COMMS (cli.h): the child did not live to answer; it is started again by itself. */
const childDied = 400

export function isOfDeadChild(error: unknown): boolean {
  return error instanceof ManagementPortError && error.status === childDied
}

/** By what the cache says of it, or what was kept of that. */
export async function describeDeath(tools: PanicTools, loadStartedAtMs: number): Promise<string> {
  // The cache may be gone meanwhile: then that is all there is to tell.
  const panic = await readPanic(tools).catch(() => null)
  return describeDeadChild(panic, loadStartedAtMs)
}

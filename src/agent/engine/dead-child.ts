/** Describes a death of the cache's child during the load of a VCL, for the author of that VCL. */
import { ManagementPortError } from '../../../protocol/errors.js'
import { readPanic, type PanicTools } from './panic.js'

/** The remaining lines are a stack and the state of each thread. */
const shownLines = 4
const shownCharacters = 1_000
/** For two clocks on one host, each rounded to seconds. */
const roundingMs = 2_000

/** @param panic the last known one; it is ignored if it belongs to an earlier death */
export function describeDeadChild(panic: string | null, loadStartedAtMs: number): string {
  const died = "the cache's child died while it loaded this VCL"
  if (panic === null || !isSince(panic, loadStartedAtMs)) return died
  const lines = panic.trim().split('\n').slice(0, shownLines)
  return `${died}: ${lines.join('\n').slice(0, shownCharacters)}`
}

/** `Panic at: Sun, 22 Nov 2026 16:00:00 GMT`; a panic without a readable time counts as the latest. */
function isSince(panic: string, startMs: number): boolean {
  const at = Date.parse(/\b[Pp]anic at: ([^\n]{1,64})/.exec(panic)?.[1] ?? '')
  return Number.isNaN(at) || at >= startMs - roundingMs
}

/** CLIS_COMMS (cli.h): the child died before it answered; it restarts by itself. */
const childDied = 400

export function isOfDeadChild(error: unknown): boolean {
  return error instanceof ManagementPortError && error.status === childDied
}

/** Uses the panic that the cache shows, or the saved one. */
export async function describeDeath(tools: PanicTools, loadStartedAtMs: number): Promise<string> {
  // The cache may be gone by now: then no panic is known.
  const panic = await readPanic(tools).catch(() => null)
  return describeDeadChild(panic, loadStartedAtMs)
}

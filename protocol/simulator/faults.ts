/** Troubles that a simulated engine can be told to have, one at a time. */

export const faultNames = [
  /** A new connection is accepted and never greeted. */
  'no-challenge',
  /** The manager answers nobody, until the fault is lifted. The command it met is then carried out. */
  'frozen',
  /** A right answer to the challenge is refused as a wrong one. */
  'auth-refused',
  /** A load that compiles blocks the manager for `delayMs` more. */
  'slow-compile',
  /** A load is refused by the compiler. */
  'compile-error',
  /** A commit of certificates is refused, and nothing of it is done. */
  'commit-refused',
  /** A status that no engine knows. */
  'wrong-status',
  /** A header that is none. */
  'garbled-header',
  /** Half of the header, then nothing. */
  'half-header',
  /** The header and half of the body, then nothing. */
  'half-body',
  /** A header that announces 99,999,999 bytes, the body, then nothing. */
  'huge-length',
  /** The command is carried out, half of the reply is sent, the connection closes. */
  'close-in-mid-reply',
  /** The command is carried out, the connection closes without a reply. */
  'close-before-reply',
  /** The connection closes, the command is not carried out. */
  'close-before-command',
  /** 201 with half of the body. */
  'truncated-reply',
  /** The reply comes twice. */
  'extra-reply',
  /** vcl.list answers 200 with nothing: the child did not tell (mgt_vcl.c mcf_vcl_list). */
  'empty-list',
  /** The child dies of the command: 400; nothing of the command is kept. */
  'child-death',
  /** The same for vcl.load and vcl.inline only. */
  'child-death-on-load',
  /** The manager ends at the command: all connections close, all is forgotten but the start program. */
  'manager-death',
] as const

export type FaultName = (typeof faultNames)[number]

export interface FaultPlan {
  /** So many matching commands pass first; 0 unless told. `auth` is a command too. */
  readonly afterCommands?: number
  /** Only this command is met. */
  readonly onCommand?: string
  /** How often it strikes; until it is lifted unless told. */
  readonly times?: number
  /** For slow-compile; 60,000 unless told. */
  readonly delayMs?: number
}

export interface Fault {
  readonly name: FaultName
  readonly onCommand: string | undefined
  readonly delayMs: number
  commandsLeft: number
  timesLeft: number
}

export function createFault(name: FaultName, plan: FaultPlan = {}): Fault {
  return {
    name,
    onCommand: plan.onCommand,
    delayMs: plan.delayMs ?? 60_000,
    commandsLeft: plan.afterCommands ?? 0,
    timesLeft: plan.times ?? Infinity,
  }
}

const loads: readonly string[] = ['vcl.load', 'vcl.inline']

/** Commands that a fault can only meet; the others meet any. */
const natural: Partial<Readonly<Record<FaultName, readonly string[]>>> = {
  'auth-refused': ['auth'],
  'slow-compile': loads,
  'compile-error': loads,
  'child-death-on-load': loads,
  'empty-list': ['vcl.list'],
  'commit-refused': ['tls.cert.commit'],
  'no-challenge': [],
}

/** Counts a command; true when the fault strikes it. */
export function strikeCommand(fault: Fault | undefined, command: string): fault is Fault {
  if (fault === undefined || fault.timesLeft <= 0) return false
  if (fault.onCommand !== undefined && fault.onCommand !== command) return false
  if (natural[fault.name]?.includes(command) === false) return false
  if (fault.commandsLeft > 0) {
    fault.commandsLeft--
    return false
  }
  fault.timesLeft--
  return true
}

/** True when a new connection is not greeted. */
export function strikeConnection(fault: Fault | undefined): boolean {
  if (fault?.name !== 'no-challenge' || fault.timesLeft <= 0) return false
  fault.timesLeft--
  return true
}

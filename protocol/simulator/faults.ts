/** Faults of a simulated engine, of which one can be active at a time. */

export const faultNames = [
  /** A new connection is accepted but never greeted. */
  'no-challenge',
  /** The manager stops responding until the fault is lifted; then the command that triggered it is executed. */
  'frozen',
  /** A correct response to the challenge is refused as wrong. */
  'auth-refused',
  /** A load that compiles blocks the manager for `delayMs` longer. */
  'slow-compile',
  /** The compiler refuses a load. */
  'compile-error',
  /** A commit of certificates is refused without any effect. */
  'commit-refused',
  /** A status that no release uses. */
  'wrong-status',
  /** An invalid header. */
  'garbled-header',
  /** Half of the header, then silence. */
  'half-header',
  /** The header and half of the body, then silence. */
  'half-body',
  /** A header that announces 99,999,999 bytes, the body, then silence. */
  'huge-length',
  /** The command is executed, half of the reply is sent, and the connection closes. */
  'close-in-mid-reply',
  /** The command is executed, and the connection closes without a reply. */
  'close-before-reply',
  /** The connection closes before the command is executed. */
  'close-before-command',
  /** Status 201 with half of the body. */
  'truncated-reply',
  /** The reply is sent twice. */
  'extra-reply',
  /** vcl.list returns 200 with an empty body, as if the child did not respond (mgt_vcl.c mcf_vcl_list). */
  'empty-list',
  /** The child dies during the command: status 400, without any effect of the command. */
  'child-death',
  /** The same for vcl.load and vcl.inline only. */
  'child-death-on-load',
  /** The manager dies during the command: all connections close, and only the boot program remains. */
  'manager-death',
] as const

export type FaultName = (typeof faultNames)[number]

export interface FaultPlan {
  /** Number of matching commands to let pass first; default 0. `auth` counts as a command. */
  readonly afterCommands?: number
  /** Limits the fault to this command. */
  readonly onCommand?: string
  /** How often the fault occurs; by default until it is lifted. */
  readonly times?: number
  /** For slow-compile; default 60,000. */
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

/** Faults that only apply to these commands; other faults apply to any. */
const natural: Partial<Readonly<Record<FaultName, readonly string[]>>> = {
  'auth-refused': ['auth'],
  'slow-compile': loads,
  'compile-error': loads,
  'child-death-on-load': loads,
  'empty-list': ['vcl.list'],
  'commit-refused': ['tls.cert.commit'],
  'no-challenge': [],
}

/** Counts a command; returns true if the fault applies to it. */
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

/** Returns true if a new connection must not be greeted. */
export function strikeConnection(fault: Fault | undefined): boolean {
  if (fault?.name !== 'no-challenge' || fault.timesLeft <= 0) return false
  fault.timesLeft--
  return true
}

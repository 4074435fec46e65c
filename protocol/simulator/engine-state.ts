/** The state of a simulated engine: the manager's part, and the child's part, which a restart of the child loses. */
import { pushCertificates, type CertificateInChild, type HeldCertificate } from './certificates.js'
import { isOn } from './param-table.js'
import type { EngineRelease } from './release.js'

export interface EngineState {
  readonly release: EngineRelease
  readonly setup: EngineSetup
  masterPid: number
  /** The child; undefined while it is stopped. */
  child: ChildState | undefined
  /** In load order (mgt_vcl.c vclhead). */
  programs: VclProgram[]
  active: VclProgram | undefined
  /** Parameters that differ from their default, in printed form. */
  readonly params: Map<string, string>
  panic: string | undefined
  /** The manager's certificates; it sends committed ones to every new child. */
  certificates: HeldCertificate[]
  /** Probe result of all probed backends, because a simulated engine has no network. */
  probes: ProbeResult
  /** Signals that a command has killed the manager. */
  managerDied: boolean
}

export interface EngineSetup {
  readonly compileMs: number
  readonly storage: readonly { readonly name: string; readonly kind: string }[]
  readonly listenAddress: string
  readonly protectedParams: ReadonlySet<string>
  /** A discarded program that has served traffic stays listed as `discarded` until the child restarts. */
  readonly keepsDiscarded: boolean
  readonly compileVcl: CompileVcl
  /** Reads files for a TLS listener: returns null if the file does not exist; undefined if there is no such listener. */
  readonly readTlsFile?: ((path: string) => string | null) | undefined
}

/** Checks a program and extracts its properties; no module in this folder parses VCL. Pure. */
export type CompileVcl = (
  text: string,
  context: CompileContext,
) => CompiledVcl | { readonly refusal: string }

export interface CompileContext {
  readonly labels: ReadonlySet<string>
  /** True if unused definitions are errors (vcc_err_unref). */
  readonly refusesUnused: boolean
  /** True if `backend name none;` is supported. */
  readonly hasNoneBackend: boolean
}

export interface CompiledVcl {
  readonly backends: readonly NewBackend[]
  /** Labels in `return (vcl(…))`, without duplicates. */
  readonly labels: readonly string[]
  readonly initFailure: string | undefined
  /** The compiler's warnings; empty if there are none. */
  readonly warnings: string
}

export type ProbeResult = 'healthy' | 'sick'

interface ChildState {
  readonly pid: number
  /** Programs in the child's order (cache_vcl.c vcl_head), including discarded ones that are still listed. */
  programs: VclProgram[]
  /** Newest first; never empty, because the child creates a completed ban when it starts. */
  bans: Ban[]
  certificates: CertificateInChild[]
}

export interface Ban {
  readonly atMs: number
  readonly spec: string
  readonly jsonSpec: string
  readonly completed: boolean
  /** Completes older bans with the same text. Evaluated when bans are listed, because a fleet adds thousands per second. */
  readonly completesOlder: boolean
}

export interface VclProgram {
  readonly name: string
  state: 'auto' | 'cold' | 'warm' | 'label'
  warm: boolean
  /** Start of the idle time; the program goes cold after vcl_cooldown. */
  idleSinceMs: number | undefined
  /** For a label its program; for a program the labels in its `return (vcl(…))`. */
  uses: VclProgram[]
  usedBy: VclProgram[]
  readonly source: string
  readonly backends: VclBackend[]
  /** Error of vcl_init, which occurs on every load in a child. */
  readonly initFailure: string | undefined
  isDiscarded: boolean
  /** True once it was active or labelled: worker threads may still hold it. */
  hasServed: boolean
}

export interface VclBackend {
  readonly name: string
  readonly type: string
  readonly probe: { readonly window: number; readonly threshold: number } | undefined
  /** Names of a director's backends. */
  readonly members: readonly string[] | undefined
  admin: 'auto' | 'healthy' | 'sick'
  changedAtMs: number
}

/** A backend as declared by a program. */
export type NewBackend = Pick<VclBackend, 'name' | 'type' | 'probe' | 'members'>

/** Creates a program without a text, as for labels. */
export function createProgram(name: string, state: VclProgram['state']): VclProgram {
  return {
    name,
    state,
    warm: true,
    idleSinceMs: undefined,
    uses: [],
    usedBy: [],
    source: '',
    backends: [],
    initFailure: undefined,
    isDiscarded: false,
    hasServed: false,
  }
}

export function findProgram(engine: EngineState, name: string): VclProgram | undefined {
  return engine.programs.find((program) => program.name === name)
}

/** Starts the idle time of a program that may go cold, and stops that of others (mgt_vcl_set_cooldown). */
export function setIdleClock(
  engine: EngineState,
  program: VclProgram,
  nowMs: number | undefined,
): void {
  const mayCool =
    program !== engine.active &&
    program.state === 'auto' &&
    program.warm &&
    program.usedBy.length === 0 &&
    program.uses.length === 0
  program.idleSinceMs = mayCool ? nowMs : undefined
}

/** Cools programs that have been idle too long. Called before every command, so that an idle engine needs no timer. */
export function coolPrograms(engine: EngineState, nowMs: number, cooldownMs: number): void {
  for (const program of engine.programs) {
    if (program.idleSinceMs !== undefined && program.idleSinceMs + cooldownMs < nowMs)
      setWarm(engine, program, { warm: false, nowMs })
  }
}

/** Warming a program restarts its probes (management-protocol: 5). */
export function setWarm(
  engine: EngineState,
  program: VclProgram,
  { warm, nowMs }: { readonly warm: boolean; readonly nowMs: number },
): void {
  program.warm = warm
  if (warm) for (const backend of program.backends) backend.changedAtMs = nowMs
  setIdleClock(engine, program, nowMs)
}

export function addUse(engine: EngineState, from: VclProgram, to: VclProgram): void {
  from.uses.push(to)
  to.usedBy.push(from)
  setIdleClock(engine, from, undefined)
  setIdleClock(engine, to, undefined)
  if (from.state === 'label') to.hasServed = true
}

export function dropUses(engine: EngineState, from: VclProgram, nowMs: number): void {
  for (const to of from.uses) {
    to.usedBy = to.usedBy.filter((user) => user !== from)
    if (to.usedBy.length === 0) setIdleClock(engine, to, nowMs)
  }
  from.uses = []
}

/**
 * Starts a new child with all programs, but without bans and health overrides. The engine stays without a child if the file of a committed
 * certificate is unreadable. Staged certificates become committed, but the new child does not have them.
 */
export function startChild(engine: EngineState, pid: number, nowMs: number): void {
  const pushed = pushCertificates(engine)
  if ('refusal' in pushed) return
  engine.certificates = engine.certificates
    .filter(({ state }) => state !== 'discarded')
    .map((one) => ({ ...one, state: 'committed' }))
  for (const program of engine.programs) {
    for (const backend of program.backends) {
      backend.admin = 'auto'
      backend.changedAtMs = nowMs
    }
  }
  engine.child = {
    pid,
    programs: orderForChild(engine.programs),
    bans: [{ atMs: nowMs, spec: '', jsonSpec: '', completed: true, completesOlder: false }],
    certificates: pushed.certificates,
  }
}

/** Orders programs so that those used by others come first (mgt_push_vcls). */
function orderForChild(programs: readonly VclProgram[]): VclProgram[] {
  const ordered = new Set<VclProgram>()
  while (ordered.size < programs.length) {
    const before = ordered.size
    for (const program of programs)
      if (program.uses.every((used) => ordered.has(used))) ordered.add(program)
    if (ordered.size === before) throw new Error('labels of a simulated engine form a loop')
  }
  return [...ordered]
}

/** The child dies without output; the manager starts another unless configured not to. */
export function loseChild(
  engine: EngineState,
  { nowMs, nextPid }: { readonly nowMs: number; readonly nextPid: () => number },
): void {
  engine.child = undefined
  if (isOn(engine, 'auto_restart') && engine.active !== undefined)
    startChild(engine, nextPid(), nowMs)
}

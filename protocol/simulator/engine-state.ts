/** What a simulated engine remembers: the manager's part, and the child's part that a restart of the child loses. */
import { pushCertificates, type CertificateInChild, type HeldCertificate } from './certificates.js'
import { isOn } from './param-table.js'
import type { EngineRelease } from './release.js'

export interface EngineState {
  readonly release: EngineRelease
  readonly setup: EngineSetup
  masterPid: number
  /** The child; undefined while stopped. */
  child: ChildState | undefined
  /** In the order of loading (mgt_vcl.c vclhead). */
  programs: VclProgram[]
  active: VclProgram | undefined
  /** Parameters that differ from their default, as the engine prints them. */
  readonly params: Map<string, string>
  panic: string | undefined
  /** As the manager knows them: it tells each new child those that were committed. */
  certificates: HeldCertificate[]
  /** How probed backends look to the engine; there is no network behind a simulated one. */
  probes: ProbeResult
  /** Tells the engine around this state that the manager has died of a command. */
  managerDied: boolean
}

export interface EngineSetup {
  readonly compileMs: number
  readonly storage: readonly { readonly name: string; readonly kind: string }[]
  readonly listenAddress: string
  readonly protectedParams: ReadonlySet<string>
  /** Rows stay as `discarded` when a program that served traffic is discarded, until the child restarts. */
  readonly keepsDiscarded: boolean
  readonly compileVcl: CompileVcl
  /** Of a TLS listener: null where there is no such file; undefined: it has no such listener. */
  readonly readTlsFile?: ((path: string) => string | null) | undefined
}

/** Judges a program and finds what is told of it: nothing in this folder reads VCL. Pure. */
export type CompileVcl = (
  text: string,
  context: CompileContext,
) => CompiledVcl | { readonly refusal: string }

export interface CompileContext {
  readonly labels: ReadonlySet<string>
  /** Unused definitions are errors (vcc_err_unref). */
  readonly refusesUnused: boolean
  /** `backend name none;` is known. */
  readonly hasNoneBackend: boolean
}

export interface CompiledVcl {
  readonly backends: readonly NewBackend[]
  /** In `return (vcl(…))`, each once. */
  readonly labels: readonly string[]
  readonly initFailure: string | undefined
  /** The compiler's remarks; empty without any. */
  readonly warnings: string
}

export type ProbeResult = 'healthy' | 'sick'

interface ChildState {
  readonly pid: number
  /** The child's own order of programs (cache_vcl.c vcl_head), with lingering discarded ones. */
  programs: VclProgram[]
  /** Newest first; never empty: the child makes a completed one when it starts. */
  bans: Ban[]
  certificates: CertificateInChild[]
}

export interface Ban {
  readonly atMs: number
  readonly spec: string
  readonly jsonSpec: string
  readonly completed: boolean
  /** Older ones with the same text are completed by it: looked for when they are listed, since a fleet adds thousands a second. */
  readonly completesOlder: boolean
}

export interface VclProgram {
  readonly name: string
  state: 'auto' | 'cold' | 'warm' | 'label'
  warm: boolean
  /** Since when nothing uses it; it goes cold vcl_cooldown later. */
  idleSinceMs: number | undefined
  /** A label's program; a program's labels in `return (vcl(…))`. */
  uses: VclProgram[]
  usedBy: VclProgram[]
  readonly source: string
  readonly backends: VclBackend[]
  /** Why vcl_init fails whenever a child loads it. */
  readonly initFailure: string | undefined
  isDiscarded: boolean
  /** Was active or labelled once: worker threads may hold on to it. */
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

/** A backend as a program declares it. */
export type NewBackend = Pick<VclBackend, 'name' | 'type' | 'probe' | 'members'>

/** One without a text, as a label is. */
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

/** Starts the idle clock of a program that may cool down, stops it of one that may not (mgt_vcl_set_cooldown). */
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

/** Cools what has been idle too long. Called before each command, so that an idle engine needs no timer. */
export function coolPrograms(engine: EngineState, nowMs: number, cooldownMs: number): void {
  for (const program of engine.programs) {
    if (program.idleSinceMs !== undefined && program.idleSinceMs + cooldownMs < nowMs)
      setWarm(engine, program, { warm: false, nowMs })
  }
}

/** A warmed program's probes start again (management-protocol: 5). */
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
 * Gives the engine a new child that knows all programs, and neither bans nor health overrides. Without a child it stays where the
 * file of a committed certificate cannot be read; what was staged counts from then on, and the child does not have it.
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

/** What a program needs comes before it (mgt_push_vcls). */
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

/** The child ends without a word; the manager starts another unless it was told not to. */
export function loseChild(
  engine: EngineState,
  { nowMs, nextPid }: { readonly nowMs: number; readonly nextPid: () => number },
): void {
  engine.child = undefined
  if (isOn(engine, 'auto_restart') && engine.active !== undefined)
    startChild(engine, nextPid(), nowMs)
}

/** The initial state of a simulated engine. */
import { answerRequest } from './answer-request.js'
import type { Caller } from './commands/call.js'
import type { CompileVcl, EngineSetup, EngineState } from './engine-state.js'
import { noneBackend, type EngineRelease } from './release.js'
import { cliStatus } from '../status.js'
import { toBytes } from './reply-text.js'

/** Has no backend, because a simulated engine serves no clients. */
const defaultBootVcl = 'vcl 4.1;\nbackend default none;\n'
const oldBootVcl = 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; }\n'

export interface BootOptions {
  /** How long the compile of an accepted program blocks the engine; default 0. */
  readonly compileMs?: number
  /** Source of the active program `boot`; null starts with the child stopped and no program (`-f ''`). */
  readonly bootVcl?: string | null
  readonly storage?: EngineSetup['storage']
  /** Output of debug.listen_address: address, blank, port. */
  readonly listenAddress?: string
  /** Parameters that cannot be changed (`-r`). */
  readonly protectedParams?: readonly string[]
  /** Discarded programs that have served stay listed until the child restarts, as they do with idle worker threads. */
  readonly keepsDiscarded?: boolean
  readonly compileVcl: CompileVcl
  /** Reads the files of certificates, for an engine with a TLS listener; absent if it has none. */
  readonly readTlsFile?: EngineSetup['readTlsFile']
}

interface BootMoment {
  readonly nowMs: number
  readonly nextPid: () => number
}

export function bootEngine(
  release: EngineRelease,
  options: BootOptions,
  { nowMs, nextPid }: BootMoment,
): EngineState {
  const engine: EngineState = {
    release,
    setup: {
      compileMs: options.compileMs ?? 0,
      storage: options.storage ?? [{ name: 's0', kind: 'malloc' }],
      listenAddress: options.listenAddress ?? '127.0.0.1 6081',
      protectedParams: new Set(options.protectedParams),
      keepsDiscarded: options.keepsDiscarded ?? false,
      compileVcl: options.compileVcl,
      readTlsFile: options.readTlsFile,
    },
    masterPid: nextPid(),
    child: undefined,
    programs: [],
    active: undefined,
    params: new Map(),
    panic: undefined,
    certificates: [],
    probes: 'healthy',
    managerDied: false,
  }
  const plain = release.has(noneBackend) ? defaultBootVcl : oldBootVcl
  const source = options.bootVcl === undefined ? plain : options.bootVcl
  if (source === null) return engine
  const caller: Caller = { isAuthenticated: true, challenge: '', secret: null }
  for (const words of [['vcl.inline', 'boot', toBytes(source)], ['vcl.use', 'boot'], ['start']]) {
    const request = { line: words[0] ?? '', parsed: { words } }
    const reply = answerRequest(engine, request, { caller, nowMs, nextPid })
    if (reply.status !== cliStatus.ok)
      throw new Error(`the simulated engine's boot VCL is refused: ${reply.text}`)
  }
  return engine
}

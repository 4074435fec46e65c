/** `cachefleetd` as separate processes, as an operator starts them: from the output of `npm run build`. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit } from './at-exit.js'
import { logIn, type ApiClient } from './api-client.js'
import { eventually } from './eventually.js'
import { findFreePort } from './free-port.js'
import { root } from './root.js'
import type { Varnishd } from './varnishd.js'

/** The part of tap's Test needed here. */
export interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

export type Ending = number | NodeJS.Signals

export interface Daemon {
  readonly pid: number
  /** Standard output so far. */
  readonly output: () => string
  /** Standard error so far. */
  readonly errors: () => string
  /** The complete lines of the log. */
  readonly lines: () => LogLine[]
  readonly isRunning: () => boolean
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<Ending>
  signal(name: NodeJS.Signals): void
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Ending>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<Ending>
}

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly time: string
  readonly [field: string]: unknown
}

export const program = join(root, 'dist/bin/cachefleetd.js')
/** A Node and the program it runs. */
export type StartedBy = readonly [node: string, program: string]
const built: StartedBy = [process.execPath, program]

export interface Start {
  /** A command that executes it, such as `prlimit … --`. */
  readonly through?: readonly string[] | undefined
  /** The output of `npm run build` by default. */
  readonly by?: StartedBy | undefined
}
const stopTimeoutMs = 30_000

/** Passes on none of this process's own settings. */
function environmentWith(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = '/' } = process.env
  return { PATH: `${PATH}:/usr/sbin`, HOME, ...given }
}

export async function makeStateDir(t: TestEnd): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-state-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Ends with the test if it still runs. */
export function startDaemon(
  t: TestEnd,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { through = [], by = built }: Start = {},
): Daemon {
  const [command = '', ...rest] = [...through, ...by, ...words]
  const child = spawn(command, rest, {
    env: environmentWith(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.errors += text))
  const ended = endOf(child)
  const end = async (name: NodeJS.Signals): Promise<Ending> => {
    child.kill(name)
    const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    return ended.finally(() => {
      clearTimeout(late)
    })
  }
  child.once(
    'exit',
    atExit(() => child.kill('SIGKILL')),
  )
  // A killed one would leave its own cache behind.
  const hasCache = !words.includes('--no-agent') && !words.includes('--engine')
  t.teardown(async () => {
    await end(hasCache ? 'SIGTERM' : 'SIGKILL')
  })
  return {
    pid: child.pid ?? 0,
    output: () => texts.output,
    errors: () => texts.errors,
    lines: () =>
      texts.output
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as LogLine), // pino's own lines
    isRunning: () => child.exitCode === null && child.signalCode === null,
    ended,
    signal: (name) => child.kill(name),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // Not `close`: a cache that outlives a killed daemon holds nothing of ours, but a test must not hang on it.
    child.once('exit', (code, signal) => {
      resolve(code ?? signal ?? 0)
    })
  })
}

export interface RanDaemon {
  readonly code: Ending
  readonly output: string
  readonly errors: string
}

/** For calls that end by themselves; `input` is standard input. */
export async function runDaemon(
  words: readonly string[],
  given: {
    readonly environment?: Readonly<Record<string, string>>
    readonly input?: string
    /** Closes its standard output. */
    readonly isUnread?: boolean
  } = {},
): Promise<RanDaemon> {
  const child = spawn(process.execPath, [program, ...words], {
    env: environmentWith(given.environment ?? {}),
  })
  const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  const texts = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.errors += text))
  if (given.isUnread) child.stdout.destroy()
  child.stdin.on('error', () => undefined) // it may end without reading
  child.stdin.end(given.input)
  const code = await new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => {
      resolve(status ?? signal ?? 0)
    })
  })
  clearTimeout(late)
  return { code, ...texts }
}

export interface CoordinatorProcess {
  readonly base: string
  readonly port: number
  readonly stateDir: string
  /** The current process, or the last one. */
  daemon: Daemon
  api: ApiClient
  /** Starts it again on the same port and state; resolves when it is ready. */
  start(): Promise<void>
}

interface CoordinatorSetup {
  /** Further settings; `--no-agent` by default. */
  readonly words?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Its own by default. */
  readonly stateDir?: string
  /** A command that executes it, called for each start. */
  readonly through?: () => readonly string[]
  readonly by?: StartedBy
}

export const administrator = { user: 'root', password: 'correct horse battery' }

/** On a free port with its own state dir; resolves when it is ready and logged in. */
export async function startCoordinator(
  t: TestEnd,
  setup: CoordinatorSetup = {},
): Promise<CoordinatorProcess> {
  const stateDir = setup.stateDir ?? (await makeStateDir(t))
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort()
    const launch = () =>
      startDaemon(
        t,
        [
          ...['--coordinator', '--state-dir', stateDir, '--listen', `127.0.0.1:${port}`],
          ...(setup.words ?? ['--no-agent']),
        ],
        {
          CACHEFLEET_ADMIN_USER: administrator.user,
          CACHEFLEET_ADMIN_PASSWORD: administrator.password,
          ...setup.environment,
        },
        { through: setup.through?.(), by: setup.by },
      )
    const base = `http://127.0.0.1:${port}`
    let daemon = launch()
    try {
      await untilReady(daemon, base)
    } catch (error) {
      if (attempt === 5 || !daemon.errors().includes('EADDRINUSE')) throw error
      continue
    }
    const coordinator: CoordinatorProcess = {
      base,
      port,
      stateDir,
      daemon,
      api: await logIn(base, administrator),
      start: async () => {
        daemon = launch()
        coordinator.daemon = daemon
        await untilReady(daemon, base)
      },
    }
    return coordinator
  }
}

async function untilReady(daemon: Daemon, base: string): Promise<void> {
  await eventually('the coordinator is ready or gone', async () => {
    if (!daemon.isRunning()) return true
    const answer = await fetch(`${base}/readyz`).catch(() => undefined)
    return answer?.status === 200
  })
  if (!daemon.isRunning())
    throw new Error(`the coordinator ended: ${daemon.errors()}${daemon.output().slice(-2000)}`)
}

export interface AgentSetup extends Start {
  readonly coordinatorUrl: string
  readonly name: string
  readonly stateDir: string
  readonly tags?: readonly string[]
  /** The management port: the cache's own, or a proxy's. */
  readonly port?: number
  readonly words?: readonly string[]
  /** For the first start. */
  readonly joinToken?: string
}

/** An agent beside a cache; returns at once. */
export function startAgent(t: TestEnd, cache: Varnishd, setup: AgentSetup): Daemon {
  const { coordinatorUrl, name, stateDir, tags = [], port = cache.port, words = [] } = setup
  return startDaemon(
    t,
    [
      ...['--coordinator-url', coordinatorUrl, '--name', name, '--state-dir', stateDir],
      ...(tags.length > 0 ? ['--tags', tags.join(',')] : []),
      ...['--engine', 'attach', '--engine-address', `${cache.host}:${port}`],
      ...['--engine-secret-file', cache.secretFile, '--engine-name', cache.workDir],
      ...['--engine-http', `${cache.host}:${cache.httpPort}`],
      ...words,
    ],
    setup.joinToken === undefined ? {} : { CACHEFLEET_JOIN_TOKEN: setup.joinToken },
    setup,
  )
}

/**
 * A private cache for trying things out (`--engine spawn`): free loopback ports, its own secret, ended with the agent.
 *
 * Files, in `<state dir>/engine`: `secret`, `process.json`. The cache's working directory is there too, except as root: then
 * the cache drops to a user of its own, who cannot enter the state dir (0700), and it is a fresh folder below the system's
 * temporary one. It starts with the last good state when there is a boot file.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, chmod, constants, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { EngineConfig } from '../agent-config.js'
import { products } from '../../../protocol/product.js'
import { endCacheProcesses } from '../host/cache-processes.js'
import { listRunningCaches } from '../host/running-caches.js'
import { makePrivateFolder, writeDurably } from '../../runtime/durable-file.js'
import { findFreePort, loopback } from '../host/free-port.js'
import { pauseFor } from '../../runtime/pause.js'
import { forgetProcess, readProcessRecord, writeProcessRecord } from '../host/process-record.js'
import { listProtectable } from '../apply/protectable.js'
import { pauseAfter } from '../../runtime/backoff.js'

interface SpawnOptions {
  /** The agent's. */
  readonly stateDir: string
  /** PATH: folders to look for the program in. */
  readonly searchPath: string
  /** Looked in after those; `/usr/sbin`, which the PATH of most users lacks, unless told. */
  readonly systemFolders?: readonly string[]
  readonly log: Logger
}

export interface SpawnedEngine {
  readonly engine: Extract<EngineConfig, { mode: 'attach' }>
  readonly http: { readonly host: string; readonly port: number }
  /** Path of the cache's program. */
  readonly program: string
  /** Ends the cache and its child, and removes its working directory. */
  stop(): Promise<void>
}

/** What is looked for, in words. */
export const spawnable = products.map(({ daemon }) => daemon).join(' or ')

const temporaryPrefix = 'cachefleet-engine-'
const restarts = { firstMs: 500, longestMs: 30_000 }
/** An engine that lived longer did start, whatever ended it. */
const shortLifeMs = 5_000
const outputLimitCharacters = 2_000
/** With a boot file the engine compiles first; a slower one is connected to once it answers. */
const greetingTimeoutMs = 5_000
const pollPauseMs = 20

/** Resolves when the cache greets, or does not for a while; null where there is no program: the caller simulates, and says so. */
export async function startSpawnedEngine(options: SpawnOptions): Promise<SpawnedEngine | null> {
  const folder = join(options.stateDir, 'engine')
  await makePrivateFolder(folder)
  const recordFile = join(folder, 'process.json')
  const earlier = await readProcessRecord(recordFile)
  if (earlier !== null) {
    const left = await endCacheProcesses(earlier.workingDirectory, options.log)
    if (left.length === 0) await removeTemporary(earlier.workingDirectory)
  }
  const program = await findProgram([
    ...options.searchPath.split(':'),
    ...(options.systemFolders ?? ['/usr/sbin']),
  ])
  if (program === null) return null
  const workingDirectory = await makeWorkingDirectory(folder)
  const setup: Setup = {
    program,
    protectedParams: await listProtectable(program),
    recordFile,
    workingDirectory,
    secretFile: await makeSecret(folder),
    bootFile: join(options.stateDir, 'boot.cli'),
    port: await findFreePort(earlier?.port),
    httpPort: await findFreePort(earlier?.httpPort),
    log: options.log,
  }
  const keeper = new EngineKeeper(setup)
  await keeper.start()
  await waitForGreeting(setup.port)
  return {
    engine: {
      mode: 'attach',
      host: loopback,
      port: setup.port,
      secretFile: setup.secretFile,
      workingDirectory,
    },
    http: { host: loopback, port: setup.httpPort },
    program,
    stop: () => keeper.stop(),
  }
}

interface Setup {
  readonly program: string
  /** What nobody may set. */
  readonly protectedParams: readonly string[]
  readonly recordFile: string
  readonly workingDirectory: string
  readonly secretFile: string
  readonly bootFile: string
  readonly port: number
  readonly httpPort: number
  readonly log: Logger
}

/** Starts the process again when it ends. */
class EngineKeeper {
  readonly #setup: Setup
  readonly #ending = new AbortController()
  #run: Promise<void> | null = null
  /** Starts in a row that ended soon. */
  #shortLives = 0
  /** A boot file that a cache does not start with is left out the next time. */
  #isBootFileTrusted = true

  constructor(setup: Setup) {
    this.#setup = setup
  }

  async start(): Promise<void> {
    const first = await this.#spawn(await this.#hasBootFile())
    this.#run = this.#stayAlive(first)
  }

  async stop(): Promise<void> {
    const { workingDirectory, recordFile, log } = this.#setup
    this.#ending.abort()
    // What is left is for the next agent to end: it finds the record.
    if ((await endCacheProcesses(workingDirectory, log)).length > 0) return
    await this.#run
    await forgetProcess(recordFile)
    await removeTemporary(workingDirectory)
  }

  #isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  async #stayAlive(first: Life): Promise<void> {
    const { signal } = this.#ending
    let life = first
    for (;;) {
      const why = await life.ended
      if (this.#isEnding()) return
      const { workingDirectory, log } = this.#setup
      const livedMs = performance.now() - life.startedAt
      log.warn({ why }, 'the cache ended; it is started again')
      // Its child may still be there, and would have the port and the folder of the next one.
      await endCacheProcesses(workingDirectory, log)
      if (livedMs > shortLifeMs) this.#shortLives = 0
      else this.#isBootFileTrusted = !life.withBootFile
      this.#shortLives += 1
      await pauseFor(pauseAfter(this.#shortLives, restarts), signal)
      const withBootFile = await this.#hasBootFile()
      // Nothing is awaited between this and the start: `stop` would not find what is started behind its back.
      if (this.#isEnding()) return
      life = await this.#spawn(withBootFile)
    }
  }

  async #hasBootFile(): Promise<boolean> {
    return this.#isBootFileTrusted && (await isThere(this.#setup.bootFile))
  }

  async #spawn(withBootFile: boolean): Promise<Life> {
    const { program, recordFile, workingDirectory, secretFile, port, httpPort, log } = this.#setup
    const { protectedParams } = this.#setup
    const words = [
      ...['-F', '-n', workingDirectory, '-S', secretFile, '-f', ''],
      ...['-T', `${loopback}:${port}`, '-a', `${loopback}:${httpPort}`],
      ...(protectedParams.length > 0 ? ['-r', protectedParams.join(',')] : []),
      ...(withBootFile ? ['-I', this.#setup.bootFile] : []),
    ]
    // A session of its own: an interrupt from the terminal is for the agent, which then ends the cache in its turn.
    const child = spawn(program, words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output = `${output}${chunk.toString()}`.slice(-outputLimitCharacters)
        log.debug({ output: chunk.toString().trimEnd() }, 'the cache said')
      })
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => {
        resolve(error.message)
      })
      child.once('exit', (code, signal) => {
        resolve(`${signal ?? `exit code ${code ?? ''}`}: ${output.trim()}`)
      })
    })
    if (child.pid !== undefined)
      await writeProcessRecord(recordFile, { pid: child.pid, workingDirectory, port, httpPort })
    return { ended, withBootFile, startedAt: performance.now() }
  }
}

interface Life {
  /** Resolves with the reason, in words. */
  readonly ended: Promise<string>
  readonly withBootFile: boolean
  readonly startedAt: number
}

async function waitForGreeting(port: number): Promise<void> {
  const endAt = performance.now() + greetingTimeoutMs
  while (performance.now() < endAt && !(await isGreeting(port))) await pauseFor(pollPauseMs)
}

function isGreeting(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: loopback, port, timeout: greetingTimeoutMs })
    const end = (isGreeted: boolean) => {
      socket.destroy()
      resolve(isGreeted)
    }
    socket.once('data', () => {
      end(true)
    })
    for (const event of ['error', 'close', 'timeout'])
      socket.once(event, () => {
        end(false)
      })
  })
}

/** Of the product that runs on this host already; else a `varnishd` in any of the folders comes before a `vinyld`. */
async function findProgram(folders: readonly string[]): Promise<string | null> {
  const running = new Set((await listRunningCaches()).map(({ product }) => product))
  for (const { daemon } of products.toSorted((a, b) => +running.has(b) - +running.has(a)))
    for (const folder of folders) {
      const path = join(folder, daemon)
      if (folder.startsWith('/') && (await isExecutable(path))) return path
    }
  return null
}

async function makeWorkingDirectory(folder: string): Promise<string> {
  if (process.geteuid?.() !== 0) {
    const own = join(folder, 'work')
    await mkdir(own, { recursive: true, mode: 0o755 })
    return own
  }
  const temporary = await mkdtemp(join(tmpdir(), temporaryPrefix))
  await chmod(temporary, 0o755)
  return temporary
}

async function removeTemporary(path: string): Promise<void> {
  if (path.startsWith(join(tmpdir(), temporaryPrefix)))
    await rm(path, { recursive: true, force: true, maxRetries: 5 })
}

async function makeSecret(folder: string): Promise<string> {
  const path = join(folder, 'secret')
  const there = await readFile(path, 'utf8').catch(() => '')
  if (there.trim() === '') await writeDurably(path, `${randomBytes(32).toString('hex')}\n`)
  return path
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/**
 * A private cache for trying things out (`--engine spawn`): free loopback ports, its own secret, ended with the agent.
 *
 * Files, in `<state dir>/engine`: `secret`, `process.json`. The cache's working directory is there too, except as root: then
 * the cache drops to its own user, who cannot enter the state dir (0700), so a new folder below the system's temporary
 * folder is used. It starts with the last good state when there is a boot file.
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
  /** PATH: folders that are searched for the program. */
  readonly searchPath: string
  /** Searched after those; default `/usr/sbin`, which most users' PATH lacks. */
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

/** The programs that are searched for, for messages. */
export const spawnable = products.map(({ daemon }) => daemon).join(' or ')

const temporaryPrefix = 'cachefleet-engine-'
const restarts = { firstMs: 500, longestMs: 30_000 }
/** An engine that lived longer started successfully, whatever ended it later. */
const shortLifeMs = 5_000
const outputLimitCharacters = 2_000
/** With a boot file the engine compiles first; if that takes longer, the agent connects when the engine answers. */
const greetingTimeoutMs = 5_000
const pollPauseMs = 20

/** Resolves when the cache greets or the timeout has passed; null if there is no program: the caller simulates and says so. */
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
  /** Parameters that nobody may set. */
  readonly protectedParams: readonly string[]
  readonly recordFile: string
  readonly workingDirectory: string
  readonly secretFile: string
  readonly bootFile: string
  readonly port: number
  readonly httpPort: number
  readonly log: Logger
}

/** Restarts the process when it ends. */
class EngineKeeper {
  readonly #setup: Setup
  readonly #ending = new AbortController()
  #run: Promise<void> | null = null
  /** Consecutive starts that ended soon. */
  #shortLives = 0
  /** False after a start with the boot file failed: the next start omits it. */
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
    // The next agent finds the record and ends the remaining processes.
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
      // Its child may still be running and would occupy the port and the folder of the next one.
      await endCacheProcesses(workingDirectory, log)
      if (livedMs > shortLifeMs) this.#shortLives = 0
      else this.#isBootFileTrusted = !life.withBootFile
      this.#shortLives += 1
      await pauseFor(pauseAfter(this.#shortLives, restarts), signal)
      const withBootFile = await this.#hasBootFile()
      // No await between this check and the start: otherwise `stop` could miss a cache that was just started.
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
    // Its own session: an interrupt from the terminal reaches only the agent, which then ends the cache.
    const child = spawn(program, words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output = `${output}${chunk.toString()}`.slice(-outputLimitCharacters)
        log.debug({ output: chunk.toString().trimEnd() }, 'output of the cache')
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
  /** Resolves with the reason, as text. */
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

/** Prefers the product that already runs on this host; else a `varnishd` in any folder to a `vinyld`. */
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

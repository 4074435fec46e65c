/**
 * A private, real cache for one test, of the program that PATH has first (cache-program.ts): own temporary folder,
 * free loopback ports, stopped by its id when the test ends.
 *
 *     const cache = await startVarnishd(t)                          // an empty VCL, child running, about 0.15 s
 *     const cache = await startVarnishd(t, { vcl: 'vcl 4.1; …' })   // this VCL, loaded as `boot`
 *     const cache = await startVarnishd(t, { vcl: null })           // no VCL, child stopped (`-f ''`)
 *     await cache.adm('vcl.list')                                   // varnishadm or vinyladm: a client that is not ours
 *
 * Compiles with tcc (some ms, where Debian's gcc takes 250); `args` come last and win.
 */

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { hasQuirk } from '../../protocol/quirks.js'
import { readPidsOnDisk } from '../../src/agent/apply/inventory.js'
import { atExit } from './at-exit.js'
import { cacheProgram, readRelease, type CacheProgram } from './cache-program.js'
import { waitLimitMs } from './eventually.js'
import { findFreePort } from './free-port.js'
import { callManagement } from './management-call.js'

export interface VarnishdOptions {
  /** Source of the VCL `boot`; null starts without one, with the child stopped. */
  readonly vcl?: string | null
  /** Further arguments of varnishd, such as `['-p', 'cli_limit=1m']`. */
  readonly args?: readonly string[]
  /** Content of the secret file; null switches authentication off. */
  readonly secret?: string | Buffer | null
  /** That of another release. */
  readonly program?: CacheProgram
}

export interface Varnishd {
  readonly host: string
  /** The management port. Stays the same over `restart`. */
  readonly port: number
  readonly httpPort: number
  /** Path of the secret file. It exists, unused, also without authentication. */
  readonly secretFile: string
  /** The folder of `-n` (for varnishstat), mode 0755. */
  readonly workDir: string
  /** Process id of the manager; another one after `restart`. */
  pid(): number
  /** Process id of the child (`pid -j`), null while it is stopped. */
  childPid(): Promise<number | null>
  /** Runs the release's own client with these words; returns its output, throws it unless the reply is 200. */
  adm(...words: string[]): Promise<string>
  /** The same without a process, for repeated queries. */
  ask(...words: string[]): Promise<string>
  /** Ends the manager and waits for its end. SIGTERM by default; kills it after 10 s (1 s for a release that takes a minute). */
  stop(signal?: NodeJS.Signals): Promise<void>
  /**
   * Starts again with the same arguments, folder and ports (after `stop`, or stopping first); optionally another release or other
   * `args`. A restarted cache has its start VCL only.
   */
  restart(by?: CacheProgram, args?: readonly string[]): Promise<void>
}

/** The part of tap's Test needed here. */
export interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

const host = '127.0.0.1'
const emptyVcl = 'vcl 4.1;\nbackend default none;\n'
const quickCompiler = 'exec tcc -shared -o %o %s'
const stopTimeoutMs = 10_000
/** For releases that take up to 60 s. */
const slowStopTimeoutMs = 1_000

export async function startVarnishd(t: TestEnd, options: VarnishdOptions = {}): Promise<Varnishd> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-varnishd-'))
  await chmod(folder, 0o755) // varnishd drops to its own user, who must reach the VCL
  const setup: Setup = {
    folder,
    program: options.program ?? cacheProgram,
    secretFile: join(folder, 'secret'),
    workDir: join(folder, 'n'),
    arguments: await prepareFiles(folder, options),
    args: options.args ?? [],
    authenticates: options.secret !== null,
  }
  const removeFolder = () => rm(folder, { recursive: true, force: true, maxRetries: 5 })
  let running = await startOnFreePorts(setup).catch(async (error: unknown) => {
    await removeFolder()
    throw error
  })
  t.teardown(async () => {
    await stopProcess(setup, running.process, 'SIGTERM')
    await removeFolder()
  })
  const { port, httpPort } = running

  const adm = (...words: string[]) => runAdm(setup, port, words)
  const ask = (...words: string[]) =>
    callManagement({ host, port, secretFile: setup.secretFile }, ...words)
  return {
    host,
    port,
    httpPort,
    secretFile: setup.secretFile,
    workDir: setup.workDir,
    pid: () => running.process.pid ?? 0,
    childPid: async () => readWorkerPid(await ask('pid')),
    adm,
    ask,
    stop: (signal = 'SIGTERM') => stopProcess(setup, running.process, signal),
    restart: async (by = setup.program, args = setup.args) => {
      await stopProcess(setup, running.process, 'SIGTERM')
      setup.program = by
      setup.args = args
      running = await startOnSamePorts(setup, { port, httpPort })
    },
  }
}

interface Setup {
  readonly folder: string
  program: CacheProgram
  readonly secretFile: string
  readonly workDir: string
  readonly arguments: readonly string[]
  /** After the others. */
  args: readonly string[]
  readonly authenticates: boolean
}

interface Ports {
  readonly port: number
  readonly httpPort: number
}

interface Running extends Ports {
  readonly process: ChildProcess
}

async function prepareFiles(folder: string, options: VarnishdOptions): Promise<string[]> {
  const secretFile = join(folder, 'secret')
  await writeFile(secretFile, options.secret ?? 'a secret of the test\n', { mode: 0o600 })
  const vcl = options.vcl === undefined ? emptyVcl : options.vcl
  const vclFile = vcl === null ? '' : join(folder, 'boot.vcl')
  if (vcl !== null) await writeFile(vclFile, vcl, { mode: 0o644 })
  return [
    ...['-F', '-n', join(folder, 'n'), '-f', vclFile],
    ...['-S', options.secret === null ? 'none' : secretFile],
    ...['-l', '1m', '-s', 'malloc,32m', '-p', `cc_command=${quickCompiler}`],
    // Idle workers release their VCL after 1 s, not 60.
    ...['-p', 'debug=+vclrel'],
  ]
}

/** Another process may take a port between our check and varnishd's bind: then other ports are tried. */
async function startOnFreePorts(setup: Setup): Promise<Running> {
  for (let attempt = 1; ; attempt++) {
    const ports = { port: await findFreePort(), httpPort: await findFreePort() }
    try {
      return await startProcess(setup, ports)
    } catch (error) {
      if (attempt === 10 || !isPortTaken(error)) throw error
    }
  }
}

/** The old child may hold the HTTP port a moment longer than the manager lived. */
async function startOnSamePorts(setup: Setup, ports: Ports): Promise<Running> {
  const giveUpAt = performance.now() + waitLimitMs
  for (;;) {
    try {
      return await startProcess(setup, ports)
    } catch (error) {
      if (performance.now() > giveUpAt || !isPortTaken(error)) throw error
    }
  }
}

const isPortTaken = (error: unknown) =>
  error instanceof Error &&
  /Address already in use|Could not get socket|could not be listened on/.test(error.message)

async function startProcess(setup: Setup, ports: Ports): Promise<Running> {
  const program = spawn(
    setup.program.daemon,
    [
      ...['-T', `${host}:${ports.port}`, '-a', `${host}:${ports.httpPort}`],
      ...setup.arguments,
      ...setup.args,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000)
  }
  program.stdout.on('data', collect)
  program.stderr.on('data', collect)
  const forget = atExit(() => program.kill('SIGKILL'))
  const end = { reason: '' }
  program.once('exit', (code, signal) => {
    forget()
    end.reason = `${setup.program.daemon} ended (${code ?? signal ?? ''})`
  })
  program.once('error', (error) => {
    end.reason = error.message
  })
  const giveUpAt = performance.now() + waitLimitMs
  while (!(await isOurs(setup, ports.port, program))) {
    if (end.reason !== '') throw new Error(`${end.reason}: ${output}`)
    if (performance.now() > giveUpAt) {
      program.kill('SIGKILL')
      throw new Error(`${setup.program.daemon} does not start: ${output}`)
    }
    await new Promise((resume) => setTimeout(resume, 10))
  }
  return { ...ports, process: program }
}

/**
 * The manager answers only after it compiled its VCL and started the child. Another server may have taken the port after our
 * check; then ours ends with "in use" by itself.
 */
async function isOurs(
  { secretFile }: Setup,
  port: number,
  program: ChildProcess,
): Promise<boolean> {
  const answer = await callManagement({ host, port, secretFile }, 'pid').catch(String)
  return (
    answer.includes(`Master: ${String(program.pid).padStart(10)}`) || /Unknown request/.test(answer)
  )
}

async function stopProcess(
  { program: { daemon }, workDir }: Setup,
  program: ChildProcess,
  signal: NodeJS.Signals,
): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return
  const exited = once(program, 'exit')
  const { workerPid } = await readPidsOnDisk(workDir)
  program.kill(signal)
  const isSlow = hasQuirk(readRelease(daemon).version, 'waitsForReferences')
  const killer = setTimeout(
    () => {
      program.kill('SIGKILL')
      // It waits for its workers and keeps the ports.
      if (workerPid !== null) killChild(workerPid)
    },
    isSlow ? slowStopTimeoutMs : stopTimeoutMs,
  )
  await exited
  clearTimeout(killer)
}

/** The pid may belong to another process by now. */
function killChild(pid: number): void {
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'cache-main')
      process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

function runAdm(setup: Setup, port: number, command: readonly string[]): Promise<string> {
  const words = [
    ...['-t', '60', '-T', `${host}:${port}`],
    ...(setup.authenticates ? ['-S', setup.secretFile] : []),
    ...command,
  ]
  const { adm } = setup.program
  return new Promise((resolve, reject) => {
    execFile(adm, words, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${adm} ${words.join(' ')}: ${stdout}${stderr}`))
      else resolve(stdout)
    })
  })
}

function readWorkerPid(text: string): number | null {
  const found = /^Worker: +(\d+)/m.exec(text)
  return found ? Number(found[1]) : null
}

/** The CLI as its own process, from the output of `npm run build`; and in this process, with or without a terminal. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Test } from 'tap'
import { runProgram } from '../../src/cli/program.js'
import { root } from '../support/root.js'

/** The part of tap's Test needed here. */
export interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

export type Environment = Readonly<Record<string, string>>

export interface Ran {
  readonly code: number | NodeJS.Signals
  readonly out: string
  readonly err: string
}

export interface RunOptions {
  readonly environment: Environment
  readonly input?: string
  /** In this process only: standard streams are terminals. */
  readonly terminal?: boolean
  readonly now?: () => number
}

const program = join(root, 'dist/bin/cachefleet.js')

/** Its own home, removed with the test. */
export async function makeHome(t: TestEnd): Promise<{ readonly XDG_CONFIG_HOME: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-cli-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return { XDG_CONFIG_HOME: join(folder, 'config') }
}

export function sessionFile({ XDG_CONFIG_HOME: folder = '' }: Environment): string {
  return join(folder, 'cachefleet', 'session.json')
}

/** Runs the program as users do; resolves when it has ended. */
export async function run(words: readonly string[], options: RunOptions): Promise<Ran> {
  const child = startClient(words, options.environment)
  const texts = listen(child)
  child.stdin?.on('error', () => undefined) // it may end without reading
  child.stdin?.end(options.input)
  return { code: await endOf(child), ...texts }
}

/** Ends with the test at the latest. */
export function startClient(words: readonly string[], environment: Environment): ChildProcess {
  const { PATH = '' } = process.env
  return spawn(process.execPath, [program, ...words], {
    env: { PATH, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

export function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      resolve(signal ?? code ?? 0)
    })
  })
}

function listen(child: ChildProcess): { out: string; err: string } {
  const texts = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.out += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.err += text))
  return texts
}

/** The same program without starting a process. */
export async function call(words: readonly string[], options: RunOptions): Promise<Ran> {
  const { environment, input, terminal = false, now = Date.now } = options
  const stdin = makeStream(terminal)
  const stdout = makeStream(terminal)
  const stderr = makeStream(terminal)
  stdin.end(input)
  const texts = { out: '', err: '' }
  stdout.setEncoding('utf8').on('data', (text: string) => (texts.out += text))
  stderr.setEncoding('utf8').on('data', (text: string) => (texts.err += text))
  const code = await runProgram(words, {
    environment,
    // These have all stream features that the program uses.
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    now,
    setInterruptMessage: () => undefined, // signals are for processes
  })
  await new Promise((resume) => setImmediate(resume)) // lets pending output arrive
  return { code, ...texts }
}

function makeStream(isTTY: boolean): PassThrough & { readonly isTTY: boolean } {
  const stream = new PassThrough()
  return Object.assign(stream, { isTTY, setRawMode: () => stream })
}

/** A failure is one line for people. */
export function expectOneLine(t: Test, ran: Ran, what: string): void {
  t.equal(ran.out, '', what)
  t.match(ran.err, /^cachefleet: [^\n]+\n$/, what)
}

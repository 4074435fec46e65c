/**
 * Runs one test file in its own process, so that the agent does not load the test runner: started without a shell, at the lowest
 * priority, ended with all its child processes when its time is over or the agent ends.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { startDeadline } from '../../runtime/deadline.js'
import { waitAtMost } from '../../runtime/pause.js'
import { endWithUs } from '../host/end-with-us.js'
import type { RunnerAnswer, RunnerOrder } from './runner-order.js'

interface RunnerProcess {
  readonly order: RunnerOrder
  /** Command prefix that executes the runner; empty: it runs like the agent itself. */
  readonly words: readonly string[]
  readonly limitMs: number
  readonly signal: AbortSignal
}

export type RunnerOutcome =
  | { readonly kind: 'done'; readonly answer: RunnerAnswer }
  | { readonly kind: 'late' }
  | { readonly kind: 'broken'; readonly reason: string }

/** Time for the runner to end the processes that it started. */
const graceMs = 2_000
/** A shortened result has at most some hundred kilobytes. */
const answerLimitBytes = 4 << 20
const wordsLimitCharacters = 2_000
const heapMebibytes = 192

/** Relative to the programs themselves; to bundled tests; to compiled files; to the sources. */
const folders = ['./', '../bin/', '../../../bin/', '../../../dist/bin/']

export async function runInProcess(run: RunnerProcess): Promise<RunnerOutcome> {
  const runner = findRunner()
  if (runner === null) return { kind: 'broken', reason: 'the program that runs tests is not there' }
  const { order, limitMs, signal, words } = run
  const node = {
    program: process.execPath,
    words: [`--max-old-space-size=${heapMebibytes}`, runner],
  }
  const { program, words: rest } = endWithUs(node)
  const child = spawn('nice', ['-n', '19', ...words, program, ...rest], {
    detached: true, // its own process group, ended as a whole
    stdio: ['pipe', 'pipe', 'pipe'],
    // Not this process's own environment, which may contain secrets.
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', TMPDIR: tmpdir() },
  })
  const end = (how: NodeJS.Signals): void => {
    kill(child.pid, how)
  }
  const output = readOutput(child.stdout, () => {
    end('SIGKILL')
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString()}`.slice(-wordsLimitCharacters)
  })
  child.stdin.on('error', () => undefined) // the end of the process follows
  child.stdin.end(JSON.stringify(order))
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      errors += error.message
      resolve()
    })
    child.once('close', () => {
      resolve()
    })
  })
  const isLate = await endInTime(ended, { limitMs, signal, end })
  if (isLate) return { kind: 'late' }
  return readAnswer(output(), errors)
}

/** Returns true when the time was over. */
async function endInTime(
  ended: Promise<void>,
  {
    limitMs,
    signal,
    end,
  }: Pick<RunnerProcess, 'limitMs' | 'signal'> & { readonly end: (how: NodeJS.Signals) => void },
): Promise<boolean> {
  const deadline = startDeadline(limitMs, signal)
  const isLate = await new Promise<boolean>((resolve) => {
    const giveUp = (): void => {
      resolve(true)
    }
    deadline.signal.addEventListener('abort', giveUp, { once: true })
    if (deadline.signal.aborted) giveUp()
    void ended.then(() => {
      resolve(false)
    })
  })
  deadline.stop()
  if (!isLate) return false
  end('SIGTERM')
  await waitAtMost(graceMs, ended, () => {
    end('SIGKILL')
  })
  await ended
  return true
}

/** Signals a process group that may be gone. */
function kill(pid: number | undefined, how: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, how)
  } catch {
    // All of it are gone.
  }
}

function readOutput(stream: NodeJS.ReadableStream, refuse: () => void): () => string {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > answerLimitBytes) refuse()
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

function readAnswer(text: string, errors: string): RunnerOutcome {
  try {
    return { kind: 'done', answer: JSON.parse(text) as RunnerAnswer } // as the runner writes it
  } catch {
    const reason = `what runs tests ended: ${errors.trim().split('\n').at(-1) ?? ''}`
    return { kind: 'broken', reason: reason.slice(0, 500) }
  }
}

function findRunner(): string | null {
  const paths = folders.map((folder) =>
    fileURLToPath(new URL(`${folder}test-runner.js`, import.meta.url)),
  )
  return paths.find((path) => existsSync(path)) ?? null
}

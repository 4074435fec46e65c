/**
 * One run of the cache's own log tool (varnishncsa, varnishlog; vinyl… there), shared by readers of the same lines. It starts
 * without a shell, with the lowest priority, and ends within two seconds.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import { waitAtMost } from '../../runtime/pause.js'
import { recordTags } from '../../traffic/log-records.js'
import { endWithUs, notThereCode } from '../host/end-with-us.js'
import { splitLines } from './split-lines.js'

export interface LogTool {
  /** The program: a path, or a name on PATH. */
  readonly program: string
  /** The cache's working directory, an absolute path. */
  readonly folder: string
  readonly variables: string
}

export interface LogRun {
  /** Argument of `-F`, with variables of Varnish; null: all records, from the tool that prints them. */
  readonly format: string | null
  /** Null: all transactions. */
  readonly query: string | null
  /** Tags of the records to print; default: those that anybody who may read the log may see. */
  readonly tags?: readonly string[]
  /** Also prints the fetches of a request, after it. */
  readonly fetches: boolean
  /** At most `lines` in each span of `seconds`, the first ones; null: no limit. */
  readonly bound: { readonly lines: number; readonly seconds: number } | null
}

interface LogChildOptions {
  readonly tool: LogTool
  readonly run: LogRun
  readonly onLine: (line: string) => void
  /** Called when it ends by itself; never after `stop`. */
  readonly onEnd: (why: string) => void
}

const killAfterMs = 1_500
/** Limit for the tool's error output. */
const wordsLimitCharacters = 2_000

export class LogChild {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>
  readonly #ended: Promise<unknown>
  #isStopped = false

  constructor({ tool, run, onLine, onEnd }: LogChildOptions) {
    const command = endWithUs({ program: tool.program, words: listWords(tool, run) })
    this.#process = spawn(command.program, command.words, { stdio: ['ignore', 'pipe', 'pipe'] })
    const { stdout, stderr, pid } = this.#process
    if (pid !== undefined) lowerPriority(pid)
    let words = ''
    stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(0, wordsLimitCharacters)
    })
    stdout.on(
      'data',
      splitLines((line) => {
        if (!this.#isStopped) onLine(line)
      }),
    )
    const end = (why: string): void => {
      if (this.#isStopped) return
      this.#isStopped = true
      onEnd(why)
    }
    this.#process.once('error', (error) => {
      end(error.message)
    })
    this.#ended = once(this.#process, 'close').catch(() => undefined) // it never started
    this.#process.once('close', (code, signal) => {
      // On the following lines the tool marks the position in the query.
      const first = words.split('\n').find((line) => /\w/.test(line))
      if (code === notThereCode) end(`spawn ${tool.program} ENOENT`)
      else end(first?.trim() ?? `it ended with ${signal ?? code ?? 'nothing'}`)
    })
  }

  /** Kills the tool without waiting. */
  kill(): void {
    this.#isStopped = true
    this.#process.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#process.pid === undefined || this.#process.exitCode !== null) return
    this.#process.kill('SIGTERM')
    await waitAtMost(killAfterMs, this.#ended, () => this.#process.kill('SIGKILL'))
    await this.#ended
  }
}

/** The same options since 6.0 (varnishncsa(1)). Without `-t off` the tool would give up if the cache has just restarted. */
function listWords(
  { folder, variables }: LogTool,
  { format, query, fetches, bound, tags }: LogRun,
): string[] {
  return [
    ...['-n', folder, '-t', 'off'],
    ...(format === null
      ? ['-g', 'request', '-i', tags?.join(',') ?? recordTags, '-X', '\\n']
      : [
          '-F',
          format.replaceAll('%{Varnish:', `%{${variables}:`),
          ...(fetches ? ['-b', '-c', '-g', 'request'] : ['-c']),
        ]),
    ...(query === null ? [] : ['-q', query]),
    ...(bound === null ? [] : ['-R', `${bound.lines}/${bound.seconds}s`]),
  ]
}

/** The process may have ended already. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // Then there is nothing that it could slow down.
  }
}

/** Collects everything wrong with a folder and reports it at once, one line each, before anything is changed. */
import { CliError, exitCodes, type ExitCode } from '../cli-error.js'
import { joinSome } from '../join-some.js'

const maxLines = 20

export class Problems {
  private readonly lines: string[] = []

  get count(): number {
    return this.lines.length
  }

  /** `where`: file and line; empty if there is no document. */
  add(where: string, problem: string): void {
    this.lines.push(where === '' ? problem : `${where}: ${problem}`)
  }

  /** Throws CliError if there are any problems. */
  check(exitCode: ExitCode = exitCodes.usage): void {
    if (this.lines.length === 0) return
    const text = joinSome(this.lines, { most: maxLines, between: '\n' })
    throw new CliError(exitCode, `${text}\nNothing was changed.`)
  }
}

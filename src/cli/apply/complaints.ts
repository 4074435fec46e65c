/** Everything that is wrong with a folder is told at once, a line each, before anything is changed. */
import { CliError, exitCodes, type ExitCode } from '../cli-error.js'
import { nameSome } from './name-some.js'

/** Chosen by us. */
const linesMost = 20

export class Complaints {
  private readonly lines: string[] = []

  get count(): number {
    return this.lines.length
  }

  /** `where`: file and line; empty: there is no document for it. */
  add(where: string, problem: string): void {
    this.lines.push(where === '' ? problem : `${where}: ${problem}`)
  }

  /** Throws CliError when there are any. */
  check(exitCode: ExitCode = exitCodes.usage): void {
    if (this.lines.length === 0) return
    const text = nameSome(this.lines, { most: linesMost, between: '\n' })
    throw new CliError(exitCode, `${text}\nNothing was changed.`)
  }
}

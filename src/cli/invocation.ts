/** Builds a verb's invocation from the parsed command line: words, flags, output and coordinator. */
import { once } from 'node:events'
import type { Command } from 'commander'
import { grammar } from './grammar.js'
import type { Output } from './output.js'
import { toPrintableLine } from './printable-text.js'
import type { ConnectionSettings, Invocation, System } from './verb.js'

export async function readInvocation(
  program: Command,
  command: Command,
  system: System,
): Promise<Invocation> {
  const globals: Readonly<Record<string, unknown>> = program.opts()
  const { server, context } = globals
  const { chooseContext } = await import('./context-in-use.js')
  const settings: ConnectionSettings = {
    server: typeof server === 'string' ? server : undefined,
    context: await chooseContext(
      typeof context === 'string' ? context : undefined,
      system.environment,
    ),
    report: (line) => {
      if (globals['verbose'] === true) system.stderr.write(`${line}\n`)
    },
  }
  return {
    words: command.args,
    flags: readFlags(command),
    output: chooseOutput(globals, system),
    system,
    settings,
    grammar,
    openApi: async () => (await import('./connection.js')).openApi(settings, system),
  }
}

/** Keyed by kebab-case name; a `--no-` form sets its positive flag to false. */
function readFlags(command: Command): Readonly<Record<string, unknown>> {
  const { options } = command
  const given = options.filter(({ negate }) => !negate).map((option) => option.attributeName())
  return Object.fromEntries(
    options
      // A pair shares one value; a lone `--no-` form is true unless given.
      .filter((option) => !option.negate || !given.includes(option.attributeName()))
      .map((option) => [
        option.name().replace(/^no-/, ''),
        command.getOptionValue(option.attributeName()) as unknown, // commander types it any
      ]),
  )
}

function chooseOutput(
  globals: Readonly<Record<string, unknown>>,
  { stdout, stderr, environment, now }: System,
): Output {
  const isTerminal = stdout.isTTY
  return {
    form: globals['json'] === true ? 'json' : globals['csv'] === true ? 'csv' : 'table',
    isTerminal,
    // A terminal of unknown width reports 0 or undefined.
    widthColumns: isTerminal ? stdout.columns || Infinity : Infinity,
    now,
    // no-color.org: applies if set and not empty.
    colour: isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb',
    write: (text) => {
      stdout.write(text)
    },
    drained: async () => {
      if (stdout.writableNeedDrain) await once(stdout, 'drain')
    },
    notify: (line) => {
      if (stdout.isTTY && stderr.isTTY) stderr.write(`${toPrintableLine(line)}\n`)
    },
  }
}

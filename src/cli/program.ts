/** Reads the command line by the grammar, runs the verb, and turns how it ended into an exit code (choices: 8). */
import { once } from 'node:events'
import { Command, CommanderError, Option } from 'commander'
import { version } from '../version.js'
import { CliError, describeError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { grammar } from './grammar.js'
import type { Output } from './output.js'
import { toPrintableLine, toPrintableText } from './printable-text.js'
import {
  toKebab,
  type ConnectionSettings,
  type Flag,
  type Invocation,
  type Noun,
  type Surroundings,
  type Verb,
} from './verb.js'

interface Ending {
  exitCode: ExitCode
}

/** `typed`: without the program's own name. Never rejects. */
export async function runProgram(
  typed: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const ending: Ending = { exitCode: exitCodes.done }
  const program = buildProgram(surroundings, ending)
  try {
    await program.parseAsync(joinBooleans(typed), { from: 'user' })
    return ending.exitCode
  } catch (error) {
    // Commander has printed what it had to say; a help that was asked for is no error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
    if (!(error instanceof CliError) && program.opts()['verbose'] === true)
      surroundings.stderr.write(`${error instanceof Error ? (error.stack ?? '') : ''}\n`)
    const text = describeError(error, program.opts()['json'] === true)
    surroundings.stderr.write(`${surroundings.stderr.isTTY ? toPrintableText(text) : text}\n`)
    return error instanceof CliError ? error.exitCode : exitCodes.refused
  }
}

function buildProgram(surroundings: Surroundings, ending: Ending): Command {
  const { stdout, stderr } = surroundings
  const program = new Command('cachefleet')
    .description('Runs fleets of HTTP caches: files, groups, deploys, and what is true of them.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help; also behind a noun or a verb')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: nameCommand })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => {
        const line = text
          .replace(/^error: /, '')
          .trim()
          .replaceAll('\n', ' ')
        const isUnknown = /^unknown (command|option)/.test(line) && !line.includes('(Did you mean')
        const hint = isUnknown ? '; --help lists what there is' : ''
        write(`cachefleet: ${toPrintableLine(line)}${hint}\n`)
      },
    })
  for (const flag of grammar.flags) addFlag(program, flag)
  program.addHelpText('after', rootHelp)
  for (const noun of grammar.nouns) addNoun(program, noun, { program, surroundings, ending })
  for (const verb of grammar.verbs) addVerb(program, verb, { program, surroundings, ending })
  return program
}

const rootHelp = `
Each noun and verb has a --help with an example; nouns may be typed in the singular. Ids are digits; wherever
an id is taken a name is too: one that looks like an id with a backslash before it (\\2024), a comma inside a
list of names as \\,.

Variables:
  CACHEFLEET_SERVER      the coordinator's address
  CACHEFLEET_TOKEN       an API token, instead of a login; CACHEFLEET_TOKEN_FILE: its file
  CACHEFLEET_CA          file with the CA of the coordinator's certificate
  NO_COLOR               no colour

Exit codes:
  0  done                                  3    the wait ended with min, without the percentage
  1  refused, below min, or no connection  4    the wait ended below min, work goes on
  2  usage                                 5    authentication or permission
                                           130  Ctrl-C

Example:
  $ cachefleet login --server http://127.0.0.1:8002 --user admin
  $ cachefleet files upload vcl/
  $ cachefleet vclgroups add --name site --main-vcl main.vcl --deployments web
  $ cachefleet vclgroups deploy site
  $ cachefleet agents list --filter stateName=Down,Failing`

interface Making {
  readonly program: Command
  readonly surroundings: Surroundings
  readonly ending: Ending
}

function addNoun(program: Command, noun: Noun, making: Making): void {
  const command = program
    .command(noun.name)
    .aliases(noun.aliases)
    .description(noun.summary)
    .helpGroup('Nouns:')
    .helpCommand(false)
    .addHelpText('after', describeExample(noun.example))
  for (const verb of noun.verbs) addVerb(command, verb, making)
}

function addVerb(parent: Command, verb: Verb, making: Making): void {
  const command = parent
    .command(verb.name, { hidden: verb.isHidden === true })
    .description(verb.summary)
    .helpGroup('Verbs:')
    .addHelpText('after', describeExample(verb.example))
  for (const argument of verb.arguments ?? []) command.argument(argument)
  for (const flag of verb.flags ?? []) addFlag(command, flag)
  command.action(async () => {
    const { program, surroundings, ending } = making
    const invocation = await readInvocation(program, command, surroundings)
    ending.exitCode = (await verb.run(invocation)) ?? exitCodes.done
  })
}

function addFlag(command: Command, { form, summary, repeatable }: Flag): void {
  const option = new Option(form, summary)
  if (form === '--csv') option.conflicts('json')
  if (repeatable === true)
    option.argParser((value: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      value,
    ])
  command.addOption(option)
}

/** Arguments and flags are told by its own help; the singular of a noun is no news. */
function nameCommand(command: Command): string {
  const short = command.aliases().filter((alias) => `${alias}s` !== command.name())
  return [command.name(), ...short].join(', ')
}

function describeExample(example: string): string {
  return `\nExample:\n  $ cachefleet ${example}`
}

async function readInvocation(
  program: Command,
  command: Command,
  surroundings: Surroundings,
): Promise<Invocation> {
  const globals: Readonly<Record<string, unknown>> = program.opts()
  const { server, context } = globals
  const { chooseContext } = await import('./context-in-use.js')
  const settings: ConnectionSettings = {
    server: typeof server === 'string' ? server : undefined,
    context: await chooseContext(
      typeof context === 'string' ? context : undefined,
      surroundings.environment,
    ),
    report: (line) => {
      if (globals['verbose'] === true) surroundings.stderr.write(`${line}\n`)
    },
  }
  return {
    words: command.args,
    flags: readFlags(command),
    output: chooseOutput(globals, surroundings),
    surroundings,
    settings,
    grammar,
    openApi: async () => (await import('./connection.js')).openApi(settings, surroundings),
  }
}

/** By kebab-case name; a `--no-` form has set its positive one to false. */
function readFlags(command: Command): Readonly<Record<string, unknown>> {
  const { options } = command
  const given = options.filter(({ negate }) => !negate).map((option) => option.attributeName())
  return Object.fromEntries(
    options
      // A pair has one value; a lone `--no-` form is true until it is given.
      .filter((option) => !option.negate || !given.includes(option.attributeName()))
      .map((option) => [
        option.name().replace(/^no-/, ''),
        command.getOptionValue(option.attributeName()) as unknown, // commander types it any
      ]),
  )
}

function chooseOutput(
  globals: Readonly<Record<string, unknown>>,
  { stdout, stderr, environment, now }: Surroundings,
): Output {
  const isTerminal = stdout.isTTY
  return {
    form: globals['json'] === true ? 'json' : globals['csv'] === true ? 'csv' : 'table',
    isTerminal,
    // A terminal that does not say how wide it is says 0, or nothing.
    widthColumns: isTerminal ? stdout.columns || Infinity : Infinity,
    now,
    // no-color.org: set and not empty.
    colour: isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb',
    write: (text) => {
      stdout.write(text)
    },
    drained: async () => {
      if (stdout.writableNeedDrain) await once(stdout, 'drain')
    },
    tell: (line) => {
      if (stdout.isTTY && stderr.isTTY) stderr.write(`${toPrintableLine(line)}\n`)
    },
  }
}

/** `--locked=false` is what commander knows as `--no-locked`, and `--locked=true` as `--locked` (choices: 8). */
function joinBooleans(typed: readonly string[]): readonly string[] {
  const booleans = new Set(
    grammar.nouns.flatMap(({ fields = [] }) =>
      fields.filter(({ type }) => type.kind === 'boolean').map(({ name }) => toKebab(name)),
    ),
  )
  const end = typed.indexOf('--')
  return typed.map((text, index) => {
    const [, name = '', value = ''] = /^--([a-z-]+)=(.*)$/s.exec(text) ?? []
    if (!booleans.has(name) || (end >= 0 && index > end)) return text
    if (value !== 'true' && value !== 'false')
      throw usageError(`--${name} is ${JSON.stringify(value)}; true or false is right`)
    return `--${value === 'true' ? '' : 'no-'}${name}`
  })
}

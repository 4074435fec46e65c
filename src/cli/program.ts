/** Parses the command line by the grammar, runs the verb, and returns an exit code (docs/behaviour.md, Command line). */
import { Command, CommanderError, Option } from 'commander'
import { version } from '../version.js'
import { capitalize } from './capitalize.js'
import { CliError, describeError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { grammar } from './grammar.js'
import { readInvocation } from './invocation.js'
import { toPrintableLine, toPrintableText } from './printable-text.js'
import { rootHelp } from './root-help.js'
import {
  isOfApi,
  toKebab,
  type Flag,
  type LocalNoun,
  type Noun,
  type System,
  type Verb,
} from './verb.js'

interface Ending {
  exitCode: ExitCode
}

/** `typed`: arguments without the program's name. Never rejects. */
export async function runProgram(typed: readonly string[], system: System): Promise<ExitCode> {
  const ending: Ending = { exitCode: exitCodes.done }
  const program = buildProgram(system, ending)
  try {
    await program.parseAsync(joinBooleans(typed), { from: 'user' })
    return ending.exitCode
  } catch (error) {
    // Commander has already printed its message; requested help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage
    if (!(error instanceof CliError) && program.opts()['verbose'] === true)
      system.stderr.write(`${error instanceof Error ? (error.stack ?? '') : ''}\n`)
    const text = describeError(error, program.opts()['json'] === true)
    system.stderr.write(`${system.stderr.isTTY ? toPrintableText(text) : text}\n`)
    return error instanceof CliError ? error.exitCode : exitCodes.refused
  }
}

function buildProgram(system: System, ending: Ending): Command {
  const { stdout, stderr } = system
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
        write(`cachefleet: ${capitalize(toPrintableLine(line))}${hint}\n`)
      },
    })
  for (const flag of grammar.flags) addFlag(program, flag)
  program.addHelpText('after', rootHelp)
  for (const noun of grammar.nouns) addNoun(program, noun, { program, system, ending })
  for (const verb of grammar.verbs) addVerb(program, verb, { program, system, ending })
  return program
}

interface Making {
  readonly program: Command
  readonly system: System
  readonly ending: Ending
}

function addNoun(program: Command, noun: Noun | LocalNoun, making: Making): void {
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
    .aliases(verb.aliases ?? [])
    .description(verb.summary)
    .helpGroup('Verbs:')
    .addHelpText('after', describeExample(verb.example))
  for (const argument of verb.arguments ?? []) command.argument(argument)
  for (const flag of verb.flags ?? []) addFlag(command, flag)
  command.action(async () => {
    const { program, system, ending } = making
    const invocation = await readInvocation(program, command, system)
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

/** Omits arguments and flags, which the command's own help shows, and the singular alias of a noun. */
function nameCommand(command: Command): string {
  const short = command.aliases().filter((alias) => `${alias}s` !== command.name())
  return [command.name(), ...short].join(', ')
}

function describeExample(example: string): string {
  return `\nExample:\n  $ cachefleet ${example}`
}

/** Rewrites `--locked=false` to commander's `--no-locked`, and `--locked=true` to `--locked` (docs/behaviour.md, Command line). */
function joinBooleans(typed: readonly string[]): readonly string[] {
  const fields = grammar.nouns.filter(isOfApi).flatMap((noun) => noun.fields)
  const booleans = new Set(
    fields.filter(({ type }) => type.kind === 'boolean').map(({ name }) => toKebab(name)),
  )
  const end = typed.indexOf('--')
  return typed.map((text, index) => {
    const [, name = '', value = ''] = /^--([a-z-]+)=(.*)$/s.exec(text) ?? []
    if (!booleans.has(name) || (end >= 0 && index > end)) return text
    if (value !== 'true' && value !== 'false')
      throw usageError(`--${name} is ${JSON.stringify(value)}; expected true or false`)
    return `--${value === 'true' ? '' : 'no-'}${name}`
  })
}

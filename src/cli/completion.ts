/** Completion scripts, made from the grammar: first word, verb of a noun, flags of a verb. */
import { usageError } from './cli-error.js'
import { word, type Flag, type Grammar, type Invocation } from './verb.js'

export function printCompletion(invocation: Invocation): Promise<undefined> {
  const shell = word(invocation, 0)
  const print = scripts[shell]
  if (!print) throw usageError(`there is a completion for bash, zsh and fish, not for ${shell}`)
  invocation.output.write(print(invocation.grammar))
  return Promise.resolve(undefined)
}

const scripts: Readonly<Record<string, (grammar: Grammar) => string>> = {
  bash: printBash,
  zsh: printZsh,
  fish: printFish,
}

/** Words that follow `key`: the words before them, joined by a blank; flags are offered anywhere behind. */
interface Completions {
  readonly first: readonly string[]
  readonly verbsOf: ReadonlyMap<string, readonly string[]>
  readonly flagsOf: ReadonlyMap<string, readonly string[]>
}

function readCompletions({ flags, verbs, nouns }: Grammar): Completions {
  const everywhere = ['--help', ...flags.map(longForm)]
  const spellings = nouns.flatMap((noun) =>
    [noun.name, ...noun.aliases].map((spelling) => ({ spelling, noun })),
  )
  return {
    first: [...nouns.map(({ name }) => name), ...verbs.map(({ name }) => name), ...everywhere],
    verbsOf: new Map(
      spellings.map(({ spelling, noun }) => [spelling, noun.verbs.map(({ name }) => name)]),
    ),
    flagsOf: new Map([
      ...verbs.map((verb) => [verb.name, flagsOf(verb.flags, everywhere)] as const),
      ...spellings.flatMap(({ spelling, noun }) =>
        noun.verbs.map(
          (verb) => [`${spelling} ${verb.name}`, flagsOf(verb.flags, everywhere)] as const,
        ),
      ),
    ]),
  }
}

function flagsOf(flags: readonly Flag[] = [], everywhere: readonly string[]): readonly string[] {
  return [...flags.map(longForm), ...everywhere]
}

function longForm({ form }: Flag): string {
  return form.split(' ')[0] ?? form
}

/** The words that do not begin with a dash decide; the value of a flag before them is taken for one, and then nothing is offered. */
function printBash(grammar: Grammar): string {
  const { first, verbsOf, flagsOf: flags } = readCompletions(grammar)
  return `# bash completion for cachefleet
_cachefleet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" word words=() candidates=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || words+=("$word")
  done
  case "\${#words[@]}" in
    0) candidates="${first.join(' ')}" ;;
    1) case "\${words[0]}" in
${printCases(verbsOf)}
      esac ;;
  esac
  case "\${words[0]} \${words[1]}" in
${printCases(flags, true)}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _cachefleet cachefleet
`
}

/** `compadd` is given what fits; zsh leaves out what does not begin as typed. */
function printZsh(grammar: Grammar): string {
  const { first, verbsOf, flagsOf: flags } = readCompletions(grammar)
  return `#compdef cachefleet
_cachefleet() {
  local word candidates=""
  local -a given
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || given+=("$word")
  done
  case "\${#given}" in
    0) candidates="${first.join(' ')}" ;;
    1) case "\${given[1]}" in
${printCases(verbsOf)}
      esac ;;
  esac
  case "\${given[1]} \${given[2]}" in
${printCases(flags, true)}
  esac
  if [[ -n "$candidates" ]]; then
    compadd -- \${(s: :)candidates}
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _cachefleet ]]; then
  _cachefleet "$@"
else
  compdef _cachefleet cachefleet
fi
`
}

function printFish({ flags, verbs, nouns }: Grammar): string {
  const offer = (condition: string, words: string, summary: string): string =>
    `complete -c cachefleet -n '${condition}' ${words} -d '${summary.replaceAll("'", "\\'")}'`
  const lines = [
    ...[...nouns, ...verbs].map(({ name, summary }) =>
      offer('__fish_use_subcommand', `-f -a ${name}`, summary),
    ),
    ...flags.map(({ form, summary }) =>
      offer('true', `-l ${longForm({ form, summary }).slice(2)}`, summary),
    ),
    ...nouns.flatMap((noun) => {
      const isNoun = `__fish_seen_subcommand_from ${[noun.name, ...noun.aliases].join(' ')}`
      const names = noun.verbs.map(({ name }) => name).join(' ')
      return noun.verbs.flatMap((verb) => [
        offer(
          `${isNoun}; and not __fish_seen_subcommand_from ${names}`,
          `-f -a ${verb.name}`,
          verb.summary,
        ),
        ...(verb.flags ?? []).map((flag) =>
          offer(
            `${isNoun}; and __fish_seen_subcommand_from ${verb.name}`,
            `-l ${longForm(flag).slice(2)}`,
            flag.summary,
          ),
        ),
      ])
    }),
    ...verbs.flatMap((verb) =>
      (verb.flags ?? []).map((flag) =>
        offer(
          `__fish_seen_subcommand_from ${verb.name}`,
          `-l ${longForm(flag).slice(2)}`,
          flag.summary,
        ),
      ),
    ),
  ]
  return `# fish completion for cachefleet\n${lines.join('\n')}\n`
}

/** Of a `case`; `adding`: to what is offered already, once a dash is typed or there is nothing else. */
function printCases(words: ReadonlyMap<string, readonly string[]>, adding = false): string {
  return [...words]
    .map(([key, values]) => {
      const pattern = adding && !key.includes(' ') ? `"${key} "*` : `"${key}"`
      return `    ${pattern}) candidates="${adding ? '$candidates ' : ''}${values.join(' ')}" ;;`
    })
    .join('\n')
}

/** Completion scripts, made from the grammar: first word, verb of a noun, flags of a verb. */
import { usageError } from './cli-error.js'
import { word, type Flag, type Grammar, type Invocation, type Noun, type Verb } from './verb.js'

export function printCompletion(invocation: Invocation): Promise<undefined> {
  const shell = word(invocation, 0)
  const print = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (!print) throw usageError(`there is a completion for bash, zsh and fish, not for ${shell}`)
  invocation.output.write(print(invocation.grammar))
  return Promise.resolve(undefined)
}

const scripts: Readonly<Record<string, (grammar: Grammar) => string>> = {
  bash: printBash,
  zsh: printZsh,
  fish: printFish,
}

interface Completions {
  readonly first: readonly string[]
  /** By each spelling of a noun. */
  readonly verbsOf: ReadonlyMap<string, readonly string[]>
  readonly everywhere: readonly string[]
  /** By verb, or by a spelling of a noun and a verb of it. */
  readonly flagsOf: ReadonlyMap<string, readonly string[]>
}

function readCompletions({ flags, verbs, nouns }: Grammar): Completions {
  const spellings = nouns.flatMap((noun) =>
    [noun.name, ...noun.aliases].map((spelling) => ({ spelling, noun })),
  )
  return {
    first: [...nouns, ...verbs].map(({ name }) => name),
    verbsOf: new Map(
      spellings.map(({ spelling, noun }) => [spelling, noun.verbs.map(({ name }) => name)]),
    ),
    everywhere: ['--help', ...flags.map(longForm)],
    flagsOf: new Map([
      ...verbs.map((verb) => [`${verb.name} *`, flagsOf(verb)] as const),
      ...spellings.flatMap(({ spelling, noun }) =>
        noun.verbs.map((verb) => [`${spelling} ${verb.name}`, flagsOf(verb)] as const),
      ),
    ]),
  }
}

function flagsOf({ flags = [] }: Verb): readonly string[] {
  return flags.map(longForm)
}

function longForm({ form }: Flag): string {
  return /--[a-z-]+/.exec(form)?.[0] ?? form
}

/**
 * The words that do not begin with a dash decide. A flag's value is taken for one too: then files are offered, which is
 * what bash does by itself.
 */
function printBash(grammar: Grammar): string {
  const { first, verbsOf, everywhere, flagsOf: flags } = readCompletions(grammar)
  return `# bash completion for cachefleet
_cachefleet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" word words=() candidates=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || words+=("$word")
  done
  if [[ $current == -* ]]; then
    candidates="${everywhere.join(' ')}"
    case "\${words[0]-} \${words[1]-}" in
${printCases(flags, '$candidates ')}
    esac
  elif [[ \${#words[@]} == 0 ]]; then
    candidates="${first.join(' ')}"
  elif [[ \${#words[@]} == 1 ]]; then
    case "\${words[0]}" in
${printCases(verbsOf)}
    esac
  fi
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _cachefleet cachefleet
`
}

/** `compadd` is given everything; zsh leaves out what does not begin as typed. */
function printZsh(grammar: Grammar): string {
  const { first, verbsOf, everywhere, flagsOf: flags } = readCompletions(grammar)
  return `#compdef cachefleet
_cachefleet() {
  local word candidates=""
  local -a given
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || given+=("$word")
  done
  if [[ $PREFIX == -* ]]; then
    candidates="${everywhere.join(' ')}"
    case "\${given[1]} \${given[2]}" in
${printCases(flags, '$candidates ')}
    esac
  elif (( \${#given} == 0 )); then
    candidates="${first.join(' ')}"
  elif (( \${#given} == 1 )); then
    case "\${given[1]}" in
${printCases(verbsOf)}
    esac
  fi
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
  const lines = [
    ...[...nouns, ...verbs].map(({ name, summary }) =>
      offer('__fish_use_subcommand', `-f -a ${name}`, summary),
    ),
    ...flags.map((flag) => offerFlag('true', flag)),
    ...verbs.flatMap(({ name, flags: own = [] }) =>
      own.map((flag) => offerFlag(`__fish_seen_subcommand_from ${name}`, flag)),
    ),
    ...nouns.flatMap(offerNoun),
  ]
  return `# fish completion for cachefleet\n${lines.join('\n')}\n`
}

function offerNoun({ name, aliases, verbs }: Noun): readonly string[] {
  const isNoun = `__fish_seen_subcommand_from ${[name, ...aliases].join(' ')}`
  const names = verbs.map((verb) => verb.name).join(' ')
  const noVerb = `${isNoun}; and not __fish_seen_subcommand_from ${names}`
  return verbs.flatMap((verb) => [
    offer(noVerb, `-f -a ${verb.name}`, verb.summary),
    ...(verb.flags ?? []).map((flag) =>
      offerFlag(`${isNoun}; and __fish_seen_subcommand_from ${verb.name}`, flag),
    ),
  ])
}

function offerFlag(condition: string, flag: Flag): string {
  const value = flag.form.includes(' ') ? ' -r' : ''
  return offer(condition, `-l ${longForm(flag).slice(2)}${value}`, flag.summary)
}

function offer(condition: string, words: string, summary: string): string {
  return `complete -c cachefleet -n '${condition}' ${words} -d '${summary.replaceAll("'", "\\'")}'`
}

/** Of a `case`. `before`: what the candidates begin with. A star stands for any word. */
function printCases(words: ReadonlyMap<string, readonly string[]>, before = ''): string {
  return [...words]
    .filter(([, values]) => values.length > 0)
    .map(([key, values]) => {
      const pattern = key.endsWith('*') ? `"${key.slice(0, -1)}"*` : `"${key}"`
      return `    ${pattern}) candidates="${before}${values.join(' ')}" ;;`
    })
    .join('\n')
}

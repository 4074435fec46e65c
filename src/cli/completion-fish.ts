/** The completion script for fish. */
import {
  isAboutNamed,
  isShown,
  longForm,
  readCompletionFacts,
  spellingsOf,
  takesValue,
  type AnyNoun,
} from './completion-facts.js'
import type { Flag, Grammar } from './verb.js'

export function printFish(grammar: Grammar): string {
  const { flags, verbs, nouns } = grammar
  const { namesOfFlag } = readCompletionFacts(grammar)
  const shown = verbs.filter(isShown)
  const lines = [
    ...[...nouns, ...shown].map(({ name, summary }) =>
      offer('__fish_use_subcommand', `-f -a ${name}`, summary),
    ),
    ...flags.map((flag) => offerFlag('true', flag, namesOfFlag)),
    ...shown.flatMap(({ name, flags: own = [] }) =>
      own.map((flag) => offerFlag(`__fish_seen_subcommand_from ${name}`, flag, namesOfFlag)),
    ),
    ...nouns.flatMap((noun) => offerNoun(noun, namesOfFlag)),
  ]
  return `# fish completion for cachefleet\n${lines.join('\n')}\n`
}

function offerNoun(noun: AnyNoun, namesOfFlag: ReadonlyMap<string, string>): readonly string[] {
  const isNoun = `__fish_seen_subcommand_from ${spellingsOf(noun).join(' ')}`
  const names = noun.verbs.map((verb) => verb.name).join(' ')
  const noVerb = `${isNoun}; and not __fish_seen_subcommand_from ${names}`
  return noun.verbs.flatMap((verb) => {
    const isVerb = `${isNoun}; and __fish_seen_subcommand_from ${verb.name}`
    return [
      offer(noVerb, `-f -a ${verb.name}`, verb.summary),
      ...(verb.flags ?? []).map((flag) => offerFlag(isVerb, flag, namesOfFlag)),
      ...(isAboutNamed(noun, verb)
        ? [offer(isVerb, `-f -a ${askNames(noun.name)}`, noun.name)]
        : []),
    ]
  })
}

function offerFlag(
  condition: string,
  flag: Flag,
  namesOfFlag: ReadonlyMap<string, string>,
): string {
  const noun = namesOfFlag.get(longForm(flag))
  const names = noun === undefined ? '' : ` -f -a ${askNames(noun)}`
  const value = takesValue(flag) ? ` -r${names}` : ''
  return offer(condition, `-l ${longForm(flag).slice(2)}${value}`, flag.summary)
}

function askNames(noun: string): string {
  return `'(cachefleet complete-names ${noun} 2>/dev/null)'`
}

function offer(condition: string, words: string, summary: string): string {
  return `complete -c cachefleet -n '${condition}' ${words} -d '${summary.replaceAll("'", "\\'")}'`
}

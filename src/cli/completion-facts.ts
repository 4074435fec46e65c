/** What can be completed, derived from the grammar; the shell scripts are generated from it. */
import { isOfApi, toKebab, type Flag, type Grammar, type Verb } from './verb.js'

export type AnyNoun = Grammar['nouns'][number]

interface CompletionFacts {
  readonly first: readonly string[]
  /** Keyed by every spelling of a noun. */
  readonly verbsOf: ReadonlyMap<string, readonly string[]>
  readonly everywhere: readonly string[]
  /** Keyed by `verb *`, or by a noun's spelling and one of its verbs. */
  readonly flagsOf: ReadonlyMap<string, readonly string[]>
  /** Flags that take the next word as their value. */
  readonly withValue: readonly string[]
  /** Keyed by a noun's spelling and a verb that takes one object: the noun whose names complete the argument. */
  readonly namesOf: ReadonlyMap<string, string>
  /** Keyed by a flag that refers to objects: the noun of those objects. */
  readonly namesOfFlag: ReadonlyMap<string, string>
}

export function readCompletionFacts({ flags, verbs, nouns }: Grammar): CompletionFacts {
  const shown = verbs.filter(isShown)
  const spelled = nouns.flatMap((noun) =>
    spellingsOf(noun).flatMap((spelling) => noun.verbs.map((verb) => ({ spelling, noun, verb }))),
  )
  const all = [flags, ...[...shown, ...nouns.flatMap((noun) => noun.verbs)].map(ownFlags)].flat()
  return {
    first: [...nouns, ...shown].map(({ name }) => name),
    verbsOf: new Map(
      nouns.flatMap((noun) =>
        spellingsOf(noun).map(
          (spelling) => [spelling, noun.verbs.map(({ name }) => name)] as const,
        ),
      ),
    ),
    everywhere: ['--help', ...flags.map(longForm)],
    flagsOf: new Map([
      ...shown.map((verb) => [`${verb.name} *`, ownFlags(verb).map(longForm)] as const),
      ...spelled.map(
        ({ spelling, verb }) => [`${spelling} ${verb.name}`, ownFlags(verb).map(longForm)] as const,
      ),
    ]),
    withValue: [...new Set(all.filter(takesValue).flatMap(spelledForms))],
    namesOf: new Map(
      spelled
        .filter(({ noun, verb }) => isAboutNamed(noun, verb))
        .map(({ spelling, noun, verb }) => [`${spelling} ${verb.name}`, noun.name]),
    ),
    namesOfFlag: readFlagNames(nouns),
  }
}

export function isShown({ isHidden = false }: Verb): boolean {
  return !isHidden
}

export function spellingsOf({ name, aliases }: AnyNoun): readonly string[] {
  return [name, ...aliases]
}

export function longForm({ form }: Flag): string {
  return /--[a-z-]+/.exec(form)?.[0] ?? form
}

/** `-f, --file <dir>` has two forms. */
function spelledForms({ form }: Flag): readonly string[] {
  return form.match(/(?<!\S)--?[a-z-]+/g) ?? []
}

export function takesValue({ form }: Flag): boolean {
  return form.includes('<')
}

export function isAboutNamed(noun: AnyNoun, verb: Verb): boolean {
  const [first = ''] = verb.arguments ?? []
  return isOfApi(noun) && noun.nameField !== null && first.startsWith('<id|name')
}

function ownFlags({ flags = [] }: Verb): readonly Flag[] {
  return flags
}

function readFlagNames(all: readonly AnyNoun[]): ReadonlyMap<string, string> {
  const nouns = all.filter(isOfApi)
  const names = new Map<string, string>()
  for (const { name, type } of nouns.flatMap(({ fields }) => fields)) {
    if (type.kind !== 'reference' && type.kind !== 'references') continue
    const noun = nouns.find(({ path }) => path === type.of.path)
    if (noun) names.set(`--${toKebab(name)}`, noun.name)
  }
  return names
}

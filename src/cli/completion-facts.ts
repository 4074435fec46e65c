/** What may be completed, read from the grammar: the scripts for the shells are made of this. */
import { isOfApi, toKebab, type Flag, type Grammar, type Verb } from './verb.js'

export type AnyNoun = Grammar['nouns'][number]

interface CompletionFacts {
  readonly first: readonly string[]
  /** By each spelling of a noun. */
  readonly verbsOf: ReadonlyMap<string, readonly string[]>
  readonly everywhere: readonly string[]
  /** By verb and a star, or by a spelling of a noun and a verb of it. */
  readonly flagsOf: ReadonlyMap<string, readonly string[]>
  /** Flags whose next word is their value. */
  readonly withValue: readonly string[]
  /** By a spelling of a noun and a verb that is about one: the noun whose names are asked for. */
  readonly namesOf: ReadonlyMap<string, string>
  /** By a flag that refers to objects: their noun. */
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

/** `-f, --file <dir>` is two. */
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

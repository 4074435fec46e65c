/** Verbs with the same form for every noun: list, get, add, update, delete. object-calls.ts implements them. */
import { yesFlag } from './confirm.js'
import type { buildBody } from './object-body.js'
import { fieldFlags } from './field-flags.js'
import { withArticle, type Flag, type Named, type NounParts, type Verb } from './verb.js'

export const filterFlag: Flag = {
  form: '--filter <field=pattern>',
  summary: '* matches any, comma is any-of; all filters must match',
  repeatable: true,
}

const listFlags = (order: string): readonly Flag[] => [
  filterFlag,
  { form: '--sort <field>', summary: `FIELD or FIELD:desc; ${order} unless given` },
  { form: '--take <limit>', summary: 'LIMIT or LIMIT,OFFSET; everything unless given' },
]

interface VerbExamples {
  /** Arguments of each verb in its example. */
  readonly list: string
  readonly add: string
  readonly update: string
  /** Cases that `--force` allows for an update; if absent, the verb has no such flag. */
  readonly force?: string
}

/** All five verbs, for a noun that people edit. */
export function objectVerbs(
  noun: NounParts,
  { list, add, update, force }: VerbExamples,
): readonly Verb[] {
  return [
    ...[listVerb(noun, list), getVerb(noun), addVerb(noun, add)],
    ...[updateVerb(noun, update, { flags: forceFlags(force) }), deleteVerb(noun)],
  ]
}

/** `order`: default order of the rows. */
export function listVerb(noun: NounParts, example: string, order = 'id'): Verb {
  return {
    name: 'list',
    summary: `lists ${noun.name}`,
    flags: listFlags(order),
    example: `${noun.name} list ${example}`,
    run: async (invocation) => (await import('./object-calls.js')).listObjects(invocation, noun),
  }
}

export function getVerb(noun: NounParts): Verb {
  return {
    name: 'get',
    summary: `shows ${withArticle(noun.singular)}`,
    arguments: [idArgument(noun)],
    example: `${noun.name} get ${nameExample(noun)}`,
    run: async (invocation) => (await import('./object-calls.js')).getObject(invocation, noun),
  }
}

/** For bodies with more than the noun's fields. */
interface BodyParts {
  readonly summary?: string
  readonly arguments?: readonly string[]
  readonly flags?: readonly Flag[]
  /** Loaded only when the verb runs. */
  readonly importReader?: () => Promise<typeof buildBody>
}

export function addVerb(
  noun: NounParts,
  example: string,
  { flags = [], importReader, ...words }: BodyParts = {},
): Verb {
  return {
    name: 'add',
    summary: `creates ${withArticle(noun.singular)}`,
    ...words,
    flags: [...fieldFlags(noun.fields, 'add'), ...flags],
    example: `${noun.name} add ${example}`,
    run: async (invocation) => {
      const { addObject } = await import('./object-calls.js')
      return addObject(invocation, noun, await importReader?.())
    },
  }
}

export function updateVerb(
  noun: NounParts,
  example: string,
  { flags = [], importReader, ...words }: BodyParts = {},
): Verb {
  return {
    name: 'update',
    summary: `changes ${withArticle(noun.singular)}; what is not given does not change`,
    ...words,
    arguments: [idArgument(noun)],
    flags: [...fieldFlags(noun.fields, 'update'), ...flags],
    example: `${noun.name} update ${nameExample(noun)} ${example}`,
    run: async (invocation) => {
      const { updateObject } = await import('./object-calls.js')
      return updateObject(invocation, noun, await importReader?.())
    },
  }
}

export function deleteVerb(noun: NounParts, force?: string): Verb {
  return {
    name: 'delete',
    summary: `deletes ${noun.name}`,
    arguments: [idArgument(noun, '...')],
    flags: [yesFlag, ...forceFlags(force)],
    example: `${noun.name} delete ${nameExample(noun)} --yes`,
    run: async (invocation) => (await import('./object-calls.js')).deleteObjects(invocation, noun),
  }
}

/** The argument as shown in the help. */
export function idArgument({ nameField }: Named, more = ''): string {
  return nameField === null ? `<id${more}>` : `<id|name${more}>`
}

/** `summary`: the cases that `--force` allows; if undefined, the verb has no such flag. */
export function forceFlags(summary: string | undefined): readonly Flag[] {
  return summary === undefined ? [] : [{ form: '--force', summary }]
}

export function nameExample({ exampleObject, nameField }: NounParts): string {
  return exampleObject ?? (nameField === null ? '7' : 'web')
}

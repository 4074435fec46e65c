/** The verbs that every noun has in the same form: list, get, add, update, delete. */
import { requireFields } from './api-shapes.js'
import { confirm, yesFlag } from './confirm.js'
import { usageError } from './cli-error.js'
import { findId, findIds } from './find-object.js'
import { buildBody, fieldFlags } from './object-body.js'
import { showList, showObject } from './output.js'
import {
  isSet,
  textFlag,
  word,
  type Flag,
  type Invocation,
  type NounParts,
  type Verb,
} from './verb.js'

const listFlags: readonly Flag[] = [
  {
    form: '--filter <field=pattern>',
    summary: '* matches any, comma is any-of; all filters must match',
    repeatable: true,
  },
  { form: '--sort <field>', summary: 'FIELD or FIELD:desc; id unless given' },
  { form: '--take <limit>', summary: 'LIMIT or LIMIT,OFFSET; everything unless given' },
]

export function listVerb(noun: NounParts, example: string): Verb {
  return {
    name: 'list',
    summary: `lists ${noun.name}`,
    flags: listFlags,
    example: `${noun.name} list ${example}`,
    run: async (invocation) => {
      const query = readListQuery(invocation)
      const api = await invocation.openApi()
      const rows = await api.readList(noun.path, query)
      await showList(invocation.output, rows, noun.columns)
      return undefined
    },
  }
}

export function getVerb(noun: NounParts): Verb {
  return {
    name: 'get',
    summary: `shows one ${noun.singular}`,
    arguments: ['<id>'],
    example: `${noun.name} get ${exampleName(noun)}`,
    run: async (invocation) => {
      const api = await invocation.openApi()
      const id = await findId(api, noun, word(invocation, 0))
      showObject(invocation.output, await api.readObject(`${noun.path}/${id}`))
      return undefined
    },
  }
}

export function addVerb(noun: NounParts, example: string): Verb {
  return {
    name: 'add',
    summary: `makes a ${noun.singular}`,
    flags: fieldFlags(noun.fields, 'add'),
    example: `${noun.name} add ${example}`,
    run: async (invocation) => {
      const api = await invocation.openApi()
      const body = await buildBody(invocation, api, noun.fields)
      const made = await api.call({ method: 'POST', path: noun.path, body })
      showObject(invocation.output, requireFields(made.body))
      return undefined
    },
  }
}

export function updateVerb(noun: NounParts, example: string, force?: string): Verb {
  return {
    name: 'update',
    summary: `changes a ${noun.singular}; what is not given stays`,
    arguments: ['<id>'],
    flags: [...fieldFlags(noun.fields, 'update'), ...forceFlags(force)],
    example: `${noun.name} update ${exampleName(noun)} ${example}`,
    run: async (invocation) => {
      const api = await invocation.openApi()
      const body = await buildBody(invocation, api, noun.fields)
      if (Object.keys(body).length === 0) throw usageError('nothing to change is given')
      const id = await findId(api, noun, word(invocation, 0))
      const query = forceQuery(invocation)
      const changed = await api.call({ method: 'PUT', path: `${noun.path}/${id}`, query, body })
      showObject(invocation.output, requireFields(changed.body))
      return undefined
    },
  }
}

/** Ends at the first one that is refused; what went before is gone. */
export function deleteVerb(noun: NounParts, force?: string): Verb {
  return {
    name: 'delete',
    summary: `deletes ${noun.name}`,
    arguments: ['<id...>'],
    flags: [yesFlag, ...forceFlags(force)],
    example: `${noun.name} delete ${exampleName(noun)} --yes`,
    run: async (invocation) => {
      const { words } = invocation
      const names = words.map((name) => JSON.stringify(name)).join(', ')
      await confirm(invocation, `delete ${noun.singular} ${names}`)
      const api = await invocation.openApi()
      const query = forceQuery(invocation)
      for (const id of await findIds(api, noun, words))
        await api.call({ method: 'DELETE', path: `${noun.path}/${id}`, query })
      return undefined
    },
  }
}

/** Throws CliError for a filter without a pattern. */
export function readListQuery(invocation: Invocation): Readonly<Record<string, string>> {
  const query: Record<string, string> = {}
  const filters: unknown = invocation.flags['filter']
  for (const filter of Array.isArray(filters) ? filters.map(String) : []) {
    const [, field, pattern] = /^([^=]+)=(.*)$/s.exec(filter) ?? []
    if (field === undefined || pattern === undefined)
      throw usageError(
        `--filter is ${JSON.stringify(filter)}; FIELD=PATTERN is right, like name=web*`,
      )
    if (field in query) throw usageError(`--filter has ${field} twice; comma is any-of`)
    query[field] = pattern
  }
  for (const name of ['sort', 'take']) {
    const value = textFlag(invocation, name)
    if (value !== undefined) query[name] = value
  }
  return query
}

function forceFlags(summary: string | undefined): readonly Flag[] {
  return summary === undefined ? [] : [{ form: '--force', summary }]
}

function forceQuery(invocation: Invocation): Readonly<Record<string, string>> {
  return isSet(invocation, 'force') ? { force: 'true' } : {}
}

function exampleName({ nameField }: NounParts): string {
  return nameField === null ? '7' : 'web'
}

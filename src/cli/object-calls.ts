/** The implementation of list, get, add, update and delete, shared by all nouns. */
import { requireFields } from './api-shapes.js'
import { CliError, usageError } from './cli-error.js'
import { confirm } from './confirm.js'
import { findId, findIds, openObject } from './find-object.js'
import { buildBody } from './object-body.js'
import { showList, showObject } from './output.js'
import { isSet, textFlag, word, type Invocation, type NounParts } from './verb.js'

export async function listObjects(invocation: Invocation, noun: NounParts): Promise<undefined> {
  const query = readListQuery(invocation)
  const api = await invocation.openApi()
  const { rows, total } = await api.readPage(noun.path, query)
  await showList(invocation.output, rows, noun.columns)
  if (rows.length === 0) invocation.output.notify(`no ${noun.name}`)
  else if (total !== null && total > rows.length)
    invocation.output.notify(`${rows.length} of ${total} ${noun.name}`)
  const ill = rows.filter(({ problems }) => Array.isArray(problems) && problems.length > 0).length
  if (ill > 0)
    invocation.output.notify(
      `${ill} of these ${ill === 1 ? 'has' : 'have'} problems: cachefleet problems`,
    )
}

export async function getObject(invocation: Invocation, noun: NounParts): Promise<undefined> {
  const { api, path } = await openObject(invocation, noun)
  showObject(invocation.output, await api.readObject(path))
}

/** `readBody`: for bodies with more than the noun's fields, see secret-bodies.ts. */
export async function addObject(
  invocation: Invocation,
  noun: NounParts,
  readBody = buildBody,
): Promise<undefined> {
  const api = await invocation.openApi()
  const body = await readBody(invocation, api, noun.fields)
  const made = await api.call({ method: 'POST', path: noun.path, body })
  showObject(invocation.output, requireFields(made.body))
}

export async function updateObject(
  invocation: Invocation,
  noun: NounParts,
  readBody = buildBody,
): Promise<undefined> {
  const api = await invocation.openApi()
  const body = await readBody(invocation, api, noun.fields)
  if (Object.keys(body).length === 0) throw usageError('Nothing to change is given')
  const id = await findId(api, noun, word(invocation, 0))
  const query = forceQuery(invocation)
  const changed = await api.call({ method: 'PUT', path: `${noun.path}/${id}`, query, body })
  showObject(invocation.output, requireFields(changed.body))
}

/** Stops at the first refusal and reports how many were deleted before it. */
export async function deleteObjects(invocation: Invocation, noun: NounParts): Promise<undefined> {
  const { words, output } = invocation
  const names = words.map((name) => JSON.stringify(name)).join(', ')
  await confirm(invocation, `delete ${noun.singular} ${names}`)
  const api = await invocation.openApi()
  const ids = await findIds(api, noun, words)
  const query = forceQuery(invocation)
  for (const [gone, id] of ids.entries()) {
    const deleting = api.call({ method: 'DELETE', path: `${noun.path}/${id}`, query })
    await deleting.catch((error: unknown) => {
      throw gone > 0 && error instanceof CliError ? afterOthers(error, gone) : error
    })
  }
  output.notify(ids.length === 1 ? `${noun.singular} ${names} is gone` : `${ids.length} are gone`)
}

function afterOthers({ exitCode, message, refusal }: CliError, gone: number): CliError {
  return new CliError(
    exitCode,
    `${message}; ${gone} before it ${gone === 1 ? 'is' : 'are'} gone`,
    refusal,
  )
}

/** Forms that the API accepts (docs/behaviour.md, Updates); the API checks the bounds. */
const listForms = {
  sort: { form: /^[^:]+(?::(?:asc|desc))?$/, expected: 'FIELD or FIELD:desc' },
  take: { form: /^\d+(?:,\d+)?$/, expected: 'LIMIT or LIMIT,OFFSET, like 20 or 20,40' },
} as const

/** Throws CliError for a filter without a pattern, a filter given twice, and an invalid --sort or --take. */
export function readListQuery(invocation: Invocation): Readonly<Record<string, string>> {
  const query: Record<string, string> = {}
  const filters: unknown = invocation.flags['filter']
  for (const filter of Array.isArray(filters) ? filters.map(String) : []) {
    const [, field, pattern] = /^([^=]+)=(.*)$/s.exec(filter) ?? []
    if (field === undefined || pattern === undefined)
      throw usageError(
        `--filter is ${JSON.stringify(filter)}; expected FIELD=PATTERN, like name=web*`,
      )
    if (field in query) throw usageError(`--filter has ${field} twice; comma is any-of`)
    query[field] = pattern
  }
  for (const [name, { form, expected }] of Object.entries(listForms)) {
    const value = textFlag(invocation, name)
    if (value === undefined) continue
    if (!form.test(value))
      throw usageError(`--${name} is ${JSON.stringify(value)}; expected ${expected}`)
    query[name] = value
  }
  return query
}

function forceQuery(invocation: Invocation): Readonly<Record<string, string>> {
  return isSet(invocation, 'force') ? { force: 'true' } : {}
}

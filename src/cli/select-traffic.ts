/** Selects the traffic to read: converts names in flags to the API's ids. */
import type { Api } from './api.js'
import { findIds, splitNames } from './find-object.js'
import { agents } from './nouns/agents.js'
import { domains } from './nouns/domains.js'
import { tags } from './nouns/tags.js'
import { vclGroups } from './nouns/vclgroups.js'
import { textFlag, type Invocation, type Named } from './verb.js'

export async function selectTraffic(invocation: Invocation, api: Api): Promise<URLSearchParams> {
  const words = new URLSearchParams()
  const add = async (name: string, kind: Named, flag = name): Promise<void> => {
    const given = textFlag(invocation, flag)
    if (given !== undefined)
      words.set(name, (await findIds(api, kind, splitNames(given))).join(','))
  }
  await add('agents', agents)
  await add('tags', tags)
  await add('vclGroup', vclGroups, 'group')
  await add('domain', domains)
  const [query, sample] = [textFlag(invocation, 'query'), textFlag(invocation, 'sample')]
  if (query !== undefined) words.set('q', query)
  if (sample !== undefined) words.set('sample', sample)
  return words
}

/** Names of the objects in API log entries, if they still exist and the user may read them. */
import { account } from '../../../resources/account.js'
import { agent } from '../../../resources/agent.js'
import type { ApiLogEntry } from '../../../resources/api-log-entry.js'
import { certificate } from '../../../resources/certificate.js'
import { deployment } from '../../../resources/deployment.js'
import { domain } from '../../../resources/domain.js'
import { file } from '../../../resources/file.js'
import { organization } from '../../../resources/organization.js'
import { tag } from '../../../resources/tag.js'
import { webhook } from '../../../resources/webhook.js'
import { vclGroup } from '../../../resources/vclgroup.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { mayRead } from '../../session/rights.js'
import { formatKey, type ObjectNames } from './filter-entries.js'

const named = [
  ...[account, agent, certificate, deployment, domain, file, organization, tag, vclGroup],
  webhook,
] as const

/** Maximum per type, from the newest entries. */
const maxNamed = 500

/** Makes one call per type among the entries. */
export function useObjectNames(entries: readonly ApiLogEntry[]): ObjectNames {
  const paths = named.flatMap(({ noun, permission, path, nameField }) => {
    const ids = mayRead(permission) ? listIds(entries, noun) : []
    return ids.length === 0 ? [] : [{ noun, nameField, path: `${path}?id=${ids.join(',')}` }]
  })
  const key = paths.length === 0 ? null : paths.map(({ path }) => path).join(' ')
  return useAnswer<ObjectNames>(key, noNames, async (signal) => {
    const read = paths.map(async ({ noun, nameField, path }) => {
      const outcome = await call<readonly Found[]>('GET', path, { signal })
      if (!outcome.ok) return []
      return outcome.value.map((one): [string, string] => [
        formatKey(noun, one.id),
        String(one[nameField]),
      ])
    })
    return new Map((await Promise.all(read)).flat())
  })
}

type Found = { readonly id: number } & Readonly<Record<string, unknown>>

const noNames: ObjectNames = new Map()

function listIds(entries: readonly ApiLogEntry[], noun: string): readonly number[] {
  const ids = new Set<number>()
  for (const { keyType, keyId } of entries) {
    if (keyType === noun && keyId !== null) ids.add(keyId)
    if (ids.size === maxNamed) break
  }
  return [...ids].sort((a, b) => a - b)
}

/** Invalidations as scripts use them: create one, and wait until it has ended. */
import type { ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'

export interface Invalidation {
  readonly id: number
  readonly state: number
  readonly stateName: string
  readonly done: number
  readonly total: number
  readonly created: string
  readonly warnings: readonly string[]
  readonly results: readonly {
    readonly agent: { readonly name: string }
    readonly state: string
    readonly error: string | null
  }[]
}

export async function invalidate(api: ApiClient, body: object): Promise<Invalidation> {
  const answer = await api.call('POST', '/invalidations', body)
  if (answer.status !== 202) throw new Error(`answered ${answer.status}: ${answer.text}`)
  return JSON.parse(answer.text) as Invalidation // of the API
}

export async function readInvalidation(api: ApiClient, id: number): Promise<Invalidation> {
  const answer = await api.call('GET', `/invalidations/${id}`)
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text}`)
  return JSON.parse(answer.text) as Invalidation // as above
}

export function untilEnded(
  api: ApiClient,
  { id }: Pick<Invalidation, 'id'>,
): Promise<Invalidation> {
  return eventually(`invalidation ${id} has ended`, async () => {
    const entry = await readInvalidation(api, id)
    return ['Completed', 'Failed', 'Cancelled'].includes(entry.stateName) ? entry : undefined
  })
}

export async function runToEnd(api: ApiClient, body: object): Promise<Invalidation> {
  return untilEnded(api, await invalidate(api, body))
}

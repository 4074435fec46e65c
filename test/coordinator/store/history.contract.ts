/** The target of a rollback without a number, and how much of a long history is read to find it. */
import type { Test } from 'tap'
import type { Release } from '../../../src/coordinator/fleet/vcl-group.js'
import {
  addHistory,
  findNewestRevision,
  findRevision,
} from '../../../src/coordinator/fleet/history-queries.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { addFile, addGroup } from './rows.js'
import type { StoreFactory } from './store.contract.js'

export function historyContract(t: Test, factory: StoreFactory): void {
  void t.test('the newest revision with other sources is found page by page', async (t) => {
    const { queries } = await factory.open(t)
    const file = await addFile(queries, 'history.vcl')
    const groupId = await addGroup(queries, 'history', file)
    const sourcesOf = (sha: string): Release => ({
      mainVCL: { id: file, name: 'history.vcl', version: 1 },
      includes: [],
      releases: null,
      domains: [],
      sha,
      programName: `cf-${sha}`,
      deploymentIds: [],
    })
    const past = { groupId, organizationId: null, at: 1, account: 'root', result: 'ok' }
    const shas = ['a', ...Array.from({ length: 60 }, () => 'b'), 'c', 'd']
    for (const [index, sha] of shas.entries()) {
      const sources = sourcesOf(sha)
      await addHistory(queries, { ...past, action: 'deploy', revision: index + 1, sources })
    }
    const { counted, read } = countRows(queries)
    const findOther = (...not: readonly string[]) =>
      findNewestRevision(counted, groupId, ({ sources }) => !not.includes(sources.sha))
    t.match(await findOther('d'), { revision: 63 - 1 })
    t.ok(read() <= 20, `${read()} of 63 rows were read`)
    t.match(await findOther('d', 'c', 'b'), { revision: 1 }, 'beyond the first pages')
    t.equal(await findOther('d', 'c', 'b', 'a'), undefined)
    t.match(await findRevision(queries, groupId, 62), { sources: { sha: 'c' } })
    t.equal(await findRevision(queries, groupId, 64), undefined)
  })
}

function countRows(queries: Queries): { readonly counted: Queries; readonly read: () => number } {
  let rows = 0
  const counted = queries.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      rows += result.rows.length
      return Promise.resolve(result)
    },
  })
  return { counted, read: () => rows }
}

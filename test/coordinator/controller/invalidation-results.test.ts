/** An entry for many agents: counts at its creation and in lists, every result when it is read alone. */
import t from 'tap'
import { maxListedResults } from '../../../src/resources/invalidation.js'
import { enrol, startClient, type Json } from './client.js'

const ban = { type: 'ban', expression: 'obj.http.x == 1', target: { all: true } }

void t.test(
  'the results of each agent are included at creation and in lists up to a limit',
  async (t) => {
    const client = await startClient(t)
    for (let number = 1; number <= maxListedResults; number++) await enrol(client, `edge-${number}`)
    const few = await client.expect(202, 'POST', '/invalidations', ban)
    t.equal(readResults(few)?.length, maxListedResults)

    await enrol(client, 'one-more')
    const many = await client.expect(202, 'POST', '/invalidations', ban)
    const total = maxListedResults + 1
    t.match(many, { stateName: 'Waiting', done: 0, total })
    t.equal(readResults(many), undefined)
    const listed = await client.list('/invalidations?sort=id:asc')
    t.same(
      listed.map((entry) => readResults(entry)?.length),
      [maxListedResults, undefined],
    )
    const alone = await client.expect(200, 'GET', `/invalidations/${String(many['id'])}`)
    t.equal(readResults(alone)?.length, total)
  },
)

function readResults({ results }: Json): readonly unknown[] | undefined {
  return Array.isArray(results) ? results : undefined
}

/** A store with a large fleet and one group on all of it. */
import { writeDesiredRelease } from '../../src/coordinator/fleet/group-queries.js'
import type { Queries } from '../../src/coordinator/store/store.js'
import {
  addAgent,
  addDeployment,
  addFile,
  addGroup,
  addPlacement,
  addTag,
} from '../coordinator/store/rows.js'

const agents = 10_000
const rowsAtOnce = 500

/** Returns the id of one agent. */
export async function fillFleet(queries: Queries): Promise<number> {
  const tagId = await addTag(queries, 'web')
  const deploymentId = await addDeployment(queries, 'all')
  await queries.insertInto('deploymentTags').values({ deploymentId, tagId }).execute()
  await queries.updateTable('deployments').set({ max: agents }).execute()
  const fileId = await addFile(queries, 'main.vcl')
  const groupId = await addGroup(queries, 'site', fileId)
  const program = { currentName: 'cf-1-00000000-1', currentSha: '0'.repeat(64) }
  const first = await addAgent(queries, 'edge-0')
  await queries
    .insertInto('agentTags')
    .values({ agentId: first, tagId, static: 1, assigned: 0 })
    .execute()
  await addPlacement(queries, groupId, first, deploymentId)
  // Copies of the first one: adding them one by one would take most of the test's time.
  for (const [table, key] of [
    ['agents', 'id'],
    ['agentTags', 'agentId'],
    ['placements', 'agentId'],
  ] as const) {
    const row = await queries.selectFrom(table).selectAll().executeTakeFirstOrThrow()
    const copies = Array.from({ length: agents - 1 }, (_, at) => ({
      ...row,
      [key]: first + at + 1,
      ...(table === 'agents' && { name: `edge-${at + 1}`, keyDigest: `digest ${at + 1}` }),
    }))
    for (let at = 0; at < copies.length; at += rowsAtOnce)
      await queries
        .insertInto(table)
        .values(copies.slice(at, at + rowsAtOnce))
        .execute()
  }
  await queries
    .updateTable('placements')
    .set({ ...program, state: 'applied' })
    .execute()
  await queries.updateTable('vclGroups').set({ root: 1, revision: 1 }).execute()
  const sources = {
    mainVCL: { id: fileId, name: 'main.vcl', version: 1 },
    includes: [],
    releases: null,
    sha: program.currentSha,
    programName: program.currentName,
    deploymentIds: [deploymentId],
    domains: [],
  }
  await writeDesiredRelease(queries, groupId, { sources, pending: false, revision: 1 })
  const last = await queries
    .selectFrom('agents')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return last.id
}

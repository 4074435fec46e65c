/** Calls every operation of rollouts successfully. */
import { eventually } from '../support/eventually.js'
import type { Answered, Given } from './documented.js'

type Done = (operationId: string, given?: Given) => Promise<Answered>

/** A wave with a long bake, so that every verb can be used. */
export async function tryRollouts(
  { done }: { readonly done: Done },
  group: { readonly id: number },
  { file, source }: { readonly file: { readonly id: number }; readonly source: string },
): Promise<void> {
  await done('updateFile', { at: file, body: { source: `${source}# in waves\n` } })
  const rollout = { waves: [{ count: 1 }], bake: 600, gates: [{ name: 'errors', max: 0.5 }] }
  await done('deployVclGroup', { at: group, query: '?wait=0', body: { rollout } })
  const at = { id: 1 }
  await eventually('its wave is baking', async () => {
    const { body } = await done('getRollout', { at })
    return body['stateName'] === 'Baking'
  })
  await done('listRollouts')
  for (const verb of ['pause', 'resume', 'abort']) await done(`${verb}Rollout`, { at })
  await eventually('it is rolled back', async () => {
    const { body } = await done('getRollout', { at })
    return body['stateName'] === 'Aborted'
  })
  await done('deployVclGroup', { at: group, query: '?wait=0', body: { rollout } })
  await eventually('the bake is ended', () => done('advanceRollout', { at: { id: 2 } }))
}

/**
 * SIGKILL, or a cut link, at every step of a deploy that replaces another root group. Afterwards, exactly one of the two groups
 * serves, and the other one has no VCL on the cache.
 */
import type { Test } from 'tap'
import {
  around,
  bothMoments,
  checkTraffic,
  describeStep,
  forgetFailures,
  readPromise,
  strike,
  untilAgreed,
  type Step,
  type Victim,
} from './faults.js'
import { readAgreement, startTraffic, type Site, type Harness } from './harness.js'

export type ReplaceVictim = Exclude<Victim, 'child' | 'manager'>

/** The new VCL is loaded beside the old one; a single `vcl.use` switches; the VCLs of the other group are discarded. */
const commands = around('vcl.inline', 'vcl.use', 'vcl.discard')
const messages = [1, 2].flatMap((nth) =>
  ['apply', 'applyReport'].flatMap((name) => bothMoments({ on: 'link', name, nth })),
)

const rows: Readonly<Record<ReplaceVictim, readonly Step[]>> = {
  coordinator: [...commands.filter(({ moment }) => moment === 'after'), ...messages],
  agent: [...commands, ...messages],
  connection: [...commands, ...messages.filter(({ moment }) => moment === 'before')],
}

export const isReplaceVictim = (victim: Victim): victim is ReplaceVictim => victim in rows

/** One of the two groups is deployed; each has a single text. */
export async function checkReplaceRows(
  t: Test,
  { harness, victim }: { readonly harness: Harness; readonly victim: ReplaceVictim },
  sites: readonly [Site, Site],
): Promise<void> {
  const traffic = startTraffic(t, harness.cache)
  for (const step of rows[victim]) {
    const title = `${victim} lost in a replace, ${describeStep(step)}`
    const read = () => readOneOf(harness, sites)
    const before = await untilAgreed(`before ${title}`, read)
    const site = sites.find(({ marks }) => marks.get(1) !== before) ?? sites[0]
    const wanted = site.marks.get(1) ?? ''
    traffic.forget()
    const act = () => harness.api.act(site.id, 'deploy', '?wait=25&replace=true')

    const answer = await strike(harness, victim, step, act)

    const mark = await untilAgreed(title, read, readPromise(answer, { before, wanted }))
    t.ok([before, wanted].includes(mark), `${title}: one of the two serves`)
    await checkTraffic(t, { harness, victim, title, traffic }, [before, wanted])
    if (step.on === 'port') await forgetFailures(harness, victim)
  }
  await traffic.stop()
}

/** Returns the mark that serves; throws until all parts agree and the other group is not deployed. */
async function readOneOf(harness: Harness, sites: readonly [Site, Site]): Promise<string> {
  const groups = await Promise.all(sites.map(({ id }) => harness.api.readGroup(id)))
  const [deployed, ...more] = sites.filter((_, index) => groups[index]?.deployed)
  if (!deployed || more.length > 0) throw new Error(`not one of two: ${JSON.stringify(groups)}`)
  const left = groups.find(({ id }) => id !== deployed.id)
  if (left?.stateName !== 'Inactive' || left.agentStates.length > 0)
    throw new Error(`half replaced: ${JSON.stringify(left)}`)
  return readAgreement(harness, deployed)
}

/** Checks with agents of the release in the fleet: groups compile on them, and one of them lists its parameters. */
import { isOfRelease, titleOfRelease } from '../../resources/cache-release.js'
import type { Api } from '../api.js'
import { nameOf, requireFields, type Fields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'
import { readRelease } from './read-release.js'
import type { ReleaseChecker } from './release-checker.js'

/** A single load may take 120 s (docs/behaviour.md, Deploy). */
const compileTimeoutMs = 180_000

/** Throws CliError if no such agent is Running. */
export async function checkByAgents(
  api: Api,
  agents: readonly Fields[],
  release: string,
): Promise<ReleaseChecker> {
  const asked = agents.find(
    (agent) => agent['stateName'] === 'Running' && isOfRelease(readRelease(agent), release),
  )
  if (!asked)
    throw new CliError(
      exitCodes.refused,
      `No Running agent is of release ${release}; add one, or name its program on this machine: --program /usr/sbin/vinyld`,
    )
  const path = `/agents/${String(asked['id'])}`
  const known = await api.readObject(`${path}/params`)
  const found = readRelease(asked)
  return {
    title: `${nameOf(asked) ?? ''} (${titleOfRelease(found) ?? release})`,
    release: found,
    compile: (group) => compileGroup(api, group, release),
    // Newer releases accept aliases of a parameter without listing them.
    knows: async (name) => name in known || (await isShown(api, path, name)),
  }
}

async function compileGroup(api: Api, { id }: Fields, release: string): Promise<string | null> {
  try {
    await api.call({
      method: 'PUT',
      path: `/vclgroups/${String(id)}/validate`,
      query: { release },
      timeoutMs: compileTimeoutMs,
    })
    return null
  } catch (error) {
    if (error instanceof CliError && error.refusal?.status === 422) return error.message
    throw error
  }
}

async function isShown(api: Api, path: string, name: string): Promise<boolean> {
  const command = `param.show ${name}`
  const answer = await api.call({ method: 'POST', path: `${path}/command`, body: { command } })
  return !/^Unknown parameter/m.test(String(requireFields(answer.body)['message']))
}

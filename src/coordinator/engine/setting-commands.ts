/**
 * `param.set`, `param.reset` and `backend.set_health` as typed by users: they change the desired state
 * (docs/behaviour.md, Commands). A refusal by the engine is returned as the reply, as for other commands.
 */
import type { Context } from '../../context.js'
import { quoteWord } from '../../vcl/ban-expression.js'
import { mayInConsole } from '../../resources/console-role.js'
import { may, type Actor, type PermissionType } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { AgentRecord } from '../agents/agents.js'
import { setBackendHealth, setParameter, type SettingAnswer } from './engine-settings.js'
import { requireChangeable } from '../agents/instruct.js'
import { createInvalidation } from '../invalidations/create-invalidation.js'
import { waitForResults } from '../invalidations/wait-for-results.js'
import type { StateService } from '../service.js'

export interface Caller {
  readonly actor: Actor
  readonly agent: AgentRecord
}

interface SettingCommand {
  readonly name: string
  readonly words: readonly string[]
}

/** Returns the reply that the engine would give. Throws FleetError 'agent': invalid, forbidden, and as the setters do. */
export async function sendSetting(
  service: StateService,
  context: Context,
  caller: Caller,
  { name, words }: SettingCommand,
): Promise<string> {
  const [first = '', second = ''] = words
  switch (name) {
    case 'param.set':
      takeWords(caller, words, 'param.set <param> <value>')
      return setParam(service, context, caller, { name: first, value: second })
    case 'param.reset':
      takeWords(caller, words, 'param.reset <param>')
      return setParam(service, context, caller, { name: first, value: null })
    case 'backend.set_health':
      takeWords(caller, words, 'backend.set_health <backend> auto|healthy|sick')
      return setHealth(service, context, caller, { name: first, health: second })
    default:
      return sendBan(service, context, caller, words)
  }
}

/** Creates an invalidation for this agent and returns the engine's reply. */
async function sendBan(
  service: StateService,
  context: Context,
  { actor, agent }: Caller,
  words: readonly string[],
): Promise<string> {
  if (!mayWrite(actor, 'invalidation'))
    throw new FleetError('forbidden', 'agent', 'ban needs write permission on invalidation')
  requireChangeable(agent)
  const { entry } = await createInvalidation(service, context, actor, {
    type: 'ban',
    expression: words.map(quoteWord).join(' '),
    target: { agents: [{ id: agent.id }] },
  })
  const [result] = await waitForResults(service, entry.id, banTimeoutMs)
  if (result?.state === 'done') return ''
  if (result?.state === 'failed') return result.error ?? ''
  throw new FleetError(
    'timed-out',
    'agent',
    `agent ${agent.name} has not done it yet; invalidation ${entry.id} goes on`,
  )
}

const banTimeoutMs = 30_000

async function setParam(
  service: StateService,
  context: Context,
  { agent }: Caller,
  param: { readonly name: string; readonly value: string | null },
): Promise<string> {
  return wordsOf(await setParameter(service, context, agent, param), ({ note }) => note)
}

async function setHealth(
  service: StateService,
  context: Context,
  caller: Caller,
  { name, health }: { readonly name: string; readonly health: string },
): Promise<string> {
  const request = { name: toSelection(name), health }
  return wordsOf(await setBackendHealth(service, context, caller, request), () => '')
}

function wordsOf<Value>(answer: SettingAnswer<Value>, format: (value: Value) => string): string {
  return 'value' in answer ? format(answer.value) : answer.refusal
}

/** A name on the cache, `cf-12-<sha8>-<n>.default`, selects the group, because the VCL's name changes with every deploy. */
function toSelection(name: string): string {
  return name.replace(/^cf-([1-9][0-9]*)-[0-9a-f]{8}-[0-9]+\./, '$1.')
}

function takeWords(caller: Caller, words: readonly string[], usage: string): void {
  if (words.length !== usage.split(' ').length - 1)
    throw new FleetError('invalid', 'agent', `command: it must be ${usage}`)
  if (!mayWrite(caller.actor, 'agent'))
    throw new FleetError(
      'forbidden',
      'agent',
      'what changes parameters or backends needs write permission on agent',
    )
}

/** By the user's grants or console role. */
function mayWrite(actor: Actor, type: PermissionType): boolean {
  return may(actor, type, 'write') || mayInConsole(actor, 'write')
}

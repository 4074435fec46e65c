/** `vclgroups deploy --waves 1,10%,50% --bake 2m --gate errors.max=1% …`: converts flags to the API's policy. */
import { gateNames, type GateName, type GateRule, type GivenPolicy } from '../resources/rollout.js'
import { tag } from '../resources/tag.js'
import { agent } from '../resources/agent.js'
import { webhook } from '../resources/webhook.js'
import type { Api } from './api.js'
import { usageError } from './cli-error.js'
import { findIds, splitNames } from './find-object.js'
import { toNamed } from './resource-noun.js'
import { isSet, textFlag, textsFlag, type Invocation } from './verb.js'

/** Returns undefined to use the group's own policy, null to deploy all at once. Throws CliError for invalid flags. */
export async function readRollout(
  invocation: Invocation,
  openApi: () => Promise<Api>,
): Promise<GivenPolicy | null | undefined> {
  const more = readPolicyFlags(invocation)
  const gates = readGates(textsFlag(invocation, 'gate'))
  const isAtOnce = isSet(invocation, 'all-at-once')
  const agents = textFlag(invocation, 'agents')
  const rules = listRules(textFlag(invocation, 'waves'), agents)
  if (rules.length === 0) {
    if (Object.keys(more).length > 0 || gates.length > 0)
      throw usageError('--bake, --gate and --on-… go with --waves')
    return isAtOnce ? null : undefined
  }
  if (isAtOnce) throw usageError('--all-at-once goes without --waves and --agents')
  // Agents named by hand are checked by hand, so the bake is 0 unless given.
  const byHand = agents === undefined ? {} : { bake: 0 }
  return {
    ...byHand,
    ...more,
    waves: await Promise.all(rules.map((rule) => resolve(rule))),
    ...(gates.length > 0 && { gates: await Promise.all(gates.map((gate) => resolveGate(gate))) }),
  }

  async function resolve(rule: TypedRule) {
    if ('agents' in rule) return { agents: await resolveIds(agent, rule.agents) }
    if ('tag' in rule) return { tags: await resolveIds(tag, [rule.tag]) }
    return rule
  }

  async function resolveGate({ webhook: named, ...gate }: TypedGate): Promise<GateRule> {
    if (named === undefined) return gate
    const [found] = await resolveIds(webhook, [named])
    return found ? { ...gate, webhook: found } : gate
  }

  async function resolveIds(
    kind: typeof agent | typeof tag | typeof webhook,
    names: readonly string[],
  ) {
    const ids = await findIds(await openApi(), toNamed(kind), names)
    return ids.map((id) => ({ id: Number(id) }))
  }
}

type TypedRule = ReturnType<typeof readWave> | { readonly agents: readonly string[] }

function listRules(waves: string | undefined, agents: string | undefined): readonly TypedRule[] {
  const named = agents === undefined ? [] : [{ agents: splitNames(agents) }]
  return [...named, ...(waves?.split(',').map(readWave) ?? [])]
}

/** The policy without waves and gates. */
function readPolicyFlags(invocation: Invocation): Omit<GivenPolicy, 'waves' | 'gates'> {
  const onFailure = readChoice(invocation, 'on-failure', ['rollback', 'pause'] as const)
  const onInconclusive = readChoice(invocation, 'on-inconclusive', ['continue', 'pause'] as const)
  const [bake, maxBake] = [readSeconds(invocation, 'bake'), readSeconds(invocation, 'max-bake')]
  return {
    ...(bake !== undefined && { bake }),
    ...(maxBake !== undefined && { maxBake }),
    ...(onFailure && { onFailure }),
    ...(onInconclusive && { onInconclusive }),
    ...(isSet(invocation, 'ban-on-rollback') && { banOnRollback: true }),
  }
}

function readWave(text: string) {
  const [, count, share] = /^(\d{1,7})(%?)$/.exec(text.trim()) ?? []
  if (count !== undefined)
    return share === '' ? { count: Number(count) } : { percent: Number(count) }
  const [, name] = /^tag:(.+)$/s.exec(text.trim()) ?? []
  if (name !== undefined) return { tag: name }
  throw usageError(`--waves has ${JSON.stringify(text)}; expected 1, 10% or tag:NAME`)
}

function readSeconds(invocation: Invocation, flag: string): number | undefined {
  const text = textFlag(invocation, flag)
  if (text === undefined) return undefined
  const [, count, unit = 's'] = /^(\d{1,6})([smh]?)$/.exec(text) ?? []
  if (count === undefined)
    throw usageError(`--${flag} takes a time like 90s, 2m or 1h, not ${JSON.stringify(text)}`)
  return Number(count) * ({ m: 60, h: 3600 }[unit] ?? 1)
}

function readChoice<const Words extends readonly string[]>(
  invocation: Invocation,
  flag: string,
  words: Words,
): Words[number] | undefined {
  const text = textFlag(invocation, flag)
  if (text === undefined) return undefined
  const found = words.find((one) => one === text)
  if (found === undefined) throw usageError(`--${flag} is ${words.join(' or ')}`)
  return found
}

/** A gate's webhook by name or id, and its limits, which the API checks. */
interface TypedGate {
  readonly name: GateName
  readonly webhook?: string
}

/** Limits of the same gate are merged into one; each webhook is a gate of its own. */
function readGates(texts: readonly string[]): readonly TypedGate[] {
  const gates = new Map<GateName, Record<string, string | number>>()
  const webhooks: TypedGate[] = []
  for (const text of texts) {
    const [, asked] = /^webhook=(.+)$/s.exec(text) ?? []
    if (asked !== undefined) {
      webhooks.push({ name: 'webhook', webhook: asked })
      continue
    }
    const [, first = '', key, value = ''] = /^(\w+)(?:\.(\w+)=(.+))?$/s.exec(text) ?? []
    const name = gateNames.find((one) => one === first)
    if (name === undefined)
      throw usageError(
        `--gate is ${JSON.stringify(text)}; expected as errors.max=1% one of ${gateNames.join(', ')}`,
      )
    const gate = gates.get(name) ?? {}
    gates.set(name, gate)
    if (key !== undefined) gate[key] = readLimit(value)
  }
  return [...[...gates].map(([name, limits]) => ({ name, ...limits })), ...webhooks]
}

function readLimit(text: string): string | number {
  const [, number, share] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  if (number === undefined) return text
  return share === '%' ? Number(number) / 100 : Number(number)
}
